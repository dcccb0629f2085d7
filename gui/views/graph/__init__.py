"""The graph: one page with a canvas, its breadcrumbs, legend, overview and find bar.

What is drawn, data that any thread may make::

    Model ──layouts──▶ Drawing        numpy arrays: what is where, what is in view, what is hit
    verdicts, times, findings ──verdict_colours, time_colours, risk_colours──▶ Colouring
    Colouring, findings, copies ──dress──▶ Dress        per node, of every graph of the model
    Drawing, Dress ──worn──▶ Worn                       per box and line of one drawing

Who draws it: ``painter`` chooses the level of detail, ``far`` or ``near`` (``boxes``,
``plain_boxes``) paint it, with ``lines``, ``emphasis``, ``copy_painter`` and ``glyphs``; ``strip``
paints the overview. ``looks`` turns classes into colours of the theme.

Who answers the user: ``canvas`` is the widget, ``gaze`` where it looks, ``pointer`` its mouse,
``tooltip`` what it says; ``page`` connects it with the selection, the legend and the rest.
"""
