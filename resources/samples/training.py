"""Trains the sample denoiser with PyTorch, which only this module needs."""

from __future__ import annotations

import time

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from . import denoiser, speech

_SECONDS = 2
_BATCH = 12
_UTTERANCES = 1000
_NOISES_OF_A_KIND = 150


class Denoiser(nn.Module):
    """The network that `denoiser.build` writes down in ONNX: (batch, samples) to the same."""

    def __init__(self) -> None:
        super().__init__()
        window, bands, hop = denoiser.WINDOW, denoiser.BANDS, denoiser.HOP
        self.encoder = nn.Conv1d(1, 2 * bands, window, hop, padding=hop, bias=False)
        self.decoder = nn.ConvTranspose1d(2 * bands, 1, window, hop, padding=hop, bias=False)
        self.gru = nn.GRU(bands, denoiser.HIDDEN)
        self.mask = nn.Linear(denoiser.HIDDEN, bands)
        self._start_from_fourier()

    def forward(self, noisy: Tensor) -> Tensor:
        """The speech in (batch, samples), a whole number of hops long."""
        spectrum = self.encoder(noisy[:, None])
        cos, sin = spectrum.chunk(2, dim=1)
        loudness = torch.log(cos * cos + sin * sin + denoiser.POWER_FLOOR)
        hidden, _ = self.gru(loudness.permute(2, 0, 1))
        mask = torch.sigmoid(self.mask(hidden)).permute(1, 2, 0)
        return self.decoder(torch.cat([cos * mask, sin * mask], dim=1))[:, 0]

    def _start_from_fourier(self) -> None:
        """Begin with a short-time Fourier transform and its inverse; training moves both."""
        window, bands = denoiser.WINDOW, denoiser.BANDS
        n = np.arange(window)
        phase = 2 * np.pi * np.arange(1, bands + 1)[:, None] * n / window
        taper = np.sin(np.pi * (n + 0.5) / window)
        basis = np.concatenate([np.cos(phase), -np.sin(phase)])[:, None] * taper
        with torch.no_grad():
            self.encoder.weight.copy_(torch.from_numpy(basis))
            self.decoder.weight.copy_(torch.from_numpy(basis * 2 / window))
            self.gru.weight_ih_l0.mul_(0.3)  # log powers spread over some ten units


