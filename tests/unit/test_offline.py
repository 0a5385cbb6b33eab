"""The offline concierge: what it says of itself, notes, finds, lists and leaves alone."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.answers.offline.material import MAX_CHARS
from bot.answers.offline.notes import matter_of
from bot.answers.offline.responder import OfflineResponder
from bot.answers.offline.words import words_of
from bot.answers.open_list import open_matters
from bot.answers.responder import Answer, Ask
from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.notes import so_far
from memory.notes.current import ended_in
from memory.notes.requests import BEFORE_TURNS, request_of, unfiled
from memory.notes.rules import read_by_rules
from memory.notes.types import SessionNotes
from memory.notes.view import NotesView, merge
from memory.search.query import Query
from memory.search.searcher import index_turn
from memory.state.state_manager import apply_turn, new_state, read_turn, undo
from memory.storage.store import chain, insert_session, insert_turn
from memory.testing import START_MS, ManualClock, open_memory
from memory.types import ConversationContextPacket, ConversationTurn, OpenLoop, RetrievedItem, SessionState

CONVERSATION = "tg:1:1:0"
USER = 7
MINUTE_S = 60
DAY_S = 24 * 3600
LANGUAGES = Languages.load()


class Talk:
    """One conversation over fakes: what is said is kept as the recorder would keep it."""

    def __init__(self, *, isolated: bool = False) -> None:
        self.clock = ManualClock()
        self.store: Any = FakeStore()
        self.searcher: Any = None
        self.shown: list[str] = []
        self.answer: Answer | None = None
        self.state = new_state("s_1", CONVERSATION).model_copy(update={"isolated": isolated})

    def ask(self, text: str, *, third_party: bool = False, user_id: int = USER) -> Ask:
        packet = ConversationContextPacket(
            conversation_id=CONVERSATION,
            session_id=self.state.session_id,
            session_status="active",
            pending_clarifications=self.state.pending_clarifications,
            open_loops=self.state.open_loops,
            history=tuple(self.store.turns.get(self.state.session_id, ())),
            context_compiled_at_ms=self.clock.now_ms(),
        )
        turn_id = f"t_{self.state.session_id}_{self.state.last_seq + 1}"
        return Ask(
            turn_id, CONVERSATION, user_id, "Eva", text, self.state, packet, "", "UTC", self.clock.now_ms(),
            third_party=third_party,
        )  # fmt: skip

    async def say(self, text: str, **how: Any) -> str:
        self.clock.advance(s=MINUTE_S)
        ask = self.ask(text, **how)
        responder = OfflineResponder(self.store, self.searcher, LANGUAGES, ReadByRules(self.store, ask.now_ms))
        self.answer = await responder.respond(ask, self.shown.append)
        self.keep(ask, self.answer)
        return self.answer.text

    def keep(self, ask: Ask, answer: Answer) -> ConversationTurn:
        signs = read_turn(self.state, ask.text, answer.text, LANGUAGES, authored=answer.authored)
        turn = ConversationTurn(
            turn_id=ask.turn_id, session_id=self.state.session_id, conversation_id=CONVERSATION,
            seq=self.state.last_seq + 1, user_id=ask.user_id, user_text=ask.text, assistant_text=answer.text,
            intent=signs.intent, action_name=answer.action_name, response_type=signs.response_type,
            third_party=ask.third_party, authored=answer.authored, language=signs.language, created_at_ms=ask.now_ms,
        )  # fmt: skip
        self.state = apply_turn(self.state, turn, LANGUAGES)
        self.state = answer.change(self.state) if answer.change else self.state
        self.store.states[self.state.session_id] = self.state
        self.store.turns.setdefault(self.state.session_id, []).append(turn)
        return turn

    def begin(self, session_id: str, *, isolated: bool = False) -> None:
        self.state = new_state(session_id, CONVERSATION).model_copy(update={"isolated": isolated})

    @property
    def open_texts(self) -> list[str]:
        return [loop.text for loop in self.state.open_loops if loop.status == "open"]


class ReadByRules:
    """The notes of all sessions, each turn read by itself after those before it, as while people talk."""

    def __init__(self, store: Any, now_ms: int) -> None:
        self.store, self.now_ms = store, now_ms

    async def sessions(self, _conversation_id: str, *, only: str | None = None, **_: Any) -> list[SessionNotes]:
        for session_id, turns in self.store.turns.items():
            self.catch_up(session_id, turns)
        return [notes for session_id, notes in self.store.notes.items() if only in {None, session_id}]

    async def view(
        self, conversation_id: str, *, only: str | None = None, without: Collection[str] = (), **_: Any
    ) -> NotesView:
        if without:
            return await ReadByRules(self.store.without(without), self.now_ms).view(conversation_id, only=only)
        states, notes = list(self.store.states.values()), await self.sessions(conversation_id, only=only)
        view = merge(notes, self.now_ms, LANGUAGES, ended=ended_in(states, notes))
        undone = {turn_id for state in states for turn_id in state.undone}
        stands = tuple(each for each in view.standings if undone.isdisjoint(each.note.turn_ids))
        return view.model_copy(update={"standings": stands})

    def catch_up(self, session_id: str, turns: list[ConversationTurn]) -> None:
        state, read = self.store.states.get(session_id), self.store.notes
        isolated = state is not None and state.isolated
        others = [] if isolated else [notes for key, notes in read.items() if key != session_id]
        for number, turn in enumerate(turns):
            so_far = read.get(session_id)
            if so_far is None or so_far.read_through_seq < turn.seq:
                before = turns[max(0, number - BEFORE_TURNS) : number]
                request = request_of([turn], before, so_far, others, LANGUAGES, zone="UTC", now_ms=self.now_ms)
                read[session_id] = read_by_rules(request, LANGUAGES)


class FakeStore:
    """What the concierge reads of a store, in memory."""

    def __init__(self) -> None:
        self.turns: dict[str, list[ConversationTurn]] = {}
        self.notes: dict[str, SessionNotes] = {}
        self.states: dict[str, SessionState] = {}
        self.db = self
        self.broken = False

    def without(self, turn_ids: Collection[str]) -> FakeStore:
        """Return it as it would be if these turns were taken back."""
        other = FakeStore()
        other.states = {key: undo(state, turn_ids) for key, state in self.states.items()}
        for key, turns in self.turns.items():
            other.turns[key] = [unfiled(turn) if turn.turn_id in turn_ids else turn for turn in turns]
        return other

    async def last_turns(self, session_id: str, limit: int) -> list[ConversationTurn]:
        if self.broken:
            raise StorageUnavailable
        return self.turns.get(session_id, [])[-limit:]

    async def sessions(self, _conversation_id: str, *, limit: int) -> list[Any]:
        rows = [
            type("Row", (), {"session_id": sid, "state_json": state.model_dump_json()})()
            for sid, state in self.states.items()
        ]
        return rows[::-1][:limit]

    async def read(self, _name: str, /, **_params: Any) -> list[Any]:
        return []

    async def turn(self, turn_id: str) -> ConversationTurn | None:
        return next((turn for turns in self.turns.values() for turn in turns if turn.turn_id == turn_id), None)


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.mark.parametrize(
    "question", ["who are you?", "Are you an AI?", "Are you a real person", "do you understand me?"]
)
async def test_says_that_no_model_is_connected(talk: Talk, question: str):
    """Asked what it is, it says that it is a program without a language model."""
    text = await talk.say(question)

    assert "program" in text
    assert "no language model is connected" in text


async def test_help_names_what_it_can_do(talk: Talk):
    """Help shows sentences that work."""
    text = await talk.say("help")

    assert "What's still open" in text
    assert "no language model" in text


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("My sister Ana lives in Lisbon.", "Got it: your sister Ana lives in Lisbon."),
        ("I prefer trains over planes", "Got it: you prefer trains over planes."),
        ("We decided to meet at the lake house", "That's decided, then: meet at the lake house."),
        ("I must buy cat food", "On the list: buy cat food."),
        ("Remember that the wifi password is tulip42", "Got it: the wifi password is tulip42."),
    ],
)
async def test_names_what_it_took_in(talk: Talk, said: str, noted: str):
    """A statement is answered with what it was taken for, said back to the user."""
    assert await talk.say(said) == noted


async def test_a_promise_shows_its_day(talk: Talk):
    """A promise with a date goes on the list with that date apart."""
    text = await talk.say("I need to call the landlord tomorrow at 9")

    assert text == "On the list: call the landlord, due tomorrow 09:00."


async def test_a_newer_value_replaces_the_older(talk: Talk):
    """A second statement of one subject says which older one it replaces, and only the newer one stands."""
    await talk.say("My flight leaves at 9 in the morning")
    text = await talk.say("My flight leaves at 11 in the morning")

    assert "It replaces what you told me today" in text
    assert "at 9" in text
    found = await talk.say("What do you know about my flight?")
    assert found.count("•") == 1
    assert "11" in found


async def test_the_same_twice_is_not_noted_twice(talk: Talk):
    """A fact that got that already is not noted again."""
    await talk.say("My sister Ana lives in Lisbon.")

    assert "got that already" in await talk.say("My sister Ana lives in Lisbon")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("my grandma passed away this morning", "I'm so sorry. Thanks for telling me."),
        ("i had a massive row with my sister and i just feel like crying", "I'm so sorry. Thanks for telling me."),
        ("Heute ist ein Scheißtag, meine Oma ist gestorben", "Das tut mir so leid. Danke, dass du mir das erzählst."),
        ("ayer murió mi abuela, estamos todos en el pueblo", "Lo siento mucho. Gracias por contármelo."),
        ("ma grand-mère est morte cette nuit", "Je suis de tout cœur avec toi. Merci de me l'avoir dit."),
        ("ieri è morta mia nonna, siamo tutti da lei", "Mi dispiace tanto. Grazie per avermelo detto."),
        ("minha avó faleceu ontem, estamos todos com ela", "Sinto muito. Que bom que você me contou."),
        ("вчера умерла моя бабушка, мы все у неё", "Мне очень жаль. Спасибо, что рассказываешь."),
    ],
)
async def test_grief_is_answered_before_anything_is_said_of_notes(talk: Talk, text: str, answer: str):
    """Nobody wants to read "Got it" then."""
    assert await talk.say(text) == answer


async def test_one_item_of_a_list_that_is_done_leaves_the_rest(talk: Talk):
    """What is left of the list stays, and the answer says what that is."""
    await talk.say("I still have to send out the cards, order the rings and find a band")

    answer = await talk.say("actually the rings are sorted, joel ordered them")
    assert answer.endswith("The rest stays on the list: send out the cards and find a band.")
    assert "find a band" in await talk.say("what's still open?")
    assert "off the list" in await talk.say("all done")


@pytest.mark.parametrize(
    ("text", "asked", "listed"),
    [
        ("I need to water the seedlings every monday", "what's still open?", "water the seedlings"),
        ("Ich muss jeden Montag die Tabletten holen", "Was ist noch offen?", "die Tabletten holen"),
    ],
)
async def test_what_comes_again_and_again_is_listed_without_a_lone_every(
    talk: Talk, text: str, asked: str, listed: str
):
    """Its day stands apart, and so does the word before it."""
    await talk.say(text)
    answer = await talk.say(asked)

    assert listed in answer
    assert "every" not in answer
    assert "jeden" not in answer


async def test_a_thing_that_broke_is_no_grief(talk: Talk):
    """A phone dies, too."""
    assert "sorry" not in await talk.say("my phone died on the train to Leeds")


@pytest.mark.parametrize(
    ("text", "hope"),
    [
        ("mum's op is on thursday, im worried", "I hope it goes well."),
        ("am Donnerstag wird Mama operiert, ich hab Angst", "Ich hoffe, es geht gut aus."),
        ("el jueves operan a mi madre, estoy nerviosa", "Ojalá salga bien."),
        ("jeudi ma mère se fait opérer, j'ai peur", "J'espère que ça se passera bien."),
        ("na quinta minha mãe vai ser operada, tô com medo", "Tomara que corra tudo bem."),
        ("в четверг маму оперируют, волнуюсь", "Надеюсь, всё пройдёт хорошо."),
        ("giovedì operano mia madre, ho paura", "Spero che vada tutto bene."),
    ],
)
async def test_who_worries_is_wished_well(talk: Talk, text: str, hope: str):
    """What is noted comes with a kind word."""
    assert (await talk.say(text)).endswith(hope)
    assert hope not in await talk.say("I'm afraid the train is late")


async def test_what_it_cannot_file_is_not_echoed(talk: Talk):
    """A statement that is none of fact, preference, decision or task is taken with a word, feelings with thanks."""
    assert await talk.say("the weather was awful over Oslo") == "Okay, noted."
    assert await talk.say("I feel awful today") == "Thanks for telling me."


@pytest.mark.parametrize("text", ["you're useless", "are you stupid?", "fuck off", "shut up"])
async def test_who_is_rude_gets_an_even_answer_and_nothing_is_noted(talk: Talk, text: str):
    """No "noted", no talk of models; a way to put right what may have been wrong."""
    assert (await talk.say(text)).startswith("Fair enough.")
    assert talk.open_texts == []


@pytest.mark.parametrize(
    ("text", "answer"), [("meh", "Okay."), ("whatever", "Okay."), ("hmm", "Okay."), ("ugh", "Okay.")]
)
async def test_a_shrug_is_not_noted(talk: Talk, text: str, answer: str):
    """What says nothing is answered with next to nothing."""
    assert await talk.say(text) == answer


@pytest.mark.parametrize("text", ["i hate doing laundry lol", "haha our dog ate the cake", "jaja, odio planchar"])
async def test_who_laughs_at_what_they_tell_is_listened_to(talk: Talk, text: str):
    """It was answered as a joke, and what was told was lost."""
    assert not (await talk.say(text)).startswith(("Ha", "\u00a1Ja"))
    assert (await talk.say("lol")).startswith(("Ha", "\u00a1Ja"))


async def test_a_shrug_ends_nothing(talk: Talk):
    """Whoever says "egal" has not called off what is open."""
    await talk.say("Meine Schwester Anna zieht am 5. Dezember nach Leipzig")
    await talk.say("Was ist noch offen?")

    assert await talk.say("egal") == "Okay."
    assert "Anna" in await talk.say("Was ist noch offen?")


def test_what_leans_on_an_earlier_message_is_listed_by_its_own_words():
    """The words that it leans on stood in another message, and so does a greeting before them."""
    loop = OpenLoop(
        loop_id="t_2.1", kind="task", owner="user", text="hi! my flight is on 12 January … and I still need a hotel",
        turn_id="t_2", opened_seq=2, opened_at_ms=START_MS, touched_at_ms=START_MS,
    )  # fmt: skip

    assert matter_of(loop, "UTC", LANGUAGES.get("en"), words_of("en")).text == "you still need a hotel"


@pytest.mark.parametrize(
    ("text", "asked", "listed"),
    [
        ("oh and mum's op is on thursday, im worried", "whats open?", "mum's op, im worried"),
        ("die OP von Mama ist am Donnerstag, ich hab Angst", "was ist offen?", "Mama, ich hab Angst"),
        ("la operación de mamá es el jueves, tengo miedo", "¿qué queda?", "mamá, tengo miedo"),
    ],
)
async def test_a_matter_without_its_day_has_no_verb_left_alone(talk: Talk, text: str, asked: str, listed: str):
    """The day stands apart, also where more is said behind it."""
    await talk.say(text)

    assert listed in await talk.say(asked)


@pytest.mark.parametrize(("text", "answer"), [("heyyyy", "Hello"), ("holaaa", "¡Hola"), ("Dankeee", "Gern")])
async def test_letters_that_are_drawn_out_make_no_other_word(talk: Talk, text: str, answer: str):
    """A long hello is a hello, in its language."""
    assert (await talk.say(text)).startswith(answer)


async def test_the_first_word_of_a_session_is_answered_in_the_language_of_the_last(talk: Talk):
    """A word that may be of any language is of the one that was spoken."""
    await talk.say("Meine Schwester Anna zieht am 5. Dezember nach Leipzig")
    talk.begin("s_2")

    assert "notiert" in await talk.say("pizza")


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("note to self: buy eggs, call dad, return parcel", "On the list: buy eggs, call dad, return parcel."),
        ("zu erledigen: Milch kaufen, Oma anrufen", "Auf der Liste: „Milch kaufen, Oma anrufen“."),
        ("pendientes: llamar al banco, pagar la luz", "En la lista: «llamar al banco, pagar la luz»."),
        (
            "à faire : appeler la banque, payer le loyer",
            "Sur la liste\u202f: «\u202fappeler la banque, payer le loyer\u202f».",
        ),
        ("a fazer: ligar para o banco", "Na lista: “ligar para o banco”."),
        ("da fare: chiamare la banca", "In lista: «chiamare la banca»."),
        ("список дел: позвонить в банк", "В списке: «позвонить в банк»."),
    ],
)
async def test_a_note_to_oneself_is_something_to_do(talk: Talk, text: str, noted: str):
    """Behind such a heading stand errands, without "I have to"."""
    assert (await talk.say(text)).replace("\xa0", "\u202f") == noted


async def test_a_single_word_is_kept_with_a_hint(talk: Talk):
    """It says how a word becomes something to do."""
    assert await talk.say("pizza") == "“pizza”, noted. If it's something to do, say “I need to …”."


async def test_its_own_question_does_not_swallow_the_next_sentence(talk: Talk):
    """A "did you …?" is answered by a yes or no; a statement behind it is one."""
    await talk.say("I need to call mom tomorrow at 5")
    talk.clock.advance(s=3 * DAY_S)
    assert "Did you call mom?" in await talk.say("hello")

    assert await talk.say("My sister Anna moves to Leipzig on 5 December") == (
        "Got it: your sister Anna moves to Leipzig on 5 December."
    )


def test_a_copula_goes_with_the_day_that_stands_apart():
    """What is said as "my appointment is on Friday" is listed as the appointment with its day."""
    loop = OpenLoop(
        loop_id="t_1.1", kind="task", owner="user", text="my appointment is on Friday at 10:30", turn_id="t_1",
        opened_seq=1, opened_at_ms=START_MS, touched_at_ms=START_MS,
    )  # fmt: skip

    assert matter_of(loop, "UTC", LANGUAGES.get("en"), words_of("en")).text == "your appointment"


async def test_a_greeting_does_not_tell_again_what_the_chat_shows(talk: Talk):
    """Right under "Carrying this forward: …" a hello is a hello."""
    await talk.say("I must buy cat food")
    talk.begin("s_2")
    ask = dataclasses.replace(talk.ask("hello"), past_is_shown=True)
    responder = OfflineResponder(talk.store, None, LANGUAGES, ReadByRules(talk.store, ask.now_ms))

    assert (await responder.respond(ask, talk.shown.append)).text == "Hello Eva!"


async def test_forwarded_text_is_not_filed(talk: Talk):
    """Nothing is noted from somebody else's words."""
    text = await talk.say("My sister Ana lives in Lisbon.", third_party=True)

    assert "somebody else" in text
    assert "Ana" not in await talk.say("What do you know about me?")


