"""Forgetting and the ledger (P13): a note goes with every turn that it rests on, and nothing tells of it any more."""

import sqlite3
import subprocess
from contextlib import closing

import psycopg
import pytest

from memory.context.packet_text import stable_text, turn_text
from memory.errors import Conflict
from memory.keeper.session_lines import SessionLine, put_session_line, stored_lines
from memory.ledger.ledgers import Ledgers
from memory.ledger.store import refusal_row, unforgotten
from memory.ledger.types import NO_WORDS, Actor, Add, Change, End, Merge, Refusal
from memory.ledger.undo import rebuilt
from memory.ledger.views import standing
from memory.ports import Statement
from memory.privacy.calls import FORGOTTEN
from memory.privacy.plan import ForgetRequest
from memory.search.query import Query
from memory.search.terms import hashed, stem
from memory.testing import START_MS, make_exchange, open_memory
from memory.types import ToolCall

HERE, SOMEBODY, FRIEND = "tg:1:7:0", 7, 8


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
def say(memory):
    """Say something in a session, by the session's number, with what the turn does to the notes."""
    numbers, sessions = iter(range(1, 10_000)), {}

    async def said(text, *operations, session=1, **overrides):
        if session not in sessions:
            sessions[session] = await memory.recorder.open_session(HERE, SOMEBODY, "gap")
        fields = {"session_id": sessions[session].session_id, "conversation_id": HERE, "assistant_text": "Good."}
        exchange = make_exchange(next(numbers), user_text=text, operations=operations, **(fields | overrides))
        return await memory.recorder.record(exchange, None)

    return said


def add(note_id, text, *turn_ids, kind="fact", **fields):
    return Add(kind=kind, text=text, note_id=note_id, fields={"turn_ids": turn_ids, **fields}, said=text)


async def keep(memory, *operations):
    """Change notes as the keeper does, behind the replies."""
    return await memory.change(HERE, operations, Actor("keeper", START_MS, "r_1"))


async def texts(memory):
    return [note.text for note in standing(await Ledgers(memory.db).read(HERE))]


def raw(memory):
    """Return every byte of database, log and checkpoints; of a server every row."""
    rows = ""
    if memory.db.shared:
        with psycopg.connect(memory.db.address, autocommit=True) as connection:
            names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
            rows = "\n".join(
                row
                for (name,) in names
                for (row,) in connection.execute(f"SELECT t::TEXT FROM {name} t")  # noqa: S608
            )
    files = [str(file) for file in (*memory.db.files, *memory.checkpoints.folder.iterdir()) if file.is_file()]
    found = subprocess.run(["/bin/cat", "/dev/null", *files], check=True, capture_output=True)
    return (rows.encode() + found.stdout).lower()


async def test_no_trace_is_left_of_a_value_that_went_through_many_hands(memory, say, caplog):
    """Restated, merged, changed, put back, refused, in titles and a keeper's answer under way: one turn of it goes."""
    caplog.set_level("DEBUG")
    await say("My PIN is Zebrafish.", add("n_1", "The PIN is Zebrafish", "t_1"))
    await say("Mum's birthday is in May.", add("n_2", "Mum has her birthday in May", "t_2"))
    await say("Yes, Zebrafish, the card's.", add("n_3", "The card has the PIN Zebrafish", "t_3"), session=2)
    await keep(memory, Merge(number=3, into=1, turn_ids=("t_3",), said="the card's"))
    await keep(memory, Change(number=2, fields={"text": "Mum: May, PIN Zebrafish", "turn_ids": ("t_1",)}))
    await memory.ledgers.undo(HERE, await memory.ledgers.since(HERE, 5), Actor("person", START_MS, "b_1"))
    refused = (Change(number=2, fields={"text": "Mum has Zebrafish"}), Refusal("changed", 2))
    line = SessionLine("s_1", HERE, "PIN Zebrafish", "The PIN is Zebrafish.", ("t_1",), 2)
    await memory.db.write(
        refusal_row("f_1", HERE, "s_1", refused, Actor("keeper", START_MS, "t_1")), put_session_line(line)
    )
    read_by_keeper = await memory.ledgers.read(HERE)
    await memory.recorder.settle()
    assert b"zebrafish" in raw(memory)
    caplog.clear()

    done = await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1", "t_3")))

    late = Add(kind="fact", text="PIN Zebrafish", note_id="n_9", fields={"turn_ids": ("t_2",)})
    with pytest.raises(Conflict):
        await memory.ledgers.change(HERE, [late], Actor("keeper", START_MS, "r_2"), unforgotten(read_by_keeper))
    assert await texts(memory) == ["Mum has her birthday in May"]
    await memory.recorder.settle()
    assert b"zebrafish" not in raw(memory)
    assert "Zebrafish" not in caplog.text
    assert (await memory.forgetter.prove(done)).found == 0


