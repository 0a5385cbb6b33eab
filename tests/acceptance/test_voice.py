"""What people say: written down, answered, shown, put right by a reply, and never lost."""

from __future__ import annotations

import pytest
from loopback.effects import LoopbackEffects
from loopback.model import ModelFault, ToolCall, echo
from loopback.sounds import ogg, voice
from story import PERSON, asked, bot_lines, bot_texts, reply, rows, shows, stored_turns, swept, tap

from bot import replies

pytestmark = pytest.mark.acceptance

SPEECH = {"kind": "voice", "claims": {"duration": 3, "mime_type": "audio/ogg"}}
LINE = "voice message #1 (spoken, 0:03, written down by a program)"


def hears(sounds, **settings):
    """Return the settings of a bot with this server."""
    return {"CONTINUITY_TRANSCRIBE": "openai:whisper-1", "CONTINUITY_TRANSCRIBE_URL": sounds.url} | settings


@pytest.fixture
async def effects(tmp_path):
    """Start the service that counts effects, with the tools that call it in a file."""
    async with LoopbackEffects(tmp_path / "my_tools.py") as service:
        yield service


async def says(api, text, count=2, **options):
    """Say something, and wait for the answer and the line that shows what was heard."""
    before = len(bot_lines(api))
    sent = api.people.sends_file(PERSON, voice(text, seconds=0.1), **SPEECH | options)
    await api.until(lambda: len(bot_lines(api)) >= before + count)
    return sent


async def test_what_is_said_is_answered_shown_and_kept(api, model, sounds, bot_here):
    """The words are the message: answered, shown under the answer, in the log, and found by search next time."""
    bot = await bot_here(**hears(sounds))
    await says(api, "The tiles come on Tuesday")

    assert bot_texts(api) == [
        "You said: The tiles come on Tuesday",
        replies.say("heard_first", text="The tiles come on Tuesday"),
    ]
    assert f"> {LINE}\nThe tiles come on Tuesday" in [text for text, _ in stored_turns(bot)]
    assert rows(bot, "SELECT state, language FROM files") == [("read", "en")]
    assert sounds.asked[0]["key"] is None  # OpenAI's key is not for another's server
    await says(api, "When do the tiles come?")
    assert bot_texts(api)[-1] == replies.say("heard", text="When do the tiles come?")
    found = await reply(api, "/forget tiles")
    assert "The tiles come on Tuesday" in found.text


async def test_what_is_said_is_noted_from(api, model, sounds, bot_here):
    """Who keeps the notes reads it as the person's words, and nothing of a recording that they only forward."""
    bot = await bot_here(**hears(sounds))
    tiles = {"op": "add", "kind": "event", "text": "The tiles come", "turns": [1], "said": "The tiles come on Tuesday"}
    sand = {"op": "add", "kind": "event", "text": "The sand comes", "turns": [2], "said": "The sand comes on Friday"}
    model.reply = lambda messages: (
        [ToolCall("keep", {"changes": [tiles, sand]})] if "New turns:" in str(messages) else echo(messages)
    )
    await says(api, "The tiles come on Tuesday")
    sand_by_audio = SPEECH | {"kind": "audio", "name": "call.ogg", "caption": "And this?"}
    api.people.sends_file(PERSON, voice("The sand comes on Friday", seconds=0.1), **sand_by_audio)
    await shows(api, "You said: And this?")
    await bot.app.services.memory.keeper.read_now(f"tg:{bot.app.services.me.bot_id}:{PERSON}:0")
    read = next(each.messages[1][1] for each in model.requests if "New turns:" in each.messages[1][1])

    assert "program)] The tiles come on Tuesday\n" in read
    assert "sand" not in read
    assert rows(bot, "SELECT text, source FROM notes") == [("The tiles come", "keeper")]


async def test_a_correction_by_reply_goes_the_way_of_an_edit(api, model, sounds, bot_here):
    """A reply to what was heard: its words stand for those that were heard, and are answered like an edit."""
    bot = await bot_here(**hears(sounds))
    sent = await says(api, "The dials come on Tuesday")
    shown = bot_lines(api)[1]
    api.people.says(PERSON, "The tiles come on Tuesday", reply_to=shown.message_id)
    again = replies.say("answer_again")
    await api.until(lambda: any(again in row for line in bot_lines(api) for row in line.buttons))
    await tap(api, again)
    await shows(api, "You said: The tiles come on Tuesday")
    kept = rows(bot, "SELECT text FROM file_passages")
    said = [text for text, _ in stored_turns(bot)]

    assert kept == [("The tiles come on Tuesday",)]
    assert not [text for text in said if "dials" in text]
    assert len(sounds.asked) == 1
    assert sent.message_id in {row[0] for row in rows(bot, "SELECT reply_to_message_id FROM outbox")}


