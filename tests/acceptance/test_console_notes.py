"""What the console shows of a conversation's notes, and what an operator does to them there."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from browsing import ask_and_do, mark, session_id

from bot.tasks.task import Task
from memory.ledger.types import UNTIL_TOLD_MS, Actor, Add, Change


async def talked_and_noted(app, client, said: str, kind: str, text: str, **fields):
    """Let somebody say something, note it with the message that it rests on, and return the note."""
    await client.post("/chat", json={"session_id": "home", "message": said})
    memory = app.services.memory
    row = await memory.store.session(await session_id(client))
    turn = (await memory.store.last_turns(row.session_id, 1))[-1]
    whose = {"turn_ids": (turn.turn_id,), "session_id": row.session_id, "user_id": row.user_id, "owner": "user"}
    add = Add(kind=kind, text=text, note_id=app.services.ids.new("n"), fields=whose | fields)
    actor = Actor("model", app.services.clock.now_ms(), turn.turn_id)
    (outcome,) = await memory.change(row.conversation_id, [add], actor)
    return outcome.note


async def test_what_it_remembers_is_changed_by_hand(console):
    """A note is corrected, then forgotten with its message; an open matter is ended; each is asked first."""
    app, client, browser = console
    await talked_and_noted(app, client, "I live in Porto.", "fact", "Lives in Porto.")
    landlord = "I need to call the landlord about the heating."
    await talked_and_noted(app, client, landlord, "task", "Call the landlord about the heating")
    home = f"/console/sessions/{await session_id(client)}/memory"

    asked, corrected = await ask_and_do(
        browser, (await browser.get(home)).text, "Correct", "Porto", value="Lives in Lisbon."
    )
    warned, forgotten = await ask_and_do(browser, corrected, "Forget", "Lisbon")
    _, ended = await ask_and_do(browser, forgotten, "Done", "landlord")

    assert "I live in Porto." in asked
    assert "Lives in Lisbon." in corrected
    assert "can&#39;t be brought back" in warned
    assert "no trace is left" in forgotten
    assert "Lisbon" not in forgotten
    assert "Nothing is noted yet." in ended
    turns = [turn.user_text for turn in await app.services.memory.store.last_turns(await session_id(client), 9)]
    assert turns == [landlord]


async def test_what_ended_stands_again_and_twins_are_merged(console):
    """[Reopen] brings an ended note back at once; [Merge] asks for the number of the note that stands for both."""
    app, client, browser = console
    await talked_and_noted(app, client, "milk", "task", "Buy milk")
    twin = await talked_and_noted(app, client, "milk!", "task", "Get some milk from the shop")
    home = f"/console/sessions/{await session_id(client)}/memory"
    _, page = await ask_and_do(browser, (await browser.get(home)).text, "Done", "Buy milk")
    ended = {"session_id": await session_id(client), "ref": "1"}

    again = (await browser.post("/console/act/note-reopen", data=ended | {"mark": mark(page)})).text
    asked, merged = await ask_and_do(browser, again, "Merge", "Get some milk", value="1")

    assert "Nothing has ended." not in page
    assert "It stands again." in again
    assert "Nothing has ended." in again
    assert "the note that stands for both" in asked
    assert "One note stands for both." in merged
    ledger = await app.services.memory.ledgers.read(twin.conversation_id)
    assert [(note.text, note.status) for note in ledger] == [
        ("Buy milk", "open"),
        ("Get some milk from the shop", "replaced"),
    ]


async def test_a_task_that_a_person_paused_says_so(console):
    """That pause is its note's; nothing failed."""
    app, client, browser = console
    note = await talked_and_noted(app, client, "milk", "task", "Count the milk")
    task = Task(note.note_id, note.conversation_id, None, "t_1", "once", "", created_at_ms=note.said_at_ms)
    await app.services.db.write(task.put())
    rests = {"rings_from": "2030-01-01T09:00", "repeats": "FREQ=DAILY", "snoozed_until_ms": UNTIL_TOLD_MS}
    by = Actor("person", note.said_at_ms, "tap")
    await app.services.memory.change(note.conversation_id, [Change(number=note.number, fields=rests)], by)

    page = (await browser.get(f"/console/sessions/{await session_id(client)}/made")).text
    assert '<span class="tag">paused</span>' in page