async def test_finds_a_note_with_its_day(talk: Talk):
    """What is known of a person is given with the day it was said."""
    await talk.say("My sister Ana lives in Lisbon.")
    talk.clock.advance(s=3 * DAY_S)
    text = await talk.say("What do you know about Ana?")

    assert "Your sister Ana lives in Lisbon (on 14 Nov)" in text


async def test_quotes_what_was_only_said(talk: Talk):
    """What was said but not noted is quoted with its day, and a question to the concierge is not."""
    await talk.say("the weather was awful over Oslo")
    await talk.say("what did I say about Oslo?")
    talk.clock.advance(s=DAY_S)
    text = await talk.say("do you remember what I said about Oslo?")

    assert "Yesterday you said: “the weather was awful over Oslo”" in text
    assert text.count("•") == 1


async def test_says_when_nothing_was_said(talk: Talk):
    """A topic that never came up is answered plainly."""
    assert await talk.say("what do you know about Peru?") == "Nothing we've said here mentions “Peru”."


async def test_lists_what_is_open_and_picks_by_number(talk: Talk):
    """Open matters are numbered, and "the second one" is the second of them."""
    await talk.say("I must buy cat food")
    await talk.say("I need to renew my passport by 12 December")
    text = await talk.say("What is still open?")

    assert "1. Renew your passport, due" in text
    assert "2. Buy cat food" in text
    assert (await talk.say("the second one")).startswith("Buy cat food")


