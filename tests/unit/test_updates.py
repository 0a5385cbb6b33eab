"""What an update is about: read from Telegram's JSON, without any Telegram."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.intake.fields import MAX_NAME_CHARS, MAX_TEXT_CHARS
from bot.intake.raw.reader import read_move, read_update, sender
from bot.intake.updates import Me, batch_text, conversation_key
from memory.text import clean

ME = Me(99, "continuity_bot")


def message(text="hello", **fields):
    chat = fields.pop("chat", {"id": 7, "type": "private"})
    content = {"message_id": 5, "date": 1, "chat": chat, "from": {"id": 7, "first_name": "Ana"}, "text": text}
    return {"update_id": 1, "message": content | fields}


def group(text, **fields):
    return message(text, chat={"id": -100123, "type": "supergroup"}, **fields)


def command(text, **fields):
    length = len(text.split()[0])
    return message(text, entities=[{"type": "bot_command", "offset": 0, "length": length}], **fields)


def test_a_private_text_belongs_to_its_chat():
    """A conversation is bot, chat and topic."""
    envelope = read_update(message(), ME)

    assert (envelope.kind, envelope.text, envelope.conversation_id) == ("text", "hello", "tg:99:7:0")
    assert conversation_key(99, -5, 12) == "tg:99:-5:12"


def test_a_command_comes_apart_into_name_and_arguments():
    """The bot's name behind the command is taken off, line breaks separate too."""
    envelope = read_update(command("/remind@continuity_bot\ntomorrow at 9"), ME)

    assert (envelope.kind, envelope.command, envelope.arguments) == ("command", "remind", "tomorrow at 9")


def test_a_command_for_another_bot_is_not_ours():
    """In a group with several bots each hears its own commands."""
    assert read_update(command("/help@other_bot", chat={"id": -5, "type": "group"}), ME) is None


def test_a_group_is_heard_by_mention_or_reply():
    """Talk among people is dropped; a mention at the front is taken off; a reply to us counts."""
    to_us = {"from": {"id": 99}, "text": "earlier"}

    assert read_update(group("what a day"), ME) is None
    assert read_update(group("@continuity_bot what day is it?"), ME).text == "what day is it?"
    assert read_update(group("and you?", reply_to_message=to_us), ME).text == "and you?"


def test_topics_are_conversations_of_their_own():
    """The thread counts only in forum topics; replies in other groups have a thread id too."""
    topic = group("@continuity_bot hi", message_thread_id=12, is_topic_message=True)
    reply = group("@continuity_bot hi", message_thread_id=12)

    assert read_update(topic, ME).conversation_id == "tg:99:-100123:12"
    assert read_update(reply, ME).conversation_id == "tg:99:-100123:0"


def test_forwarded_text_is_third_party():
    """What somebody else wrote is never promoted to memory."""
    assert read_update(message(forward_origin={"type": "user"}), ME).third_party


def test_a_quote_comes_along():
    """A reply to somebody else's words is given with those words."""
    quoted = read_update(message("what is this?", quote={"text": "E = mc²"}), ME)

    assert quoted.text == "> Quoted from somebody:\n> E = mc²\nwhat is this?"
    assert quoted.third_party


def test_what_somebody_else_wrote_is_marked_line_by_line_with_their_name():
    """Forwards, captions of forwards, inline results and replies to others, each with whose words they are."""
    ben = {"id": 8, "first_name": "Ben\nBenson"}
    forward = {"forward_origin": {"type": "user", "sender_user": ben}}
    caption = {"text": None, "caption": "one\u2028two", "photo": [{}], **forward}

    assert read_update(message("hi\nthere", **forward), ME).text == "> Forwarded from Ben Benson:\n> hi\n> there"
    assert read_update(message(**caption), ME).text == "> Forwarded from Ben Benson:\n> [photo] one\n> two"
    assert read_update(message("x", via_bot={"username": "gif"}), ME).text == "> Sent via gif:\n> x"
    assert read_update(message("why?", reply_to_message={"from": ben, "text": "no"}), ME).text.endswith("> no\nwhy?")


def test_a_piece_of_a_forward_never_ends_in_the_midst_of_ones_own_line():
    """Long pieces of a paste are joined without a break, but never when somebody else wrote one of them."""
    own = replace(read_update(message("x" * 4096), ME), message_id=1)
    theirs = replace(read_update(message("y" * 4096, forward_origin={}), ME), message_id=2)

    assert "\n> " in batch_text([own, theirs])
    assert batch_text([theirs, own]).splitlines()[-1] == "x" * 4096


def test_media_without_words_is_named():
    """What cannot be fetched has a kind of its own; a photo with a caption is text, and no file without an id."""
    gift = message("", gift={"id": "x"})
    photo = {"update_id": 1, "message": {**message()["message"], "text": None, "caption": "my cat", "photo": []}}

    assert (read_update(gift, ME).kind, read_update(gift, ME).text) == ("media", "gift")
    assert read_update(photo, ME).text == "[photo] my cat"
    assert read_update(photo, ME).files == ()


