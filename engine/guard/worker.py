"""The child process of :mod:`.batch`: a request in, an answer out, until its input ends.

Requests come pickled from the parent, which made them; answers go back as lines of JSON, since a
child has read strangers' models.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from .checking import Request, check_or_error, failed
from .results import Checked

FLAG = "--check-worker"
"""How a frozen application starts itself as this child."""
READY = b'{"ready": true}\n'
"""The child's first line: it has loaded what it needs, a file's time runs from here."""
DEFECT = 4


def main() -> int:
    """Answer the requests on standard input."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever else writes to standard output, native libraries included, is no answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(_read_ahead(sys.stdin.buffer), answers)
    return 0


def serve(
    requests: Iterable[Request],
    answers: BinaryIO,
    check: Callable[[Request], Checked] = check_or_error,
) -> None:
    """Write an answer to each request."""
    answers.write(READY)
    answers.flush()
    for request in requests:
        answers.write(json.dumps(_answer(request, check), default=plain).encode() + b"\n")
        answers.flush()


def pickled(requests: BinaryIO) -> Iterator[Request]:
    """Each of the requests, until there are none left."""
    while True:
        try:
            yield pickle.load(requests)
        except EOFError:
            return


def _read_ahead(requests: BinaryIO) -> Iterator[Request]:
    """Each of the requests. With their end this process ends, whatever it is busy with just then.

    They end with the parent, on every system and however it ends.
    """
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()

    def read() -> None:
        try:
            for request in pickled(requests):
                waiting.put(request)
        finally:  # also where they end within a request
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


def _answer(request: Request, check: Callable[[Request], Checked]) -> dict[str, Any]:
    try:
        return check(request).to_json()
    except MemoryError as error:
        return failed(request, f"{request.path}: not enough memory: {error}", DEFECT).to_json()
    except Exception as error:
        traceback.print_exc()
        text = f"a defect in Opscope, please report it: {type(error).__name__}: {error}"
        return failed(request, f"{request.path}: {text}", DEFECT).to_json()


def plain(value: object) -> object:
    """A numpy scalar as Python's; TypeError for what JSON cannot hold."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


if __name__ == "__main__":
    sys.exit(main())
