"""A child process that records turns and says which ones were acknowledged; its parent kills it.

    python core_child.py FOLDER writes            acknowledge single database writes for ever
    python core_child.py FOLDER errors            make five database writes, telling of each how it went
    python core_child.py FOLDER turns COUNT       survey, adopt, then record turns until the session has COUNT

Prints one line per acknowledgement, and `end` when it came through.
"""

import asyncio
import sys
from pathlib import Path

from memory.errors import StorageUnavailable
from memory.sessions.recorder import Exchange
from memory.storage.store import insert_turn
from memory.testing import START_MS, make_turn, start_memory

CONVERSATION = "tg:1:1:0"


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def writes(folder):
    memory = await start_memory(folder)

    async def writer(number):
        for count in range(1_000_000):
            turn_id = f"w{number}.{count}"
            turn = make_turn(seq=count + 1, turn_id=turn_id, session_id=f"s_{number}")
            pair = make_turn(seq=count + 1, turn_id=f"{turn_id}.pair", session_id=f"p_{number}")
            await memory.db.write(insert_turn(turn, "d"), insert_turn(pair, "d"))
            say(turn_id)

    await asyncio.gather(*(writer(number) for number in range(4)))


async def errors(folder):
    memory = await start_memory(folder)
    for seq in range(1, 6):
        try:
            await memory.db.write(insert_turn(make_turn(seq=seq), "d"))
            say(f"stored {seq}")
        except StorageUnavailable as exc:
            say(f"refused {seq}: {exc}")
    await memory.close()
    say("end")


async def turns(folder, count):
    memory = await start_memory(folder)
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
    say((await memory.recorder.session(state.session_id)).model_dump_json())
    await memory.recorder.shutdown(10)
    await memory.close()
    say("end")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    jobs = {"writes": writes, "errors": errors}
    asyncio.run(turns(place, int(sys.argv[3])) if sys.argv[2] == "turns" else jobs[sys.argv[2]](place))
