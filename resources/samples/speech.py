"""Synthetic speech-like sound and noise, seeded: what the sample denoiser learns and is judged on.

The speech is made as a voice makes it: a pitched source of harmonics or a hiss, shaped by the
resonances of a vocal tract that glides from vowel to vowel, in syllables with pauses between.
It carries no words, but it has what a denoiser must find: harmonics that move together, formants,
onsets and silences. The same seed gives the same sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
NOISE_KINDS = ("white", "pink", "fan", "hum", "babble")
EVALUATION_SEED = 1_000_000_000
"""Seeds from here on are for evaluation; training takes its seeds from below."""

Sound = NDArray[np.float64]

# Formant frequencies of vowels in Hz (an adult's, averaged over textbooks), for a u i e o ae.
_VOWELS = np.array(
    [
        [730.0, 1090.0, 2440.0, 3400.0],
        [300.0, 870.0, 2240.0, 3300.0],
        [270.0, 2290.0, 3010.0, 3600.0],
        [530.0, 1840.0, 2480.0, 3500.0],
        [570.0, 840.0, 2410.0, 3300.0],
        [660.0, 1720.0, 2410.0, 3400.0],
    ]
)
_BANDWIDTHS = np.array([70.0, 100.0, 140.0, 220.0])
_CONTROL_STEP = 80  # samples between the points at which the voice's shape is computed


@dataclass(frozen=True)
class Mixture:
    """One noisy recording and what it was made of.

    Attributes:
        clean: (samples,) float32, the speech alone.
        noisy: (samples,) float32, the speech with noise added.
        kind: which of `NOISE_KINDS` the noise is.
    """

    clean: NDArray[np.float32]
    noisy: NDArray[np.float32]
    kind: str


def speech(rng: np.random.Generator, samples: int) -> Sound:
    """One speaker's syllables with pauses, (samples,), of root mean square 1."""
    pitch = rng.uniform(85.0, 250.0)
    tract = rng.uniform(0.88, 1.18)
    sound = np.zeros(samples)
    vowel = _VOWELS[rng.integers(len(_VOWELS))] * tract
    at = int(rng.uniform(0.0, 0.08) * SAMPLE_RATE)
    while at < samples:
        target = _VOWELS[rng.integers(len(_VOWELS))] * tract
        syllable = _syllable(rng, pitch * rng.uniform(0.85, 1.2), vowel, target)
        end = min(samples, at + len(syllable))
        sound[at:end] += syllable[: end - at]
        vowel = target
        pause = rng.uniform(0.12, 0.35) if rng.random() < 0.2 else rng.uniform(0.0, 0.05)
        at = end + int(pause * SAMPLE_RATE)
    return sound / _rms(sound)


def noise(rng: np.random.Generator, samples: int, kind: str) -> Sound:
    """Noise of one of `NOISE_KINDS`, (samples,), of root mean square 1.

    Raises:
        ValueError: the kind is not one of `NOISE_KINDS`.
    """
    if kind == "babble":
        voices = [speech(rng, samples) * rng.uniform(0.5, 1.0) for _ in range(6)]
        sound = np.sum(voices, axis=0)
    elif kind == "hum":
        sound = _hum(rng, samples)
    elif kind in ("white", "pink", "fan"):
        slope = {"white": 0.0, "pink": 0.5, "fan": rng.uniform(0.6, 1.1)}[kind]
        sound = _coloured(rng, samples, slope)
        if kind == "fan":
            rate, phase = rng.uniform(1.0, 9.0), rng.uniform(0.0, 2 * np.pi)
            seconds = np.arange(samples) / SAMPLE_RATE
            sound *= 1.0 + rng.uniform(0.1, 0.6) * np.sin(2 * np.pi * rate * seconds + phase)
    else:
        raise ValueError(f"noise kind {kind!r} is none of {', '.join(NOISE_KINDS)}")
    return sound / _rms(sound)


def mix(clean: Sound, disturbance: Sound, snr_db: float, level_db: float) -> tuple[Sound, Sound]:
    """Scale both of (samples,) to a ratio and to a level of the speech.

    Args:
        clean: the speech.
        disturbance: the noise.
        snr_db: power of the speech over that of the noise, in dB.
        level_db: root mean square of the speech, in dB of full scale.

    Returns:
        The scaled speech, and the sum of the two.
    """
    clean = clean * (10 ** (level_db / 20) / _rms(clean))
    disturbance = disturbance * (_rms(clean) / _rms(disturbance) * 10 ** (-snr_db / 20))
    return clean, clean + disturbance


def evaluation_set(count: int = 50, samples: int = SAMPLE_RATE) -> Iterator[Mixture]:
    """Mixtures at 0 dB that no training has seen, the kinds of noise in turn."""
    for i in range(count):
        rng = np.random.default_rng(EVALUATION_SEED + i)
        kind = NOISE_KINDS[i % len(NOISE_KINDS)]
        level_db = rng.uniform(-32.0, -20.0)
        clean, noisy = mix(speech(rng, samples), noise(rng, samples, kind), 0.0, level_db)
        yield Mixture(clean.astype(np.float32), noisy.astype(np.float32), kind)