async def test_what_is_open_is_what_loops_lists(talk: Talk):
    """One truth: an event that only the notes know of is told, with its day and without an hour that nobody said."""
    await talk.say("My daughter Ella has a piano exam on 3 December")
    text = await talk.say("what's still open?")

    view = await ReadByRules(talk.store, talk.clock.now_ms()).view(CONVERSATION)
    assert [each.loop.text for each in open_matters(view, [talk.state], "s_1")] == [
        "My daughter Ella has a piano exam on 3 December"
    ]
    assert text == "One thing's open: your daughter Ella has a piano exam (Sun 3 Dec)."
    assert "piano exam" in await talk.say("bye")


async def test_what_only_the_notes_know_of_can_be_ended(talk: Talk):
    """A matter that was put on the list by its reading is done when it is said to be, and stays so."""
    await talk.say("the boiler is leaking, need to get someone in before the weekend")
    assert "get someone in" in await talk.say("what's still open?")

    assert "off the list" in await talk.say("the first one is done")
    assert talk.open_texts == []


async def test_nothing_open_is_said(talk: Talk):
    """An empty list is said to be empty."""
    assert "Nothing's open" in await talk.say("what's open?")


async def test_done_names_the_loop_that_closes(talk: Talk):
    """A report that something is done names the matter that the session state closes."""
    await talk.say("I need to call the landlord")
    await talk.say("I must buy cat food")
    text = await talk.say("I called the landlord")

    assert text.startswith("Done, and off the list: call the landlord.")
    assert "buy cat food" in text
    assert talk.open_texts == ["I must buy cat food"]


