"""The child process that asks an installed ONNX Runtime for a provider's kernels.

``python record_worker.py PROVIDER`` prints one line of JSON: ``versions``, ``device`` and
``kernels``, or ``missing``, ``no_device`` or ``error`` with a text. It imports nothing of Opscope.
ORT's library may print lines before it, and may end the process instead.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

CPU = "CPUExecutionProvider"
PLUGIN = "onnxruntime-ep-webgpu"


def kernels(provider: str) -> dict[str, Any]:
    """The answer for ``provider``."""
    versions: dict[str, str] = {}
    packages = ("onnxruntime",) if provider == CPU else ("onnxruntime", PLUGIN)
    modules: dict[str, Any] = {}
    for package in packages:
        name = package.replace("-", "_")
        try:
            modules[package] = importlib.import_module(name)
        except ImportError as error:
            return {"missing": f"{package} cannot be imported ({error})"}
        versions[package] = _version(package, modules[package])
    ort = modules["onnxruntime"]
    state = importlib.import_module("onnxruntime.capi._pybind_state")
    if provider == CPU:
        found = (k for k in state.get_all_opkernel_def() if k.provider == CPU)
        return {"versions": versions, "device": "the CPU", "kernels": _plain(found)}
    if not hasattr(state, "get_registered_ep_kernel_defs"):
        return {"error": f"onnxruntime {versions['onnxruntime']} cannot list a plugin's kernels"}
    ort.register_execution_provider_library("opscope-record", modules[PLUGIN].get_library_path())
    devices = [d for d in ort.get_ep_devices() if d.ep_name == provider]
    if not devices:
        return {"no_device": f"{PLUGIN} {versions[PLUGIN]} offers no device here"}
    found = state.get_registered_ep_kernel_defs(provider)
    return {"versions": versions, "device": _device(devices[0]), "kernels": _plain(found)}


def _version(package: str, module: Any) -> str:
    try:
        return str(getattr(module, "__version__", "") or version(package))
    except PackageNotFoundError:
        return "unknown"


def _device(device: Any) -> str:
    """What a plugin's device is called, as far as ORT says: a description, else kind and vendor."""
    hardware = device.device
    described = dict(hardware.metadata).get("Description")
    if described:
        return str(described)
    kind = str(hardware.type).rpartition(".")[2]
    return f"a {kind} device of {hardware.vendor or 'an unnamed vendor'}"


def _plain(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "domain": "" if k.domain == "ai.onnx" else k.domain,
            "op": k.op_name,
            "range": list(k.version_range),
            "types": {name: list(types) for name, types in k.type_constraints.items()},
        }
        for k in found
    ]


def main() -> None:
    """Print the answer for the provider that the command line names."""
    try:
        answer = kernels(sys.argv[1])
    except Exception as error:  # the parent says it in one line, whatever ORT raises
        answer = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
