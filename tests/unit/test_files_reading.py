"""Hostile and odd files: each is read for what it is, within its limits, or refused in a word."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib

import pytest

from benchmarks.papers import epub, excel, file_of, pdf, powerpoint, word
from bot.files.passages import asked_pages, blank_pages, parted, spans, tidy
from bot.files.reader import Reader
from bot.files.types import decoded, type_of
from bot.intake.media import named_files, numbered_line, own_words, safe_name, sent_file, waiting_line


async def read(tmp_path, data, **options):
    path = tmp_path / "file"
    path.write_bytes(data)
    found = type_of(path)
    return found, await Reader(**options).read(found.reader, path)


def zipped(entries, level=1):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def deflated(piece, times):
    """Return the zlib stream of a piece that is repeated, which is packed once: to pack all of it takes seconds."""
    packer = zlib.compressobj(1)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 1
    for _ in range(times):
        check = zlib.adler32(piece, check)
    return head + block * times + b"\x03\x00" + check.to_bytes(4, "big")


@pytest.mark.parametrize(
    ("data", "label", "text"),
    [
        (pdf(["one", "two"]), "PDF", "one"),
        (word(["Dear Ana", "page two"]), "Word", "Dear Ana"),
        (excel({"Costs": [["What", "Price"], ["Tiles", 12]]}), "Excel", "Sheet “Costs”\nWhat | Price\nTiles | 12"),
        (powerpoint([("Vela", "A quiet drone")]), "PowerPoint", "Vela\nA quiet drone"),
        (epub(["It was late.", "Then morning."]), "EPUB", "It was late."),
        (b"<!DOCTYPE html><script>alert(1)</script><p>Hello <b>you</b></p>", "HTML", "Hello you"),
        ("Привет, это текст".encode("cp1251"), "text", "Привет, это текст"),
        ("Grüße aus Köln".encode("cp1252"), "text", "Grüße aus Köln"),
        ("наш план".encode("utf-16"), "text", "наш план"),
        (
            b"<svg xmlns='x'><script>alert(1)</script></svg>",
            "SVG, as text",
            "<svg xmlns='x'><script>alert(1)</script></svg>",
        ),
    ],
)
async def test_each_kind_is_known_by_its_content_and_read(tmp_path, data, label, text):
    """No name is asked: what lies in the file says what it is."""
    found, reading = await read(tmp_path, data)

    assert (found.label, reading.ended) == (label, "whole")
    assert (reading.pages[0][0], tidy(reading.pages[0][1])) == (1, text)


async def test_two_columns_are_read_one_after_the_other(tmp_path):
    """A page with two columns: the sentence that goes down the left one stays whole."""
    _, reading = await read(tmp_path, pdf([["The pump is covered for five years.", "Limescale is not."]]))

    assert "The pump is covered for five years." in " ".join(reading.pages[0][1].split())


async def test_a_zip_bomb_stays_closed(tmp_path):
    """A document that unpacks to a thousand times its size is refused by what it says of itself."""
    bomb = zipped({"[Content_Types].xml": b"x", "word/document.xml": b"\0" * 12_000_000}, level=9)

    assert (await read(tmp_path, bomb))[1].error == "bomb"


async def test_a_document_that_unpacks_to_too_much_stays_closed(tmp_path):
    """A large document that says it unpacks to 320 MB, in a proportion that others have too, is refused by that."""
    data = bytearray(zipped({"[Content_Types].xml": b"x", "word/document.xml": os.urandom(4_000_000)}))
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"word/document.xml"))
    struct.pack_into("<I", data, at + 24, 320_000_000)

    assert (await read(tmp_path, bytes(data)))[1].error == "bomb"


async def test_an_entry_that_lies_about_its_size_is_no_way_round(tmp_path):
    """The size in the directory is made small: no more than that is unpacked, and the file is damaged."""
    data = bytearray(zipped({"[Content_Types].xml": b"x", "word/document.xml": b"A" * 50_000_000}))
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"word/document.xml"))
    struct.pack_into("<I", data, at + 24, 1000)

    assert (await read(tmp_path, bytes(data)))[1].error == "damaged"


async def test_a_pdf_bomb_ends_within_its_limits(tmp_path):
    """A page whose stream unpacks to a gigabyte and more: the child ends, and it is said why."""
    packed = zlib.compress(deflated(b"0 " * 500_000, 600), 1)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%b\nendstream" % (len(packed), packed),
    ]
    _, reading = await read(tmp_path, file_of(objects))

    assert reading.error in {"memory", "damaged", "time"} or blank_pages(reading.pages) == [1]


@pytest.mark.sweep
async def test_of_ten_thousand_pages_the_first_two_thousand_are_read(tmp_path):
    """More pages than are taken: those before are kept, and how many there are is told."""
    _, reading = await read(tmp_path, pdf(["page"] * 10_000))

    assert (reading.ended, len(reading.pages), reading.total) == ("long", 2000, 10_000)


async def test_a_polyglot_is_read_as_one_thing(tmp_path):
    """A PDF with an archive behind it: it is a PDF, and the archive is never opened."""
    found, reading = await read(tmp_path, pdf(["the pdf"]) + zipped({"mimetype": b"application/epub+zip"}))

    assert (found.label, reading.pages[0][1]) == ("PDF", "the pdf\n")


async def test_macros_are_neither_run_nor_read(tmp_path):
    """A Word file with macros: its text is read, its program is left alone."""
    source = io.BytesIO(word(["Dear Ana"]))
    entries = {}
    with zipfile.ZipFile(source) as archive:
        for name in archive.namelist():
            entries[name] = archive.read(name)
    types = entries["[Content_Types].xml"]
    plain = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    entries["[Content_Types].xml"] = types.replace(plain, b"application/vnd.ms-word.document.macroEnabled.main+xml")
    entries["word/vbaProject.bin"] = b"Sub AutoOpen()"

    assert (await read(tmp_path, zipped(entries)))[1].pages == [(1, "Dear Ana")]


async def test_a_child_that_never_ends_is_ended(tmp_path):
    """A reader that hangs is killed at its time, and what it had read until then is kept."""
    script = 'import sys,time;print(\'{"page": 1, "text": "first", "pages": 9}\', flush=True);time.sleep(60)'
    _, reading = await read(tmp_path, b"text", read_s=1.0, command=("-c", script))

    assert (reading.ended, reading.pages, reading.total) == ("time", [(1, "first")], 9)


async def test_what_is_read_has_an_end(tmp_path):
    """Two million signs of a text are kept, and a child that says a line without end is not listened to any more."""
    _, long = await read(tmp_path, b"word " * 500_000)
    script = 'import sys;print(\'{"page": 1, "text": "first", "pages": 2}\');sys.stdout.write(\'x\' * 20_000_000)'
    _, endless = await read(tmp_path, b"text", command=("-c", script))

    assert (long.ended, sum(len(text) for _, text in long.pages)) == ("long", 2_000_000)
    assert (endless.ended, endless.pages) == ("memory", [(1, "first")])


async def test_a_child_sees_no_secret(tmp_path, monkeypatch):
    """The environment of the reader holds neither the token nor any other variable of the bot's."""
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "123456789:secret")
    script = "import os,json;print(json.dumps({'page': 1, 'text': ' '.join(sorted(os.environ)), 'pages': 1}))"
    _, reading = await read(tmp_path, b"text", command=("-c", script))

    assert "TELEGRAM_BOT_TOKEN" not in reading.pages[0][1]
    assert "PYTHONPATH" in reading.pages[0][1]