@pytest.mark.parametrize(
    "story",
    [
        "I must call the vet|I must buy bread|Tom will send me the lease by friday|what's open?|done|the second one",
        "Ich muss den Arzt anrufen|Ich muss Brot kaufen|Tom schickt mir morgen Post|was ist offen?|erledigt|das zweite",
        "Tengo que llamar a Ana|Tengo que comprar pan|Eva me manda el piso mañana|qué está pendiente?|hecho|la segunda",
        "Je dois appeler Ana|Je dois trouver un lit|Tom m'envoie le bail demain|il reste quoi ?|c'est fait|la deuxième",
    ],
)
async def test_a_bare_report_ends_the_persons_own_matter_or_it_is_asked_which(story):
    """What came up last is meant, and never what somebody else promised; of a list it is asked, and answered, which."""
    mine, other, theirs, question, done, second = story.split("|")
    alone = Talk()
    await alone.say(theirs)
    listed = await alone.say(done)
    assert "1. " in listed
    await alone.say(mine)
    await alone.say(theirs)
    assert "1. " not in await alone.say(done)
    assert "1. " not in await alone.say(question)

    several = Talk()
    for said in (mine, other, question):
        await several.say(said)
    listed = await several.say(done)
    assert "2. " in listed
    answer = await several.say(second)
    assert several.answer.action_name == "done"
    assert "2. " not in answer
    assert "2. " not in await several.say(question)


