"""Recordings become lines of JSON: `{"path": …, "language": …}` on the way in, a line for each stretch on the way out.

`{"start_s": 0.0, "text": "…", "sureness": -0.2, "silence": 0.0}`, then `{"end": true}`, or `{"error": …}`.
faster-whisper is imported here and nowhere else; the model is in the folder that is named, and nothing is fetched.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NICER = 10


def say(**said: object) -> None:
    """Hand one line out at once."""
    sys.stdout.write(json.dumps(said, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def heard(model: Any, asked: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Speech of a recording, stretch by stretch. Raises whatever the libraries raise."""
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


def main() -> None:
    """Listen to what is asked for, one recording after another, until nobody asks any more."""
    os.nice(NICER)
    for what in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(what, (0, 0))
    model: Any = None
    for line in sys.stdin:
        try:
            if model is None:
                from faster_whisper import WhisperModel

                if not Path(sys.argv[1]).is_dir():
                    say(error="missing")
                    continue
                model = WhisperModel(sys.argv[1], local_files_only=True)
        except ImportError:
            say(error="missing")
            continue
        except Exception:  # noqa: BLE001 - a folder that holds no model, or a broken one
            say(error="missing")
            continue
        try:
            for said in heard(model, json.loads(line)):
                say(**said)
        except Exception:  # noqa: BLE001 - a decoder's error over somebody's file; its text may repeat the file
            say(error="damaged")


if __name__ == "__main__":
    main()
