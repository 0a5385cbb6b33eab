"""No update makes the bot deaf: every field of every documented kind missing, null, or of a wrong type."""

from __future__ import annotations

import copy
import types
import typing
from datetime import datetime, timedelta
from functools import cache
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback.strict import TYPES
from pydantic import BaseModel

from bot.intake.access import Gate
from bot.intake.fields import MAX_ID
from bot.intake.inbox import Inbox
from bot.intake.intake import Intake, NotTaken
from bot.intake.local import is_local
from bot.intake.raw.reader import identity, read_update, sender
from bot.intake.raw_json import read_json, write_json
from bot.intake.updates import Envelope, Me, batch_text
from memory.errors import StorageUnavailable
from memory.ports import Result
from memory.testing import ManualClock

ME = Me(99, "continuity_bot")
ALLOWED = 7
DEEP = 2
SHALLOW = 1
"""How many objects inside objects; each level makes a message twenty times as long."""
MISSING = object()
WRONG = (
    MISSING, None, True, "", "text", "\ud800", "\x00", 0, -1, 2**31, 2**63, -(2**63) - 1, 10**30, 1.5, float("nan"),
    float("inf"), [], [None], [[]], ["x"], [{}], {}, {"id": "x"}, {"text": {}},
)  # fmt: skip
PLAIN = {int: 7, float: 1.5, str: "hello @continuity_bot", bool: True, datetime: 1_700_000_000, timedelta: 60}


def sample(kind, depth):
    """Return a JSON value of the shape that this annotation documents; None when it is nested too deep."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return sample(arguments[0], depth)
    if origin in (typing.Union, types.UnionType):
        found = (sample(each, depth) for each in arguments if each is not type(None))
        return next((value for value in found if value is not None), None)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (list, set, tuple):
        one = sample(arguments[0], depth)
        return [] if one is None else [one]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return None if depth < 0 else of_model(kind, depth)
    return next((value for of, value in PLAIN.items() if isinstance(kind, type) and issubclass(kind, of)), "x")


@cache
def documented_fields(model):
    """Return name → annotation of a documented type, under the names that Telegram sends."""
    hints = typing.get_type_hints(model, localns={**TYPES, "Bot": object})
    return {field.alias or name: hints[name] for name, field in model.model_fields.items() if name != "bot"}


def of_model(model, depth):
    fields = {name: sample(kind, depth - 1) for name, kind in documented_fields(model).items()}
    return {name: value for name, value in fields.items() if value is not None}


KINDS = [name for name in documented_fields(TYPES["Update"]) if name != "update_id"]
"""Every documented kind of update."""


@cache
def documented(kind, depth):
    """Return an update of this kind with all of its fields filled."""
    return {"update_id": 1, kind: sample(documented_fields(TYPES["Update"])[kind], depth)}


def places(value, path=()):
    """Yield the path to every field and element inside a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def with_wrong(update, path, wrong):
    """Return a copy of the update with one place missing or wrong."""
    changed = copy.copy(update)
    at = changed
    for key in path[:-1]:
        at[key] = copy.copy(at[key])
        at = at[key]
    if wrong is MISSING:
        del at[path[-1]]
    else:
        at[path[-1]] = wrong
    return changed


def from_person(update, user_id):
    """Return the update as this person sends it in their private chat."""
    update = copy.deepcopy(update)
    for body in update.values():
        if isinstance(body, dict):
            for message in (body, body.get("message")):
                if isinstance(message, dict):
                    message["chat"] = {**(message.get("chat") or {}), "id": user_id, "type": "private"}
            if "from" in body:
                body["from"] = {"id": user_id, "is_bot": False, "first_name": "Ana", "language_code": "en"}
    return update


def variants(update, every=1):
    """Yield the update with each place wrong in each way, or of all these only every so-manieth."""
    for path, wrong in islice(product(places(update), WRONG), None, None, every):
        yield with_wrong(update, path, wrong)


EVERY = [pytest.param(5, id="part"), pytest.param(1, id="all", marks=pytest.mark.soak)]
"""24 ways are no multiple of it: each place is wrong in five of them."""


def is_sound(envelope):
    """Say whether everything downstream may rely on the types of this envelope."""
    ids = (envelope.update_id, envelope.chat_id, envelope.user_id, envelope.message_id, envelope.thread_id)
    texts = (envelope.text, envelope.user_name, envelope.command, envelope.arguments, envelope.button_id)
    return (
        isinstance(envelope, Envelope)
        and all(each is None or (type(each) is int and abs(each) <= MAX_ID) for each in ids)
        and all(isinstance(each, str) and each.encode() is not None and "\x00" not in each for each in texts)
        and 0 <= envelope.sent_at_ms < MAX_ID
        and (envelope.message_id is not None or envelope.kind in ("unreadable", "membership"))
        and envelope.conversation_id.startswith("tg:99:")
    )