async def test_forget_about_drops_the_loop(talk: Talk):
    """A matter that is called off is dropped and said to be."""
    await talk.say("I need to renew my passport")
    text = await talk.say("forget about the passport")

    assert text == "Off the list: renew your passport. Nothing else is open."
    assert talk.open_texts == []


async def test_forget_what_is_not_there_changes_nothing(talk: Talk):
    """Calling off what is not on the list says so."""
    assert "Nothing on the list matches" in await talk.say("forget about the garden")


async def test_lists_decisions(talk: Talk):
    """Decisions are listed by what was decided, and by topic."""
    await talk.say("We decided to meet at the lake house")
    await talk.say("We decided to use PostgreSQL for the shop")

    assert "Meet at the lake house" in await talk.say("What did we decide?")
    about = await talk.say("What did we decide about the shop?")
    assert "PostgreSQL" in about
    assert "lake" not in about


async def test_says_what_was_talked_about_last_time(talk: Talk):
    """The session before is named by its words and what was noted in it."""
    await talk.say("My sister Ana lives in Lisbon.")
    talk.clock.advance(s=2 * DAY_S)
    talk.begin("s_2")
    text = await talk.say("What did we talk about last time?")

    assert text.startswith("On 14 Nov: ")
    assert "Your sister Ana lives in Lisbon" in text


