"""The engine: from an ONNX file to numbers, times and findings. No Qt in here.

What flows where (each arrow can be called without the next)::

    file ──ir.load──────────▶ Model + Diagnostics    weights are not read yet
    Model ──providers.place─▶ Placement              per node: status, reason, copies at borders
    Model ──checks.judge────▶ Judgement              verdicts and findings, from types and shapes
    Model + feeds ──plan────▶ Plan                   folding, fusion, buffers, dispatches
    Plan ──device───────────▶ Program                pipelines and buffers, made once
    Program + feeds ────────▶ RunResult              outputs, times per node, statistics

Who may know what: only ``ir`` and ``host`` import onnx, only ``device`` imports wgpu, nobody here
imports Qt. Between stages travel frozen dataclasses:

    ir.model        Model, Graph, Node, NodeId, Weight, TensorType
    ops.use         OpUse: one use of an operator, all that kernels and providers know of a node
    ops.registry    Kernel and @kernel: the one source of what our GPU can run
    ops.steps       Tensor, Dispatch, StepBuilder: what a kernel may ask for
    providers.support  Status, Reason, Support: a provider's verdict
    plan.types      Plan, Segment, Storage, NodePlacement
    results         RunResult, NodeTime, ValueStats
    diagnostics     Diagnostic, Severity      errors     the error tree

``session.Session`` calls them in order; the window and the command line both use it.
"""
