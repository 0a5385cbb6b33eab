"""What a child records, saying which of it was acknowledged, until its parent kills it: see `live`.

It prints one line per acknowledgement (`c_1`: the checkpoint of turn 1 is written), and `end` when it came through.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path

from memory.errors import StorageUnavailable
from memory.keeper.contract import KeeperAnswer, Keeping
from memory.keeper.queue import CALM_MS
from memory.keeper.session_lines import stored_lines
from memory.sessions.exchange import Exchange
from memory.storage.turn_rows import insert_turn
from memory.testing import START_MS, make_turn, start_memory

CONVERSATION = "tg:1:1:0"
SAID = ("I have to call the plumber tomorrow at 9.", "The plumber is done, but mother has her surgery on Friday at 8.")


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def writes(folder):
    memory = await start_memory(folder, copied=False)

    async def writer(number):
        for count in range(1_000_000):
            turn_id = f"w{number}.{count}"
            turn = make_turn(seq=count + 1, turn_id=turn_id, session_id=f"s_{number}")
            pair = make_turn(seq=count + 1, turn_id=f"{turn_id}.pair", session_id=f"p_{number}")
            await memory.db.write(insert_turn(turn, "d"), insert_turn(pair, "d"))
            say(turn_id)

    await asyncio.gather(*(writer(number) for number in range(4)))


async def errors(folder):
    memory = await start_memory(folder, copied=False)
    for seq in range(1, 6):
        try:
            await memory.db.write(insert_turn(make_turn(seq=seq), "d"))
            say(f"stored {seq}")
        except StorageUnavailable as exc:
            say(f"refused {seq}: {exc}")
    await memory.close()
    say("end")


async def turns(folder, count, synchronous="FULL"):
    memory = await start_memory(folder, copied=False)
    await memory.db._writer.call(lambda connection: connection.execute(f"PRAGMA synchronous={synchronous}"))
    survey = await memory.hydrator.survey()
    await memory.hydrator.adopt(survey.orphans)
    state = await memory.recorder.current(CONVERSATION)
    if state is None:
        state = await memory.recorder.open_session(CONVERSATION, 7, "first")
    for number in range(state.last_seq + 1, count + 1):
        exchange = Exchange(
            turn_id=f"t_{number}",
            session_id=state.session_id,
            conversation_id=CONVERSATION,
            user_text=f"Please plan day {number} in Rome. Shall we take the train?",
            assistant_text=f"Day {number}: the Forum. I will check the trains.",
            created_at_ms=START_MS + number,
        )
        await memory.recorder.record(exchange, None)
        say(f"t_{number}")
        await memory.recorder.settle()
        say(f"c_{number}")
        if number % 3 == 0:
            await memory.db.wal_truncate()
    say((await memory.recorder.session(state.session_id)).model_dump_json())
    await memory.recorder.shutdown(10)
    await memory.close()
    say("end")


class Model:
    """Keeps every session the same way."""

    name = "scripted:1"

    def estimate(self, _request):
        return 100

    async def __call__(self, request, _again=None):
        say(f"asked {request.turns[-1].seq}")
        task = {"op": "add", "kind": "task", "text": "Call the plumber", "turns": [1], "said": "call the plumber"}
        done = {"op": "end", "number": 1, "turns": [2], "said": "The plumber is done"}
        changes = [task if request.turns[0].seq == 1 else done]
        return Keeping(KeeperAnswer.model_validate({"title": "the plumber", "changes": changes}), 90, 10)


async def keeper(folder):
    memory = await start_memory(folder, copied=False, keeper_model=Model())
    await memory.keeper.free_leases()
    state = await memory.recorder.current(CONVERSATION)
    if state is None:
        state = await memory.recorder.open_session(CONVERSATION, 7, "first")
    for number, text in enumerate(SAID, 1):
        if number > state.last_seq:
            await memory.recorder.record(
                Exchange(
                    turn_id=f"t_{number}",
                    session_id=state.session_id,
                    conversation_id=CONVERSATION,
                    user_id=7,
                    user_text=text,
                    assistant_text="I see.",
                    created_at_ms=START_MS + number - 2 * CALM_MS,
                    input_tokens=10_000,
                ),
                None,
            )
        await memory.keeper.read_due()
    lines = await stored_lines(memory.db, CONVERSATION)
    say(lines[state.session_id].title if lines else "unread")
    say("; ".join(f"{note.number} {note.text} {note.status}" for note in await memory.ledgers.read(CONVERSATION)))
    await memory.close()
    say("end")


def live(place, what, count="0"):
    """Do one of these in a folder until the end, or until somebody kills it."""
    jobs = {
        "writes": writes,  # acknowledge single database writes for ever
        "errors": errors,  # make five database writes, telling of each how it went
        "keeper": keeper,  # record turns and have them read, saying when the model is asked
        "turns": partial(turns, count=int(count)),  # survey, adopt, then record turns until the session has `count`
        "hasty": partial(turns, count=int(count), synchronous="NORMAL"),  # the same without a sync at each commit
    }
    asyncio.run(jobs[what](Path(place)))