def train(minutes: float, seed: int) -> Denoiser:
    """Fit a new network on sound made from `seed`, for about the given time on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    sounds = _Sounds(rng)
    network = Denoiser()
    print(f"{sum(p.numel() for p in network.parameters()):,} weights")
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    started, step = time.monotonic(), 0
    while (done := (time.monotonic() - started) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1.0, (step + 1) / 50) * (0.02 + 0.98 * (1 - done) ** 1.5)
        clean, noisy = (torch.from_numpy(sound) for sound in sounds.batch(rng))
        loss = -_si_sdr_db(network(noisy), clean).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        if step % 50 == 0:
            print(f"  step {step:5d}  {100 * done:3.0f} %  SI-SDR {-loss.item():6.2f} dB")
        step += 1
    return network.eval()


def weights_of(network: Denoiser) -> denoiser.Weights:
    """The network's numbers in ONNX's layouts.

    PyTorch stacks a GRU's gates as r, z, n and ONNX as z, r, h; both apply the reset gate after
    the recurrent product (ONNX's linear_before_reset=1).
    """
    bands = denoiser.BANDS
    encoder = _array(network.encoder.weight)
    biases = [_onnx_gates(network.gru.bias_ih_l0), _onnx_gates(network.gru.bias_hh_l0)]
    return denoiser.Weights(
        encoder_cos=encoder[:bands],
        encoder_sin=encoder[bands:],
        gru_w=_onnx_gates(network.gru.weight_ih_l0)[None],
        gru_r=_onnx_gates(network.gru.weight_hh_l0)[None],
        gru_b=np.concatenate(biases)[None],
        mask_w=_array(network.mask.weight).T.copy(),
        mask_b=_array(network.mask.bias),
        decoder=_array(network.decoder.weight),
    )


def load(network: Denoiser, weights: denoiser.Weights) -> Denoiser:
    """Set the network's numbers from ONNX's layouts: the inverse of `weights_of`."""
    hidden = denoiser.HIDDEN
    with torch.no_grad():
        network.encoder.weight.copy_(
            torch.from_numpy(np.concatenate([weights.encoder_cos, weights.encoder_sin]))
        )
        network.decoder.weight.copy_(torch.from_numpy(weights.decoder.copy()))
        network.gru.weight_ih_l0.copy_(_torch_gates(weights.gru_w[0]))
        network.gru.weight_hh_l0.copy_(_torch_gates(weights.gru_r[0]))
        network.gru.bias_ih_l0.copy_(_torch_gates(weights.gru_b[0, : 3 * hidden]))
        network.gru.bias_hh_l0.copy_(_torch_gates(weights.gru_b[0, 3 * hidden :]))
        network.mask.weight.copy_(torch.from_numpy(weights.mask_w.T.copy()))
        network.mask.bias.copy_(torch.from_numpy(weights.mask_b.copy()))
    return network.eval()


class _Sounds:
    """A store of speech and noise, from which training mixes anew for each step."""

    def __init__(self, rng: np.random.Generator) -> None:
        samples = _SECONDS * speech.SAMPLE_RATE
        self._speech = np.stack([speech.speech(rng, samples) for _ in range(_UTTERANCES)])
        self._noise = {
            kind: np.stack([speech.noise(rng, samples, kind) for _ in range(_NOISES_OF_A_KIND)])
            for kind in speech.NOISE_KINDS
            if kind != "babble"
        }

    def batch(self, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Speech and its mixture with noise, each (batch, samples) float32."""
        pairs = [self._pair(rng) for _ in range(_BATCH)]
        clean, noisy = (np.stack(sounds).astype(np.float32) for sounds in zip(*pairs, strict=True))
        return clean, noisy

    def _pair(self, rng: np.random.Generator) -> tuple[speech.Sound, speech.Sound]:
        clean = self._speech[rng.integers(_UTTERANCES)]
        clean = np.roll(clean, rng.integers(clean.size))
        kind = speech.NOISE_KINDS[rng.integers(len(speech.NOISE_KINDS))]
        if kind == "babble":
            voices = self._speech[rng.integers(_UTTERANCES, size=6)]
            disturbance = (rng.uniform(0.5, 1.0, (6, 1)) * voices).sum(axis=0)
        else:
            disturbance = self._noise[kind][rng.integers(_NOISES_OF_A_KIND)]
        disturbance = np.roll(disturbance, rng.integers(clean.size))
        return speech.mix(clean, disturbance, rng.uniform(-3.0, 5.0), rng.uniform(-35.0, -17.0))


def _si_sdr_db(estimate: Tensor, clean: Tensor) -> Tensor:
    """As `speech.si_sdr_db`, for each row and with a gradient."""
    x = estimate - estimate.mean(dim=1, keepdim=True)
    s = clean - clean.mean(dim=1, keepdim=True)
    target = s * ((x * s).sum(1, keepdim=True) / (s * s).sum(1, keepdim=True))
    distortion = ((x - target) ** 2).sum(1)
    return 10 * torch.log10((target**2).sum(1) / distortion)


def _onnx_gates(stacked: Tensor) -> NDArray[np.float32]:
    reset, update, new = np.split(_array(stacked), 3)
    return np.concatenate([update, reset, new])


def _torch_gates(stacked: NDArray[np.float32]) -> Tensor:
    update, reset, new = np.split(stacked, 3)
    return torch.from_numpy(np.concatenate([reset, update, new]))


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().numpy().copy()
    return array
