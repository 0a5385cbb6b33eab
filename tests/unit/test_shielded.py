"""Work whose caller has gone: it ends all the same, and without a word."""

import asyncio
import gc

import pytest

from memory.process.shielded import Shielded


async def left_alone(work):
    """Run work whose caller is cancelled as soon as it has begun; return what asyncio reports of it."""
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    shielded, begun, go_on = Shielded(), asyncio.Event(), asyncio.Event()

    async def waits():
        begun.set()
        await go_on.wait()
        return work()

    caller = asyncio.create_task(shielded.run(waits()))
    await begun.wait()
    caller.cancel()
    await asyncio.wait([caller])
    (task,) = shielded.tasks
    go_on.set()
    await asyncio.wait([task])
    del task
    gc.collect()
    assert not shielded.tasks
    return reported


async def test_work_is_done_when_nobody_waits_for_it_any_more():
    """A caller that is cancelled does not break it off."""
    done = []
    await left_alone(lambda: done.append(True))

    assert done == [True]


async def test_the_error_of_work_that_nobody_waits_for_is_not_reported():
    """It would stand in the log as an exception that was never retrieved."""
    assert await left_alone(lambda: 1 // 0) == []


async def test_who_waits_gets_the_error():
    """What the work raises reaches its caller."""

    async def fails():
        raise ValueError("for its caller")

    with pytest.raises(ValueError, match="for its caller"):
        await Shielded().run(fails())
