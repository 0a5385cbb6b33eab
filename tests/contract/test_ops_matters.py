"""What an operator changes by hand in a conversation: notes, open matters, reminders, and what was given up on."""

from __future__ import annotations

import pytest

from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Outbox, OutgoingMessage, Target
from bot.ops import matters, quarantine
from bot.ops.workspace import OpsError, Workspace
from bot.reminders.rules import insert_reminder, job_id_of
from bot.settings import Settings
from bot.tables import BOT_TABLES
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest
from memory.search.query import Query
from memory.testing import START_MS, ManualClock, SequentialIds, make_exchange, open_memory

CHAT = "tg:5:987654321:0"
HOUR_MS = 3_600_000
SAID = ("I live in Porto.", "I need to call the landlord by Friday about the heating.", "Nice weather today.")


@pytest.fixture
async def workspace(tmp_path):
    """Offer a memory with the bot's tables in which somebody said three things, read through."""
    clock = ManualClock(START_MS)
    async with open_memory(tmp_path, extensions=[BOT_TABLES], clock=clock) as memory:
        opened = await memory.recorder.open_session(CHAT, 7, "first")
        for seq, text in enumerate(SAID, 1):
            exchange = make_exchange(
                seq, turn_id=f"t_{seq}", session_id=opened.session_id, conversation_id=CHAT, user_text=text,
                assistant_text="Noted.", created_at_ms=START_MS + seq,
            )  # fmt: skip
            await memory.recorder.record(exchange, None)
        await memory.settle()
        yield Workspace(Settings(_env_file=None), memory)


async def remind(workspace, title: str, due_at_ms: int) -> str:
    """Set a reminder and return its id."""
    reminder = insert_reminder(
        title, conversation_id=CHAT, session_id=None, user_id=7, turn_id=None, title=title, due_at_ms=due_at_ms,
        time_zone="UTC", now_ms=START_MS,
    )  # fmt: skip
    await workspace.memory.db.write(reminder)
    return job_id_of(title)


def about(found, word: str):
    """Return the one whose words hold this."""
    return next(each for each in found if word in each.words)


async def test_a_note_is_forgotten_with_what_it_rests_on(workspace):
    """What will go is shown first; afterwards neither note nor message is there, nor a trace in the files."""
    note = about(await matters.read_notes(workspace, CHAT), "Porto")
    asked = await matters.note_to_forget(workspace, CHAT, note.ref)

    _, proof = await matters.forget_note(workspace, CHAT, note.ref)

    assert asked.quoted == ("I live in Porto.",)
    assert proof.found == 0
    assert await workspace.memory.store.turn("t_1") is None
    assert not [each for each in await matters.read_notes(workspace, CHAT) if "Porto" in each.words]
    with pytest.raises(OpsError, match="look again"):
        await matters.forget_note(workspace, CHAT, note.ref)


@pytest.mark.parametrize("word", ["Porto", "landlord"])
async def test_a_note_is_corrected_and_stays_so(workspace, word):
    """The new words are what is told, found and listed from then on, also when the session is read again."""
    note = about(await matters.read_notes(workspace, CHAT), word)
    corrected = await matters.correct_note(workspace, CHAT, note.ref, f"  {note.text}\n of the zebrafish ")
    await workspace.memory.forget(ForgetRequest(CHAT, turn_ids=("t_3",)))

    shown = [each.text for each in await matters.read_notes(workspace, CHAT) if word in each.text]

    assert corrected == f"{note.text} of the zebrafish"
    assert shown == [corrected]


async def test_words_that_make_no_note_change_nothing(workspace):
    """Nothing, or far too much, is refused and said."""
    note = about(await matters.read_notes(workspace, CHAT), "Porto")

    for text, why in (("  \n", "needs words"), ("x" * 241, "at most 240")):
        with pytest.raises(OpsError, match=why):
            await matters.correct_note(workspace, CHAT, note.ref, text)

    assert about(await matters.read_notes(workspace, CHAT), "Porto") == note