async def test_summarizes_the_session(talk: Talk):
    """A summary holds what was noted and what is open."""
    await talk.say("My sister Ana lives in Lisbon.")
    await talk.say("I must buy cat food")
    text = await talk.say("summarize")

    assert "2 messages" in text
    assert "Your sister Ana lives in Lisbon" in text
    assert "Buy cat food" in text


async def test_other_questions_are_beyond_it(talk: Talk):
    """A question that nothing bears on is answered by saying that it takes a model."""
    text = await talk.say("What is the capital of France?")

    assert "no language model is connected" in text
    assert talk.answer
    assert talk.answer.action_name == "beyond"
    assert talk.open_texts == []


async def test_other_questions_show_what_was_said(talk: Talk):
    """A question on which something was said is answered with that, without pretending to work anything out."""
    await talk.say("My flight leaves at 9 in the morning")
    text = await talk.say("When does my flight leave?")

    assert text == "Your flight leaves at 9 in the morning."
    assert "Here's what we've said about it" in await talk.say("Should I take a taxi to my flight?")


async def test_asks_about_an_overdue_promise_and_yes_closes_it(talk: Talk):
    """A greeting asks about a promise whose day has passed; "yes" closes it."""
    await talk.say("I need to call the landlord tomorrow at 9")
    talk.clock.advance(s=3 * DAY_S)

    assert (await talk.say("hello")).endswith("Did you call the landlord?")
    assert (await talk.say("yes")).startswith("Done, and off the list: call the landlord")
    assert talk.open_texts == []


async def test_no_leaves_an_overdue_promise_open(talk: Talk):
    """The answer "no" to the same question leaves the promise open."""
    await talk.say("I need to call the landlord tomorrow at 9")
    talk.clock.advance(s=3 * DAY_S)
    await talk.say("hello")

    assert (await talk.say("no")).startswith("Okay, it stays open: call the landlord")
    assert len(talk.open_texts) == 1


async def test_yes_shows_the_rest_of_a_long_list(talk: Talk):
    """A list too long for one message offers the rest, and "yes" shows it."""
    places = ["Oslo", "Rome", "Lima", "Cairo", "Delhi", "Tokyo", "Paris", "Quito", "Bern", "Kyiv"]
    for number, place in enumerate(places, 1):
        await talk.say(f"My cousin number {number} lives in {place}")
    first = await talk.say("What do you know about my cousin?")

    assert first.endswith("Shall I show the other 2?")
    rest = await talk.say("yes")
    shown = [place for place in places if place in first or place in rest]
    assert rest.startswith("The rest:")
    assert shown == places


async def test_yes_and_no_without_a_question_change_nothing(talk: Talk):
    """A bare "yes" or "no" that answers nothing is said to."""
    assert "waiting for a yes" in await talk.say("yes")
    assert "waiting for a no" in await talk.say("no")


async def test_why_is_answered_for_what_came_before(talk: Talk):
    """A "why?" after an answer says by what rule it came about."""
    await talk.say("What is the capital of France?")

    assert "CONTINUITY_MODEL" in await talk.say("why?")


@pytest.mark.parametrize("text", ["thanks!", "bye", "ok", "haha", "how are you?", "\N{GRINNING FACE}"])
async def test_small_talk_takes_one_line(talk: Talk, text: str):
    """Courtesies are answered with one short line."""
    answer = await talk.say(text)

    assert "\n" not in answer
    assert len(answer) < 120


async def test_states_and_asks_in_one_message(talk: Talk):
    """A message that tells and asks is noted and answered."""
    text = await talk.say("Hi! My dog is called Rex. What is still open?")

    assert "your dog is called Rex" in text
    assert "Nothing's open" in text


async def test_a_reminder_that_was_not_set_goes_on_the_list_honestly(talk: Talk):
    """What asks for a reminder and yet set none goes on the list with its time, and it says that nothing rings."""
    text = await talk.say("remind me tomorrow at 9 to call the dentist")

    assert text.startswith("On the list: call the dentist, due tomorrow 09:00.")
    assert "There's no alarm for it" in text
    assert "call the dentist" in await talk.say("what's open?")