async def test_a_note_shows_what_was_done_to_it(console):
    """Its page has a line for each change: who made it, the old words struck out beside the new."""
    app, client, browser = console
    await talked_and_noted(app, client, "I live in Porto.", "fact", "Lives in Porto.")
    home = f"/console/sessions/{await session_id(client)}"
    await ask_and_do(
        browser, (await browser.get(f"{home}/memory")).text, "Correct", "Porto", value="Lives in <b>Lisbon</b>."
    )

    page = (await browser.get(f"{home}/notes/1")).text

    assert "Noted by the assistant" in page
    assert "Changed by an operator" in page
    assert "<s>Lives in Porto.</s> Lives in &lt;b&gt;Lisbon&lt;/b&gt;." in page


async def test_nothing_is_done_unasked(console):
    """A form that skips the question gets the question, and the note is still there; no such note is said so."""
    app, client, browser = console
    await talked_and_noted(app, client, "I live in Porto.", "fact", "Lives in Porto.")
    home = f"/console/sessions/{await session_id(client)}/memory"
    page = (await browser.get(home)).text
    ref = re.search(r"note-forget\?session_id=\w+&amp;ref=([^\"]+)", page)[1]
    form_mark = mark((await browser.get("/console/checkpoints")).text)

    asked = await browser.post(
        "/console/act/note-forget", data={"session_id": await session_id(client), "ref": ref, "mark": form_mark}
    )
    gone = await browser.get("/console/do/note-forget", params={"session_id": await session_id(client), "ref": "99"})

    assert "Forget this for ever?" in asked.text
    assert "Porto" in (await browser.get(home)).text
    assert (gone.status_code, "no note #99" in gone.text) == (409, True)


async def test_a_reminder_is_moved_and_dropped(console):
    """By the note's clock; what is in the past or no time at all is refused in a sentence."""
    app, client, browser = console
    year = datetime.now(UTC).year + 1
    rings = {"rings_from": f"{year}-01-02T09:00", "time_zone": "Europe/Berlin"}
    await talked_and_noted(app, client, "hello", "task", "call Ana", **rings)
    home = f"/console/sessions/{await session_id(client)}/memory"

    asked, past = await ask_and_do(
        browser, (await browser.get(home)).text, "Move", "call Ana", value="2020-01-01T09:00"
    )
    _, moved = await ask_and_do(
        browser, (await browser.get(home)).text, "Move", "call Ana", value=f"{year}-02-03T09:00"
    )
    warned, dropped = await ask_and_do(browser, moved, "Drop", "call Ana")

    assert "Europe/Berlin" in asked
    assert "still to come" in past
    assert f"3 Feb {year}" in moved or f"{year}-02-03" in moved
    assert "It won&#39;t ring any more" in warned
    assert "Nothing is noted yet." in dropped
    assert (await app.services.db.read_one("notes_next_ring", prefix="%"))["rings_at_ms"] is None


async def test_a_rhythm_and_whose_turn_it_is_are_said_in_words(console):
    """No rule of a calendar and no word of ours, in the list as in a note's own history."""
    app, client, browser = console
    weekly = {"rings_from": "2030-03-05T09:00", "repeats": "FREQ=WEEKLY;BYDAY=TU", "owner": "assistant"}
    note = await talked_and_noted(app, client, "Every Tuesday tell me what's due.", "task", "Tell what's due", **weekly)
    page = f"/console/sessions/{await session_id(client)}"
    for end in ("/memory", f"/notes/{note.number}"):
        shown = (await browser.get(page + end)).text
        assert "every Tuesday" in shown
        assert "the assistant" in shown
        assert "FREQ" not in shown
