"""The sweep of calls: killed at each point of plan, consent, run, result and reply; done once, or asked about."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from loopback.effects import LoopbackEffects
from loopback.model import ToolCall
from story import PERSON, TURN_POINTS, bot_lines, bot_texts, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.timeout(600), pytest.mark.sweep]

SERVER = Path(__file__).parents[1] / "loopback" / "mcp_server.py"
MESSAGE = [point for point in TURN_POINTS if not point.startswith(("checkpoint_", "index_"))]
"""From a message to what is seen of its turn: plan and question, or, of what only reads, result and reply."""
RUN = ["tool_running", "tool_ran", "tool_recorded"]
TAP = ["tool_allowed", *RUN, "tool_shown", *MESSAGE]
"""From a tap to the reply."""
OFTEN = ["turn_answered", "turn_committed", "outbox_sent_unrecorded"]
"""Points that the shorter sweep of `make test` has, besides those of tools."""
DOUBTED = {"tool_running", "tool_ran"}
"""Where nobody can tell whether it happened."""


@pytest.fixture
async def effects(tmp_path):
    """Start the service that counts effects, with the tools that call it in a file."""
    async with LoopbackEffects(tmp_path / "my_tools.py") as service:
        yield service


def calling(call: ToolCall):
    """Make a model that calls this tool at a user message that says please, and else speaks."""

    def reply_to(messages):
        last = messages[-1]
        return [call] if last["role"] == "user" and "please" in last["content"].rpartition("\n")[2] else "All done."

    return reply_to


class Life:
    """Bots on one database, of which one dies where `order` says, and the person who talks to them."""

    def __init__(self, api, bots, order, effects) -> None:
        self.api, self.bots, self.order, self.effects = api, bots, order, effects

    async def act(self, point: str, act) -> None:
        """Do something, let one die at this point of what follows, and start it again; at no point when it is ""."""
        if point:
            self.order.write_text(point, encoding="utf-8")
        act()
        if not point:
            return
        waits = {asyncio.ensure_future(bot.wait(60)): bot for bot in self.bots}
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for waiting in waits:
            waiting.cancel()
        assert [waiting.result() for waiting in done] == [-9], point
        await waits[done.pop()].launch()

    async def shows(self, words: str):
        """Wait until one message with these words is on the screen, and return it."""
        await self.api.until(lambda: self.said(words) == 1)
        return next(line for line in bot_lines(self.api) if words in line.text)

    def states(self) -> list[str]:
        """Return the states of all calls, in order."""
        return [state for (state,) in rows(self.bots[0], "SELECT state FROM tool_calls ORDER BY number")]

    def said(self, words: str) -> int:
        """Return how many messages with these words are on the screen."""
        return sum(words in text for text in bot_texts(self.api))

    def presses(self, label: str, line) -> None:
        self.api.people.presses(PERSON, label, message_id=line.message_id)


@pytest.fixture
def live(api, model, bot_process, effects, tmp_path, address):  # noqa: PLR0917 - asked for by name
    """Offer what starts one bot on a file, or two workers on PostgreSQL, with these answers of the model."""

    async def start(call: ToolCall, **more: str) -> Life:
        model.reply = calling(call)
        order = tmp_path / "order"
        setup = {"CONTINUITY_TOOLS": effects.path, "CONTINUITY_FAULT": f"@{order}", **more}
        if not isinstance(address, str):
            return Life(api, [await bot_process(**setup)], order, effects)
        setup["CONTINUITY_DATABASE_URL"] = address
        bots = [await bot_process(start=False, folder=name, **setup) for name in ("one", "two")]
        bots[0].database = address
        await bots[0].start()
        await bots[1].launch()
        await api.until(lambda: len(rows(bots[0], "SELECT worker FROM workers")) == len(bots))
        return Life(api, bots, order, effects)

    return start


async def changes(life: Life, number: int, *, said: str = "", tapped: str = "") -> str:
    """Ask for the nth effect and tap [Once], dying at a point behind the message or behind the tap; return its state.

    Who is asked whether to do it again looks at the service: what did not happen is done again, what did is left.
    """
    effects, api = life.effects, life.api
    answers = life.said("All done.")
    await life.act(said, lambda: api.people.says(PERSON, f"please add {number}"))
    question = await life.shows("May I use add?")
    assert effects.count("/add") == number - 1, "nothing is done before the tap"

    await life.act(tapped, lambda: life.presses("Once", question))
    if tapped in DOUBTED:
        doubt = await life.shows("I was about to use add")
        happened = effects.count("/add") == number
        assert happened == (tapped == "tool_ran")
        life.presses("Leave it" if happened else "Do it again", doubt)
        answers -= happened  # what is left isn't answered once more
    await api.until(lambda: life.said("All done.") == answers + 2)
    await api.until(lambda: not life.said("May I use") and not life.said("I was about to"))
    assert effects.count("/add") == number
    return life.states()[number - 1]


@pytest.mark.parametrize(
    ("said", "tapped"),
    [
        pytest.param([], [point for point in TAP if point not in MESSAGE or point in OFTEN], id="a part"),
        pytest.param(MESSAGE, TAP, id="all", marks=pytest.mark.soak),
    ],
)
async def test_what_changes_something_is_done_once_or_asked_about(live, said, tapped):
    """A death at each point of question and tap, one after another: one effect to each tap, one answer."""
    life = await live(ToolCall("add", {"item": "milk"}, "call_a"))
    cases = [*({"said": point} for point in said), *({"tapped": point} for point in tapped)]
    for number, case in enumerate(cases, 1):
        try:
            state = await changes(life, number, **case)
        except AssertionError as exc:
            raise AssertionError(f"{case}: {exc}") from exc
        assert state == ("left" if case == {"tapped": "tool_ran"} else "done"), case


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([*RUN, *OFTEN], id="a part"),
        pytest.param([*MESSAGE[:4], *RUN, *MESSAGE[4:]], id="all", marks=pytest.mark.soak),
    ],
)
async def test_what_only_reads_is_read_to_its_end_and_never_asked_about(live, points):
    """A death at each point of a turn with a call that only reads: one answer, and nobody is asked."""
    life = await live(ToolCall("look", {"what": "milk"}, "call_l"))
    for number, point in enumerate(points, 1):
        await life.act(point, lambda number=number: life.api.people.says(PERSON, f"please look {number}"))
        await life.api.until(lambda number=number: life.said("All done.") == number)
        assert life.effects.count("/look") >= number, point
        assert life.states() == ["done"] * number, point
    assert life.said("All done.") == len(bot_texts(life.api))


async def test_a_call_whose_server_was_being_started_is_made_once(live, effects, tmp_path):
    """Dead before anything could happen, in a tap and in a turn: nobody is asked, and nothing is lost."""
    path = tmp_path / "mcp.json"
    server = {"command": sys.executable, "args": [str(SERVER), effects.url, "files"]}
    path.write_text(json.dumps({"mcpServers": {"files": server}}), encoding="utf-8")
    life = await live(ToolCall("files__write", {"path": "a.txt"}, "call_w"), CONTINUITY_MCP_CONFIG=str(path))
    for number, label in ((1, "Always"), (2, "")):
        point = "" if label else "tool_planned"
        await life.act(point, lambda number=number: life.api.people.says(PERSON, f"please write {number}"))
        if label:
            question = await life.shows("May I use files: write?")
            await life.act("tool_planned", lambda question=question: life.presses(label, question))  # noqa: B023
        await life.api.until(lambda number=number: life.said("All done.") == number + 1)
        assert effects.count("/write") == number
    assert life.states() == ["done", "done"]
    assert not life.said("I was about to use")


async def test_what_is_done_again_may_die_again_and_is_asked_about_again(live, effects):
    """Behind [Do it again] the same holds: never a second effect that nobody asked for."""
    life = await live(ToolCall("add", {"item": "milk"}, "call_a"))
    life.api.people.says(PERSON, "please add milk")
    question = await life.shows("May I use add?")
    await life.act("tool_running", lambda: life.presses("Once", question))
    for point, happened in (("tool_running", 0), ("tool_ran", 1)):
        doubt = await life.shows("I was about to use add")
        await life.act(point, lambda doubt=doubt: life.presses("Do it again", doubt))
        await life.api.until(
            lambda doubt=doubt: any(  # the next question is another message
                "I was about to" in line.text and line.message_id > doubt.message_id for line in bot_lines(life.api)
            )
        )
        assert effects.count("/add") == happened
    life.presses("Leave it", bot_lines(life.api)[-1])
    await life.shows("Okay, I'm leaving it")

    assert effects.count("/add") == 1
    assert life.states() == ["left"]


async def test_a_tap_on_a_question_that_is_not_recorded_is_obeyed_and_nothing_is_asked_twice(
    api, model, bot_process, effects, address
):
    """The process dies between the question and its record, and the person taps: their tap hides it from no probe."""
    where = {"CONTINUITY_DATABASE_URL": address} if isinstance(address, str) else {}
    model.reply = calling(ToolCall("add", {"item": "milk"}, "call_a"))
    bot = await bot_process(start=False, CONTINUITY_TOOLS=effects.path, **where)
    await bot.launch(CONTINUITY_FAULT="outbox_sent_unrecorded:2")
    api.people.says(PERSON, "please add milk")
    assert await bot.wait() == -9
    assert bot_texts(api)[1].startswith("May I use add?")

    api.people.presses(PERSON, "Once")
    await bot.start()

    await api.until(lambda: bot_texts(api)[2:] == ["All done."])
    assert bot_texts(api)[1].startswith("✓ Done: add")
    assert effects.count("/add") == 1


PEOPLE, WISHES, DEATHS = 5, 3, 8


@pytest.mark.soak
async def test_in_a_storm_of_deaths_each_wish_is_done_once(live, api, model, effects):
    """People who ask and tap at once, and bots that are killed at any time: each thing stands on the list once.

    Who is asked whether to do it again looks at the list. Whoever taps a button that has gone taps what is there then.
    """
    life = await live(ToolCall("add", {"item": ""}, ""))
    model.reply = wishing

    async def person(who: int) -> None:
        for number in range(WISHES):
            item = f"{who}-{number}"
            api.people.says(who, f"please add {item}")
            while not (effects.items[item] and answered_with(api, who, item)):
                await asyncio.sleep(0.05)
                tap_what_is_there(api, who, happened=effects.items[item] > 0)

    async def storm() -> None:
        chance = random.Random(25)
        for _ in range(DEATHS):
            bot = chance.choice(life.bots)
            await asyncio.sleep(chance.uniform(0.1, 1.5))
            await bot.kill()
            await bot.launch()

    await asyncio.gather(storm(), *(person(PERSON + each) for each in range(PEOPLE)))

    wanted = {f"{PERSON + who}-{number}" for who in range(PEOPLE) for number in range(WISHES)}
    assert effects.items == dict.fromkeys(wanted, 1)
    assert set(life.states()) <= {"done", "left"}


def wishing(messages):
    """Call the tool with what the person asks for, and say it once it was called."""
    last = messages[-1]
    said = last["content"].rpartition("\n")[2] if last["role"] == "user" else ""
    _, asks, item = said.partition("please add ")
    return [ToolCall("add", {"item": item}, "call_a")] if asks else "All done."


def answered_with(api, who: int, item: str) -> bool:
    """Return whether the question about a thing has its outcome."""
    return any(item in text and text.startswith(("✓ Done", "Okay")) for text in bot_texts(api, who))


def tap_what_is_there(api, who: int, *, happened: bool) -> None:
    """Tap the button that fits, if one is there; a second tap on it changes nothing."""
    for label in ("Once", "Leave it" if happened else "Do it again"):
        with suppress(LookupError):
            api.people.presses(who, label)
            return