async def test_what_stays_is_told_by_its_changes(memory, say):
    """A note that a forgotten turn once changed begins anew; notes and changes still agree, and no version falls."""
    await say("Mum's birthday is in May.", add("n_1", "Mum: May", "t_1"))
    await say("The Zebrafish one.", Change(number=1, fields={"text": "Mum: Zebrafish"}))
    await memory.ledgers.undo(HERE, await memory.ledgers.caused_by(HERE, "t_2"), Actor("person", START_MS, "b_1"))
    before = await memory.ledgers.read(HERE)
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_2",)))

    after = await Ledgers(memory.db).read(HERE)
    changes = await memory.ledgers.since(HERE, 0)
    assert rebuilt(HERE, changes) == after
    assert [change.verb for change in changes] == ["add"]
    assert after.version > before.version
    assert after.next_number == before.next_number


async def test_the_other_turns_of_a_note_that_went_are_read_again(memory, say):
    """What they say for themselves may be noted anew: the session is unread from the first of them on."""
    for text in ("I moved.", "To Ulm.", "Nice there."):
        await say(text)
    await say("Into Lena's street.", add("n_1", "Moved to Ulm, Lena's street", "t_2", "t_4"), session=2)
    line = SessionLine("s_1", HERE, "The move", "Moved.", ("t_1",), 3)
    await memory.db.write(put_session_line(line), Statement("erase_reading", {"session_id": "s_1"}))
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_4",)))

    kept = (await stored_lines(memory.db, HERE))["s_1"]
    assert (kept.title, kept.read_through_seq) == ("The move", 1)
    assert [row["last_seq"] for row in await memory.db.read("reading_of_session", session_id="s_1")] == [3]


async def test_a_note_is_forgotten_with_its_older_values_and_the_messages_stay(memory, say):
    """To forget where one lives is to forget where one lived; messages go only when asked for."""
    await say("I live in Lima.", add("n_1", "Lives in Lima", "t_1", subject="home"))
    await say("I live in Oslo now.", add("n_2", "Lives in Oslo", "t_2", subject="home"))
    done = await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_2",)))

    assert (done.counts.notes, done.counts.turns) == (1, 0)
    assert [note.text for note in await Ledgers(memory.db).read(HERE)] == [NO_WORDS, NO_WORDS]
    assert b"lives in" not in raw(memory)
    assert len(await memory.store.last_turns("s_1", 9)) == 2
    assert await memory.db.read("reading_of_session", session_id="s_1") == []


async def told(memory, question):
    """What a prompt of the present session finds in what was said before."""
    memory.evict(lambda _: True)
    pending = await memory.begin(HERE, question)
    return turn_text(pending.packet) + stable_text(pending.packet)


async def test_what_a_forgotten_note_rested_on_is_told_no_more(place, memory, say):
    """Its messages stay until they are deleted, too; no prompt finds them again, in no process, but /forget does."""
    await say("The PIN of the gate is seven three nine.", add("n_1", "The gate's PIN: seven three nine", "t_1"))
    await say("The gate squeaks, I oil it.", add("n_2", "Oil the gate", "t_2"))
    await say("Good evening.", session=2)
    assert "seven three nine" in await told(memory, "What was the PIN of the gate?")
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",)))

    assert "seven three" not in await told(memory, "What was the PIN of the gate?")
    assert "squeaks" in await told(memory, "What is it that squeaks?")
    assert any("seven three nine" in item.text for item in await memory.search(HERE, "PIN of the gate"))
    async with open_memory(place) as after:
        assert "seven three" not in await told(after, "What was the PIN of the gate?")
    done = await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))
    assert (done.counts.turns, done.counts.notes) == (1, 0)
    assert [note.text for note in await memory.ledgers.read(HERE)] == ["Oil the gate"]


