"""Remedies that need no numerics: a model in, the changes that a rule proposes out.

::

    file --rule--> Proposal (Edits + notes) --ir.edit_apply--> bytes --load--> the next rule
                                                     |
                   placement before and after <------+------> checker, both run and compared, saved

A rule looks at a frozen model and proposes; it writes nothing. :mod:`.pipeline` chains rules,
:mod:`.saving` checks and writes the result.
"""
