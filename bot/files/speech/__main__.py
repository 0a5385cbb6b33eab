"""Texts become speech: `{"text": …}` on the way in, `{"data": …, "end": true}` on the way out, in Base64.

Behind each sentence `{"spoken": 0.5}` says that it goes on; `{"error": …}` is why there is no speech. sherpa-onnx and
av are imported here and nowhere else; the voice is in the folder that is named, and nothing is fetched.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.files.hearing.model_loop import say, serve

RATE = 48_000
"""Samples a second of a voice message: Opus takes no other that an ordinary voice has."""
BITS = 32_000


def opened(folder: Path) -> Any:
    """Load the voice of a folder. Raises all errors of the library, and ends the process where the library does."""
    import sherpa_onnx

    [model] = folder.glob("*.onnx")
    lexicon = folder / "lexicon.txt"
    voice = sherpa_onnx.OfflineTtsVitsModelConfig(
        model=str(model),
        tokens=str(folder / "tokens.txt"),
        lexicon=str(lexicon) if lexicon.is_file() else "",
    )
    return sherpa_onnx.OfflineTts(sherpa_onnx.OfflineTtsConfig(sherpa_onnx.OfflineTtsModelConfig(vits=voice)))


def spoken(voice: Any, asked: dict[str, Any]) -> Iterator[dict[str, object]]:
    """A text as a voice message, of no bytes where the voice has no sign of it. Raises all errors of the libraries."""

    def goes_on(_: object, done: float) -> int:
        say({"spoken": done})
        return 1

    sound = voice.generate(asked["text"], callback=goes_on)
    data = packed(sound.samples, sound.sample_rate) if sound.samples else b""
    yield {"data": base64.b64encode(data).decode(), "end": True}


def packed(samples: list[float], rate: int) -> bytes:
    """Return samples as Ogg with Opus."""
    import av
    import numpy as np

    out = io.BytesIO()
    frame = av.AudioFrame.from_ndarray(np.asarray([samples], dtype="float32"), format="flt", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    with av.open(out, "w", format="ogg") as file:
        stream = file.add_stream("libopus", rate=RATE, layout="mono", bit_rate=BITS)
        for each in (*resampler.resample(frame), *resampler.resample(None), None):
            file.mux(stream.encode(each))
    return out.getvalue()


if __name__ == "__main__":
    serve(opened, spoken)