@pytest.mark.parametrize("messages_too", [False, True])
async def test_an_answer_that_told_a_forgotten_note_again_is_told_no_more(place, memory, say, messages_too):
    """A list that the assistant gave weeks ago: it stays where it was said, and no prompt or search of a model has it.

    Who then deletes that list, too, has not brought back the message itself.
    """
    await say("Odile's PIN of the gate is 7391.", add("n_1", "Odile's PIN of the gate: 7391", "t_1"))
    listed = "You told me that the bins go out on Monday, and that the PIN of the gate is 7391."
    await say("Which bins and gates do you know of?", assistant_text=listed)
    await say("The gate squeaks, I oil it.", add("n_2", "Oil the gate", "t_3"))
    await say("Good evening.", session=2)
    assert "7391" in await told(memory, "What was the PIN of the gate, and the bins?")
    request = ForgetRequest(HERE, note_ids=("n_1",), messages_too=messages_too)
    done = await memory.forgetter.forget(request)

    assert [echo.turn_id for echo in await memory.forgetter.echoes(done)] == ["t_2"]
    assert "7391" not in await told(memory, "What was the PIN of the gate, and the bins?")
    assert "squeaks" in await told(memory, "What is it that squeaks?")
    async with open_memory(place) as after:
        assert "7391" not in await told(after, "What was the PIN of the gate, and the bins?")
    assert any("7391" in item.text for item in await memory.search(HERE, "PIN of the gate, bins"))

    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_2",)))
    assert "7391" not in await told(memory, "What was the PIN of the gate, and the bins?")
    left = ["Oil the gate"] if messages_too else [NO_WORDS, "Oil the gate"]
    assert [note.text for note in await memory.ledgers.read(HERE)] == left


@pytest.mark.parametrize("messages_too", [False, True])
async def test_a_model_is_told_that_a_note_went_and_nothing_of_it(memory, say, messages_too):
    """Its own messages still name the note: it neither looks for it nor says that it has it."""
    noted, changed, other = (
        (ToolCall(call_id="1", name=name, result=f"{said}: #{number} fact"),)
        for name, said, number in (("note", "Noted", 1), ("change", "Now", 1), ("note", "Noted", 2))
    )
    await say("The gate squeaks.", add("n_1", "The gate squeaks at picture #9", "t_1"), tool_calls=noted)
    await say("Put that right, please.", tool_calls=changed)
    await say("I like tea.", add("n_2", "Likes tea", "t_3"), tool_calls=other)
    assert "Forgotten" not in await told(memory, "Do you still have that?")
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=messages_too))

    said = await told(memory, "Do you still have that?")
    assert "Forgotten, as the person asked; you no longer know it: #1\n" in said
    assert "squeaks" not in said


async def test_what_was_said_of_a_session_goes_with_the_note_that_it_rested_on(memory, say):
    """Neither the keeper's line nor the first words of an earlier session tell it."""
    await say("The PIN of the gate is seven three nine.", add("n_1", "The gate's PIN: seven three nine", "t_1"))
    line = SessionLine(
        "s_1",
        HERE,
        "the gate's PIN",
        "Your neighbour Odile knows, too, that it is seven three nine.",
        turn_ids=("t_0", "t_1"),
        read_through_seq=1,
    )
    await memory.db.write(put_session_line(line))
    await say("Good evening.", session=2)
    assert "it is seven three nine" in await told(memory, "Hello again")
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",)))

    assert "PIN" not in await told(memory, "Hello again")
    kept = (await stored_lines(memory.db, HERE))["s_1"]
    assert (kept.title, kept.standing, kept.read_through_seq) == ("", "", 1)
    assert b"it is seven three nine" not in raw(memory)


