"""Who speaks of ending their own life is heard in six languages, with typos and in hints; turns of phrase are not."""

from __future__ import annotations

import sys

import pytest

from bot.care import care as distress
from bot.care.care import care, caring_answer, distress_in
from memory.search.languages import Languages
from memory.sessions.summarizer import spoken
from memory.state.state_manager import apply_turn, session_title
from memory.testing import make_state, make_turn
from memory.types import CARE

MEANT = """
I want to kill myself
i wanna kill my self
I'm going to kill myself tonight
i want to kil myself
I want to die
i just want to die
I wish I was dead
I wish I were never born
I don't want to live anymore
i dont want to be alive
I don't want to be here anymore
I want to end my life
I'm thinking of ending it all
I have been thinking about suicide
I'm having suicidal thoughts
im feeling suicidal
everyone would be better off without me
there's no reason to live
I have nothing left to live for
life isn't worth living
what's the best way to kill myself?
how do i kill myself
I'm tired of living
I want to hurt myself
I keep cutting myself
I took all my pills
i want to jump off a bridge
nobody would miss me if I died
I wish I could go to sleep and never wake up
gonna kms
I've been self-harming again
I can't go on living
remind me to kill myself tomorrow at 9
I want to unalive myself
i feel like killing myself
I'm planning to commit suicide
sometimes I think about killing myself
i dont wanna live anymore
Ich will mich umbringen
ich möchte sterben
Ich will nicht mehr leben
ich bring mich um
ich will nicht mehr da sein
Ich habe Selbstmordgedanken
ich denke oft an Selbstmord
Am liebsten wäre ich tot
Ich nehme mir das Leben
ich will mir das Leben nehmen
ich will mich töten
Ohne mich wären alle besser dran
ich habe keinen Grund mehr zu leben
Mein Leben hat keinen Sinn mehr
ich kann nicht mehr leben
ich will mich umbrigen
ich überlege mich vor den zug zu werfen
Ich möchte einschlafen und nie wieder aufwachen
Quiero matarme
me quiero morir
quiero morir
no quiero vivir más
ya no quiero vivir
quiero suicidarme
he pensado en suicidarme
quiero quitarme la vida
quiero acabar con mi vida
pienso en el suicidio
no tengo razones para vivir
estarían mejor sin mí
ojalá estuviera muerta
estoy cansado de vivir
tengo ganas de morirme
me voy a matar
quiero matrme
Je veux me tuer
je veux mourir
j'ai envie de mourir
je ne veux plus vivre
j'ai plus envie de vivre
je pense au suicide
je vais me suicider
je veux en finir
je veux mettre fin à mes jours
j'ai des idées suicidaires
tout le monde serait mieux sans moi
la vie ne vaut pas la peine d'être vécue
je veu mourrir
ma vie n'a plus de sens
je veux m'endormir et ne plus me réveiller
Quero me matar
quero morrer
não quero mais viver
nao quero viver mais
penso em suicídio
quero tirar minha vida
vou me suicidar
quero acabar com a minha vida
todos estariam melhor sem mim
estou cansada de viver
a vida não vale a pena
quero me machucar
queria estar morto
tenho pensamentos suicidas
Я хочу умереть
хочу убить себя
я хочу покончить с собой
не хочу жить
я больше не хочу жить
думаю о самоубийстве
хочу сдохнуть
нет смысла жить
всем будет лучше без меня
лучше бы я не родился
я покончу жизнь самоубийством
хочу уснуть и не проснуться
я устала жить
жить не хочется
хочу повеситься
I want to k̶ill myself
I WANT TO KILL MYSELF!!!
**I want to die**
I want to    die
i wanna dieeee
Im going to end my own life
I don't see any point in living
i hate my life and want to die
I'm gonna end it all
i cant do this anymore, i want to die
no one would care if i was dead
My life has no meaning, I want to be dead
what if I just killed myself
I don't deserve to live
I'd be better off dead
I want to disappear forever
I've been thinking of killing myself
I have a plan to end my life
I'm about to kill myself
i wnat to die
thinking of offing myself
I just want everything to end forever
ich bin lebensmüde
ich will sterben, es tut so weh
ich will einfach nur noch sterben
ich hab keine lust mehr zu leben
keine Lust mehr auf Leben
ich will nicht mehr aufwachen
ich ritze mich wieder
ich habe mir überlegt, mir das Leben zu nehmen
no le veo sentido a la vida
no quiero seguir viviendo
nadie me extrañaría si muero
quisiera estar muerto
quiero desaparecer para siempre
je n'en peux plus, je veux crever
je n'ai plus aucune raison de vivre
j'aimerais ne plus exister
je me scarifie
não aguento mais viver
não vejo sentido em viver
eu quero me matar
penso em me matar
a vida não faz mais sentido
мне не хочется жить
я не вижу смысла жить
мысли о самоубийстве
хочу умереть уже
зачем жить
я режу себя
хочу выпилиться
не хочу больше жить
""".strip().split("\n")

