"""Without a model: what is plainly said is noted, found again, ended and put right, in seven languages."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from bot import offline
from bot.answers.responder import Ask
from bot.matching import timed_out
from bot.offline.reader import Context, read
from bot.offline.responder import respond
from bot.offline.safety import reminder_of
from bot.offline.words import codes, words_of
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Ledger
from memory.ledger.views import standing, to_do
from memory.packets import ConversationContextPacket, RetrievedItem
from memory.state.state_manager import new_state
from memory.types import ConversationTurn

NOW = int(datetime(2026, 11, 23, 14, 10, tzinfo=UTC).timestamp() * 1000)
"""A Monday."""
CONVERSATION = "tg:1:1:0"
EVERY = pytest.mark.parametrize("code", codes())


class Talk:
    """One conversation with the offline responder: what it notes stands in the ledger, what is said in the history."""

    def __init__(self, language="en"):
        self.ledger = Ledger(CONVERSATION)
        self.history = []
        self.found = ()
        self.state = new_state("s_1", CONVERSATION).model_copy(update={"language": language})
        self.numbers = count(1)
        self.answer = None
        self.later_ms = 0

    def ask(self, text, *, user_id=7, third_party=False):
        packet = ConversationContextPacket(
            conversation_id=CONVERSATION, session_id="s_1", session_status="active",
            history=tuple(self.history), retrieved=self.found, context_compiled_at_ms=NOW,
        )  # fmt: skip
        return Ask(
            f"t_{next(self.numbers)}", CONVERSATION, user_id, "Eva", text, self.state, packet, "", "UTC",
            NOW + self.later_ms + 60_000 * len(self.history), third_party=third_party, ledger=self.ledger,
        )  # fmt: skip

    def say(self, text, **how):
        """Say something and return the answer's text."""
        ask = self.ask(text, **how)
        self.answer = respond(ask)
        by = Actor("offline", ask.now_ms, ask.turn_id)
        self.ledger, _ = apply_all(self.ledger, self.answer.operations, by)
        turn = ConversationTurn(
            turn_id=ask.turn_id, session_id="s_1", conversation_id=CONVERSATION, seq=len(self.history) + 1,
            user_id=ask.user_id, user_text=text, assistant_text=self.answer.text,
            action_name=self.answer.action_name, created_at_ms=ask.now_ms,
        )  # fmt: skip
        self.history.append(turn)
        return self.answer.text

    @property
    def notes(self):
        return [note.text for note in standing(self.ledger)]

    @property
    def open(self):
        return [note.text for note in to_do(self.ledger, NOW)]


PLAIN = {
    "en": [
        ("My dog is called Rex and he is four.", "Your dog is called Rex."),
        ("I'm allergic to peanuts", "You're allergic to peanuts."),
        ("I prefer trains to planes", "You prefer trains to planes."),
        ("We decided to use Postgres", "Use Postgres."),
        ("remember that I parked on level 3", "You parked on level 3."),
        ("I need to call the landlord by Friday about the heating", "call the landlord about the heating"),
        ("don't forget to buy milk", "buy milk"),
        ("I promised Ana to send her the photos", "send her the photos (promised to Ana)"),
    ],
    "de": [
        ("Mein Hund heißt Rex", "Dein Hund heißt Rex."),
        ("Ich bin allergisch gegen Nüsse", "Du bist allergisch gegen Nüsse."),
        ("Ich mag Jazz", "Du magst Jazz."),
        ("Wir haben beschlossen, Postgres zu nehmen", "Postgres nehmen."),
        ("Merk dir, dass ich auf Ebene 3 geparkt habe", "Du hast auf Ebene 3 geparkt."),
        ("Ich muss bis Freitag den Vermieter anrufen", "den Vermieter anrufen"),
        ("Vergiss nicht, Milch zu kaufen", "Milch kaufen"),
    ],
    "fr": [
        ("Mon chien s'appelle Rex", "Ton chien s'appelle Rex."),
        ("je suis allergique aux noix", "Tu es allergique aux noix."),
        ("je préfère le train", "Tu préfères le train."),
        ("On a décidé de prendre Postgres", "Prendre Postgres."),
        ("note que je suis garée au niveau 3", "Tu es garée au niveau 3."),
        ("Je dois appeler le propriétaire avant vendredi", "appeler le propriétaire"),
        ("n'oublie pas d'acheter du lait", "acheter du lait"),
    ],
    "es": [
        ("Mi perro se llama Rex", "Tu perro se llama Rex."),
        ("soy alérgica a las nueces", "Tienes alergia a las nueces."),
        ("prefiero el tren", "Prefieres el tren."),
        ("Hemos decidido usar Postgres", "Usar Postgres."),
        ("Tengo que llamar al casero antes del viernes", "llamar al casero"),
        ("no te olvides de comprar leche", "comprar leche"),
    ],
    "it": [
        ("Il mio cane si chiama Rex", "Il tuo cane si chiama Rex."),
        ("sono allergica alle noci", "Sei allergica alle noci."),
        ("preferisco il treno", "Preferisci il treno."),
        ("Abbiamo deciso di usare Postgres", "Usare Postgres."),
        ("Devo chiamare il padrone di casa entro venerdì", "chiamare il padrone di casa"),
        ("non dimenticare di comprare il latte", "comprare il latte"),
    ],
    "pt": [
        ("Meu cachorro se chama Rex", "Seu cachorro se chama Rex."),
        ("sou alérgica a nozes", "Você tem alergia a nozes."),
        ("prefiro o trem", "Você prefere o trem."),
        ("Decidimos usar Postgres", "Usar Postgres."),
        ("Preciso ligar para o proprietário até sexta", "ligar para o proprietário"),
        ("não esquece de comprar leite", "comprar leite"),
    ],
    "ru": [
        ("Мою собаку зовут Рекс", "Твою собаку зовут Рекс."),
        ("у меня аллергия на орехи", "У тебя аллергия на орехи."),
        ("я предпочитаю поезд", "Ты предпочитаешь поезд."),
        ("Мы решили взять Postgres", "Взять Postgres."),
        ("Мне надо до пятницы позвонить хозяину", "позвонить хозяину"),
        ("не забудь купить молоко", "купить молоко"),
    ],
}