async def test_a_note_is_forgotten_with_its_messages_when_asked(memory, say):
    """[The messages too]."""
    await say("I live in Lima.", add("n_1", "Lives in Lima", "t_1"))
    await say("I like tea.", add("n_2", "Likes tea", "t_2"))
    done = await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    assert (done.counts.notes, done.counts.turns) == (1, 1)
    assert await texts(memory) == ["Likes tea"]
    assert b"lima" not in raw(memory)


async def test_what_tools_were_told_of_it_goes_too(memory, say):
    """A call that wrote the note and a search in another session that found it stay, without their words."""
    noted = ToolCall(call_id="c_1", name="note", arguments=r'{"text": "Lena can\u2019t eat fish"}', result="Noted: #1")
    found = ToolCall(call_id="c_2", name="search", arguments='{"query": "Lena"}', result="#1 Lena can’t eat fish")
    other = ToolCall(call_id="c_3", name="search", arguments='{"query": "tea"}', result="#2 Likes tea")
    await say("Lena: no fish.", add("n_1", "Lena can’t eat fish", "t_1"), tool_calls=(noted,))
    await say("What of Lena?", tool_calls=(found, other), session=2)
    await memory.recorder.settle()
    done = await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",)))

    kept = [call for turn in await memory.store.last_turns("s_2", 9) for call in turn.tool_calls]
    assert [(call.name, call.result) for call in kept] == [("search", FORGOTTEN), ("search", "#2 Likes tea")]
    await memory.recorder.settle()
    assert b"eat fish" not in raw(memory)
    assert (await memory.forgetter.prove(done)).found == 0
    await say("And now?", session=2)
    assert [turn.user_text for turn in await memory.store.last_turns("s_2", 9)] == ["What of Lena?", "And now?"]


async def test_a_search_that_quoted_a_forgotten_message_quotes_it_no_more(memory, say):
    """What was said goes from what tools returned, in whatever session."""
    await say("The door code is forty-two eleven.")
    quoted = ToolCall(call_id="c_1", name="search", result="Mon: “The door code is forty-two eleven.”")
    await say("Which code?", tool_calls=(quoted,), session=2)
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    await memory.recorder.settle()
    assert b"forty-two eleven" not in raw(memory)


async def test_what_was_replaced_by_what_goes_stands_again(memory, say):
    """As if the later value had never been said."""
    await say("I live in Lima.", add("n_1", "Lives in Lima", "t_1", subject="home"))
    await say("I live in Oslo now.", add("n_2", "Lives in Oslo", "t_2", subject="home"))
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_2",)))

    assert await texts(memory) == ["Lives in Lima"]
    assert rebuilt(HERE, await memory.ledgers.since(HERE, 0)).notes == (await memory.ledgers.read(HERE)).notes


async def test_a_forgotten_done_takes_the_note_that_rests_on_it_alone(memory, say):
    """A turn that merely ended something takes no note along when that does not rest on it."""
    await say("I have to call Ana.", add("n_1", "Call Ana", "t_1", kind="task"))
    await say("Called Ana, she said Zebrafish.", End(number=1, said="she said Zebrafish"))
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_2",)))

    [note] = await Ledgers(memory.db).read(HERE)
    assert (note.text, note.status) == ("Call Ana", "done")
    assert b"zebrafish" not in raw(memory)


async def test_a_session_takes_its_notes_and_everything_takes_the_ledger(memory, say):
    """Also what a button noted there; a conversation that begins again counts from 1."""
    await say("I live in Lima.", add("n_1", "Lives in Lima", "t_1"))
    await say("Tea.", session=2)
    await memory.change(HERE, [add("n_2", "Buys tea", session_id="s_2")], Actor("person", START_MS, "b_1"))
    await memory.forgetter.forget(ForgetRequest(HERE, session_ids=("s_2",)))
    assert await texts(memory) == ["Lives in Lima"]
    stale = await memory.ledgers.read(HERE)

    await memory.forgetter.forget(ForgetRequest(HERE, everything=True))

    assert b"lima" not in raw(memory)
    await memory.change(HERE, [add("n_3", "Likes tea")], Actor("person", START_MS, "b_2"))
    assert list((await Ledgers(memory.db).read(HERE)).notes) == [1]
    with pytest.raises(Conflict):
        await memory.db.write(unforgotten(stale))


