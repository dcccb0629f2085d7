"""The child that loads onnxruntime: one line of JSON in, one out, until its input ends.

It is started by path and imports nothing of Opscope. A request says in "do" what is wanted.
``hello``: what is installed and which devices the provider finds. ``session``: makes a session from
a file, says which provider was assigned which node, saves the graph as ORT rewrote it, and runs it
where feeds are given. ``kernels``: all that a provider registers.

onnxruntime may abort this process at any request; the parent tells that from the pipe's end.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import IO, Any

FLAG = "--ort-worker"
"""How a frozen application starts itself as this child."""

WEBGPU = "WebGpuExecutionProvider"
CPU = "CPUExecutionProvider"
PLUGINS = {WEBGPU: ("webgpu", "onnxruntime_ep_webgpu", "onnxruntime-ep-webgpu")}
"""Provider -> the name it is registered under, its Python module, the distribution of that."""

OPTION_PREFIX = {WEBGPU: "ep.webgpuexecutionprovider."}
RECORD = "session.record_ep_graph_assignment_info"
FOLDER = "session.model_external_initializers_file_folder_path"
SAVED_WEIGHTS = "session.optimized_model_external_initializers_file_name"
SAVED_WEIGHTS_FROM = "session.optimized_model_external_initializers_min_size_in_bytes"
_ERRORS_ONLY = 3  # ORT's log severity


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """What was asked for is not to be had; ``kind`` tells the parent why."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Worker:
    """onnxruntime, imported with the first request."""

    def __init__(self) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise Refusal("missing", f"onnxruntime cannot be imported: {error}") from error
        self.ort: Any = onnxruntime
        self.registered: set[str] = set()
        # Asked before any plugin is registered: afterwards its provider is in the list, too.
        self.built_in: list[str] = list(onnxruntime.get_available_providers())
        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        if hasattr(onnxruntime, "disable_telemetry_events"):
            onnxruntime.disable_telemetry_events()  # what a user's model has in it is the user's

    def hello(self, provider: str) -> dict[str, Any]:
        """Versions, the providers built in, and the devices of ``provider``'s plugin."""
        versions = {"onnxruntime": self.ort.__version__}
        devices = []
        plugin = ""
        if provider not in self.built_in:
            versions |= self.register(provider)
            plugin = PLUGINS.get(provider, ("", "", ""))[2]
            devices = [_described(d) for d in self.devices(provider)]
        records = hasattr(self.ort.InferenceSession, "get_provider_graph_assignment_info")
        return {
            "versions": versions,
            "available": self.built_in,
            "plugin": plugin,
            "devices": devices,
            "records": records,
        }

    def register(self, provider: str) -> dict[str, str]:
        """Register the plugin of ``provider``, and its version."""
        if provider not in PLUGINS:
            raise Refusal("no-provider", f"onnxruntime {self.ort.__version__} has no {provider}")
        name, module, distribution = PLUGINS[provider]
        if not hasattr(self.ort, "register_execution_provider_library"):
            raise Refusal("old", f"onnxruntime {self.ort.__version__} loads no plugins")
        if provider not in self.registered:
            try:
                plugin = importlib.import_module(module)
            except ImportError as error:
                raise Refusal("no-plugin", f"{distribution} is not installed: {error}") from error
            try:
                self.ort.register_execution_provider_library(name, plugin.get_library_path())
            except Exception as error:  # ORT raises many types; all of them are its answer
                raise Refusal("no-plugin", f"{distribution}: {_line(error)}") from error
            self.registered.add(provider)
        return {distribution: importlib.metadata.version(distribution)}

    def devices(self, provider: str) -> list[Any]:
        """The plugin's devices."""
        return [d for d in self.ort.get_ep_devices() if d.ep_name == provider]

    def kernels(self, provider: str) -> dict[str, Any]:
        """What ``provider`` registers, the versions, and which device it was asked on."""
        versions = {"onnxruntime": self.ort.__version__}
        state = importlib.import_module("onnxruntime.capi._pybind_state")
        if provider == CPU:
            found = [k for k in state.get_all_opkernel_def() if k.provider == CPU]
            return {"versions": versions, "device": "the CPU", "kernels": _plain(found)}
        if not hasattr(state, "get_registered_ep_kernel_defs"):
            text = f"onnxruntime {self.ort.__version__} cannot list a plugin's kernels"
            raise Refusal("old", text)
        versions |= self.register(provider)
        devices = self.devices(provider)
        if not devices:
            raise Refusal("no-device", f"{provider} finds no device")
        rows = _plain(state.get_registered_ep_kernel_defs(provider))
        return {"versions": versions, "device": _called(devices[0]), "kernels": rows}

    def session(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a session as asked; where that fails, ORT's words are the answer."""
        try:
            session = self.make(request)
        except Refusal:
            raise
        except Exception as error:  # ORT raises many types; all of them are its answer
            return {"error": _line(error)}
        assigned = [
            [group.ep_name, node.domain, node.op_type, node.name]
            for group in session.get_provider_graph_assignment_info()
            for node in group.get_nodes()
        ]
        answer: dict[str, Any] = {"error": "", "assigned": assigned}
        if request.get("feeds"):
            answer |= _run(session, request["feeds"], request["feed_names"], request["outputs"])
        return answer

    def make(self, request: dict[str, Any]) -> Any:
        """The session."""
        provider = request["provider"]
        options = self.ort.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        options.intra_op_num_threads = 1
        options.add_session_config_entry(RECORD, "1")
        for key, value in request["options"].items():
            options.add_session_config_entry(OPTION_PREFIX.get(provider, "") + key, value)
        if request["basic"]:
            options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        if request["save"]:
            options.optimized_model_filepath = request["save"]
            weights = os.path.basename(request["save"]) + ".weights"
            options.add_session_config_entry(SAVED_WEIGHTS, weights)
            options.add_session_config_entry(SAVED_WEIGHTS_FROM, "1024")
        model: Any = request["model"]
        if request["folder"]:
            # The copy lies elsewhere; ORT takes a folder for external data only with bytes.
            options.add_session_config_entry(FOLDER, request["folder"])
            with open(model, "rb") as file:
                model = file.read()
        # Without enable_fallback=0 onnxruntime makes a CPU session where the provider fails, and
        # says so on the terminal alone.
        if provider in self.built_in:
            names = list(dict.fromkeys((provider, CPU)))
            return self.ort.InferenceSession(model, options, providers=names, enable_fallback=0)
        self.register(provider)
        devices = self.devices(provider)
        if not devices:
            raise Refusal("no-device", f"{provider} finds no device")
        options.add_provider_for_devices(devices[:1], {})
        return self.ort.InferenceSession(model, options, enable_fallback=0)


def _run(session: Any, feeds: str, names: list[str], outputs: str) -> dict[str, Any]:
    """Run the session; arrays are numbered in the files, since a name may be anything."""
    import numpy as np

    with np.load(feeds, allow_pickle=False) as arrays:
        given = {name: arrays[f"a{at}"] for at, name in enumerate(names)}
    # .npz has no objects: strings travel as fixed-width text, ORT wants objects.
    given = {n: a.astype(object) if a.dtype.kind == "U" else a for n, a in given.items()}
    try:
        values = session.run(None, given)
    except Exception as error:  # ORT raises many types; all of them are its answer
        return {"run_error": _line(error)}
    found, output_names = [], []
    for port, value in zip(session.get_outputs(), values, strict=True):
        if isinstance(value, np.ndarray):  # no sequence, no map
            found.append(value.astype(str) if value.dtype.kind == "O" else value)
            output_names.append(port.name)
    np.savez(outputs, *found)
    return {"run_error": "", "output_names": output_names}


def _described(device: Any) -> dict[str, Any]:
    return {
        "vendor": device.device.vendor,
        "type": str(device.device.type).rpartition(".")[2],
        "metadata": dict(device.device.metadata),
    }


def _called(device: Any) -> str:
    """What a plugin's device is called, as far as ORT says: a description, else kind and vendor."""
    hardware = device.device
    described = dict(hardware.metadata).get("Description")
    if described:
        return str(described)
    kind = str(hardware.type).rpartition(".")[2]
    return f"a {kind} device of {hardware.vendor or 'an unnamed vendor'}"


def _plain(kernels: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "domain": "" if k.domain == "ai.onnx" else k.domain,
            "op": k.op_name,
            "range": list(k.version_range),
            "types": {name: list(types) for name, types in k.type_constraints.items()},
        }
        for k in kernels
    ]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:2000]


def serve(lines: Iterable[str], answers: IO[str]) -> None:
    """Answer each line of ``lines`` until they end."""
    worker: Worker | None = None
    for line in lines:
        request = json.loads(line)
        try:
            worker = worker or Worker()
            match request["do"]:
                case "hello":
                    answer = worker.hello(request["provider"])
                case "kernels":
                    answer = worker.kernels(request["provider"])
                case _:
                    answer = worker.session(request)
        except Refusal as refusal:
            answer = {"refused": refusal.kind, "text": str(refusal)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> int:
    """Serve the pipes. What others print goes to standard error, so that answers stay whole."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with open(0, encoding="utf-8", closefd=False) as lines:
        serve(_read_ahead(lines), answers)
    return 0


def _read_ahead(lines: IO[str]) -> Iterator[str]:
    """Each of ``lines``. With their end this process ends, whatever ORT is busy with just then.

    They end with the parent, on every system and however it ends.
    """
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        try:
            for line in lines:
                waiting.put(line)
        finally:  # also where they end within a character
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield waiting.get()


if __name__ == "__main__":
    sys.exit(main())