@pytest.mark.parametrize(("code", "said", "noted"), [(code, *each) for code, rows in PLAIN.items() for each in rows])
def test_what_is_plainly_said_is_noted_as_a_friend_would(code, said, noted):
    """One sentence, one note, told back in the language of the words, with a button that takes it back."""
    talk = Talk(code)

    answer = talk.say(said)

    assert talk.notes == [noted]
    assert noted.rstrip(".")[1:] in answer
    assert talk.answer.buttons


def test_a_day_that_is_named_is_when_it_is_due():
    """The list says so, and the words of the day are no part of the matter."""
    talk = Talk()

    assert talk.say("I need to call the landlord by Friday about the heating.") == (
        "On the list: call the landlord about the heating (Fri 27 Nov)."
    )
    assert talk.say("what is still open?") == "One thing's open: call the landlord about the heating (Fri 27 Nov)."


def test_what_is_called_done_leaves_the_list():
    """By most of its words, in the past tense, and only when one thing can be meant."""
    talk = Talk()
    talk.say("I need to call the landlord about the heating")
    talk.say("I need to call the bank about the card")

    assert "Which one" in talk.say("done: call")
    assert "off the list: call the landlord" in talk.say("I called the landlord, done.")
    assert talk.open == ["call the bank about the card"]


def test_a_later_value_takes_the_place_of_the_earlier():
    """A dog has one name: said again, or put right in the next message."""
    talk = Talk()
    talk.say("My dog is called Rex")
    talk.say("no, Max")

    assert talk.notes == ["Your dog is called Max."]


def test_a_day_is_put_right_by_the_next_message_alone():
    """What follows "no" moves what was just noted; later it moves nothing."""
    talk = Talk()
    talk.say("I need to call the landlord by Friday")

    assert talk.say("no, Thursday") == "Changed: call the landlord (Thu 26 Nov)."
    talk.say("thanks")
    talk.say("no, Wednesday")
    assert to_do(talk.ledger, NOW)[0].due_at_ms == int(datetime(2026, 11, 26, tzinfo=UTC).timestamp() * 1000)


def test_a_reminder_without_a_time_asks_for_it():
    """The next message that is only a time answers the question."""
    talk = Talk()

    assert talk.say("remind me to water the plants").endswith("When should I remind you?")
    assert talk.say("at 6") == "I'll remind you today at 18:00: water the plants."


def test_a_series_rings_as_often_as_it_was_said():
    """The answer says how often, and when first."""
    talk = Talk()

    answer = talk.say("remind me every Monday at 8 to take out the bins")

    assert answer == "I'll remind you every Monday, first on Mon 30 Nov at 08:00: take out the bins."


@pytest.mark.parametrize(
    "said",
    [
        'what does "remind me tomorrow" mean in German?',
        "If I need to call him I will",
        "I have no idea",
        "my head is killing me",
        "remind me what we said about the tiles",
        "> I need to call the landlord",
        "```\nI need to call the landlord\n```",
        "She sighed. I need to call the landlord, she said. " * 20,
    ],
)
def test_nothing_is_noted_of_what_is_not_plainly_meant(said):
    """Questions about words, conditions, turns of phrase, quotations, pasted text."""
    talk = Talk()
    talk.say(said)

    assert talk.notes == []