async def test_in_a_group_only_ones_own_notes_go(memory, say):
    """What others said stays noted."""
    await say("I live in Lima.", add("n_1", "Ana lives in Lima", "t_1", user_id=SOMEBODY))
    await say("I live in Oslo.", add("n_2", "Ben lives in Oslo", "t_2", user_id=FRIEND), user_id=FRIEND)
    await memory.forgetter.forget(ForgetRequest(HERE, everything=True, user_id=SOMEBODY))

    assert await texts(memory) == ["Ben lives in Oslo"]


async def test_the_checkpoint_of_another_session_does_not_bring_a_note_back(memory, say):
    """A note rests on turns of two sessions; with the turn of the one, the copy of the other goes."""
    await say("I live in Lima.", add("n_1", "Lives in Lima", "t_1", session_id="s_1"))
    await say("Calle Ocho.", Change(number=1, fields={"text": "Lives in Lima, Ocho", "turn_ids": ("t_2",)}), session=2)
    await memory.recorder.settle()
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_2",)))

    assert not memory.checkpoints.path("s_1").exists()


async def test_an_answer_made_from_what_was_forgotten_is_not_stored(memory, say):
    """Whoever forgot it, in whichever process: the turn is to be made again from what is left."""
    await say("My PIN is Zebrafish.", add("n_1", "The PIN is Zebrafish", "t_1"))
    pending = await memory.begin(HERE, "What is my PIN?", user_id=SOMEBODY)
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))
    with pytest.raises(Conflict):
        await pending.record("It is Zebrafish.")

    assert b"zebrafish" not in raw(memory)
    again = await memory.begin(HERE, "What is my PIN?", user_id=SOMEBODY)
    assert (await again.record("I don't know.")).assistant_text == "I don't know."


async def test_an_answer_is_stored_whatever_was_noted_meanwhile(memory, say):
    """Notes that changed since void nothing: only what was forgotten does."""
    pending = await memory.begin(HERE, "Hello", user_id=SOMEBODY)
    await memory.change(HERE, [add("n_1", "Likes tea")], Actor("person", START_MS, "b_1"))

    assert (await pending.record("Hi.")).assistant_text == "Hi."


async def test_another_process_forgets_while_the_ledger_is_at_hand(memory, say, place):
    """The answer is made from a ledger that was read before; the rows know better."""
    await say("My PIN is Zebrafish.", add("n_1", "The PIN is Zebrafish", "t_1"))
    pending = await memory.begin(HERE, "What is my PIN?", user_id=SOMEBODY)
    async with open_memory(place) as other:
        await other.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))
    with pytest.raises(Conflict):
        await pending.record("It is Zebrafish.")


async def test_altered_changes_are_forgotten_like_the_rest(memory, say):
    """A byte flipped in a change of the note: it goes with the note."""
    await say("My PIN is Zebrafish.", add("n_1", "The PIN is Zebrafish", "t_1"))
    if not memory.db.shared:
        with closing(sqlite3.connect(memory.db.path)) as disk, disk:
            disk.execute("UPDATE note_changes SET said = 'x Zebrafish'")
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    assert b"zebrafish" not in raw(memory)


