"""``opscope devices``: the adapters here, their limits and features."""

from __future__ import annotations

import argparse

from ..device.gpu import list_adapters
from ..errors import DeviceError
from .arguments import add_json_list_argument
from .common import write_json

HELP = "list the GPU adapters, with their limits and features"
EXIT_CODES = "exit codes: 0 listed; 2 bad usage; 3 no adapter was found"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXIT_CODES
    add_json_list_argument(parser)


def main(options: argparse.Namespace) -> int:
    """Print the adapters, the one that is taken by default first."""
    profiles = [choice.profile for choice in list_adapters()]
    if options.json:
        write_json(options.json, {"schema": 1, "devices": [p.to_json() for p in profiles]})
    if not profiles:
        raise DeviceError("no GPU adapter was found; install a Vulkan driver")
    if options.json:
        return 0
    for p in profiles:
        print(f"{p.name}  ({p.kind}, {p.backend}, {p.driver})")
        print(f"  features: {', '.join(sorted(p.features)) or 'none of the optional ones'}")
        for name, value in p.to_json()["limits"].items():
            print(f"  {name}: {value:,}")
    return 0
