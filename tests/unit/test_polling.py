"""Polling goes on whatever comes: it is watched, started afresh, and ends the process when it cannot go on."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest
from telegram.error import NetworkError

from bot.intake import polling
from bot.intake.intake import NotTaken
from bot.intake.polling import HEAD_START_S, MAX_CONFLICTS, MAX_RESTARTS, Poller, pause_s, retry_after_s


class Script:
    """A request object that answers from a script; an exception in it is raised; at its end it waits for ever."""

    def __init__(self, *answers):
        self.answers, self.urls, self.made, self.finished = list(answers), [], 0, asyncio.Event()

    def __call__(self):
        self.made += 1
        return self

    async def initialize(self):
        pass

    async def shutdown(self):
        pass

    async def do_request(self, url, _method):
        self.urls.append(url)
        if not self.answers:
            self.finished.set()
            await asyncio.Event().wait()
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def offsets(self):
        return [int(url.split("offset=")[1].split("&")[0]) for url in self.urls]


class Taken:
    """An intake that keeps what it is given; `refuse` makes it refuse so many times."""

    def __init__(self, *, refuse=0):
        self.updates, self.passed_over, self.refuse = [], [], refuse

    async def take(self, raw):
        if self.refuse:
            self.refuse -= 1
            raise NotTaken("the disk is full")
        self.updates.append(raw)

    async def take_all(self, raws, taken):
        for raw in raws:
            await self.take(raw)
            taken(raw)

    async def set_aside(self, update_id, _reason):
        self.passed_over.append(update_id)


def batch(*updates):
    return 200, json.dumps({"ok": True, "result": list(updates)}).encode()


async def no_time(_):
    await asyncio.sleep(0)


async def never(*_):
    await asyncio.Event().wait()


async def polled(script, intake=None, *, sleep=no_time, recovered=never, **options):
    """Run a poller until its script is over (or it ends); return the intake and what was fatal."""
    intake, fatal = intake or Taken(), []
    poller = Poller(
        "http://api/bot1:x", intake, fatal=fatal.append, recovered=recovered, make_request=script, sleep=sleep
    )
    task = asyncio.create_task(poller.run(**options))
    finished = asyncio.create_task(script.finished.wait())
    await asyncio.wait({task, finished}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
    for each in (task, finished):
        each.cancel()
    await asyncio.gather(task, finished, return_exceptions=True)
    return intake, fatal


async def test_the_offset_moves_past_what_was_taken_one_by_one():
    """What the intake refuses is asked for again; what it took before in the same batch is not."""
    script = Script(batch({"update_id": 5}, {"update_id": 6}), batch({"update_id": 6}))
    intake = Taken()
    take, intake.take = intake.take, None
    refused = iter([False, True, False])

    async def once_refusing(raw):
        if next(refused):
            raise NotTaken("no room")
        await take(raw)

    intake.take = once_refusing
    await polled(script, intake)

    assert [raw["update_id"] for raw in intake.updates] == [5, 6]
    assert script.offsets() == [0, 6, 7]


async def test_what_was_refused_is_asked_for_at_once_when_the_database_has_recovered():
    """However long it was away, nobody waits for the rest of a pause."""
    script = Script(batch({"update_id": 5}), batch({"update_id": 5}))
    intake = Taken(refuse=1)
    away = asyncio.Event()

    async def pausing(_):
        if not away.is_set():
            away.set()
            await never()

    async def recovered():
        await away.wait()

    await polled(script, intake, sleep=pausing, recovered=recovered)

    assert [raw["update_id"] for raw in intake.updates] == [5]


async def test_a_telegram_that_fails_is_given_its_pause_whatever_the_database_does():
    """Only a refusal of ours ends with the database's."""
    rested = []

    async def pausing(wait_s):
        for _ in range(10):
            await asyncio.sleep(0)
        rested.append(wait_s)

    await polled(Script((502, b""), batch({"update_id": 5})), sleep=pausing, recovered=partial(no_time, 0))

    assert rested == [pause_s(1), HEAD_START_S]


@pytest.mark.parametrize(
    "strange",
    [
        NetworkError("reset"),
        (502, b"<html>Bad Gateway</html>"),
        (200, b'{"ok":true,"result":{"messa'),
        (200, b"[]"),
        (200, b'{"ok": true, "result": 5}'),
        (200, b'{"ok": false}'),
        (429, b'{"parameters": {"retry_after": "soon"}}'),
        (500, b""),
        batch("not an object"),
        batch({"message": {}}),
        batch({"update_id": None}, {"update_id": -4}, {"update_id": True}),
        RuntimeError("a defect"),
        asyncio.CancelledError(),
    ],
)
async def test_after_anything_strange_polling_goes_on(strange):
    """Whatever an answer is, also an exception that nobody expects, the next update is taken."""
    intake, fatal = await polled(Script(strange, batch({"update_id": 9})))

    assert intake.updates[-1] == {"update_id": 9}
    assert fatal == []


async def test_an_answer_that_is_too_deep_to_read_costs_one_update():
    """The updates are asked for one by one, and only the one to blame is passed over."""
    deep = 200, b'{"ok":true,"result":[{"update_id": 7, "message": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"
    intake, fatal = await polled(Script(deep, deep, batch({"update_id": 8})))

    assert (intake.passed_over, intake.updates, fatal) == ([7], [{"update_id": 8}], [])


async def test_polling_that_cannot_be_kept_alive_ends_the_process():
    """A task that dies again and again, without one completed poll between, is named and given up."""
    script = Script(*[RuntimeError("a defect")] * (MAX_RESTARTS + 1))
    _, fatal = await polled(script)

    assert len(fatal) == 1
    assert "polling ended" in fatal[0]
    assert script.made == MAX_RESTARTS + 1


async def test_a_poll_that_hangs_is_replaced(monkeypatch):
    """A wedged connection is dropped and polling begins afresh with new connections."""
    monkeypatch.setattr(polling, "STALL_AFTER_S", 0.01)

    class Wedged(Script):
        async def do_request(self, url, method):
            if self.made == 1:
                await asyncio.Event().wait()
            return await super().do_request(url, method)

    script = Wedged(batch({"update_id": 3}))
    intake, fatal = await polled(script, check_every_s=0.02)

    assert (intake.updates, fatal) == ([{"update_id": 3}], [])


async def test_a_dead_token_and_a_rival_are_fatal():
    """Waiting mends neither; a few conflicts may be the shadow of our own last poll."""
    _, dead = await polled(Script((401, b"{}")))
    _, rival = await polled(Script(*[(409, b"{}")] * MAX_CONFLICTS))
    _, shadow = await polled(Script(*[(409, b"{}")] * (MAX_CONFLICTS - 1), batch(), (409, b"{}")))

    assert "TELEGRAM_BOT_TOKEN" in dead[0]
    assert "409 Conflict" in rival[0]
    assert shadow == []


def test_pauses_grow_and_end():
    """Half a second at first, never longer than 10 s; a 429 is obeyed up to a minute."""
    assert (pause_s(1), pause_s(99)) == (0.5, 10.0)
    assert retry_after_s(b'{"parameters": {"retry_after": 7}}') == 7.0
    assert retry_after_s(b'{"parameters": {"retry_after": 1e9}}') == 0.0
    assert retry_after_s(b"<html>") == 0.0