def test_the_samples_are_deep():
    """The generator fills hundreds of fields of a message, those with entities, pins and mentions among them."""
    paths = set(places(documented("message", DEEP)))

    assert len(paths) > 1000
    assert ("message", "pinned_message", "chat", "id") in paths
    assert ("message", "entities", 0, "user", "id") in paths


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["documented", "private"])
@pytest.mark.parametrize(
    ("depth", "every"),
    [
        pytest.param(SHALLOW, 5, id="small"),  # 24 ways are no multiple of these: each place is wrong in other ways
        pytest.param(DEEP, 25, id="part"),
        pytest.param(DEEP, 1, id="all", marks=pytest.mark.soak),
    ],
)
def test_reading_never_raises_and_what_it_returns_is_sound(depth, every, kind, shape):
    """Every field of every documented kind, wrong in every way: an envelope with sound types, or None."""
    update = documented(kind, depth) if shape == "documented" else from_person(documented(kind, depth), ALLOWED)
    for variant in variants(update, every):
        envelope = read_update(variant, ME)
        sender(variant)
        assert envelope is None or (is_sound(envelope) and batch_text([envelope]) is not None), variant


class Rows:
    """A database that keeps what is inserted and refuses what SQLite would refuse."""

    def __init__(self):
        self.rows = []
        self.broken = False
        self.polls = []

    async def read(self, name, **_params):
        assert name == "poll_places"
        return self.polls

    async def write(self, *statements):
        if self.broken:
            raise StorageUnavailable("no space")
        for statement in statements:
            for value in statement.params.values():
                assert not isinstance(value, int) or abs(value) <= MAX_ID or is_local(value)
                assert not isinstance(value, str) or value.encode() is not None
            self.rows += [statement.params] if statement.name == "inbox_insert" else []
        return [Result(rows=(), changed=1) for _ in statements]


def intake_over(rows, *, everyone=False):
    delivered, strangers = [], []
    gate = Gate(everyone=everyone, named={ALLOWED}, paired=())
    intake = Intake(Inbox(rows, ManualClock(), "b"), gate, ME, deliver=delivered.append, stranger=strangers.append)
    return intake, delivered


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "edited_message"])  # read as `message` is
@pytest.mark.parametrize("every", EVERY)
async def test_no_update_of_an_allowed_person_makes_the_bot_deaf(every, kind):
    """Taking raises nothing; every row that holds text can be forgotten by conversation, and can be replayed."""
    rows = Rows()
    sent = {"chat_id": ALLOWED, "thread_id": None, "message_id": 5, "user_id": ALLOWED}
    rows.polls = [{"conversation_id": f"tg:99:{ALLOWED}:0", **sent}]
    intake, delivered = intake_over(rows)
    for variant in variants(from_person(documented(kind, SHALLOW), ALLOWED), every):
        await intake.take(variant)

    for row in rows.rows:
        assert row["conversation_id"] or not row["payload"]
        assert not row["payload"] or read_update(read_json(row["payload"]), ME) is not None
    stored = [row["update_id"] for row in rows.rows if row["state"] == "received"]
    assert stored == [envelope.update_id for envelope in delivered]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", EVERY)
async def test_no_update_of_a_stranger_is_stored(every, kind):
    """Whatever is wrong with it: not one row (P14)."""
    rows = Rows()
    intake, delivered = intake_over(rows)
    for variant in variants(from_person(documented(kind, SHALLOW), 666), every):
        if sender(variant) != ALLOWED:
            await intake.take(variant)

    assert (rows.rows, delivered) == ([], [])


async def test_a_refusing_disk_is_the_only_way_out():
    """With a disk that refuses, taking ends in NotTaken or in nothing to take, for every shape (P10)."""
    rows = Rows()
    rows.broken = True
    intake, delivered = intake_over(rows, everyone=True)
    for variant in variants(from_person(documented("my_chat_member", SHALLOW), ALLOWED)):
        try:
            await intake.take(variant)
        except NotTaken:
            continue

    assert delivered == []


FIELDS = (
    "update_id", "message", "edited_message", "callback_query", "my_chat_member", "chat", "from", "id", "type", "text",
    "entities", "user", "offset", "data", "date", "reply_to_message", "quote", "new_chat_member",
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=8),
    max_leaves=40,
)


@given(JSON)
async def test_any_json_at_all_can_be_taken(raw):
    """Also what nobody ever documented."""
    rows = Rows()
    intake, _ = intake_over(rows, everyone=True)
    await intake.take(raw)
    envelope = read_update(raw, ME)

    assert envelope is None or is_sound(envelope)
    assert identity(raw) is None or 0 <= identity(raw) <= MAX_ID


@given(JSON)
def test_raw_json_is_read_back_as_it_was_written(raw):
    """The payload is ASCII, and a start reads what was stored."""
    text = write_json(raw)

    assert text.isascii()
    assert write_json(read_json(text)) == text
