"""Makes the sample models that Opscope ships, and shows what the denoiser is worth.

    python -m opscope.resources.samples.make_samples

Trains the denoiser in ten minutes on one core (`--minutes`), or writes the files again from the
weights of the one that is there (`--keep-weights`). Needs `pip install torch onnxruntime` beside
Opscope. The mean SI-SDR gain on mixtures that training has not seen is printed for each file;
the script fails where one stays under 6 dB or strays from PyTorch's result.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from numpy.typing import NDArray

from . import denoiser, showcase, speech, training

FOLDER = Path(__file__).resolve().parent
PRECISIONS = ("f32", "f16")
OPSETS = (17, 22)
GAIN_FLOOR_DB = 6.0
_ERROR_LIMIT = {"f32": 1e-4, "f16": 2e-2}


def main() -> int:
    """Write every sample; 1 where a denoiser falls short."""
    arguments = _arguments()
    if arguments.keep_weights:
        weights = denoiser.weights_of(onnx.load(_denoiser_path("f32", 17)))
        network = training.load(training.Denoiser(), weights)
    else:
        network = training.train(arguments.minutes, arguments.seed)
        weights = training.weights_of(network)

    mixtures = list(speech.evaluation_set())
    noisy = np.stack([mixture.noisy for mixture in mixtures])
    with torch.no_grad():
        expected = network(torch.from_numpy(noisy)).numpy()
    print(f"SI-SDR gain on {len(mixtures)} unseen mixtures at 0 dB, in dB:")
    print(f"  {'file':30s} {'mean':>6s} " + " ".join(f"{k:>7s}" for k in speech.NOISE_KINDS))
    _print_gains("PyTorch", expected, mixtures)
    is_good = True
    for precision in PRECISIONS:
        for opset in OPSETS:
            path = _denoiser_path(precision, opset)
            onnx.save(denoiser.build(weights, precision, opset), path)
            result = _run(path, noisy)
            gain_db = _print_gains(path.name, result, mixtures)
            error = float(np.linalg.norm(result - expected) / np.linalg.norm(expected))
            print(f"  {'':30s} {path.stat().st_size:,} bytes, {error:.1e} from PyTorch")
            is_good &= gain_db >= GAIN_FLOOR_DB and error <= _ERROR_LIMIT[precision]
    onnx.save(showcase.build(), FOLDER / "warnings.onnx")
    if not is_good:
        print(f"a gain is under {GAIN_FLOOR_DB} dB, or a result is not PyTorch's", file=sys.stderr)
    return 0 if is_good else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to train")
    parser.add_argument("--seed", type=int, default=1, help="what sound is made for training")
    parser.add_argument("--keep-weights", action="store_true", help="write the files again only")
    return parser.parse_args()


def _denoiser_path(precision: str, opset: int) -> Path:
    return FOLDER / f"denoiser_{precision}_opset{opset}.onnx"


def _run(path: Path, noisy: NDArray[np.float32]) -> NDArray[np.float32]:
    """The model's answer to (mixtures, samples), through ONNX Runtime's CPU provider."""
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    (clean,) = session.run(None, {"noisy": noisy.reshape(len(noisy), -1, denoiser.HOP)})
    array: NDArray[np.float32] = clean.reshape(noisy.shape)
    return array


def _print_gains(name: str, result: NDArray[np.float32], mixtures: list[speech.Mixture]) -> float:
    """Print a line of mean gains, over all and for each kind of noise; returns that over all."""
    gains: dict[str, list[float]] = {kind: [] for kind in speech.NOISE_KINDS}
    for estimate, mixture in zip(result, mixtures, strict=True):
        before = speech.si_sdr_db(mixture.noisy, mixture.clean)
        gains[mixture.kind].append(speech.si_sdr_db(estimate, mixture.clean) - before)
    mean = float(np.mean([gain for values in gains.values() for gain in values]))
    print(f"  {name:30s} {mean:6.2f} " + " ".join(f"{np.mean(v):7.2f}" for v in gains.values()))
    return mean


if __name__ == "__main__":
    sys.exit(main())