def test_nothing_is_noted_of_what_was_forwarded():
    """Somebody else's to-dos are not the person's."""
    talk = Talk()
    talk.say("I need to call the landlord", third_party=True)

    assert talk.notes == []


def test_finds_are_quoted_with_day_and_speaker():
    """What is in no note is found in what was said, here and long ago."""
    talk = Talk()
    talk.say("The parking was near the blue gate")
    talk.found = (
        RetrievedItem(
            source="turn", ref="t_old", text="User: Ana painted the gate blue\nAssistant: Noted.",
            at_ms=NOW - 40 * 86_400_000, score=1.0,
        ),
    )  # fmt: skip

    answer = talk.say("what did I say about the gate?")

    assert "You, on Wed 14 Oct: “Ana painted the gate blue”" in answer
    assert "You, today: “The parking was near the blue gate”" in answer


def test_what_it_cannot_do_it_says():
    """A question about the world is beyond it; what it does not understand is kept, and said so once at length."""
    talk = Talk()

    assert "no language model is connected" in talk.say("What is the capital of France?")
    assert "no language model is connected" in talk.say("the sky had a strange colour over the harbour")
    assert talk.say("and the gulls were loud") == "Kept. You'll find it again by asking for it."


def test_forgetting_takes_a_note_off_and_names_the_command_that_erases():
    """The words of the message stay in the log until /forget takes them."""
    talk = Talk()
    talk.say("My dog is called Rex")

    assert "/forget" in talk.say("forget Rex")
    assert talk.notes == []
    assert "/forget" in talk.say("forget everything")


@EVERY
def test_a_greeting_and_thanks_get_one_short_line(code):
    """In every language, and nothing is noted."""
    hello, thanks = {
        "en": ("Hello!", "thanks"), "de": ("Hallo", "danke dir"), "fr": ("Bonjour", "merci beaucoup"),
        "es": ("¡Hola!", "muchas gracias"), "it": ("Ciao", "grazie mille"), "pt": ("Oi", "obrigada"),
        "ru": ("Привет!", "спасибо большое"),
    }[code]  # fmt: skip
    talk = Talk(code)

    assert len(talk.say(hello)) < 20
    assert len(talk.say(thanks)) < 20
    assert talk.notes == []


def test_a_stranger_is_greeted_in_the_language_of_the_greeting():
    """One word is too short to tell a language by others; the greeting itself tells it."""
    assert Talk("en").say("Привет") == "Привет, Eva!"
    assert Talk("en").say("Hallo") == "Hallo Eva!"


DATED = {
    "en": ("the boiler man comes on Friday", "The boiler man comes on Friday.", 27),
    "de": ("am Freitag kommt der Heizungsmonteur", "Am Freitag kommt der Heizungsmonteur.", 27),
    "fr": ("le plombier passe vendredi pour la chaudière", "Le plombier passe vendredi pour la chaudière.", 27),
    "es": ("el viernes viene el técnico de la caldera", "El viernes viene el técnico de la caldera.", 27),
    "it": ("venerdì viene il tecnico della caldaia", "Venerdì viene il tecnico della caldaia.", 27),
    "pt": ("sexta-feira vem o técnico da caldeira", "Sexta-feira vem o técnico da caldeira.", 27),
    "ru": ("в пятницу придёт мастер чинить кран", "В пятницу придёт мастер чинить кран.", 27),
}


@EVERY
def test_a_statement_with_a_day_to_come_stands_under_its_day_in_the_persons_own_words(code):
    """No form has to fit: the day is what is understood, the words are the person's."""
    said, line, day = DATED[code]
    talk = Talk(code)
    answer = talk.say(said)

    (note,) = standing(talk.ledger)
    assert (note.text, note.due_at_ms) == (line, int(datetime(2026, 11, day, tzinfo=UTC).timestamp() * 1000))
    assert line.rstrip(".") in answer


def test_a_far_day_is_no_task():
    """An appointment is remembered, and comes up by itself; a term has to be seen to."""
    talk = Talk()
    talk.say("dentist on Thursday at 8:30, I hate it")
    talk.say("I'm moving to Saltmere on 31 March")
    talk.say("the trust wants the receipts by the end of February")
    talk.say("Moira needs my answer on Wednesday")

    assert talk.open == [
        "Moira needs my answer on Wednesday.",
        "The trust wants the receipts by the end of February.",
    ]
    assert len(talk.notes) == 4


