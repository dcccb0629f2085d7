"""``opscope providers``: the tables of ORT's providers, and a new one from an installed ORT."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..providers.record import FAMILIES, record, same_kernels, table_text, write_table
from ..providers.table import ProviderTable
from ..providers.table_file import is_name, parse_table
from ..providers.tables import (
    FOLDER_VARIABLE,
    LARGEST_FILE,
    is_own,
    load_table,
    table_names,
    user_folder,
)
from ..providers.targets import Target, targets
from .arguments import add_json_list_argument
from .common import write_json
from .text import one_line

HELP = "list the tables of ONNX Runtime's providers, or record one from an installed ORT"
EXIT_CODES = (
    "exit codes: 0 listed or recorded; 2 bad usage, or a file that cannot be written; 3 no "
    "onnxruntime, or no device, to record from; 4 onnxruntime gave no list of its kernels"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXIT_CODES
    add_json_list_argument(parser)
    parser.add_argument(
        "--record",
        metavar="FAMILY",
        help=f"write a table of the installed ORT: {' or '.join(FAMILIES)}",
    )
    parser.add_argument(
        "--as", dest="called", metavar="VERSION", help="the version that the new table gets"
    )
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        help=f"the new table's file, - for standard output (default: FAMILY-VERSION.json in the "
        f"folder that {FOLDER_VARIABLE} names, else here)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="-o may write over a file that is no table of the same family",
    )


def main(options: argparse.Namespace) -> int:
    """List the tables, or record one."""
    if options.record:
        if options.json:
            raise UsageError("--json is of the list; a new table is JSON by itself, with -o FILE")
        return _record(options.record, options.called or "", options.output, options.force)
    if options.output or options.called or options.force:
        raise UsageError("-o, --as and --force are of --record; the list goes to --json FILE")
    listed = [(t, t.provider.table) for t in targets() if hasattr(t.provider, "table")]
    if options.json:
        tables = [table_json(found, table) for found, table in listed]
        write_json(options.json, {"schema": 1, "providers": tables})
        return 0
    for found, table in listed:
        own = "  (yours)" if is_own(table.name) else ""
        print(one_line(f"{found.id}  {table.label}  {table.count:,} rows  {table.date}{own}"))
        print(one_line(f"    {table.source}"))
        if table.caveat:
            print(one_line(f"    {table.caveat}"))
    return 0


def table_json(target: Target, table: ProviderTable) -> dict[str, Any]:
    """A table's entry in ``--json``."""
    return {
        "target": target.id,
        "family": table.id,
        "version": table.version,
        "label": table.label,
        "provider": table.provider,
        "device": table.device,
        "host": table.host,
        "rows": table.count,
        "date": table.date,
        "source": table.source,
        "licence": table.licence,
        "matching": table.matching,
        "caveat": table.caveat,
        "opsets": table.opsets,
        "options": table.options,
        "own": is_own(table.name),
    }


def _record(family: str, called: str, output: str | None, force: bool) -> int:
    if called and not is_name(called):
        raise UsageError(f"--as {called!r} has characters that a target's name cannot have")
    if output and output != "-" and not force:
        _refuse_other(Path(output), family)
    data = record(family, called)
    if output == "-":
        print(table_text(data), end="")
        return 0
    made = parse_table(data, family)
    path = output or str(_default_path(made.name))
    _refuse_unlisted(Path(path), made.name)
    write_table(data, path)
    print(one_line(f"{path}: {made.label}, {made.count:,} rows"))
    if made.name in table_names() and not is_own(made.name):
        same = same_kernels(load_table(made.name), made)
        print(f"Opscope ships {made.name}: its kernels {'are the same' if same else 'differ'}")
    return 0


def _refuse_other(path: Path, family: str) -> None:
    """Only a table of the same family is written over."""
    if not os.path.isfile(path):  # in a closed folder, too; writing there says so
        return
    try:
        with path.open("rb") as file:
            same = parse_table(json.loads(file.read(LARGEST_FILE)), str(path)).id == family
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):  # no JSON, or no table
        same = False
    if not same:
        raise UsageError(f"{path} is there, and is no table of {family}; --force writes over it")


def _refuse_unlisted(path: Path, name: str) -> None:
    """A file in the user's folder that could not be read there would stop every other command."""
    folder = user_folder()
    if not folder or os.path.dirname(os.path.realpath(path)) != os.path.realpath(folder):
        return
    if path.suffix == ".json" and path.stem != name:
        raise UsageError(
            f"{path}: in {FOLDER_VARIABLE} the file of this table must be called {name}.json; "
            "--as VERSION gives the table another name"
        )
    _refuse_shipped(name)


def _refuse_shipped(name: str) -> None:
    if name in table_names() and not is_own(name):
        raise UsageError(
            f"Opscope ships a table {name} already: --as VERSION gives yours another name"
        )


def _default_path(name: str) -> Path:
    """Where the table ``name`` goes by itself: never over a file, nor beside one of its name."""
    folder = user_folder()
    if folder:
        _refuse_shipped(name)
    path = Path(folder) / f"{name}.json"
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already; -o {path} writes over it")
    return path