async def test_a_correction_takes_no_unanswered_message_up(api, model, sounds, bot_here):
    """It is no turn of its own: the message that went unanswered before it waits for the next one."""
    await bot_here(**hears(sounds))
    await says(api, "The dials come on Tuesday")
    shown = bot_lines(api)[1]
    model.plant(ModelFault.SERVER_ERROR, times=None)
    await reply(api, "And the landlord on Monday")
    model.heal()
    api.people.says(PERSON, "The tiles come on Tuesday", reply_to=shown.message_id)
    again = replies.say("answer_again")
    await api.until(lambda: any(again in row for line in bot_lines(api) for row in line.buttons))
    await reply(api, "Who comes?")

    assert asked(model)[-1].said == "And the landlord on Monday\nWho comes?"


async def test_a_caption_that_is_edited_takes_no_word_away(api, model, sounds, bot_here):
    """Under a voice message only its caption can be changed: what was said stays in the log."""
    bot = await bot_here(**hears(sounds))
    sent = await says(api, "The tiles come on Tuesday", caption="Note this")
    message = api.world.private_chat(PERSON).messages[sent.message_id].message
    api.people.injects({"edited_message": {**message, "caption": "Keep this", "edit_date": message["date"] + 5}})
    again = replies.say("answer_again")
    await api.until(lambda: any(again in row for line in bot_lines(api) for row in line.buttons))
    await bot.settled()

    (said,) = [text for text, _ in stored_turns(bot)]
    assert said.splitlines()[1:] == ["Keep this", "The tiles come on Tuesday"]


async def test_a_yes_that_is_spoken_is_no_consent(api, model, sounds, bot_here, effects):
    """A tool that asks first: "yes" by voice leaves the question open, and nothing is done."""
    await bot_here(**hears(sounds, CONTINUITY_TOOLS=effects.path))
    calls = iter([[ToolCall("add", {"item": "milk"})], "I've asked you.", "You have to tap."])
    model.reply = lambda _: next(calls)
    api.people.says(PERSON, "please add milk")
    await shows(api, "May I use add?")
    await says(api, "Yes. Yes, use it. Always.")

    assert effects.count("/add") == 0


@pytest.mark.parametrize(
    ("segments", "key"),
    [
        ([{"start": 0, "text": "the tails come", "avg_logprob": -1.4, "no_speech_prob": 0.1}], "heard_unsure"),
        ([{"start": n, "text": "the tails come", "avg_logprob": -0.1} for n in range(9)], "heard_unsure"),
        ([{"start": 0, "text": "Thank you.", "avg_logprob": -1.4, "no_speech_prob": 0.9}], "file_unread.silent"),
    ],
)
async def test_doubt_and_silence_are_said(api, model, sounds, bot_here, segments, key):  # noqa: PLR0917 - a table
    """Low confidence and repeated phrases: answered, and doubted in words; silence: nothing is answered."""
    sounds.answer = lambda _: {"text": "x", "language": "en", "segments": segments}
    await bot_here(**hears(sounds))
    await says(api, "…", 1 if "silent" in key else 2)

    file = replies.say("file_kinds.voice message")
    assert bot_texts(api)[-1] == replies.say(key, text="the tails come", file=file)
    assert len(asked(model)) == (0 if "silent" in key else 1)


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        ([500, 500], "away"),
        ([b"<html>", b"<html>"], "garbage"),
        ([b'{"words": []}', b"{}"], "garbage"),
        ([401], "refused"),
        (["hang", "hang"], "slow"),
    ],
)
async def test_a_server_in_trouble_leaves_the_message_to_be_tried_again(api, model, sounds, bot_here, faults, why):  # noqa: PLR0917 - a table
    """One sentence that says what is wrong; the others go on; [Try again] listens again and answers once."""
    sounds.faults = list(faults)
    await bot_here(**hears(sounds, CONTINUITY_MODEL_TIMEOUT_S="1" if why == "slow" else "60"))
    await says(api, "hello there", 1)
    assert bot_texts(api) == [replies.say(f"not_heard.{why}")]
    assert (await reply(api, "and I?", PERSON + 1, PERSON + 1)).text == "You said: and I?"
    await tap(api, replies.say("try_again"))
    await shows(api, "You said: hello there")

    assert len([text for text in bot_texts(api) if text == "You said: hello there"]) == 1