async def test_a_note_with_its_messages_leaves_what_else_was_said_in_them(memory, say):
    """The door code goes; the dentist told in the same message stays in its own words alone."""
    code = add("n_1", "Code of the front door: 4711883952", "t_1")
    said = "dentist on the 20th, bring the zebrafish folder"
    dentist = Add(kind="event", text="Dentist on the 20th", note_id="n_2", fields={"turn_ids": ("t_1",)}, said=said)
    again = add("n_3", "The door opens with 4711883952", "t_1")
    await say(f"The door code is 4711883952, and I have the {said}.", code, dentist, again)
    await say("Tea, please.", add("n_4", "Likes tea", "t_2"))
    await memory.recorder.settle()
    request = ForgetRequest(HERE, note_ids=("n_1",), messages_too=True)
    foreseen = await memory.forgetter.foresee(request)
    assert (foreseen.stays, len(foreseen.notes)) == (("Dentist on the 20th",), 2)

    done = await memory.forgetter.forget(request)

    assert (done.counts.notes, done.counts.turns, done.counts.parts) == (2, 0, 1)
    assert (await memory.store.turn("t_1")).user_text == "[…] and I have the dentist on the 20th, […]"
    ledger = await Ledgers(memory.db).read(HERE)
    rests = [(note.text, note.turn_ids) for note in ledger]
    assert rests == [("Dentist on the 20th", ("t_1",)), ("Likes tea", ("t_2",))]
    assert rebuilt(HERE, await memory.ledgers.since(HERE, 0)).notes == ledger.notes
    await memory.recorder.settle()
    assert not [word for word in (b"4711883952", b"zebrafish") if word in raw(memory)]
    assert (await memory.forgetter.prove(done)).found == 0


async def test_of_a_message_that_is_cut_the_calls_for_its_other_matters_stay(memory, say):
    """What was noted and changed beside the forgotten reads as it did: else it seemed forgotten, too."""
    calls = (
        ToolCall(call_id="1", name="note", arguments='{"text": "The PIN is zebrafish"}', result="Noted: #1 fact"),
        ToolCall(call_id="2", name="note", arguments='{"text": "Mum likes tea"}', result="Noted: #2 preference"),
        ToolCall(call_id="3", name="change", arguments='{"numbers": [1]}', result="Now: #1 fact"),
        ToolCall(call_id="4", name="search", arguments='{"query": "zebrafish"}', result="Nothing was found."),
    )
    notes = add("n_1", "The PIN is zebrafish", "t_1"), add("n_2", "Mum likes tea", "t_1")
    await say("The PIN is zebrafish. Mum likes tea.", *notes, tool_calls=calls)
    done = await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    left = (await memory.store.turn("t_1")).tool_calls
    assert [call.result for call in left] == [FORGOTTEN, "Noted: #2 preference", FORGOTTEN, FORGOTTEN]
    assert left[1] == calls[1]
    await memory.recorder.settle()
    assert b"zebrafish" not in raw(memory)
    assert (await memory.forgetter.prove(done)).found == 0


async def test_a_call_that_names_no_note_goes_with_the_message_that_is_cut(memory, say):
    """It may tell the forgotten matter in words that no note has, and nothing would find it there."""
    paraphrase = ToolCall(
        call_id="1",
        name="web_search",
        arguments='{"q": "where seropositive people are looked after"}',
        result="Bring your insurance card.",
    )
    notes = add("n_1", "Has an HIV test at the Charité", "t_1"), add("n_2", "Buy oat milk", "t_1")
    said = "I have an HIV test at the Charité on Friday. Also I must buy oat milk."
    await say(said, *notes, tool_calls=(paraphrase,))
    done = await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    left = await memory.store.turn("t_1")
    assert (left.user_text, left.tool_calls[0].result) == ("[…] Also I must buy oat milk.", FORGOTTEN)
    await memory.recorder.settle()
    assert not [word for word in (b"seropositive", b"insurance") if word in raw(memory)]
    assert (await memory.forgetter.prove(done)).found == 0


async def test_a_message_takes_everything_that_was_noted_of_it(memory, say):
    """Who asks for the message means all of it (P13), whatever it told."""
    await say(
        "The code is 4711, the dentist on the 20th.",
        add("n_1", "Door code: 4711", "t_1"),
        add("n_2", "Dentist: 20th", "t_1"),
    )
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    assert await texts(memory) == []


async def test_what_was_forgotten_already_goes_with_the_messages_of_another(memory, say):
    """A note that is used no more keeps no words when the message of its neighbour is deleted."""
    await say(
        "The code is 4711, the PIN zebrafish.",
        add("n_1", "Door code: 4711", "t_1"),
        add("n_2", "The PIN is zebrafish", "t_1"),
    )
    await keep(memory, Change(number=2, fields={"confidence": 0.0}), End(number=2, how="dropped"))
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    await memory.recorder.settle()
    assert b"zebrafish" not in raw(memory)