def test_bots_and_channels_are_not_heard():
    """Nobody talks to a bot that answers bots."""
    assert read_update(message(**{"from": {"id": 3, "is_bot": True}}), ME) is None
    assert read_update(message(chat={"id": -1, "type": "channel"}), ME) is None
    assert read_update({"update_id": 1, "poll": {}}, ME) is None


def test_the_sender_stands_behind_every_kind_of_update():
    """Access is decided before anything else is read."""
    assert sender(message()) == 7
    assert sender({"update_id": 1, "callback_query": {"from": {"id": 8}}}) == 8
    assert sender({"update_id": 1, "message": {"sender_chat": {"id": -1}}}) is None
    assert sender({"update_id": 1}) is None


def test_pieces_become_one_text_and_edits_replace():
    """A paste that was cut is joined without a break, messages are joined by lines, an edit replaces its message."""
    first = read_update(message("x" * 4096), ME)
    second = replace(read_update(message("tail"), ME), message_id=6)
    edit = replace(second, kind="edit", text="end")

    assert batch_text([first, second]) == "x" * 4096 + "tail"
    assert batch_text([first, second, edit]).endswith("xend")
    assert batch_text([replace(first, text="a"), second]) == "a\ntail"


def test_text_that_no_database_takes_is_cleaned():
    """One cleaner for everything: NUL goes, a lone surrogate becomes a sign, the rest stays."""
    assert clean("a\x00b\ud800c🐕") == "ab\ufffdc🐕"


@pytest.mark.parametrize(
    "name",
    [
        "dice",
        "poll",
        "game",
        "story",
        "checklist",
        "venue",
        "location",
        "contact",
        "paid_media",
        "invoice",
        "gift",
        "photo",
    ],
)
def test_every_kind_of_message_is_named(name):
    """Whatever has no words is told apart, so that it gets a sentence back."""
    found = read_update(message(text=None, **{name: {"id": 1}}), ME)

    assert (found.kind, found.text) == ("media", name)


def test_a_kind_that_nobody_knows_yet_is_heard_and_service_messages_are_not():
    """A message of a kind of tomorrow is one all the same; that somebody pinned something is none."""
    assert read_update(message(text=None, hologram={"id": 1}), ME).kind == "media"
    assert read_update(message(text=None, pinned_message={"message_id": 1, "date": 0}), ME) is None


def move(where, kind, here, **moved):
    message = {"message_id": 1, "date": 1, "chat": {"id": here, "type": kind}, "from": {"id": 7}, **moved}
    return {"update_id": 1, where: message}


GROUP, SUPER, PERSON = -4711, -1_001_234_567_890, 7


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (move("message", "supergroup", SUPER, migrate_from_chat_id=GROUP), (GROUP, SUPER)),
        (move("message", "group", GROUP, migrate_to_chat_id=SUPER), (GROUP, SUPER)),
        (move("message", "private", PERSON, migrate_from_chat_id=GROUP), None),
        (move("message", "private", PERSON, migrate_to_chat_id=SUPER), None),
        (move("message", "supergroup", PERSON, migrate_from_chat_id=GROUP), None),
        (move("message", "group", GROUP, migrate_to_chat_id=PERSON), None),
        (move("message", "supergroup", SUPER, migrate_from_chat_id=PERSON), None),
        (move("message", "supergroup", SUPER, migrate_from_chat_id=SUPER - 1), None),
        (move("message", "group", GROUP, migrate_to_chat_id=GROUP - 1), None),
        (move("message", "channel", SUPER, migrate_from_chat_id=GROUP), None),
        (move("message", "supergroup", SUPER, migrate_from_chat_id=GROUP, migrate_to_chat_id=SUPER - 1), None),
        (move("edited_message", "supergroup", SUPER, migrate_from_chat_id=GROUP), None),
        (move("my_chat_member", "supergroup", SUPER, migrate_from_chat_id=GROUP), None),
    ],
)
def test_only_a_group_moves_and_only_to_a_supergroup(raw, found):
    """What claims a move anywhere else is none of Telegram's: whoever believed it would answer in another chat."""
    assert read_move(raw) == found


def test_a_text_that_is_far_too_long_loses_its_middle():
    """Nothing of it is kept but beginning and end, and how long it was; a name loses its end."""
    raw = {"update_id": 1, "message": {"message_id": 1, "date": 1, "chat": {"id": 7, "type": "private"}}}
    raw["message"] |= {"from": {"id": 7, "first_name": "n" * 10**6}, "text": "a" * 500_000 + "z" * 500_000}

    found = read_update(raw, ME)

    assert len(found.text) <= MAX_TEXT_CHARS
    assert (found.text[0], found.text[-1]) == ("a", "z")
    assert "…" in found.text
    assert (found.whole_chars, len(found.user_name)) == (10**6, MAX_NAME_CHARS)


