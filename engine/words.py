"""What the program's terms are called before people, the same in every text and in the window.

Files for programs keep the terms themselves (``"host"``): scripts depend on these.
"""

from __future__ import annotations

_STATUSES = {"gpu": "GPU", "host": "CPU"}


def status_word(status: str) -> str:
    """Where a node runs: ``GPU``, ``CPU``; what is neither (``folded``, ``fails``) as it is.

    Args:
        status: a value of ``providers.support.Status``, perhaps with a reason: ``host (type)``.
    """
    word, space, reason = status.partition(" ")
    return f"{_STATUSES.get(word, word)}{space}{reason}"