async def test_quoting_a_promise_does_not_open_it_again(talk: Talk):
    """A promise that was kept and is quoted afterwards stays closed."""
    await talk.say("I'll send Ben the slides tomorrow")
    await talk.say("I sent Ben the slides")
    text = await talk.say("what did I say about the slides?")

    assert "send Ben the slides" in text
    assert talk.open_texts == []


async def test_a_fresh_session_says_where_the_earlier_ones_are():
    """Nothing open and no name: that may be because they were left behind."""
    talk = Talk(isolated=True)

    assert "/continue" in await talk.say("what's open?")
    await talk.say("I need to call Ana")
    assert "/continue" not in await talk.say("what's open?")
    assert "/continue" not in await Talk().say("what's open?")


async def test_a_fresh_session_uses_nothing_of_others(talk: Talk):
    """After /fresh nothing of earlier sessions is shown, whatever is asked."""
    await talk.say("My sister Ana lives in Lisbon.")
    await talk.say("I must buy cat food")
    await talk.say("We decided to meet at the lake house")
    talk.begin("s_2", isolated=True)
    for question in (
        "what do you know about Ana?", "what do you know about me?", "what is still open?", "what did we decide?",
        "what did we talk about last time?", "summarize", "hello", "where does Ana live?",
    ):  # fmt: skip
        text = await talk.say(question)
        assert not any(word in text for word in ("Lisbon", "sister", "cat food", "lake")), question


async def test_a_fresh_session_asks_the_search_for_itself_alone():
    """After /fresh the search is restricted to the session, and what it returns of others is left out."""
    talk = Talk(isolated=True)
    talk.begin("s_1")
    await talk.say("the weather was awful over Oslo")
    talk.begin("s_2", isolated=True)
    asked: list[Any] = []

    class Leaky:
        async def search(self, query: Query) -> list[RetrievedItem]:
            asked.append(query.session_ids)
            return [RetrievedItem(source="turn", ref="t_s_1_1", text="", at_ms=0, score=1.0)]

    talk.searcher = Leaky()
    text = await talk.say("what did I say about Oslo?")

    assert asked == [["s_2"]]
    assert "awful" not in text


async def test_somebody_else_is_not_quoted_as_you(talk: Talk):
    """In a group the words of another person are not given as the asker's."""
    await talk.say("the weather was awful over Oslo", user_id=8)

    assert "somebody else here said" in await talk.say("what did I say about Oslo?")


async def test_a_broken_database_is_said(talk: Talk):
    """Without the database it answers from the last messages and says so."""
    await talk.say("My sister Ana lives in Lisbon.")
    talk.store.broken = True
    text = await talk.say("What do you know about Ana?")

    assert "Lisbon" in text
    assert "unavailable" in text


@pytest.mark.parametrize(
    ("question", "kind"),
    [("Was ist noch offen?", "Nichts ist offen"), ("¿Quién eres?", "modelo de lenguaje"),
     ("Кто ты?", "без языковой модели"), ("De quoi avons-nous parlé ?", "vient de commencer"),
     ("O que você sabe sobre mim?", "Nada ainda")],
)  # fmt: skip
async def test_is_asked_in_other_languages(talk: Talk, question: str, kind: str):
    """What it is asked in another language is recognised."""
    assert kind in await talk.say(question)


@pytest.mark.parametrize("code", LANGUAGES.codes)
async def test_every_sentence_of_its_own_leaves_nothing_open(code: str):
    """None of its sentences is read as a promise or a question of the assistant, but for those that ask."""
    words = words_of(code)
    fill = defaultdict(lambda: "Rex", count="3", messages="3 messages")
    asking = {"more", "did_you", "no_alarm"}
    state = new_state("s_1", CONVERSATION)
    for key in words.answers.keys() - asking:
        text = words.answers[key].format_map(fill)
        turn = ConversationTurn(
            turn_id="t_1", session_id="s_1", conversation_id=CONVERSATION, seq=1, user_text="What is the capital?",
            assistant_text=text, language="en", created_at_ms=START_MS,
        )  # fmt: skip
        after = apply_turn(state, turn, LANGUAGES)
        assert not after.open_loops, key
        assert not after.pending_clarifications, key


async def test_shows_what_it_answers(talk: Talk):
    """The whole answer is shown, and no model is claimed."""
    text = await talk.say("hello")

    assert talk.shown == [text]
    assert talk.answer
    assert talk.answer.model is None


async def test_warm_never_raises():
    """Warming loads the language data."""
    await OfflineResponder(FakeStore(), None, LANGUAGES).warm()  # type: ignore[arg-type]


_PIECES = st.sampled_from(
    ["I need to ", "call Ana", "what do you know about ", "“", "”", "?", "yes", "the second one", "forget about ", "\n",
     "My ", "sister", " is ", "tomorrow at 9", "we decided to ", "{", "}", "{0}", "remember ",
     "Was ist offen", "¿qué sabes de ",
     "x" * 4000, "\x00", "\ud800", "* `_[", "😀", "done", "1. a\n2. b", "remind me ", "мы решили ", "İ", "why"]
)  # fmt: skip


