"""Recordings become lines of JSON: `{"path": …, "language": …}` on the way in, a line for each stretch on the way out.

`{"start_s": 0.0, "text": "…", "sureness": -0.2, "silence": 0.0}`, then `{"end": true}`, or `{"error": …}`.
faster-whisper is imported here and nowhere else; the model is in the folder that is named, and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.files.hearing.model_loop import serve


def opened(folder: Path) -> Any:
    """Load the model of a folder. Raises all errors of the library."""
    from faster_whisper import WhisperModel

    if not folder.is_dir():  # else it is taken for a name, and looked for elsewhere
        raise FileNotFoundError(folder)
    return WhisperModel(str(folder), local_files_only=True)


def heard(model: Any, asked: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Speech of a recording, stretch by stretch. Raises all errors of the libraries."""
    segments, info = model.transcribe(
        asked["path"],
        language=asked["language"] or None,
        vad_filter=True,  # what is no speech is not listened to: there it would make words up
        condition_on_previous_text=False,  # a phrase that was made up once does not come again and again
    )
    if info.duration > asked["longest_s"]:
        yield {"error": "too_long"}
        return
    yield {"language": info.language}
    for segment in segments:
        yield {
            "start_s": segment.start,
            "text": segment.text,
            "sureness": segment.avg_logprob,
            "silence": segment.no_speech_prob,
        }
    yield {"end": True}


if __name__ == "__main__":
    serve(opened, heard)
