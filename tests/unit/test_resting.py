"""Which notes rest on a file: those of its message, and those whose words stand in it and nowhere else."""

from __future__ import annotations

import pytest

from bot.files.resting import resting
from bot.files.rows import StoredFile
from memory.ledger.types import Note

SLIP = """Zettel zur Klassenfahrt der 4b von Frau Öztürk: Einverständnis bis Di 1.12. abgeben. Abfahrt 8:30 am Schultor.
Mitbringen: Gummistiefel, höchstens 20 € Taschengeld, Krankenkassenkarte."""
FIELDS = {
    "file_id": "f", "conversation_id": "c", "message_id": 1, "user_id": 7, "number": 2, "turn_id": "t_file",
    "session_id": "s", "private": 0, "telegram_id": "x", "kind": "picture", "name": "", "media_type": "image/jpeg|JPEG",
    "size_bytes": 1, "seconds": 0, "digest": "", "state": "read", "reason": "", "unit": "", "pages": 0, "blank": (),
    "described": "", "received_at_ms": 100,
}  # fmt: skip
FILE = StoredFile(**FIELDS)


@pytest.mark.parametrize(
    ("text", "said", "rests"),
    [
        ("Mika packen: Gummistiefel, Krankenkassenkarte, höchstens 20 €", "ja, merk dir ruhig", True),
        ("Einverständnis für Mikas Klassenfahrt abgeben", "ja fährt mit, merk dir ruhig", True),
        ("Frau Öztürk sagen, dass Mika auf die Klassenfahrt mitfährt", "sag frau öztürk dass mika mitfährt", False),
        ("Mika bis 8:30 zum Schultor bringen", "mika muss bis 8:30 am schultor sein", False),
        ("Tarek schuldet dir noch 20 Euro", "tarek hat 30 von 50 zurückgegeben", False),
    ],
)
def test_a_note_rests_on_a_file_by_words_that_nobody_said(text, said, rests):
    """What the person said themselves is theirs, also where the file says it, too."""
    note = Note(
        note_id="n", conversation_id="c", number=1, kind="task", text=text, said_at_ms=200, turn_ids=("t_later",)
    )

    assert resting([note], FILE, SLIP, {"t_later": said}) == ([note] if rests else [])
    earlier = note.model_copy(update={"said_at_ms": 50})
    assert resting([earlier], FILE, SLIP, {"t_later": said}) == []
    assert resting([note.model_copy(update={"turn_ids": ("t_file",)})], FILE, "", {}) != []