async def test_a_corrected_memory_is_found_by_its_new_words(workspace):
    """A fact that was promoted is searched by what it says now, no more by what it said."""
    await workspace.memory.promote(CHAT)
    memory = (await workspace.memory.memories(CHAT))[0]
    known = matters.known_memory(memory)
    await workspace.memory.db.write(*matters._reworded_memory(workspace, CHAT, memory, "The person lives in Lisbon"))

    found = await workspace.memory.searcher.search(Query(CHAT, "Lisbon", now_ms=START_MS, limit=5))

    assert known.ref in {item.ref for item in found}
    assert [each.text for each in await workspace.memory.memories(CHAT)] == ["The person lives in Lisbon"]


async def test_an_open_matter_is_ended_by_hand(workspace):
    """It is open no more; ending it twice is told so."""
    loops = (await matters.read_matters(workspace, CHAT)).loops
    heating = next(each for each in loops if "landlord" in each.words)

    await matters.end_loop(workspace, CHAT, heating.loop.loop_id, "done")

    left = (await matters.read_matters(workspace, CHAT)).loops
    assert heating.loop.loop_id not in {each.loop.loop_id for each in left}
    with pytest.raises(OpsError, match="look again"):
        await matters.end_loop(workspace, CHAT, heating.loop.loop_id, "dropped")


async def test_a_reminder_is_moved_and_cancelled(workspace):
    """Its new time must be to come; what was cancelled is gone from the list, and stays so."""
    job_id = await remind(workspace, "call Ana", START_MS + HOUR_MS)
    await matters.move_reminder(workspace, CHAT, job_id, START_MS + 2 * HOUR_MS)
    moved = await matters.read_reminders(workspace, CHAT)

    with pytest.raises(OpsError, match="still to come"):
        await matters.move_reminder(workspace, CHAT, job_id, START_MS - 1)
    await matters.cancel_reminder(workspace, CHAT, job_id)

    assert [reminder.due_at_ms for reminder in moved] == [START_MS + 2 * HOUR_MS]
    assert await matters.read_reminders(workspace, CHAT) == []
    with pytest.raises(OpsError, match="cancelled already"):
        await matters.cancel_reminder(workspace, CHAT, job_id)


async def test_nothing_of_another_conversation_is_touched(workspace):
    """An id is looked for in the named conversation alone."""
    job_id = await remind(workspace, "call Ana", START_MS + HOUR_MS)
    note = about(await matters.read_notes(workspace, CHAT), "Porto")

    for attempt in (
        matters.cancel_reminder(workspace, "tg:5:1:0", job_id),
        matters.forget_note(workspace, "tg:5:1:0", note.ref),
        matters.correct_note(workspace, "tg:5:1:0", note.ref, "x"),
        matters.end_loop(workspace, "tg:5:1:0", note.ref, "done"),
    ):
        with pytest.raises(OpsError):
            await attempt


async def test_a_part_that_was_refused_is_sent_again_or_dropped(workspace):
    """Retry puts it back into the outbox, Drop takes it away with its text; neither finds it a second time."""
    memory = workspace.memory
    outbox = Outbox(memory.db, memory.clock, SequentialIds(), HighestMessageIds())
    parts = []
    for text in ("one", "two"):
        (part,), rows = outbox.compose(Target(5, CHAT, 987654321), OutgoingMessage(text))
        await memory.db.write(*rows, Statement("outbox_failed", {"part_id": part.part_id, "error": "refused"}))
        parts.append(part)

    again = await quarantine.retry_part(workspace, parts[0].part_id)
    await quarantine.drop_part(workspace, parts[1].part_id)

    assert (again.text, again.state) == ("one", "queued")
    assert [part.text for part in await outbox.unsent(5)] == ["one"]
    assert await quarantine.list_failed_parts(workspace) == []
    with pytest.raises(OpsError):
        await quarantine.retry_part(workspace, parts[1].part_id)
