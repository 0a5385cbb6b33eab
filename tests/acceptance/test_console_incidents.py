"""The console in an incident: what failed, where, why, and what can be done about it there."""

from __future__ import annotations

import re

from browsing import ask_and_do, mark, session_id
from loopback.model import ModelFault


async def test_messages_that_failed_are_tried_again_or_dropped_where_they_stand(console, model, api):
    """Red with cause and chat; on the session's page one is dropped, one is answered, and both are gone from there."""
    app, client, browser = console
    api.world.user(1, first_name="Sam <b>")
    api.people.says(1, "hello")
    await api.until(lambda: api.texts(1))
    model.plant(ModelFault.SERVER_ERROR, times=None)

    async def fails(text: str, number: int) -> str:
        api.people.says(1, text)
        await api.until(lambda: len(api.texts(1)) >= number)
        await app.settled()
        return (await browser.get(where)).text

    where = f"/console/sessions/{await session_id(client)}"
    page = await fails("What about the boiler?", 2)
    _, dropped = await ask_and_do(browser, page, "Drop", "What about")
    page = await fails("And the tariff?", 3)
    home = (await browser.get("/console/sessions")).text
    model.heal()
    turn_id = re.search(r'name="turn_id" value="(t_[0-9a-f]+)"', page)[1]
    await browser.post("/console/act/turn-retry", data={"turn_id": turn_id, "mark": mark(page)})
    await app.settled()
    after = (await browser.get(where)).text

    assert re.search(r'class="state bad">.*1 message failed: .*out of order \(500\) \(Sam b\)', home)
    assert 'title="Telegram chat 1"' in home
    assert "What about the boiler?" not in dropped
    assert "You said: And the tariff?" in after
    assert "message failed" not in after


async def test_a_session_is_found_by_what_was_said_and_by_whom(console, api):
    """A word of a message, in whatever case, a name; what stands nowhere finds nothing; signs mean themselves."""
    app, _, browser = console
    api.world.user(1, first_name="Sam")
    api.people.says(1, "My BOILER costs 40% more")
    await api.until(lambda: api.texts(1))
    await app.settled()

    async def found(words: str) -> bool:
        return "costs 40% more" in (await browser.get("/console/sessions", params={"q": words})).text

    assert [await found(words) for words in ("boiler", "sam", "40%", "4_%", "tariff")] == [
        True,
        True,
        True,
        False,
        False,
    ]


async def test_somebody_who_never_got_an_answer_has_a_name(console, model, api):
    """A wrong key at the very first message: the operator reads who waits, not a number."""
    app, _, browser = console
    api.world.user(1, first_name="Noor")
    model.plant(ModelFault.SERVER_ERROR, times=None)
    api.people.says(1, "hello")
    await api.until(lambda: api.texts(1))
    await app.settled()

    assert "(Noor)" in (await browser.get("/console/headline")).text