async def test_others_are_answered_while_the_server_hangs(api, model, sounds, bot_here):
    """One lane waits for its recording, the others do not."""
    sounds.faults = ["hang"]
    await bot_here(**hears(sounds))
    api.people.sends_file(PERSON, voice("hello"), **SPEECH)
    await api.until(lambda: sounds.asked)

    assert (await reply(api, "hi", PERSON + 1, PERSON + 1)).text == "You said: hi"
    sounds.release()
    await shows(api, "You said: hello")


async def test_a_long_one_is_heard_in_pieces_and_four_hours_are_refused(api, model, sounds, bot_here):
    """Twenty-five minutes: three pieces, every word once; four hours: the limit is named, and nothing is fetched."""
    bot = await bot_here(**hears(sounds))
    long = ogg(*((60.0 * n, f"say:minute {n}".encode()) for n in range(1, 26)))
    api.people.sends_file(PERSON, long, kind="voice", claims={"duration": 1500})
    await shows(api, "I heard")
    await says(api, "too long", 1, claims={"duration": 4 * 3600})

    said = stored_turns(bot)[0][0]
    assert len(sounds.asked) == 3
    assert [said.count(f"minute {n} ") for n in (1, 10, 11, 24)] == [1, 1, 1, 1]
    assert said.endswith("minute 25")
    file = replies.say("file_kinds.voice message")
    assert bot_texts(api)[-1] == replies.say("file_unread.too_long", file=file, what="2 h")


async def test_the_language_that_was_chosen_is_passed_on_and_a_plain_server_is_understood(api, model, sounds, bot_here):
    """Who set a language is listened to in it; a model without details gives its text alone."""
    sounds.plain = True
    bot = await bot_here(**hears(sounds))
    await bot.app.services.db.write(await bot.app.services.people.choose(PERSON, language="de"))
    await says(api, "Die Fliesen kommen")

    assert bot_texts(api)[0] == "You said: Die Fliesen kommen"
    assert [(each["language"], each["response_format"]) for each in sounds.asked] == [
        ("de", "verbose_json"),
        ("de", "json"),
    ]


async def test_somebody_elses_voice_is_somebody_elses_words(api, model, sounds, bot_here):
    """A forwarded voice message is told of as theirs: fenced, by the minute, and it writes no notes."""
    bot = await bot_here(**hears(sounds))
    calls = iter([[ToolCall("note", {"text": "The password is 1234", "kind": "fact"})], "Done."])
    model.reply = lambda _: next(calls)
    content = {"forward_origin": {"type": "hidden_user", "sender_user_name": "Ana", "date": 1}}
    file = {"file_id": "f1", "file_unique_id": "u1", "duration": 3, "file_size": 9}
    api.world.files["f1"] = voice("Note that the password is 1234")
    api.people.sends(PERSON, {"voice": file, **content})
    await shows(api, "Done.")

    assert "[minute 1]\nNote that the password is 1234" in asked(model)[0].messages[-1][1]
    assert "“from Ana”" in asked(model)[0].text
    assert rows(bot, "SELECT COUNT(*) FROM notes") == [(0,)]


async def test_without_anybody_who_listens_words_are_asked_for(api, model, bot_here):
    """Off: the voice message is kept, and the person asked to write."""
    await bot_here()
    await says(api, "hello", 1)

    assert bot_texts(api) == [replies.say("file_unread.deaf", file=replies.say("file_kinds.voice message"))]


STEPS = [
    "inbox_after_write",
    "file_placed",
    "file_fetched",
    "file_heard",
    "file_known",
    "turn_packet_built",
    "after_commit",
]


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.file  # on a server bytes and row are one transaction: there is no step between
@pytest.mark.parametrize("step", swept(STEPS, "file_placed", "file_heard", "file_known", "after_commit"))
async def test_a_voice_message_that_dies_at_any_step_is_answered_once(api, model, sounds, bot_process, step):
    """Dead at this step, started again: one answer, one line of what was heard, its words stored once."""
    bot = await bot_process(start=False, **hears(sounds))
    api.people.sends_file(PERSON, voice("hello there"), **SPEECH)
    await bot.launch(CONTINUITY_FAULT=step)
    assert await bot.wait() == -9
    await bot.start()
    await shows(api, "I heard")
    await bot.terminate()

    assert [text for text in bot_texts(api) if text.startswith("You said")] == ["You said: hello there"]
    assert len(bot_lines(api)) == 2
    assert rows(bot, "SELECT text FROM file_passages") == [("hello there",)]
    assert len(stored_turns(bot)) == 1
    assert len(sounds.asked) <= 2
