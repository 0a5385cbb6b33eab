"""How files are called: a picture by what was said of it."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from bot import replies
from bot.features.files.names import line_of, name_of
from bot.files.rows import StoredFile

EMPTY = {each.name: "" for each in fields(StoredFile)}
PHOTO = StoredFile(**EMPTY | {"number": 1, "turn_id": "t", "kind": "picture", "private": 0, "digest": "d"})
PHOTO = replace(PHOTO, media_type="image/jpeg|JPEG", size_bytes=40_000, state="read")
SLIP = "Slip of the school for the class trip. It says: bring wellies."


def services(said: str) -> SimpleNamespace:
    """What a chat keeps of the message that brought a file."""

    async def turn(_: str) -> SimpleNamespace:
        return SimpleNamespace(user_text=said)

    return SimpleNamespace(memory=SimpleNamespace(store=SimpleNamespace(turn=turn)))


@pytest.mark.parametrize(
    ("caption", "described", "name", "line"),
    [
        ("Der Zettel vom Ausflug. Bitte merk dir das!", SLIP, "", "Der Zettel vom Ausflug (Bild, 40 KB)"),
        ("Der Zettel vom Ausflug", "", "photo_12.jpg", "Der Zettel vom Ausflug (Bild, 40 KB)"),
        ("Was ist das?", SLIP, "photo_12.jpg", "Slip of the school for the class trip (Bild, 40 KB)"),
        ("Was ist das?", "", "", "Was ist das? (Bild, 40 KB)"),
        ("> picture #2\nBeide Zettel", SLIP, "", "Slip of the school for the class trip (Bild, 40 KB)"),
        ("", SLIP, "", "Slip of the school for the class trip (Bild, 40 KB)"),
        ("", "", "photo_12.jpg", "„photo_12.jpg“ (Bild, 40 KB)"),
        ("", "", "", "dein Bild (40 KB)"),
        ("Zettel, " * 20, "", "", "Zettel, Zettel, Zettel, Zettel, Zettel, Zettel, Zettel… (Bild, 40 KB)"),
    ],
)
async def test_a_picture_is_listed_by_its_words(caption, described, name, line):
    """By its caption, unless that asks or is of several, else by its description, else by its name."""
    file = replace(PHOTO, described=described, name=name)
    with replies.speaking("de"):
        assert await line_of(services(f"> picture #1\n{caption}"), file) == f"1. {line}"


async def test_a_document_keeps_its_name_and_a_private_picture_tells_nothing():
    """What stands beside a lease is in the conversation; what was said in private stays there."""
    lease = replace(PHOTO, kind="document", name="lease.pdf", media_type="application/pdf|PDF", described="")
    secret = replace(PHOTO, described=SLIP, private=1)

    assert await line_of(services("The lease."), lease) == "1. “lease.pdf” (PDF, 40 KB)"
    assert await line_of(services("My slip."), secret) == "1. your picture (40 KB)"
    assert await name_of(services("Our slip."), PHOTO) == "your picture “Our slip”"
