"""Every code that a finding can have, in one place: the pages, ``explain`` and SARIF read it.

A code is a promise to those who filter by it: it never changes its meaning. tests/checks holds this
list against the source, the pages in docs/checks and the examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..diagnostics import Severity

FIRST_VERSION = "0.1.0"
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

WEBGPU = ("ort-webgpu",)
OURS = ("opscope",)
ON_WEBGPU = ("opscope", "ort-webgpu", "ort-web")


@dataclass(frozen=True, slots=True)
class Code:
    """What one code stands for.

    Attributes:
        name: the code itself, kebab case.
        title: what is the matter, in a few words.
        severities: those that a finding with it can have, the worst first.
        group: the heading under which the index lists it.
        targets: families of targets that it can name; () where it is about any, or about the file.
        fix: rule of ``opscope fix`` that can mend it, "" where none can.
        since: the version of Opscope that had it first.
    """

    name: str
    title: str
    severities: tuple[Severity, ...]
    group: str = ""
    targets: tuple[str, ...] = ()
    fix: str = ""
    since: str = FIRST_VERSION


PLACEMENT = "Where nodes run"
PRECISION = "What f16 and int64 lose"
LIMITS = "Memory and limits"
RUN = "Seen in a run"
REQUIRED = "What you required"
FILE = "The file"

_ALL = (
    # ---- placement
    Code("opset-gate", "a newer opset stamp keeps the node off the GPU",
         (ERROR, WARNING), PLACEMENT, fix="lower-opset"),
    Code("outside-layout-range", "the provider takes no node of this model, because of its opset",
         (ERROR,), PLACEMENT, ("ort-webgpu", "ort-web")),
    Code("host-node", "the node runs on the CPU",
         (ERROR, WARNING, INFO), PLACEMENT),
    Code("f16-recurrent-on-cpu", "a GRU, LSTM or RNN in f16 is left to the CPU",
         (ERROR,), PLACEMENT, fix="cast-f32"),
    Code("rejected-at-session", "creating the session fails because of this node",
         (ERROR,), PLACEMENT),
    Code("fails-at-run", "the node is placed, and then it fails at run time",
         (ERROR,), PLACEMENT),
    Code("unsupported-node", "nobody can run the node",
         (ERROR,), PLACEMENT),
    Code("unknown-placement", "where the node runs cannot be known",
         (INFO,), PLACEMENT),
    Code("copies", "values cross between GPU and CPU in each run",
         (INFO,), PLACEMENT),
    Code("splits-gpu", "a node on the CPU breaks a chain of GPU nodes",
         (WARNING, INFO), PLACEMENT),
    Code("table-differs", "the installed ONNX Runtime places the node otherwise than predicted",
         (ERROR,), PLACEMENT),
    Code("live-agrees", "how far the installed ONNX Runtime does as predicted",
         (INFO,), PLACEMENT),
    # ---- precision
    Code("f16-index-loss", "indices computed in f16 give wrong columns",
         (ERROR, INFO), PRECISION, WEBGPU, fix="cast-f32"),
    Code("f16-index-pattern", "an axis longer than f16 can count",
         (INFO,), PRECISION),
    Code("f16-long-sum", "a sum of more f16 terms than f16 can add",
         (WARNING, INFO), PRECISION, WEBGPU, fix="cast-f32"),
    Code("f16-constant-overflow", "a constant becomes infinite in f16",
         (WARNING,), PRECISION),
    Code("f16-constant-vanishes", "a constant becomes zero in f16",
         (WARNING,), PRECISION),
    Code("int64-narrowing", "int64 arithmetic that the GPU does with the low 32 bits, if at all",
         (WARNING, INFO), PRECISION, WEBGPU, fix="int64-to-int32"),
    # ---- limits
    Code("binding-limit", "a tensor is larger than the GPU binds at once",
         (ERROR, WARNING), LIMITS, ON_WEBGPU),
    Code("storage-buffer-limit", "a node binds more storage buffers than one shader may",
         (ERROR, WARNING), LIMITS, ("ort-webgpu", "ort-web")),
    Code("f16-unavailable", "the adapter has no f16",
         (ERROR, INFO), LIMITS, ON_WEBGPU),
    Code("limits-below-default", "the adapter offers less than WebGPU's default limits",
         (WARNING,), LIMITS),
    Code("web-budget", "more bytes to download, or more GPU memory, than you allow",
         (ERROR,), LIMITS),
    # ---- runs
    Code("f16-overflow", "an f16 value became infinite",
         (WARNING,), RUN, OURS, fix="cast-f32"),
    Code("inf-values", "a value became infinite",
         (WARNING,), RUN, OURS),
    Code("nan-values", "a value is not a number",
         (WARNING,), RUN, OURS),
    Code("cannot-run", "the node contradicts ONNX's text",
         (ERROR, WARNING), RUN, OURS),
    Code("not-planned", "shapes are known as far as the file tells, no plan was made",
         (INFO,), RUN, OURS, fix="fix-shapes"),
    # ---- policy
    Code("required-op", "an operator that you required is not on the GPU",
         (ERROR,), REQUIRED),
    Code("required-op-absent", "an operator that you required is not in the model",
         (WARNING,), REQUIRED),
    Code("strict-placement", "a recurrent node is off the GPU, and --strict was given",
         (ERROR,), REQUIRED),
    # ---- the file
    Code("cycle", "nodes feed each other in a circle", (ERROR,), FILE),
    Code("undefined-input", "a node reads a value that nothing defines", (ERROR,), FILE),
    Code("missing-output", "an output of the model is produced by no node", (ERROR,), FILE),
    Code("value-defined-twice", "two definitions of one value", (ERROR,), FILE),
    Code("invalid-tensor", "a tensor of negative shape", (ERROR,), FILE),
    Code("unreadable-weight", "a weight in the file cannot be decoded", (ERROR,), FILE),
    Code("external-data-missing", "the file with the weights is not there", (ERROR,), FILE),
    Code("external-data-outside", "external data outside the model's folder", (ERROR,), FILE),
    Code("external-data-size", "the file with the weights is too short", (ERROR,), FILE),
    Code("external-data-invalid", "where a weight's data lies is not said right", (ERROR,), FILE),
    Code("unknown-element-type", "an element type that is unknown", (ERROR, WARNING), FILE),
    Code("no-opset-import", "the model names no version of ONNX's operators", (WARNING,), FILE),
    Code("shape-inference-failed", "shapes cannot be inferred past a node", (WARNING,), FILE),
    Code("duplicate-node-name", "two nodes share a name", (WARNING,), FILE),
    Code("function-defined-twice", "two definitions of one function", (WARNING,), FILE),
    Code("unnamed-initializer", "a weight without a name", (WARNING,), FILE),
    Code("attribute-given-twice", "an attribute is given twice", (WARNING,), FILE),
    Code("attribute-without-type", "an attribute without type and value", (WARNING,), FILE),
    Code("external-data-key", "an unknown key about external data", (WARNING,), FILE),
    Code("invalid-utf8", "text that is not UTF-8", (WARNING, INFO), FILE),
    Code("unsorted-nodes", "a node stands before one that it reads from", (INFO,), FILE),
    Code("large-model", "so many nodes that the graph's layout takes a while", (INFO,), FILE),
    Code("map-type", "a value of map type", (INFO,), FILE),
    Code("incomplete-type", "a sequence or an optional of unknown element type", (INFO,), FILE),
    Code("sparse-tensor", "a sparse tensor is used as dense", (INFO,), FILE),
)  # fmt: skip

CODES: Mapping[str, Code] = MappingProxyType({code.name: code for code in _ALL})
"""Code -> what it stands for, grouped, the worst first within the file's."""
