"""Messages without text that can be put into words are text; the rest is named as before."""

from __future__ import annotations

import pytest

from bot.intake.media import own_words
from bot.intake.raw.reader import read_update
from bot.intake.updates import Me

ME = Me(99, "continuity_bot")


def read(**content):
    message = {
        "message_id": 5,
        "date": 1_800_000_000,
        "chat": {"id": 7, "type": "private"},
        "from": {"id": 7, "is_bot": False, "first_name": "Ana"},
        **content,
    }
    return read_update({"update_id": 1, "message": message}, ME)


@pytest.mark.parametrize(
    ("content", "text", "third_party"),
    [
        ({"location": {"latitude": 38.7, "longitude": -9.1}}, "[location: latitude 38.7, longitude -9.1]", False),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[🎲: 4]", False),
        (
            {"checklist": {"title": "Trip", "tasks": [{"text": "Pack", "completion_date": 9}, {"text": "Go"}]}},
            "> Checklist:\n> Trip\n> - [x] Pack\n> - [ ] Go",
            True,
        ),
        ({"story": {"chat": {"first_name": "Rui"}}}, "> Story of Rui:\n> (bots can't look at it)", True),
        ({"video": {"file_id": "x"}, "media_group_id": "a1"}, "[video]", False),
        ({"sticker": {"emoji": "👍", "file_id": "x"}}, "[sticker 👍]", False),
        ({"contact": {"first_name": "Rui", "phone_number": "+351 1"}}, "> Contact:\n> Rui, +351 1", True),
        (
            {"poll": {"question": "When?", "options": [{"text": "Mon", "voter_count": 2}]}},
            "> Poll:\n> When?\n> - Mon (2 votes)",
            True,
        ),
        (
            {"venue": {"title": "Café", "address": "Rua 1", "location": {"latitude": 1, "longitude": 2}}},
            "> Place:\n> Café, Rua 1\n[location: latitude 1, longitude 2]",
            True,
        ),
    ],
)
def test_what_can_be_put_into_words_is_text(content, text, third_party):
    """Each is what it is; what somebody else may have written is marked as theirs, and changes nothing by itself."""
    found = read(**content)

    assert (found.kind, found.text, found.third_party) == ("text", text, third_party)


@pytest.mark.parametrize(
    "content", [{"poll": []}, {"dice": {"value": "x"}}, {"sticker": {}}, {"location": {"latitude": True}}]
)
def test_what_cannot_be_put_into_words_is_named(content):
    """Fields of a wrong type are no words: the kind is named, as that of anything else that is not read."""
    assert read(**content).kind == "media"


@pytest.mark.parametrize(
    ("age_s", "author", "before"),
    [
        (3600, 99, "> Reply to the assistant's message (2027-01-15):\n> the grey tiles\n"),
        (3600, 7, "> Reply to their own message (2027-01-15):\n> the grey tiles\n"),
        (60, 99, ""),
        (60, 7, ""),
    ],
)
def test_a_reply_to_something_old_shows_it(age_s, author, before):
    """What was said long ago, by the person or by us, stands above a reply to it, and is no third party's word."""
    original = {"message_id": 3, "date": 1_800_000_000 - age_s, "from": {"id": author}, "text": "the grey tiles"}
    envelope = read(text="These, please", reply_to_message=original)

    assert (envelope.text, envelope.third_party) == (f"{before}These, please", False)


def test_a_forward_says_whose_and_when():
    """Name and day stand above the words."""
    origin = {"type": "user", "sender_user": {"first_name": "Rui"}, "date": 1_790_000_000}

    assert read(text="hi", forward_origin=origin).text == "> Forwarded from Rui (2026-09-21):\n> hi"


def test_a_reply_to_a_poll_shows_it():
    """What is replied to is shown in words when it has no text: a poll of somebody else, with its votes."""
    poll = {"question": "When?", "options": [{"text": "Mon", "voter_count": 2}]}
    original = {"message_id": 3, "date": 1_800_000_000, "from": {"id": 8, "first_name": "Rui"}, "poll": poll}
    envelope = read(text="What do you think?", reply_to_message=original)

    assert envelope.text == "> Reply to Rui:\n> > Poll:\n> > When?\n> > - Mon (2 votes)\nWhat do you think?"


@pytest.mark.parametrize("kind", ["document", "photo", "voice"])
def test_a_file_that_was_forwarded_says_whose_it_was_and_from_when(kind):
    """Without a word of the sender's, too: name and day stand under the file's line, and are no words of theirs."""
    origin = {"type": "user", "sender_user": {"first_name": "Rui"}, "date": 1_790_000_000}
    file = {"file_id": "x", "file_unique_id": "u", "file_name": "lease.pdf", "width": 9}
    envelope = read(**{kind: [file] if kind == "photo" else file}, forward_origin=origin)

    assert envelope.text.endswith("[5]\n> (forwarded from Rui (2026-09-21))")
    assert envelope.third_party
    assert not own_words(envelope.text)


def test_somebody_who_walks_edits_nothing():
    """A live location is edited every few seconds: the first place is the message, the others are not read."""
    place = {"latitude": 38.7, "longitude": -9.1, "live_period": 900}
    message = {"message_id": 5, "date": 1_800_000_000, "chat": {"id": 7, "type": "private"}, "location": place}
    message |= {"from": {"id": 7, "is_bot": False, "first_name": "Ana"}}

    assert read_update({"update_id": 1, "message": message}, ME).text.startswith("[live location")
    assert read_update({"update_id": 2, "edited_message": message | {"edit_date": 1_800_000_009}}, ME) is None


def test_what_is_ticked_off_is_added_to_its_checklist():
    """Telegram's own word of a checklist names its message; what has no such message, or no task, is not for us."""
    tasks = [{"id": 1, "text": "Pack"}, {"id": 2, "text": "Go"}]
    original = {"message_id": 3, "checklist": {"title": "Trip", "tasks": tasks}}
    done = {"checklist_message": original, "marked_as_done_task_ids": [1, 9], "marked_as_not_done_task_ids": [2]}
    envelope = read(checklist_tasks_done=done)

    assert (envelope.kind, envelope.message_id) == ("addition", 3)
    assert envelope.text == (
        "> Ticked off in the checklist “Trip”:\n> - Pack\n> Open again in the checklist “Trip”:\n> - Go"
    )
    added = read(checklist_tasks_added={"checklist_message": original, "tasks": [{"id": 4, "text": "Rest"}]})
    assert added.text == "> Added to the checklist “Trip”:\n> - Rest"
    assert read(checklist_tasks_done={"marked_as_done_task_ids": [1]}) is None
    assert read(checklist_tasks_done={"checklist_message": original, "marked_as_done_task_ids": [9]}) is None
