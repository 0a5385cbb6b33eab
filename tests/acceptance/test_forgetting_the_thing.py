"""Who has one thing forgotten loses that thing: its twin and what was told with it stay, nothing unlike it is named."""

from __future__ import annotations

import pytest
from loopback.model import ToolCall, echo
from story import reply, rows, stored_turns, tap

pytestmark = pytest.mark.acceptance

THREE = "boat shed key is with Marek no 8, allotment key is with our Priya at 34. n Tom's got the dentist on 14 january"
BOAT, ALLOTMENT = (
    "The key of the boat shed is with Marek, at number 8",
    "The key of the allotment is with Priya, at number 34",
)
DENTIST = "Tom has the dentist on 14 January"


def telling(**answers):
    """Make a model that calls or says what stands here for a message's first word, and otherwise repeats it."""

    def reply_to(messages):
        if messages[-1]["role"] == "tool":
            return "All done."
        first = str(messages[-1]["content"]).rstrip().splitlines()[-1].split(" ")[0]
        return answers.get(first) or echo(messages)

    return reply_to


def noting(*texts: str) -> list[ToolCall]:
    return [ToolCall("note", {"text": text, "kind": "fact"}, f"call_{n}") for n, text in enumerate(texts)]


def standing(bot) -> list[str]:
    return [text for (text,) in rows(bot, "SELECT text FROM notes WHERE status = 'open' ORDER BY number")]


async def test_one_of_three_matters_goes_and_its_twin_stays(api, model, bot_here):
    """By the assistant: its part goes, both others stay; the answer that says it again is named, no other is."""
    bot = await bot_here()
    model.reply = telling(
        boat=noting(BOAT, ALLOTMENT, DENTIST),
        who="Priya at 34 has the allotment key.",
        how="Marek's fine, he told you about the boat and the number 8 bus.",
        forget=[ToolCall("forget", {"numbers": [2]})],
    )
    for text in (THREE, "who has it, the allotment one?", "how is Marek?", "forget where the allotment key is"):
        await reply(api, text)

    asked = await tap(api, "Delete the messages too", "can't be undone")
    assert "• from your message: “allotment key is with our Priya at 34.”" in asked.text
    assert "my answer “Priya at 34 has the allotment key.”, which repeats it" in asked.text
    assert "Marek's fine" not in asked.text
    assert "what I noted" not in asked.text
    assert f"I'll keep what else I noted from there:\n• {BOAT}\n• {DENTIST}" in asked.text
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert report.text.endswith("I've checked: nothing of it is left.")
    assert standing(bot) == [BOAT, DENTIST]
    left = "boat shed key is with Marek no 8, […] n Tom's got the dentist on 14 january"
    assert [user for user, _ in stored_turns(bot)] == [left, "how is Marek?", "forget where the allotment key is"]
    assert "don't remember anything about “priya”" in (await reply(api, "/memory priya")).text
    assert BOAT in (await reply(api, "/memory the keys")).text


async def test_words_find_the_note_first_and_no_neighbours(api, model, bot_here):
    """The note of the thing and the message that tells it, no twin; with the note alone the messages stay, it says."""
    bot = await bot_here()
    model.reply = telling(
        our=noting("Priya wears size 5 wellies (for her birthday)"),
        n=noting("Her brother Tom wears size 9 wellies and wants a whistle"),
        keepin=noting("You are keeping the blue barrow"),
    )
    for text in (
        "our Priya wears size 5 wellies",
        "n her brother Tom size 9, wants a whistle too",
        "keepin the blue barrow then",
        "story for Priya please",
    ):
        await reply(api, text)

    found = await reply(api, "/forget Priya's welly sizes, wellies")
    assert "1. Priya wears size 5 wellies" in found.text
    assert "\n2. A message (today at " in found.text
    assert "its answer: “our Priya wears size 5 wellies" in found.text
    assert "3." not in found.text
    assert "Tom" not in found.text
    await tap(api, "Forget 1", "Should I forget this note")
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")
    assert "read it here" not in report.text
    assert "Only the messages we said it in" in report.text

    assert "Priya" not in "".join(standing(bot))
    assert len(standing(bot)) == 2
    assert "can't find anything about “Priya's bicycle”" in (await reply(api, "/forget Priya's bicycle")).text


async def test_a_message_that_was_found_leaves_what_else_it_told(api, model, bot_here):
    """The decision in the same breath stays; afterwards nothing is named that only shares a word."""
    bot = await bot_here()
    both = "keepin the barrow then. btw our Priya wears size 5 wellies, birthday list"
    model.reply = telling(
        keepin=noting("You are keeping the barrow that Marek painted", "Priya wears size 5 wellies (birthday list)"),
        what="Keep quiet, paint the fence, and make a list: it wears out.",
    )
    await reply(api, both)
    await reply(api, "what now?")
    await reply(api, "/forget Priya's wellies")
    asked = await tap(api, "Forget 2", "take out just the part")
    assert "I'll keep what else I noted from there:\n• You are keeping the barrow" in asked.text
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert "read it here" not in report.text
    assert standing(bot) == ["You are keeping the barrow that Marek painted"]
    assert [user for user, _ in stored_turns(bot)] == ["keepin the barrow then. […]", "what now?"]


async def test_a_detail_goes_and_the_note_without_it_stays(api, model, bot_here):
    """What stands for the note since is no repetition of it, although it has all of its other words."""
    bot = await bot_here()
    model.reply = telling(
        boat=noting("The boat shed key is with Marek, behind the blue pot"),
        forget=[ToolCall("forget", {"numbers": [1], "text": "The boat shed key is with Marek"})],
    )
    await reply(api, "boat shed key is at Marek's, behind the blue pot")
    await reply(api, "forget about the blue pot")
    asked = await tap(api, "Delete the messages too", "can't be undone")
    assert "what I noted" not in asked.text
    await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert standing(bot) == ["The boat shed key is with Marek"]
    assert not any("behind" in user for user, _ in stored_turns(bot))


async def test_memory_shows_what_holds_a_word_or_says_that_nothing_does(api, model, bot_here):
    """Whatever a search would take for near."""
    await bot_here()
    model.reply = telling(boat=noting(BOAT, ALLOTMENT, DENTIST))
    await reply(api, THREE)

    assert "don't remember anything about “rosa”" in (await reply(api, "/memory rosa")).text
    listed = (await reply(api, "/memory Mareks number")).text
    assert BOAT in listed
    assert DENTIST not in listed


async def test_a_note_that_says_something_else_by_now_is_asked_about_anew(api, model, bot_here):
    """“The battery is weak” had become “Huw sees to it” before the tap: what nobody had seen was gone (a trial)."""
    bot = await bot_here()
    new = "Huw sees to the scanner's battery"
    model.reply = telling(
        scanner=noting("The scanner's battery is weak"),
        huw=[ToolCall("change", {"numbers": [1], "text": new}, "call_c")],
    )
    await reply(api, "scanner battery is weak")
    await reply(api, "/forget battery")
    asked = await tap(api, "Forget 1", "Should I forget this note")
    await reply(api, "huw sees to it")
    anew = await tap(api, "Yes, forget it", "something else by now", on=asked)
    assert new in anew.text
    assert standing(bot) == [new]

    await tap(api, "Yes, forget it", "Only the messages", on=anew)
    assert standing(bot) == []