def link(text, words, url, **fields):
    """A message in which these words are a link; offsets count UTF-16 units."""
    offset = len(text[: text.index(words)].encode("utf-16-le")) // 2
    entity = {"type": "text_link", "offset": offset, "length": len(words.encode("utf-16-le")) // 2, "url": url}
    return message(text, **{"entities": [entity], **fields})


def test_the_address_behind_linked_words_comes_along():
    """It stands behind them, also where emoji take two units each."""
    read = read_update(link("🍋🍋 see the offer 🍋, it ends soon", "offer 🍋", "https://a.org/o?b=1"), ME)

    assert read.text == "🍋🍋 see the offer 🍋 [https://a.org/o?b=1], it ends soon"
    assert read.third_party is False


def test_the_address_in_a_caption_a_quote_and_a_forward_comes_along():
    """Those of others are marked as theirs."""
    entity = {"type": "text_link", "offset": 0, "length": 4, "url": "https://a.org/"}
    photo = {"caption": "here", "caption_entities": [entity], "dice": {}}
    quoted = message("yes?", quote={"text": "here", "entities": [entity]}, external_reply={})
    forward = link("look\nhere", "here", "https://a.org/", forward_origin={"sender_user_name": "Jo"})

    assert read_update(message(None, **photo), ME).text == "[dice] here [https://a.org/]"
    assert "> here [https://a.org/]\nyes?" in read_update(quoted, ME).text
    assert read_update(forward, ME).text == "> Forwarded from Jo:\n> look\n> here [https://a.org/]"


def test_the_address_of_a_preview_comes_only_when_the_text_has_it_not():
    """Neither shown nor hidden addresses come twice."""
    shown = {"entities": [{"type": "url", "offset": 4, "length": 11}]}
    preview = {"link_preview_options": {"url": "https://Example.org/"}}
    off = {"link_preview_options": {"url": "https://b.org", "is_disabled": True}}

    assert read_update(message("see example.org", **shown, **preview), ME).text == "see example.org"
    assert read_update(link("see it", "it", "http://example.org", **preview), ME).text == "see it [http://example.org]"
    assert read_update(message("see it", **preview), ME).text == "see it\n[preview: https://Example.org/]"
    assert read_update(message("see it", **off), ME).text == "see it"


def test_a_longer_address_in_the_text_does_not_hide_a_shorter_one():
    """Which of two a person means is told by both."""
    shown = {"type": "url", "offset": 0, "length": 17}
    hidden = {"type": "text_link", "offset": 18, "length": 4, "url": "https://a.org/b"}

    read = read_update(message("https://a.org/bcd here", entities=[shown, hidden, hidden]), ME)
    assert read.text == "https://a.org/bcd here [https://a.org/b]"


STRANGE = (7, None, "https://a.org/] [x", "https://a.org/\ud800", f"https://a.org/{'x' * 2001}")


@pytest.mark.parametrize(
    "url",
    ["tg://user?id=1", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://a.org/\n> x", *STRANGE],
)
def test_what_is_no_address_of_the_web_is_left_out(url):
    """The words stay as they are."""
    assert read_update(link("see here", "here", url), ME).text == "see here"


@pytest.mark.parametrize(("offset", "length"), [(0, 10**30), (10**30, 1), (1, 1), (0, 3)])
def test_a_link_with_strange_bounds_breaks_no_word(offset, length):
    """An address stands behind a whole character, at the latest behind the last."""
    entity = {"type": "text_link", "offset": offset, "length": length, "url": "https://a.org"}
    text = read_update(message("🍋🍋", entities=[entity]), ME).text

    assert text.replace(" [https://a.org]", "") == "🍋🍋"
    assert "[https://a.org]" in text


@pytest.mark.parametrize(("offset", "length"), [(-1, 3), (0, 0), (0, -4), ("0", 1), (True, 1), (0, None)])
def test_a_link_without_bounds_is_none(offset, length):
    """Nobody knows what it hides behind."""
    entity = {"type": "text_link", "offset": offset, "length": length, "url": "https://a.org"}

    assert read_update(message("🍋🍋", entities=[entity, 7]), ME).text == "🍋🍋"


def test_many_addresses_push_nobodys_words_out():
    """All of them together are no longer than a text of Telegram's."""
    many = [
        {"type": "text_link", "offset": 5 * (n % 800), "length": 4, "url": f"https://a.org/{n}/{'x' * 900}"}
        for n in range(10_000)
    ]
    text = read_update(message("word " * 800, entities=many), ME).text

    assert text.count("https://") == 4
    assert text.count("word") == 800