def test_a_name_has_no_folder_and_no_hidden_sign():
    """Parts of a path, control signs, marks that turn the writing round and quotes are gone; the ending stays."""
    assert safe_name("../../etc/passwd") == "passwd"
    assert safe_name("C:\\Users\\ana\\lease.pdf") == "lease.pdf"
    assert safe_name("a\u202efdp.exe\n\x00") == "a fdp.exe"
    assert safe_name("say “hi”.txt") == "say 'hi'.txt"
    assert safe_name("x" * 300 + ".pdf").endswith("….pdf")
    assert len(safe_name("x" * 300 + ".pdf")) == 80
    assert safe_name(None) == ""


def test_a_line_stands_for_a_file_and_says_so_again():
    """The line of a file is found in a text, by its message before it has a number, by its number afterwards."""
    file = sent_file({"message_id": 77, "document": {"file_id": "f", "file_name": "lease.pdf"}})
    text = f"{waiting_line(file)}\nWhat about it?\n> document 9"

    (waiting,) = named_files(text)
    assert (waiting.kind, waiting.number, waiting.message_id) == ("document", None, 77)
    (known,) = named_files(numbered_line("document", 2, "lease.pdf", "PDF, 4 pages"))
    assert (known.number, known.message_id) == (2, None)
    assert own_words(text) == "What about it?\n> document 9"


def test_a_photo_is_its_largest_size_and_a_video_its_still_picture():
    """Of the sizes of a photo the widest; of a video what stands for it before it plays."""
    sizes = [{"file_id": "s", "width": 90}, {"file_id": "l", "width": 1280}, "odd"]
    still = {"file_id": "v", "duration": 4, "thumbnail": {"file_id": "t"}}

    assert sent_file({"message_id": 1, "photo": sizes}).telegram_id == "l"
    assert (
        sent_file({"message_id": 1, "video": still}).telegram_id,
        sent_file({"message_id": 1, "video": still}).kind,
    ) == ("t", "video")
    assert sent_file({"message_id": 1, "video": {"file_id": "v"}}) is None
    assert sent_file({"message_id": 1, "photo": []}) is None


def test_pages_are_parted_at_sentences_and_keep_their_numbers():
    """A long page becomes passages that end with a sentence; a sheet's passages begin with its columns."""
    page = " ".join(f"Sentence {n} is here." for n in range(200))
    passages = parted([(3, page), (4, "short")], "page")
    rows = parted([(1, "Sheet\nWhat | Price\n" + "\n".join(f"Tile {n} | {n}" for n in range(300)))], "sheet")

    assert {p.page for p in passages[:-1]} == {3}
    assert all(p.text.endswith(".") and len(p.text) <= 900 for p in passages[:-1])
    assert [p.position for p in passages] == list(range(len(passages)))
    assert all("What | Price" in p.text for p in rows)


def test_page_numbers_are_read_and_written_as_people_do():
    """`3, 5-8` both ways; what is no number asks for nothing, and a wide range is bounded."""
    assert asked_pages("2, 5-7") == [2, 5, 6, 7]
    assert asked_pages("all") == []
    assert len(asked_pages("1-100000")) <= 51
    assert spans([3, 5, 6, 7, 11]) == "3, 5-7, 11"
    assert blank_pages([(1, " \n."), (2, "a")]) == [1]
    assert tidy("a\u0000 b\r\n\n\n\nc") == "a b\n\nc"


def test_text_of_any_encoding_is_decoded_and_a_cut_sign_is_no_harm():
    """A head that ends in the midst of a sign is UTF-8 all the same."""
    assert decoded("naïve".encode()[:3]) == "na"
    assert decoded("日本語".encode()[:-1]) == "日本"
