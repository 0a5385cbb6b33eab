"""What the user is shown of a bootstrap, and the idle loop that keeps it fresh."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from bot import replies
from bot.delivery.outbox import Button
from bot.features.continuity.carried import is_named
from bot.features.continuity.idle import Idle
from bot.features.continuity.preview import (
    asked_message,
    carried_message,
    offer_message,
    preview_lines,
    shown_message,
)
from bot.features.continuity.settings import OwnChoices, settings_message
from bot.features.sessions import session_label, to_take_up
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import BootstrapOwner, Persona, Preference
from memory.ledger.types import Ledger, Occurrence
from memory.testing import START_MS, ManualClock, make_arc, make_note

TOLD = ("• The boat", "• The report")


def preview(*titles):
    return BootstrapPreview(
        offer="ask", mode="ask", skip_preview=False, text="", arcs=tuple(make_arc(title) for title in titles)
    )


def labels(message):
    return [[button.label for button in row] for row in message.buttons]


def test_the_offer_is_the_preview_with_a_few_buttons_and_says_that_the_message_waits():
    """The lines stand between the two sentences that leave the choice."""
    message = offer_message(preview("boat", "report"), TOLD, "t_1", ())

    parts = (replies.say("offer_head"), "\n".join(TOLD), replies.say("offer_tail"), replies.say("answer_waits"))
    assert message.text == "\n\n".join(parts)
    assert labels(message) == [["Carry on", "Start fresh"], ["Always", "Edit"]]


def test_editing_shows_a_row_for_each_line_and_the_way_back():
    """So does /continue; its sessions come back with [Back]."""
    sessions = ((Button("Boat · 2 messages", "continue", {"session_id": "s_1"}),),)
    offer = offer_message(preview("boat", "report"), TOLD, "t_1", (), editing=True)
    asked = asked_message(preview("boat"), TOLD[:1], sessions, (), editing=True)

    assert labels(offer) == [["✕ boat"], ["✕ report"], ["Carry on", "Back"]]
    assert labels(asked) == [["✕ boat"], ["Carry this forward", "Back"]]
    assert offer.buttons[-1][-1].payload == {"turn_id": "t_1", "dropped": [], "editing": False}


def test_every_button_of_the_offer_knows_the_waiting_turn_and_what_was_dropped():
    """So that a tap after a restart finds both."""
    message = offer_message(preview("report"), TOLD[1:], "t_1", ("a_boat",), edits_message_id=9)
    payloads = [button.payload for row in message.buttons for button in row]

    assert all(payload["turn_id"] == "t_1" and payload["dropped"] == ["a_boat"] for payload in payloads)
    assert message.edits_message_id == 9


def test_when_all_is_dropped_one_can_only_go_on_or_start_fresh():
    """Nothing is left that could always be done."""
    message = offer_message(preview(), (), "t_1", ("a_boat",))

    assert labels(message) == [["Go on", "Start fresh"]]
    assert message.text


def test_a_long_title_fits_on_its_button():
    """It is cut at a word."""
    message = offer_message(
        preview("a very long title that says far too much for one button"), (), "t_1", (), editing=True
    )

    assert len(message.buttons[0][0].label) <= 40


def test_continue_shows_what_would_be_carried_then_the_sessions():
    """Without anything to carry only the sessions are offered."""
    sessions = ((Button("Boat · 2 messages", "continue", {"session_id": "s_1"}),),)
    both = asked_message(preview("boat"), TOLD[:1], sessions, ())
    alone = asked_message(preview(), (), sessions, ())

    assert labels(both) == [["Carry this forward", "Edit"], ["Boat · 2 messages"]]
    assert "• The boat" in both.text
    assert labels(alone) == [["Boat · 2 messages"]]
    assert "•" not in alone.text


def test_few_sessions_stand_beside_what_can_be_carried():
    """Eight buttons fill a screen: three, and /sessions has the others; without matters all of them."""
    sessions = tuple((Button(f"Talk {n}", "continue", {"session_id": f"s_{n}"}),) for n in range(8))

    asked = asked_message(preview("The boat"), ["• The boat"], sessions, ())
    assert labels(asked) == [["Carry this forward", "Edit"], ["Talk 0"], ["Talk 1"], ["Talk 2"]]
    assert len(asked_message(preview(), (), sessions, ()).buttons) == 8


def test_what_is_carried_is_said_without_a_question():
    """The lines of the preview, and no button."""
    message = shown_message(TOLD)

    assert message.text.splitlines()[1:] == ["• The boat", "• The report"]
    assert message.buttons == ()


def test_a_line_of_the_preview_is_the_note_as_it_stands_now():
    """What changed since the bootstrap was made is told as it is; what is not sure stays vague."""
    arcs = (make_arc("boat"), make_arc("rent", number=2, generalized=True), make_arc("gone", number=9))
    shown = BootstrapPreview(offer="ask", mode="ask", skip_preview=False, text="", arcs=arcs)
    ledger = Ledger("c", notes={1: make_note("Sell the boat"), 2: make_note("Pay 950 euros", number=2)})

    assert preview_lines(shown, ledger, START_MS, "UTC") == [
        "• Sell the boat",
        "• rent (I'm not sure of the details)",
        "• gone",
    ]


def test_beside_what_is_carried_stand_the_events_of_today_and_tomorrow():
    """A birthday of today was missing, since nobody goes on with what comes by itself; without a matter none stands."""
    day = 86_400_000
    notes = (
        make_note("Sell the boat", number=1),
        make_note("Mia's birthday", number=2, kind="event", due_at_ms=START_MS - START_MS % day),
        make_note("Choir", number=3, kind="event", due_at_ms=START_MS + day, due_exact=True, repeats="FREQ=WEEKLY"),
        make_note("The fair", number=4, kind="event", due_at_ms=START_MS + 5 * day),
    )
    ledger = Ledger("c", notes={note.number: note for note in notes})
    shown = BootstrapPreview(offer="ask", mode="ask", skip_preview=False, arcs=(make_arc("Sell the boat"),))

    said = [line.removeprefix("• ").split(" (")[0] for line in preview_lines(shown, ledger, START_MS, "UTC")]
    assert said == ["Sell the boat", "\nOn the calendar:", "Mia's birthday", "Choir"]
    assert preview_lines(shown.model_copy(update={"arcs": ()}), ledger, START_MS, "UTC") == []


def test_what_is_carried_stands_in_the_order_of_its_days():
    """A series by its next date, a matter by its own day and not its ring; what is over, and what lasts, at the end."""
    day = 86_400_000
    weekly = {"rings_from": "2023-10-01T09:00", "repeats": "FREQ=WEEKLY", "due_at_ms": START_MS - 44 * day}
    weekly["occurrences"] = (Occurrence(original_local="2023-11-12T09:00", state="done"),)
    notes = (
        make_note("You live in Lisbon", number=1, kind="fact"),
        make_note("The concert", number=2, kind="event", due_at_ms=START_MS - 2 * day),
        make_note("Some day", number=3),
        make_note("Weekly report", number=4, rings_at_ms=START_MS + 5 * day, **weekly),
        make_note(
            "Hand in", number=5, due_at_ms=START_MS + 9 * day, rings_at_ms=START_MS + day, rings_from="2026-11-28T09:00"
        ),
        make_note("The fair", number=6, kind="project", due_at_ms=START_MS + 2 * day),
        make_note("The rent", number=7, due_at_ms=START_MS - day),
    )
    ledger = Ledger("c", notes={note.number: note for note in notes})
    arcs = tuple(make_arc(note.text, number=note.number) for note in notes)
    shown = BootstrapPreview(offer="ask", mode="ask", skip_preview=False, text="", arcs=arcs)

    said = [line.removeprefix("• ").split(" (")[0] for line in preview_lines(shown, ledger, START_MS, "UTC")]
    assert said == [
        "The rent",
        "The fair",
        "Weekly report",
        "Hand in",
        "Some day",
        "The concert",
        "\nKeeping in mind:",
        "You live in Lisbon",
    ]


@pytest.mark.parametrize(
    ("is_first", "shown"),
    [(True, [["Start fresh"], ["Ask before carrying on"]]), (False, [["Start fresh"]])],
    ids=["first", "later"],
)
def test_one_small_line_under_the_first_answer_names_what_was_carried(is_first, shown):
    """With a way to answer without it; the very first time also with the way to be asked."""
    message = carried_message("the kitchen tiles", "t_1", is_first=is_first)

    assert message.text == "Carrying on from: the kitchen tiles"
    assert labels(message) == shown
    assert all(button.payload == {"turn_id": "t_1"} for row in message.buttons for button in row)


@pytest.mark.parametrize("mode", ["ask", "use", "off"])
def test_settings_mark_what_is_chosen(mode):
    """A preview is skipped only where there is one: who chooses to be asked sees it again."""
    message = settings_message(Preference(mode=mode, skip_preview=True), "assistant", OwnChoices("Europe/Berlin"))
    modes, (*skips, _language), (follow_up,) = message.buttons

    assert [button.label for button in modes if button.label.startswith("✓")] == [f"✓ {mode.title()}"]
    assert [button.payload for button in modes] == [{"mode": each} for each in ("ask", "use", "off")]
    assert [each.payload for each in skips] == ([{"mode": mode, "skip_preview": False}] if mode == "ask" else [])
    assert "Europe/Berlin" in message.text
    assert "As I write" in message.text
    assert (follow_up.label, follow_up.payload) == ("Ask me how it went", {"follow_ups": True})


class Rows:
    """A database that knows nobody and tells when it was asked."""

    def __init__(self):
        self.asked = asyncio.Event()

    async def read(self, _name, **_):
        self.asked.set()
        return []


def idle(db, *, is_idle, clock, beats=None, unread=0):
    async def warm_up():
        pass

    async def chosen(_user_id):
        return None

    async def waiting(_now_ms):
        if beats:
            beats.release()
        return unread

    keeper = SimpleNamespace(queue=SimpleNamespace(waiting=waiting))
    services = SimpleNamespace(
        clock=clock,
        db=db,
        memory=SimpleNamespace(keeper=keeper, bootstrap=SimpleNamespace(warm_up=warm_up)),
        personas=SimpleNamespace(chosen=chosen),
    )
    return Idle(services, lambda: is_idle, every_s=0)


async def test_the_heartbeat_beats_again_and_again_until_it_is_cancelled(monkeypatch):
    """While nobody writes it looks for what is stale."""
    monkeypatch.setattr("bot.features.continuity.idle._load", lambda: 0.0)
    db = Rows()
    task = asyncio.create_task(idle(db, is_idle=True, clock=ManualClock()).run())
    for _ in range(2):
        await asyncio.wait_for(db.asked.wait(), 5)
        db.asked.clear()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_reading_that_waits_comes_before_the_heartbeat(monkeypatch):
    """What is generated shall rest on everything that was said."""
    monkeypatch.setattr("bot.features.continuity.idle._load", lambda: 0.0)
    db, beats = Rows(), asyncio.Semaphore(0)
    beating = idle(db, is_idle=True, clock=ManualClock(), beats=beats, unread=1)
    task = asyncio.create_task(beating.run())
    for _ in range(3):
        await asyncio.wait_for(beats.acquire(), 5)
    task.cancel()

    assert beating._workload().pending_readings == 1
    assert not db.asked.is_set()


def test_a_message_keeps_the_heartbeat_waiting(monkeypatch):
    """The workload tells how long nobody wrote, and whether a lane works."""
    monkeypatch.setattr("bot.features.continuity.idle._load", lambda: 0.0)
    clock = ManualClock()
    at_work = idle(Rows(), is_idle=False, clock=clock)
    at_work.message_arrived()
    clock.advance(s=5)

    assert at_work._workload().idle_ms == 5000
    assert at_work._workload().running_turns == 1
    assert idle(Rows(), is_idle=True, clock=clock)._workload().idle_ms is None


def test_a_conversation_without_a_title_is_told_by_when_it_was():
    """One day was told twice: `Tue 1 Dec · Tue 1 Dec`."""
    began_ms = START_MS - 9 * 86_400_000
    row = SimpleNamespace(session_id="s_1", title="", created_at_ms=began_ms, last_turn_at_ms=began_ms)

    assert session_label(row, START_MS, "UTC", "s_2") == "On Sun 5 Nov at 22:13"
    row.title = "The boat"
    assert session_label(row, START_MS, "UTC", "s_2") == "The boat · Sun 5 Nov"


def test_one_turn_without_a_topic_is_no_conversation_to_take_up():
    """A day and hour says nothing to anybody; where there is nothing else it is offered all the same."""
    one, boat, now = (
        SimpleNamespace(session_id=f"s_{n}", title=title, turn_count=1) for n, title in enumerate(("", "The boat", ""))
    )

    assert to_take_up([now, one, boat], "s_2") == [boat]
    assert to_take_up([now, one], "s_2") == [one]
    one.turn_count = 2
    assert to_take_up([now, one, boat], "s_2") == [one, boat]


@pytest.mark.parametrize(
    ("conversation_id", "origin", "preference", "role", "named"),
    [
        ("tg:1:7:0", "gap", {"is_chosen": False}, "assistant", True),
        ("tg:1:-7:0", "gap", {"is_chosen": False}, "assistant", False),
        ("tg:1:7:0", "fresh", {"is_chosen": False}, "assistant", False),
        ("tg:1:7:0", "gap", {"is_chosen": True}, "assistant", False),
        ("tg:1:7:0", "gap", {"is_chosen": False, "mode": "off"}, "assistant", False),
        ("tg:1:7:0", "gap", {"is_chosen": False}, "roleplay", False),
    ],
)
def test_what_is_carried_is_named_to_one_person_once(conversation_id, origin, preference, role, named):
    """Not to a group, where nobody asked; nor in a scene, after a clean start, or to who chose already."""
    persona = Persona(name="p", role=role, tone=("warm", "plain"), instructions="Help.")
    owner = BootstrapOwner(conversation_id=conversation_id, user_id=7, persona=persona)

    assert is_named(owner, Preference(**preference), SimpleNamespace(origin=origin)) is named
