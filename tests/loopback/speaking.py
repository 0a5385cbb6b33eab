"""A voice of a few hundred numbers, in the format that sherpa-onnx loads: it speaks, and hums.

Each letter is a twentieth of a second of a tone of its own, so that how long it hums tells how much was said.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path

LETTERS = " abcdefghijklmnopqrstuvwxyz,.!?':0123456789"
RATE = 16_000
SAMPLES = 800
FLOAT, LONG = 1, 7
ABOUT = {
    "model_type": "vits",
    "comment": "made for a test",
    "language": "English",
    "frontend": "characters",
    "n_speakers": "1",
    "sample_rate": str(RATE),
    "punctuation": ", . ! ?",
    **dict.fromkeys(("add_blank", "blank_id", "bos_id", "eos_id", "use_eos_bos", "pad_id"), "0"),
}


def make_voice(folder: Path) -> None:
    """Write the voice: the real library, the real format."""
    wave = struct.pack(f"<{SAMPLES}f", *(n * 0.01 for n in range(SAMPLES)))
    steps = (
        ("Cast", ["x"], "numbers", {"to": FLOAT}),
        ("Reshape", ["numbers", "column"], "letters", {}),
        ("Mul", ["letters", "wave"], "angles", {}),
        ("Sin", ["angles"], "tones", {}),
        ("Reshape", ["tones", "row"], "y", {}),
    )
    knobs = ("noise_scale", "length_scale", "noise_scale_w")
    graph = b"".join((
        *(_field(1, _node(*step)) for step in steps),
        _field(2, "voice"),
        _field(5, _tensor("column", [3], LONG, struct.pack("<3q", 1, -1, 1))),
        _field(5, _tensor("row", [3], LONG, struct.pack("<3q", 1, 1, -1))),
        _field(5, _tensor("wave", [1, 1, SAMPLES], FLOAT, wave)),
        _field(11, _value("x", LONG, [1, "n"])),
        _field(11, _value("x_length", LONG, [1])),
        *(_field(11, _value(name, FLOAT, [1])) for name in knobs),
        _field(12, _value("y", FLOAT, [1, 1, "t"])),
    ))  # fmt: skip
    operators = _field(1, "") + _field(2, 13)
    about = b"".join(_field(14, _field(1, name) + _field(2, text)) for name, text in ABOUT.items())
    folder.mkdir()
    (folder / "voice.onnx").write_bytes(_field(1, 8) + _field(7, graph) + _field(8, operators) + about)
    (folder / "tokens.txt").write_text("".join(f"{sign} {n}\n" for n, sign in enumerate(LETTERS)), encoding="utf-8")


def seconds(sound: bytes) -> float:
    """How long a sound plays; it is Ogg with Opus, or an error."""
    import av

    with av.open(io.BytesIO(sound)) as file:
        assert (file.format.name, file.streams.audio[0].codec.name) == ("ogg", "opus")
        return (file.duration or 0) / av.time_base


# --- ONNX, as far as this needs it: messages of numbered fields -------------------------------------------------------


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(data)) + data


def _node(operator: str, inputs: list[str], output: str, attributes: dict[str, int]) -> bytes:
    given = (_field(5, _field(1, name) + _field(3, value) + _field(20, 2)) for name, value in attributes.items())
    return b"".join((*(_field(1, each) for each in inputs), _field(2, output), _field(4, operator), *given))


def _tensor(name: str, shape: list[int], kind: int, data: bytes) -> bytes:
    return b"".join((*(_field(1, size) for size in shape), _field(2, kind), _field(8, name), _field(9, data)))


def _value(name: str, kind: int, shape: list[int | str]) -> bytes:
    sizes = b"".join(_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, sizes)))
