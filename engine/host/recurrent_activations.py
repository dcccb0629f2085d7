"""The activations of the host's RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ops.use import OpUse
from .elementwise import sigmoid, softplus

Array = np.ndarray
Activation = Callable[[Array], Array]

# name -> (function of x, alpha, beta; default alpha or None if unused; default beta or None)
_ACTIVATIONS: dict[str, tuple[Callable[[Array, float, float], Array], float | None, float | None]]
_ACTIVATIONS = {
    "relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "tanh": (lambda x, a, b: np.tanh(x), None, None),
    "sigmoid": (lambda x, a, b: sigmoid(x), None, None),
    "softsign": (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    "softplus": (lambda x, a, b: softplus(x), None, None),
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b: np.where(x >= 0, x, a * x), 0.01, None),
    "thresholdedrelu": (lambda x, a, b: np.where(x < a, 0, x), 1.0, None),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))), 1.0, None),
}


def activations_of(
    use: OpUse, defaults: tuple[str, ...], directions: int
) -> list[list[Activation]]:
    """The activations of each direction, bound to their alpha and beta, then to clip.

    Alphas and betas are consumed in the order of the activations, by those that have one.
    """
    names = list(use.attr("activations") or defaults * directions)
    wanted = len(defaults) * directions
    if use.op_type == "RNN" and names == ["Tanh", "Tanh"]:
        names = names[:wanted]  # the attribute's default has two, for either direction
    if len(names) != wanted:
        raise use.error(f"{len(names)} activations are given; {wanted} are needed")
    alphas = list(use.attr("activation_alpha") or ())
    betas = list(use.attr("activation_beta") or ())
    clip = use.attr("clip")
    step = len(defaults)
    bound: list[Activation] = []
    for index, name in enumerate(names):
        if str(name).lower() not in _ACTIVATIONS:
            raise use.error(f"the activation {name!r} is unknown")
        function, alpha, beta = _ACTIVATIONS[str(name).lower()]
        a = 0.0 if alpha is None else alphas.pop(0) if alphas else alpha
        b = 0.0 if beta is None else betas.pop(0) if betas else beta
        of_gate = index % step < 2  # an LSTM's third, h(C), takes the cell as it is
        bound.append(_bind(function, a, b, clip if of_gate else None))
    return [bound[i : i + step] for i in range(0, wanted, step)]


def _bind(
    function: Callable[[Array, float, float], Array], a: float, b: float, clip: float | None
) -> Activation:
    if clip is None or clip == 0:
        return lambda x: function(x, a, b)
    return lambda x: function(np.clip(x, -clip, clip), a, b)