ONLY_SAID = """
this bug kills me
I'm dying of laughter
I'm dying to see you
this traffic is killing me
kill the process please
My phone died
I'd kill for a coffee
I killed it at the interview
my battery is about to die
I almost died laughing
I nearly killed myself laughing
I want to watch Die Hard
the movie Suicide Squad is out
I'm writing an essay about suicide prevention
I don't want to die
I don't want to live in Berlin anymore
I'm tired of living here
I'm sick of living with my parents
I want to dye my hair
I cut myself shaving
I hurt myself at the gym
he ran 5 kms
I could kill for pizza
dead tired today
the deadline is killing me
my plants want to die
My grandmother died last year
I want to live in Lisbon
I will take a life drawing class
end the call
I can't go on like this with this job
I want to end it with him
Please kill the server
I'm going to kill it tomorrow
no reason to live there
I do not want to wake up early
I don't want to wake up at 6
Die Katze ist krank
Ich will die Wohnung mieten
Ich lache mich tot
ich sterbe vor Hunger
Der Chef bringt mich um
Das bringt mich noch um
Ich will nicht sterben
Mein Handy ist tot
Todmüde heute
ich will nicht mehr in Berlin leben
ich will nicht mehr allein leben
Ich muss die Pflanzen umtopfen
ich will mich umziehen
ich kann nicht mehr
Ich will mich umsehen
Ich bringe mich um den Verstand
me muero de risa
me muero de hambre
quiero morirme de risa
me mata la espalda
no quiero morir
no quiero vivir en Madrid
quiero vivir en Lima
mi madre me va a matar
mi jefe va a matarme
Matar el tiempo
voy a cortarme el pelo
je meurs de faim
je suis mort de rire
ça me tue
je ne veux pas mourir
je ne veux plus vivre ici
je veux vivre à Lyon
mon chef va me tuer
je veux en finir avec ce rapport
ce bug me tue
estou morrendo de rir
morrendo de fome
não quero morrer
não quero viver em São Paulo
minha mãe vai me matar
quero matar a saudade
vou cortar o cabelo
esse calor me mata
умираю от смеха
умираю с голоду
не хочу умирать
мама меня убьёт
хочу убить время
не хочу жить в Москве
этот баг меня убивает
хочу жить у моря
I'm so embarrassed I could die of shame
What does harakiri mean?
Remind me to call the dentist
I want to take my life in a new direction
We want to end it all on a high note
Sarah wants to die her hair
They decided to kill the feature
I shot myself in the foot with that commit
I'd rather die than eat olives
I want to kill it on stage
Let me die in the game so we can respawn
This is to die for
I could kill myself for forgetting the keys
""".strip().split("\n")


@pytest.mark.parametrize("text", MEANT)
def test_distress_is_heard(text):
    """Plain words, hints, typos, formatting: each gets the caring answer."""
    answer = care(text)

    assert answer is not None
    assert answer.action_name == CARE
    assert "findahelpline.com" in answer.text


@pytest.mark.parametrize("text", ONLY_SAID)
def test_turns_of_phrase_are_left_alone(text):
    """Bugs that kill, laughter to die of, processes, films, places not to live in: none of it is taken for distress."""
    assert care(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I want to kill myself", "en"),
        ("Ich will nicht mehr leben", "de"),
        ("quiero morirme", "es"),
        ("je veux mourir", "fr"),
        ("quero morrer", "pt"),
        ("я не хочу больше жить", "ru"),
    ],
)
def test_the_answer_is_in_the_language_of_the_words(text, code):
    """So it is also after a talk in another language."""
    assert distress_in(text, "fr") == code
    assert care(text).text == caring_answer(code)


def test_every_language_has_a_caring_answer_of_its_own():
    """Six languages, each with numbers to call and the worldwide list; another language gets the English one."""
    answers = {code: caring_answer(code) for code in Languages.load().codes if code in distress._codes()}

    assert set(answers) == {"en", "de", "es", "fr", "pt", "ru"}
    assert len(set(answers.values())) == 6
    assert all("112" in answer for answer in answers.values())
    assert caring_answer("xx") == answers["en"]


def test_it_is_heard_at_either_end_of_a_long_message():
    """A long message is read from its beginning and its end."""
    padding = "The weather was fine that day. " * 400

    assert distress_in("I want to kill myself. " + padding) == "en"
    assert distress_in(padding + "I want to kill myself.") == "en"


def test_nothing_is_filed_from_it():
    """No topic, pending question, title, or sentence of a summary: the turn only counts."""
    turn = make_turn(
        user_text="I want to kill myself. My name is Ada. We decided to move to Rome in 2027. Shall I call Ben?",
        assistant_text="Is there somebody with you?",
        action_name=CARE,
    )
    after = apply_turn(make_state(), turn)

    assert (after.turn_count, after.last_turn_id) == (1, "t_1")
    assert (after.active_topics, after.pending_clarifications, session_title(after)) == ((), (), "")
    assert spoken(turn, Languages.load()) == []


@pytest.mark.parametrize("unit", ["i want ", "not a ", "ich will ", "mich ", "i am i feel ", "\n", "not really ", "a "])
def test_reading_for_distress_is_bounded(unit):
    """However long the message, no more than 6,000 characters are folded and matched."""
    longer = distress.fold(distress.clipped(unit * 20_000))

    assert len(longer) <= distress.MAX_CHARS + 1
    assert sys.getsizeof(longer) < 64_000
