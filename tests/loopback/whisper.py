"""A Whisper model of a few thousand numbers, in the format that faster-whisper loads: it listens, and hears rubbish."""

from __future__ import annotations

import math
import os
import struct
import wave
from pathlib import Path
from typing import Any

import pytest

WIDTH = 64
MELS = 80
FRAMES = 1500
SPECIAL = (
    "<|endoftext|>", "<|startoftranscript|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>",
    "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip


def the_extra() -> None:
    """Skip the test where the extra `voice` is not installed; `make test-voice` and CI install it and insist."""
    if not os.environ.get("CONTINUITY_REQUIRE_VOICE"):
        pytest.importorskip("faster_whisper", reason="needs the extra `voice`: make test-voice")


def make_model(folder: Path) -> None:
    """Write the model: the real library, the real format, weights by chance."""
    import numpy as np
    from ctranslate2.specs import whisper_spec
    from tokenizers import Tokenizer, models, pre_tokenizers

    chance = np.random.default_rng(7)
    words = [f"Ġword{n}" for n in range(40)]
    times = [f"<|{n * 0.02:.2f}|>" for n in range(1501)]
    vocabulary = [*words, *SPECIAL, *times]
    spec = whisper_spec.WhisperSpec(1, 1, 1, 1)

    def fill(layer: Any, name: str, *shape: int) -> None:
        setattr(layer, name, (chance.standard_normal(shape) * 0.1).astype("float32"))

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(WIDTH, "float32"), np.zeros(WIDTH, "float32")

    def linear(layer: Any, rows: int, columns: int) -> None:
        fill(layer, "weight", rows, columns)
        layer.bias = np.zeros(rows, "float32")

    def attention(layer: Any, *sizes: int) -> None:
        norm(layer.layer_norm)
        for at, rows in enumerate(sizes):
            linear(layer.linear[at], rows, WIDTH)

    def forward(layer: Any) -> None:
        norm(layer.layer_norm)
        linear(layer.linear_0, WIDTH * 2, WIDTH)
        linear(layer.linear_1, WIDTH, WIDTH * 2)

    encoder, decoder = spec.encoder, spec.decoder
    for conv, columns in ((encoder.conv1, MELS), (encoder.conv2, WIDTH)):
        fill(conv, "weight", WIDTH, columns, 3)
        conv.bias = np.zeros(WIDTH, "float32")
    fill(encoder.position_encodings, "encodings", FRAMES, WIDTH)
    norm(encoder.layer_norm)
    attention(encoder.layer[0].self_attention, WIDTH * 3, WIDTH)
    forward(encoder.layer[0].ffn)
    fill(decoder.embeddings, "weight", len(vocabulary), WIDTH)
    fill(decoder.position_encodings, "encodings", 448, WIDTH)
    norm(decoder.layer_norm)
    decoder.projection.weight = decoder.embeddings.weight
    attention(decoder.layer[0].self_attention, WIDTH * 3, WIDTH)
    attention(decoder.layer[0].attention, WIDTH, WIDTH * 2, WIDTH)
    forward(decoder.layer[0].ffn)
    spec.register_vocabulary(vocabulary)
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.lang_ids, spec.config.alignment_heads = [], []
    spec.validate()
    folder.mkdir()
    spec.save(str(folder))
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token=words[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))


def make_sound(path: Path, seconds: float = 2.0) -> None:
    """Write a tone that comes and goes, as a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        samples = (math.sin(n / 12) * math.sin(n / 1600) * 20_000 for n in range(round(16_000 * seconds)))
        file.writeframes(b"".join(struct.pack("<h", round(each)) for each in samples))