@example(["?AAAÀÀÅ"])  # a language without words of its own
@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.text(max_size=60), st.lists(_PIECES, max_size=8).map("".join)), min_size=1, max_size=4))
async def test_whatever_is_said_gets_an_answer_of_bounded_length(messages: list[str]):
    """Any sequence of messages is answered, never with nothing, never with more than fits into one message."""
    talk = Talk()
    for message in messages:
        text = await talk.say(message.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        assert text.strip()
        assert len(text) <= MAX_CHARS


async def test_finds_across_sessions_in_a_real_database(tmp_path: Path):
    """With the real store and search, what was said in an earlier session is found, quoted with its day."""
    talk = Talk()
    async with open_memory(tmp_path) as memory:
        said = []
        for text in ("My sister Ana lives in Lisbon.", "the weather was awful over Oslo"):
            ask = talk.ask(text)
            answer = await OfflineResponder(FakeStore(), None, LANGUAGES).respond(ask, talk.shown.append)  # type: ignore[arg-type]
            said.append(talk.keep(ask, answer))
        for each in chain("", said):
            await memory.db.write(insert_turn(each.turn, each.digest), index_turn(each.turn, LANGUAGES))
        await memory.db.write(insert_session(talk.state, user_id=USER, origin="first", created_at_ms=START_MS))
        talk.begin("s_2")
        talk.clock.advance(s=3 * DAY_S)
        concierge = OfflineResponder(memory.store, memory.searcher, LANGUAGES)

        about_ana = await concierge.respond(talk.ask("What do you know about Ana?"), talk.shown.append)
        about_oslo = await concierge.respond(talk.ask("What did I say about Oslo?"), talk.shown.append)

    assert "Your sister Ana lives in Lisbon (on 14 Nov)" in about_ana.text
    assert "On 14 Nov you said: “the weather was awful over Oslo”" in about_oslo.text


TOLD = (
    "My dog is called Rex.", "Rex is 4 years old.", "My name is Eva Brandt.", "I live in Berlin.",
    "Sorry, I moved: I live in Hamburg now.", "We decided to use PostgreSQL for the database.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how old is Rex?", "Rex is 4 years old"),
        ("what's my name?", "Eva Brandt"),
        ("where do I live?", "Hamburg now"),
        ("what's my dog called?", "Rex"),
        ("what did we decide about the database?", "PostgreSQL"),
    ],
)
async def test_answers_what_it_knows(question, words):
    """One thing that was said names all that is asked: that is the answer, without a word about models."""
    talk = Talk()
    for said in TOLD:
        await talk.say(said)
    answer = await talk.say(question)

    assert words in answer
    assert "model" not in answer
    assert "work out" not in answer


async def test_a_wrong_note_is_taken_back():
    """The words "that's wrong" let go of the note before them, once; what was noted earlier stays."""
    talk = Talk()
    await talk.say("My name is Eva Brandt.")
    await talk.say("My cat is called Tom.")

    assert "cat is called Tom" in await talk.say("that's wrong")
    assert talk.answer.action_name == "undo"
    assert "Tom" not in await talk.say("what do you know about me?")
    assert "Eva Brandt" in await talk.say("what's my name?")


@pytest.mark.parametrize(
    "question",
    [
        "how do I delete my data?",
        "Wie lösche ich meine Daten?",
        "¿cómo borro mis datos?",
        "comment supprimer mes données ?",
        "como apago meus dados?",
        "как удалить мои данные?",
    ],
)
async def test_whoever_asks_how_to_delete_is_told_of_forget(question):
    """In six languages /forget is named, which deletes."""
    assert (await Talk().say(question)).startswith("/forget")


async def test_in_a_group_everybody_takes_back_what_they_said_themselves(talk: Talk):
    """As with the button: nobody's notes and reminders are taken back by somebody else."""
    await talk.say("My dog Rex is 4 years old.")

    assert await talk.say("undo", user_id=USER + 1) == words_of("en").say("undo_nothing")
    assert "Rex" in await talk.say("undo")


async def test_what_gave_its_place_among_many_matters_to_another_was_not_ended_by_it(talk: Talk, monkeypatch):
    """Only so many are noted of a session: what is taken back is what the message itself brought."""
    monkeypatch.setattr(so_far, "MATTERS_MAX", 1)
    await talk.say("I have to call the bank")
    await talk.say("I have to call the vet tomorrow")

    undone = await talk.say("undo")
    assert ("vet" in undone, "bank" in undone) == (True, False)


@pytest.mark.parametrize(
    "told", ["need to renew my passport", "also need to renew my passport", "must renew my passport"]
)
async def test_what_one_needs_to_do_is_listed_by_what_it_is(talk: Talk, told: str):
    """Who is in a hurry leaves out the "I"; "need to renew your passport" was on the list."""
    assert await talk.say(told) == "On the list: renew your passport."
