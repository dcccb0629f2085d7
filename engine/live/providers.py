"""Which of ORT's providers a target means, with which options, and what helps where it is not."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..ir.model import Model
from ..providers.ort import OrtProvider
from ..providers.record import FAMILIES
from ..providers.targets import Target, target, targets
from .answer import CPU, PACKAGES, WEBGPU, LiveUnavailable, install

PROVIDERS: Mapping[str, str] = {
    "ort-webgpu": WEBGPU,
    "ort-cpu": CPU,
    "ort-cuda": "CUDAExecutionProvider",
    "ort-dml": "DmlExecutionProvider",
}
IN_A_BROWSER = ("ort-web", "webnn")
PACKAGED = "install Opscope from its source, with the extra 'ort'"
SOFTWARE = "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"


@dataclass(frozen=True)
class Asked:
    """A target as ORT is asked for it.

    Attributes:
        provider: ORT's name.
        options: the provider's options that the target states, but for forced names.
        forced: node names of forceCpuNodeNames, as the model has them.
    """

    target: Target
    provider: str
    options: Mapping[str, str]
    forced: frozenset[str]


def asked(target_id: str) -> Asked:
    """The target ``target_id`` as ORT is asked for it.

    Raises:
        UsageError: there is no such target, or no installed ORT can answer for it.
    """
    found = target(target_id)
    if found.family in IN_A_BROWSER:
        raise UsageError(
            f"target {target_id!r} cannot be asked live: this provider lives in a browser"
        )
    if found.family not in PROVIDERS:
        raise UsageError(
            f"target {target_id!r} cannot be asked live: it is not one of ORT's providers "
            f"({', '.join(PROVIDERS)})"
        )
    options: dict[str, str] = {}
    forced: frozenset[str] = frozenset()
    if isinstance(found.provider, OrtProvider):
        stated = found.provider.options
        if stated.enable_int64:
            options["enableInt64"] = "1"
        if stated.preferred_layout != "NHWC":
            options["preferredLayout"] = stated.preferred_layout
        forced = stated.force_cpu_node_names
    return Asked(found, PROVIDERS[found.family], options, forced)


def forced_option(asked: Asked, model: Model, names: Mapping[Any, str]) -> dict[str, str]:
    """ForceCpuNodeNames for a copy of ``model`` whose nodes are called ``names``."""
    wanted = [names[n.id] for n in model.nodes.values() if n.name and n.name in asked.forced]
    return {"forceCpuNodeNames": "\n".join(wanted)} if wanted else {}


def version_notes(asked: Asked, versions: Mapping[str, str]) -> tuple[str, ...]:
    """Said where the table is of another version than what is installed, with what helps."""
    plugin = {name: v for name, v in versions.items() if name != "onnxruntime"}
    name, version = next(iter((plugin or versions).items()))
    is_built_in = asked.provider == WEBGPU and not plugin
    wanted = f"built-in-{version}" if is_built_in else version
    family, stated = asked.target.family, asked.target.version
    if not stated or stated == wanted:
        return ()
    options = asked.target.id.partition(",")[2]
    if any(t.family == family and t.version == wanted for t in targets()):
        same = ",".join(filter(None, (f"{family}@{wanted}", options)))
        helps = f"ask for --target {same}"
    elif family in FAMILIES and not is_built_in:
        helps = f"there is no table of that: opscope providers --record {family} makes one"
    else:
        helps = "there is no table of that"
    return (
        f"the prediction is from the table {family} {stated}, but {name} {version} is installed; "
        + helps,
    )


def check_hello(asked: Asked, hello: Mapping[str, Any]) -> None:
    """Raise LiveUnavailable unless the child can be asked; the text says what helps."""
    refused = hello.get("refused")
    if refused:
        raise LiveUnavailable(_refusal(asked, str(refused), str(hello["text"])))
    version = hello["versions"]["onnxruntime"]
    if not hello["records"]:
        raise LiveUnavailable(
            f"onnxruntime {version} does not tell which provider took which node; "
            + install(asked.provider)
        )
    if asked.provider not in hello["available"] and not hello["devices"]:
        raise LiveUnavailable(no_adapter(asked.provider, hello["versions"]))


def no_adapter(provider: str, versions: Mapping[str, str], words: Sequence[str] = ()) -> str:
    """Why a provider finds no adapter, and what helps.

    Args:
        provider: ORT's name.
        versions: what is installed.
        words: what the child printed: Dawn says there why it turned an adapter down.
    """
    who = ", ".join(f"{n} {v}" for n, v in versions.items())
    if provider != WEBGPU:
        return f"{provider} finds no device ({who})"
    said = " ".join(words)
    if "Found no drivers" in said or "VK_ERROR_INCOMPATIBLE_DRIVER" in said:
        why = "no Vulkan driver is installed"
        helps = "install the GPU's driver; a software one is in Mesa 25 (mesa-vulkan-drivers)"
    elif lacking := _lacking(words):
        why = f"the Vulkan driver lacks what Dawn wants ({lacking})"
        helps = "a newer driver: Mesa 22.3 is too old, Mesa 25 has it"
    else:
        why = "ORT sees no GPU in this machine"
        helps = (
            f"a software adapter is taken with the environment variable {SOFTWARE}=1; it needs "
            "Mesa 25 or later"
        )
    return f"{provider} has no adapter ({who}): {why}; {helps}"


def _lacking(words: Sequence[str]) -> str:
    """The feature that Dawn missed, from lines as ``Warning: Vulkan X required.``; "" if none."""
    found = [re.search(r"Warning: (?:Vulkan )?(.+) required", line) for line in words]
    return ", ".join(match.group(1) for match in found if match)


def is_adapter_failure(error: str) -> bool:
    """Whether a failed session creation says that there is no usable adapter or device."""
    return any(sign in error for sign in _ADAPTER_SIGNS)


# Source: onnxruntime/core/providers/webgpu/webgpu_context.cc.
_ADAPTER_SIGNS = ("Failed to get a WebGPU adapter", "Failed to get a WebGPU device")


def _refusal(asked: Asked, kind: str, text: str) -> str:
    if kind == "missing" and getattr(sys, "frozen", False):
        return f"this packaged application has no onnxruntime ({text}); {PACKAGED}"
    if kind == "no-provider":
        return f"{text}; it is in the package {PACKAGES[asked.provider].split()[-1]}"
    if kind == "no-device":
        return no_adapter(asked.provider, {})
    return f"{text}; {install(asked.provider)}"