async def test_what_was_forgotten_already_is_cut_with_its_neighbour(memory, say):
    """Also from a message of which a part stays: its note is gone then, and nothing would keep it from being read."""
    await say(
        "The code is 4711. Mum likes tea. The PIN is zebrafish.",
        add("n_1", "Door code: 4711", "t_1"),
        add("n_2", "The PIN is zebrafish", "t_1"),
        add("n_3", "Mum likes tea", "t_1"),
    )
    await keep(memory, Change(number=2, fields={"confidence": 0.0}), End(number=2, how="dropped"))
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    await memory.recorder.settle()
    assert (await memory.store.turn("t_1")).user_text == "[…] Mum likes tea. […]"
    assert b"zebrafish" not in raw(memory)


async def test_a_message_that_shares_a_name_alone_stays_and_one_in_other_words_goes(memory, say):
    """Both were joined to the note: the trip shares who went; what has none of its words may say it in others."""
    divorce = Add(kind="fact", text="Nuala is divorcing", note_id="n_1", fields={"turn_ids": ("t_1", "t_2", "t_3")})
    await say("Nuala is divorcing.", divorce)
    await say("Off to Lisbon with Nuala!", add("n_2", "Trip to Lisbon with Nuala", "t_2"))
    await say("Ja, die Scheidung zieht sich, und Mama mag Tee.", add("n_3", "Mama mag Tee", "t_3"))
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    left = await memory.store.last_turns((await memory.store.turn("t_2")).session_id, 9)
    assert [turn.user_text for turn in left] == ["Off to Lisbon with Nuala!"]
    assert await texts(memory) == ["Trip to Lisbon with Nuala", "Mama mag Tee"]


async def test_the_rest_of_a_message_goes_on(memory, say):
    """Its turn keeps its place and chain, is found by what is left of it, and a restart finds nothing to repair."""
    await say("Where is the ferry?")
    await say("The PIN is zebrafish. Mum likes tea.", add("n_1", "The PIN is zebrafish", "t_2"),
              add("n_2", "Mum likes tea", "t_2"))  # fmt: skip
    await say("And the ferry back?")
    await memory.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",), messages_too=True))

    session_id = (await memory.store.turn("t_2")).session_id
    left = [logged.turn for logged in await memory.store.logged_between(session_id, 1)]
    assert [turn.user_text for turn in left] == ["Where is the ferry?", "[…] Mum likes tea.", "And the ferry back?"]
    assert [turn.seq for turn in left] == [1, 2, 3]
    assert left[1].user_tokens == memory.counter.count(left[1].user_text)
    found = await memory.hydrator.hydrate(session_id, dry_run=True)
    assert (found.report.warnings, found.report.turns_healed) == ((), 0)
    assert (await memory.searcher.search(Query(HERE, "mum tea")))[0].ref == "t_2"
    await memory.recorder.settle()
    indexed = hashed(HERE, stem("en", "zebrafish")).encode()
    assert not [word for word in (b"zebrafish", indexed) if word in raw(memory)]


async def test_a_message_that_was_found_by_words_leaves_all_that_was_noted_of_it(memory, say):
    """Where none of its notes holds the words, each tells something else, and stays in its own words alone."""
    await say("Zebrafish! And the dentist is on the 20th.", add("n_1", "Dentist: 20th", "t_1"))
    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",), beside_stays=True))

    assert await texts(memory) == ["Dentist: 20th"]
    await memory.recorder.settle()
    assert b"zebrafish" not in raw(memory)


async def test_a_near_twin_of_the_same_message_is_named_as_staying(memory, say):
    """The eggs come on Tuesday, the butter on Thursday: who forgets the butter alone is told that the eggs stay."""
    twins = (
        add("n_1", "The Blanc farm brings you the eggs", "t_1"),
        add("n_2", "The Blanc farm brings you the butter", "t_1"),
    )
    await say("The Blanc farm brings the eggs on Tuesday and the butter on Thursday.", *twins)

    foreseen = await memory.forgetter.foresee(ForgetRequest(HERE, note_ids=("n_2",)))
    assert foreseen.stays == ("The Blanc farm brings you the eggs",)