def si_sdr_db(estimate: NDArray[np.floating], clean: NDArray[np.floating]) -> float:
    """Scale-invariant signal-to-distortion ratio in dB, in float64 (Le Roux et al., 2019)."""
    x = np.asarray(estimate, np.float64).ravel()
    s = np.asarray(clean, np.float64).ravel()
    x, s = x - x.mean(), s - s.mean()
    target = s * (x @ s / (s @ s))
    return float(10 * np.log10((target @ target) / ((x - target) @ (x - target))))


def _syllable(rng: np.random.Generator, pitch: float, start: Sound, end: Sound) -> Sound:
    """A consonant-like hiss or none, then a vowel that glides between two sets of formants."""
    vowel = _vowel(rng, pitch, int(rng.uniform(0.10, 0.32) * SAMPLE_RATE), start, end)
    if rng.random() < 0.45:
        return vowel
    hiss = _hiss(rng, int(rng.uniform(0.02, 0.11) * SAMPLE_RATE))
    overlap = min(len(hiss) // 4, len(vowel) // 4)
    sound = np.zeros(len(hiss) + len(vowel) - overlap)
    sound[: len(hiss)] += hiss
    sound[len(hiss) - overlap :] += vowel
    return sound


def _vowel(rng: np.random.Generator, pitch: float, samples: int, start: Sound, end: Sound) -> Sound:
    """Harmonics of a gliding pitch, each as loud as the gliding formants make it."""
    points = np.arange(0, samples + _CONTROL_STEP, _CONTROL_STEP)
    along = np.minimum(points / samples, 1.0)[:, None]
    glide = 1.0 + rng.uniform(-0.18, 0.18) * along[:, 0]
    glide += 0.012 * np.cumsum(rng.standard_normal(len(points))) / np.sqrt(len(points))
    pitches = pitch * glide
    formants = start + (end - start) * np.clip(1.6 * along - 0.3, 0.0, 1.0)

    time = np.arange(samples)
    phase = 2 * np.pi * np.cumsum(np.interp(time, points, pitches)) / SAMPLE_RATE
    harmonics = np.arange(1, int(0.46 * SAMPLE_RATE / pitches.max()) + 1)
    loudness = _tract_gain(pitches[:, None] * harmonics, formants)
    sound = np.zeros(samples)
    for k, harmonic in enumerate(harmonics):
        sound += np.interp(time, points, loudness[:, k]) * np.sin(harmonic * phase)
    breath = 0.02 * rng.standard_normal(samples) * np.abs(sound).mean()
    attack, decay = int(rng.uniform(0.01, 0.03) * SAMPLE_RATE), int(0.4 * samples)
    return _envelope(samples, attack, decay) * (sound / _rms(sound) + breath) * rng.uniform(0.5, 1)


def _tract_gain(frequencies: Sound, formants: Sound) -> Sound:
    """How loud each harmonic is: (points, harmonics) Hz and (points, formants) Hz give a gain."""
    gain = 1.0 / (1.0 + (frequencies / 400.0) ** 1.5)
    for k, bandwidth in enumerate(_BANDWIDTHS):
        ratio = frequencies / formants[:, k : k + 1]
        damping = frequencies * bandwidth / formants[:, k : k + 1] ** 2
        gain = gain * (0.15 + 1.0 / np.sqrt((1.0 - ratio**2) ** 2 + damping**2))
    return gain


def _hiss(rng: np.random.Generator, samples: int) -> Sound:
    """A fricative or a burst: noise in one wide band, as loud as a weak vowel."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    frequencies = np.fft.rfftfreq(samples, 1.0 / SAMPLE_RATE)
    centre, width = rng.uniform(2_000.0, 6_500.0), rng.uniform(600.0, 2_200.0)
    sound = np.fft.irfft(spectrum * np.exp(-(((frequencies - centre) / width) ** 2)), samples)
    attack = samples // 2 if rng.random() < 0.6 else samples // 12
    level = rng.uniform(0.12, 0.4)
    return _envelope(samples, max(1, attack), samples // 3) * sound / _rms(sound) * level


def _envelope(samples: int, attack: int, decay: int) -> Sound:
    """1 in the middle, with raised-cosine ends of the given lengths."""
    envelope = np.ones(samples)
    envelope[:attack] = 0.5 - 0.5 * np.cos(np.pi * np.arange(attack) / attack)
    envelope[samples - decay :] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(decay) / decay)
    return envelope


def _coloured(rng: np.random.Generator, samples: int, slope: float) -> Sound:
    """Gaussian noise whose amplitude falls with frequency to the power -slope."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    frequencies = np.maximum(np.fft.rfftfreq(samples, 1.0 / SAMPLE_RATE), 40.0)
    return np.fft.irfft(spectrum * frequencies**-slope, samples)


def _hum(rng: np.random.Generator, samples: int) -> Sound:
    """A mains hum with its harmonics over a bed of weak pink noise."""
    seconds = np.arange(samples) / SAMPLE_RATE
    mains = rng.choice([50.0, 60.0]) * rng.uniform(0.998, 1.002)
    bed = _coloured(rng, samples, 0.5)
    sound = bed / _rms(bed) * rng.uniform(0.15, 0.4)
    for harmonic in range(1, 16):
        amplitude = rng.uniform(0.2, 1.0) / harmonic**0.7
        sound += amplitude * np.sin(
            2 * np.pi * mains * harmonic * seconds + rng.uniform(0.0, 2 * np.pi)
        )
    return sound


def _rms(sound: Sound) -> float:
    return float(np.sqrt(np.mean(sound**2)))
