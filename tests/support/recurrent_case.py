"""Random GRU and LSTM nodes, run on the GPU alone and compared with the f64 oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import opcase
import opscope.shaders
import pytest
import recurrent_oracle
from opscope.engine.device.gpu import Gpu
from opscope.engine.device.pipelines import Pipelines
from opscope.engine.device.profile import Limits
from opscope.engine.ops import recurrent_split, recurrent_steps
from opscope.engine.plan import builder
from opscope.engine.session import Session

F32_LIMIT = 1e-5
F16_LIMIT = 2**-11  # half a unit in the last place: what storing in f16 costs
X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, P = range(8)


@dataclass(frozen=True)
class Case:
    """A node to be made with random contents.

    Attributes:
        absent: names of the optional inputs to leave out: "B", "initial_h", "initial_c", "P".
        lengths: sequence_lens, or None to leave it out.
        runtime: weights are graph inputs instead of initializers.
        outputs: names of the outputs, "" for an unwanted one.
    """

    op: str
    steps: int = 5
    batch: int = 3
    inputs: int = 4
    hidden: int = 7
    attributes: Mapping[str, Any] = field(default_factory=dict)
    lengths: Sequence[int] | None = None
    absent: tuple[str, ...] = ()
    runtime: bool = False
    outputs: tuple[str, ...] = ()
    dtype: type = np.float32
    opset: int = 14
    seed: int = 0

    def arrays(self) -> list[np.ndarray | None]:
        """The node's inputs."""
        rng = np.random.default_rng(self.seed)
        gates = 3 if self.op == "GRU" else 4
        directions = 2 if self.attributes.get("direction") == "bidirectional" else 1
        t, b, i, h = self.steps, self.batch, self.inputs, self.hidden
        batch_first = self.attributes.get("layout", 0)
        state = (b, directions, h) if batch_first else (directions, b, h)

        def normal(shape: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
            return (rng.standard_normal(shape) * scale).astype(self.dtype)

        lengths = None if self.lengths is None else np.array(self.lengths, np.int32)
        inputs: list[np.ndarray | None] = [
            normal((b, t, i) if batch_first else (t, b, i)),
            normal((directions, gates * h, i), max(i, 1) ** -0.5),
            normal((directions, gates * h, h), h**-0.5),
            normal((directions, 2 * gates * h), 0.5),
            lengths,
            normal(state),
        ]
        if self.op == "LSTM":
            inputs += [normal(state), normal((directions, 3 * h), 0.7)]
        names = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
        inputs = [None if n in self.absent else a for n, a in zip(names, inputs, strict=False)]
        while inputs[-1] is None:
            inputs.pop()
        return inputs

    def expected(self) -> list[np.ndarray]:
        """All outputs in f64."""
        oracle = recurrent_oracle.gru if self.op == "GRU" else recurrent_oracle.lstm
        return oracle(self.arrays(), self.attributes)

    def run(self, on: Session | None = None) -> list[np.ndarray | None]:
        """The outputs that the GPU gives, None for unwanted ones."""
        inputs = self.arrays()
        weights = () if self.runtime else (W, R, B)
        names = self.outputs or ("y", "y_h", "y_c")[: 2 if self.op == "GRU" else 3]
        result = opcase.run_op_result(
            self.op,
            inputs,
            self.attributes,
            on=on,
            opset=self.opset,
            outputs=names,
            constants=[i for i in weights if i < len(inputs) and inputs[i] is not None],
        )
        return [result.outputs[name] if name else None for name in names]

    def errors(self, on: Session | None = None) -> list[float]:
        """The relative L2 error of each wanted output."""
        found = []
        for actual, expected in zip(self.run(on), self.expected(), strict=False):
            if actual is None:
                continue
            assert actual.shape == expected.shape
            assert actual.dtype == self.dtype
            scale = np.linalg.norm(expected) or 1.0
            found.append(float(np.linalg.norm(actual.astype(np.float64) - expected) / scale))
        return found

    def check(self, on: Session | None = None) -> None:
        """Fail where an output is further from the oracle than its storage explains."""
        errors = self.errors(on)
        assert errors
        assert max(errors) <= (F16_LIMIT if self.dtype is np.float16 else F32_LIMIT), errors


def fresh_session(pipelines: Pipelines | None = None, **limits: int) -> Session:
    """A session without cached plans, on the shared device, with lower limits.

    Its pipelines are those of all kernel tests unless it is given others.
    """
    session = Session()
    gpu = opcase.session().gpu
    lower = replace(gpu.profile.limits, **limits)
    session.__dict__["gpu"] = Gpu(replace(gpu.profile, limits=lower), gpu.device)
    shared = opcase.session().pipelines
    session.__dict__["pipelines"] = shared if pipelines is None else pipelines
    return session


def default_limits() -> Session:
    """A session that may use no more than what every WebGPU device offers."""
    names = (
        "max_storage_buffers_per_shader_stage",
        "max_compute_workgroup_storage_size",
        "max_compute_invocations_per_workgroup",
        "max_compute_workgroup_size_x",
    )
    return fresh_session(**{name: getattr(Limits(), name) for name in names})


def force_steps(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session in which no weights fit registers: a dispatch per step, as GPUs run it."""
    monkeypatch.setattr(recurrent_split, "WORKGROUP_REGISTERS", 0)
    monkeypatch.setattr(recurrent_split, "LANES", {})
    return fresh_session()


def force_pieces(monkeypatch: pytest.MonkeyPatch, steps: int, work: int) -> Session:
    """A session whose dispatches hold at most ``steps`` steps and ``work`` multiply-adds."""
    monkeypatch.setattr(recurrent_steps, "STEPS_PER_DISPATCH", steps)
    kinds = dict.fromkeys(builder.WORK_LIMIT, work)
    monkeypatch.setattr(builder, "WORK_LIMIT", kinds)
    monkeypatch.setattr(builder, "DEFAULT_WORK_LIMIT", work)
    return fresh_session()


def force_checked(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose kernels keep the run-time checks."""
    monkeypatch.setattr(recurrent_steps, "TRUSTED", False)
    return fresh_session()


def mutate(monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str) -> Session:
    """A session in which ``old`` is ``new`` in the WGSL of ``file``."""
    load: Callable[[str], str] = opscope.shaders.load_wgsl

    def mutant(name: str) -> str:
        text = load(name)
        if name != file:
            return text
        assert old in text, f"{file} no longer holds {old!r}: the mutant must be written anew"
        return text.replace(old, new)

    monkeypatch.setattr(opscope.shaders, "load_wgsl", mutant)
    opscope.shaders._environment.cache_clear()
    shared = opcase.session().pipelines
    mutants = Pipelines(opcase.session().gpu)
    # Compiling is what these tests wait for: what no mutant touches is taken over.
    untouched = {k: p for k, p in shared._pipelines.items() if k[0].startswith("recurrent_")}
    mutants._pipelines.update(untouched)
    return fresh_session(mutants)