@pytest.mark.parametrize(
    "said",
    [
        "we met the agent on Friday",
        "if I get the job on Friday we celebrate",
        "is the market open on Friday?",
        "I'm tired today",
        "on Friday",
        'he wrote "we will collect the wardrobe on Friday morning" and left',
        "every Friday we clean the stairs",
    ],
)
def test_no_day_is_noted_of_what_was_or_may_be_or_is_somebody_elses_text(said):
    """The past, conditions, questions, today's mood, a day without a matter, quotations, habits."""
    talk = Talk()
    talk.say(said)

    assert talk.notes == []


def test_a_line_is_cut_at_clauses_and_says_nothing_of_tomorrow_once_it_is_over():
    """Of a long sentence the clauses around the day stay; a word such as "tomorrow" would lie from then on."""
    talk = Talk()
    talk.say(
        "well, the flat has three rooms and a balcony over the harbour with all the noise of the boats and the market, "
        "the viewing is on 4 December at the agency, "
        "and the agent who showed it to all of us the last time never wrote back to anybody about it"
    )
    talk.say("the parcel comes tomorrow, somebody has to be in")

    assert talk.notes == ["The viewing is on 4 December at the agency.", "The parcel comes, somebody has to be in."]


def test_a_later_sentence_about_the_same_moves_its_day():
    """What was said first does not stand beside what holds now."""
    talk = Talk()
    talk.say("dentist on Thursday at 8:30")

    assert talk.say("dentist moved to Monday 30 November at 9").startswith(
        "Changed: Dentist moved to Monday 30 November"
    )
    assert talk.notes == ["Dentist moved to Monday 30 November at 9."]


def test_what_had_its_day_is_over_by_itself():
    """Nobody has to say that the boiler man came."""
    talk = Talk()
    talk.say("the boiler man comes on Friday")
    talk.later_ms = 5 * 86_400_000

    talk.say("the gulls were loud")
    assert talk.notes == []


def test_an_order_among_other_sentences_ends_with_its_own():
    """What is said before and behind "remind me …" is no part of the reminder."""
    talk = Talk()
    talk.say("long day. can you remind me tomorrow at 9 a.m. to call Ana? good night then.")

    assert talk.notes == ["call Ana"]


def test_the_net_sets_an_explicit_reminder_once_and_nothing_else():
    """Bound to its turn: read again, it is the same note. Without a clear time, or an order, nothing is set."""
    talk = Talk()
    ask = talk.ask("please remind me tomorrow at 9 to call Ana")
    (added,) = reminder_of(ask)

    assert (added.text, added.fields["rings_from"]) == ("call Ana", "2026-11-24T09:00")
    assert reminder_of(ask) == (added,)
    for said in ("remind me to call Ana", "I need to call Ana tomorrow at 9", "remind me tomorrow at 9"):
        assert reminder_of(talk.ask(said)) == ()


def test_the_reader_is_pure_and_reads_one_turn():
    """The same turn gives the same operations, ready for whoever hands over."""
    context = Context("t_1", NOW, language="en", user_id=7, session_id="s_1")

    assert read("My dog is called Rex", Ledger("c"), context) == read("My dog is called Rex", Ledger("c"), context)
    assert read("what is still open?", Ledger("c"), context) == ()


def test_what_reads_words_by_rules_keeps_to_its_budget():
    """At most 3,000 lines of Python and 150 KB of data: a rule pays by removing one."""
    room = Path(offline.__file__).parent
    programs, data = list(room.rglob("[!_]*.py")), list(room.rglob("*.toml"))

    assert sum(len(each.read_text(encoding="utf-8").splitlines()) for each in programs) <= 3_000
    assert sum(each.stat().st_size for each in data) <= 150_000


@EVERY
def test_no_pattern_takes_long_however_a_text_grows(code):
    """Words, spaces, numbers, separators that repeat and then fail to end as a pattern wants: none times out."""
    units = [
        "a ",
        "1 ",
        "1.",
        "12:30 ",
        "i ",
        "my ",
        " ",
        ", ",
        "and ",
        "x",
        "to-",
        "not ",
        "Ab ",
        "и ",
        "ich ",
        "at 3 ",
    ]
    heads = ["", "I need to ", "remind me ", "my ", "ich muss ", "tengo que ", "je dois ", "devo ", "напомни "]
    for pattern in words_of(code).patterns():
        for unit in units:
            for times in (10, 200):
                pattern.search(f"{unit * times}\x00", timeout=5)
    for text in (f"{head}{unit * 300}\x00" for head in heads for unit in units):
        assert not all(_takes_long(text, code) for _ in range(20)), text


def _takes_long(text, code):
    """Whether a pattern ran out of time; a busy machine does that once, a pattern that hangs each time."""
    before = len(timed_out)
    read(text, Ledger("c"), Context("t", NOW, language=code))
    return len(timed_out) > before
