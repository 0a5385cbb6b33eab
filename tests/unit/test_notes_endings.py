"""How people say that something is over, off, later or otherwise: in other words than those in which they said it."""

from __future__ import annotations

import pytest

from memory.language.languages import Languages
from memory.language.sentences import lowered
from memory.notes.reports import ended
from memory.notes.requests import request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import SessionNotes
from memory.notes.view import NotesView, loops, merge, preview
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
MONDAY_MS = 1_772_438_400_000  # Monday 2 March 2026, 08:00 UTC
DAY_MS = 86_400_000


def viewed(language: str, earlier: str, later: str, *, after_days: int = 2) -> NotesView:
    """Return the notes after something was said in one session and something else in the next."""
    read: list[SessionNotes] = []
    for number, text in enumerate((earlier, later)):
        turn = ConversationTurn(
            turn_id=f"t_{number}", session_id=f"s_{number}", conversation_id="c", seq=1, user_text=text,
            assistant_text="Ok.", created_at_ms=MONDAY_MS + number * after_days * DAY_MS, language=language,
        )  # fmt: skip
        request = request_of([turn], [], None, read, LANGUAGES, zone="UTC", now_ms=turn.created_at_ms)
        read.append(read_by_rules(request, LANGUAGES))
    return merge(read, MONDAY_MS + after_days * DAY_MS + 60_000, LANGUAGES)


def alive(language: str, earlier: str, later: str, *, after_days: int = 2) -> str:
    """Return what is alive after something was said in one session and something else in the next."""
    return "\n".join(each.note.text for each in viewed(language, earlier, later, after_days=after_days).standings)


def shown(language: str, earlier: str, later: str) -> list[str]:
    """Return what would be offered then."""
    return [each.note.text for each in preview(viewed(language, earlier, later))]


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "the pipe under the sink leaks, i need to get a plumber in", "the plumber was here today, all dry now"),
        ("en", "i have to take the cat to the vet this week", "took miso to the vet, it was just mites"),
        ("en", "i should book the train to Leeds for the conference", "not going to leeds after all, too expensive"),
        ("en", "lunch with Priya on thursday at 1", "priya cancelled thursday, she's ill"),
        ("de", "ich muss diese woche mit der katze zum tierarzt", "war mit mimi beim tierarzt, waren nur milben"),
        ("de", "donnerstag um 13 uhr mittagessen mit Priya", "priya hat für donnerstag abgesagt, ist krank"),
        ("es", "tengo que llevar al gato al veterinario esta semana", "llevé al gato al veterinario, eran ácaros"),
        ("es", "tengo que reservar el tren para el congreso de Sevilla", "al final no voy a sevilla, sale carísimo"),
        ("fr", "je dois emmener le chat chez le véto", "j'ai emmené le chat chez le véto, c'était des acariens"),
        ("fr", "je dois réserver le train pour Lyon", "finalement je vais pas à lyon, trop cher"),
        ("it", "devo portare il gatto dal veterinario", "ho portato il gatto dal veterinario, erano acari"),
        ("pt", "tenho que levar o gato ao veterinário esta semana", "levei o gato ao veterinário, eram ácaros"),
        ("pt", "tenho que reservar o comboio para Braga", "afinal não vou a braga, é caro demais"),
        ("ru", "надо свозить кота к ветеринару", "свозила кота к ветеринару, просто клещ"),
        ("ru", "мне надо купить билет на поезд в Казань", "в казань не еду, слишком дорого"),
    ],
)  # fmt: skip
def test_what_was_done_or_called_off_in_other_words_is_not_alive(language, earlier, later):
    """A report in the past tense, by its result or as "not after all" ends the matter that it speaks of."""
    assert earlier not in alive(language, earlier, later)


def open_after(language: str, earlier: str, later: str) -> list[str]:
    """Return what is listed as open once the second was said, two days after the first."""
    return [line for line in alive(language, earlier, later).splitlines() if line == earlier]


STATES = [
    ("en", "need to get the brakes looked at", "brakes ok again"),
    ("en", "i have to mute the parents chat", "parents chat muted"),
    ("en", "i need to fit the letterbox before winter", "letterbox's on"),
    ("en", "must drop the keys at the agency", "keys are away"),
    ("en", "i should ring Dilys about the lift", "dilys said yes to the lift"),
    ("en", "i still have to pay the nursery fee", "nursery fee's gone through"),
    ("de", "ich muss die Dachrinne reparieren", "Rinne ist wieder dicht"),
    ("de", "muss die Sommerreifen draufmachen lassen", "Reifen sind drauf"),
    ("de", "muss noch die Bescheinigung hochladen", "Bescheinigung hochgeladen"),
    ("de", "ich muss dem Hausmeister schreiben", "dem Hausmeister hab ich gestern geschrieben"),
    ("es", "tengo que cambiar los frenos", "frenos ya"),
    ("es", "tengo que tapizar el sillón", "sillón tapizado"),
    ("es", "tengo que avisarle a Nadia de la cena", "ya le dije a Nadia"),
    ("fr", "je dois faire changer les freins", "freins changés"),
    ("fr", "je dois prévenir Nadia pour le dîner", "Nadia est au courant pour le dîner"),
    ("fr", "faut que j'achète du riz", "le riz c'est acheté"),
    ("it", "devo comprare il riso", "il riso è comprato"),
    ("it", "devo far cambiare i freni", "freni cambiati"),
    ("it", "devo montare la mensola", "la mensola è su"),
    ("pt", "preciso trocar os freios", "freios trocados"),
    ("pt", "tenho que comprar arroz", "o arroz já está comprado"),
    ("pt", "preciso falar com a Nádia sobre o jantar", "a Nádia topou o jantar"),
    ("ru", "надо собрать полку", "полку собрала"),
    ("ru", "надо купить рис", "рис уже есть"),
]


@pytest.mark.parametrize(("language", "earlier", "later"), STATES)
def test_how_a_thing_is_now_ends_the_task_it_was_about(language, earlier, later):
    """Nobody says "done": they say that the tyres are on, the chat muted, the shelf up."""
    assert open_after(language, earlier, later) == []


@pytest.mark.parametrize(("language", "earlier", "later"), STATES)
def test_a_report_of_an_end_is_no_line_of_its_own(language, earlier, later):
    """What somebody says has ended is not offered as something that goes on."""
    assert later not in shown(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "need to get the brakes looked at", "the brakes are still squeaking"),
        ("en", "i have to send the tax forms", "tax forms are half done"),
        ("en", "i must cancel the gym membership", "the gym wants a letter before they let me cancel"),
        ("en", "postmortem for Dilys due friday", "fixed."),
        (
            "en",
            "the caretaker is bringing the long ladder, he promised, as the hall's one has broken",
            "the hall has moved to the other side of the street",
        ),
        ("en", "i need to write a card for Dilys", "dilys agreed"),
        ("de", "ich muss noch Reis kaufen", "Reis vergessen"),
        ("de", "ich muss noch Reis kaufen", "Reis hol ich morgen"),
        ("es", "tengo que llamar al plomero", "el plomero no contesta"),
        ("fr", "je dois repeindre le portail", "le portail je le fais demain"),
        ("it", "devo rinnovare la patente", "la patente non è ancora arrivata"),
        ("pt", "tenho que ligar para o eletricista", "o eletricista não atende"),
        ("ru", "надо покрасить ворота", "ворота покрашу завтра"),
    ],
)
def test_what_is_half_done_put_off_or_only_named_stays_open(language, earlier, later):
    """A state that is no end, a word without its thing, or somebody's mere name ends nothing."""
    assert earlier in alive(language, earlier, later) or later in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "errand"),
    [
        ("en", "need batteries"), ("en", "train and hostel still to book"), ("en", "the invoice needs to be sent"),
        ("de", "Reis kaufen"), ("de", "muss die Wäsche aufhängen"), ("de", "Zug und Hostel sind noch zu buchen"),
        ("es", "comprar arroz"), ("es", "tren y hostal por reservar"), ("fr", "acheter du riz"),
        ("fr", "train et auberge à réserver"), ("it", "comprare il riso"), ("pt", "comprar arroz"),
        ("pt", "falta pagar a água"), ("ru", "ещё купить рис и хлеб"),
    ],
)  # fmt: skip
def test_an_errand_of_two_words_is_a_task(language, errand):
    """People write errands down as on a slip of paper: no "I must", no day."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=2, user_text=errand, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language=language,
    )  # fmt: skip
    request = request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS)
    seen = merge([read_by_rules(request, LANGUAGES)], MONDAY_MS + DAY_MS, LANGUAGES)
    assert [each.note.text for each in loops(seen)] == [errand]


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "i have to screw the coat rack to the wall", "lina wants to paint, not screw"),
        ("de", "ich muss die Garderobe an die Wand schrauben", "lina will lackieren, nicht schrauben"),
    ],
)
def test_a_denied_word_alone_corrects_nothing(language, earlier, later):
    """What is denied of one thing says nothing of another that shares no word with it but that."""
    assert earlier in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "i have to call the school about the trip money", "the school trip is going to be expensive"),
        ("en", "waiting for the insurance to answer about the bike", "called the insurance about the bike, nothing"),
        ("en", "interview at Corvane on friday the 20th", "bought a jacket for the corvane interview"),
        ("de", "warte noch auf die versicherung wegen dem rad", "hab die versicherung wegen dem rad angerufen, nichts"),
        ("es", "espero que el seguro conteste por lo de la bici", "llamé al seguro por la bici, nada"),
        ("fr", "j'attends la réponse de l'assurance pour le vélo", "j'ai appelé l'assurance pour le vélo, rien"),
        ("it", "aspetto la risposta dell'assicurazione per la bici", "ho chiamato l'assicurazione, niente"),
        ("pt", "espero a resposta do seguro por causa da bicicleta", "liguei para o seguro da bicicleta, nada"),
        ("ru", "жду ответа от страховой по велосипеду", "звонила в страховую про велосипед, ничего"),
    ],
)
def test_what_was_tried_in_vain_or_is_still_ahead_stays(language, earlier, later):
    """A call that nobody answered ends nothing, and what takes place on a later day can only be called off."""
    assert earlier in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "i have my driving test, third attempt, wish me luck for the test", "PASSED!!! finally"),
        ("en", "i applied for the lab job at Corvane, must wait", "got the job!! start in june"),
        ("de", "ich muss noch zur fahrprüfung, dritter versuch", "BESTANDEN!! endlich"),
        ("es", "tengo que hacer el examen de conducir", "¡¡APROBÉ!! a la tercera"),
        ("fr", "je dois repasser l'examen du permis", "JE L'AI EU !! enfin"),
        ("it", "devo rifare l'esame della patente", "PROMOSSA!! alla terza"),
        ("pt", "tenho que fazer a prova de direção", "PASSEI!! na terceira"),
        ("ru", "мне надо пересдать экзамен по вождению", "СДАЛА!! с третьего раза"),
    ],
)
def test_a_result_ends_the_matter_that_it_is_the_result_of(language, earlier, later):
    """Who says "passed!" names no exam and means it."""
    assert earlier not in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "earlier", "later", "now"),
    [
        ("en", "i must hand in the novel by 30 march", "they gave me an extension, 7 april, she's ill", "7 april"),
        ("de", "ich muss den roman bis 30. märz abgeben", "frist verlängert, jetzt 7. april, sie ruht", "7. april"),
        ("ru", "мне надо до 30 марта сдать роман", "Нина продлила срок, теперь 7 апреля! у неё ремонт", "7 апреля"),
    ],
)  # fmt: skip
def test_a_later_day_takes_the_place_of_the_old_one(language, earlier, later, now):
    """What was due has the later day and its own words: "they gave me until the 7th" says not what for."""
    first, *_ = [line for line in alive(language, earlier, later).splitlines() if line != later] or [""]

    assert (now in first, "30" in first) == (True, False)


def test_a_time_that_is_denied_is_not_told_any_more():
    """Of "nine" and "half past eight, not nine" the second holds, however the day is named."""
    told = alive("en", "i am to be collected at nine o'clock by Gail", "Gail rang it is half past eight not nine now")

    assert "collected at nine" not in told


def test_another_day_for_the_same_event_moves_it_without_a_word_of_correction():
    """Somebody who names a new day for the same event need not say that it is new."""
    told = alive("en", "the boiler inspection is on friday the 13th", "boiler inspection is monday the 16th at 9")

    assert ("13th" in told, "16th" in told) == (False, True)


@pytest.mark.parametrize("said", ["last tuesday i had three calls with the bank", "since monday my back hurts a lot"])
def test_a_day_that_is_over_is_no_day_ahead(said):
    """The last Tuesday is not the Tuesday that comes."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=1, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language="en",
    )  # fmt: skip
    notes = read_by_rules(request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS), LANGUAGES)

    assert all(matter.due_at_ms is None for matter in notes.matters)


@pytest.mark.parametrize(
    ("language", "said", "name"),
    [
        ("en", "mr protheroe has to sign the bid before it goes in", "protheroe"),
        ("de", "frau ortmann meldet sich wegen der bühne", "ortmann"),
        ("pt", "a dona graça ficou de mandar a licença", "graça"),
    ],
)
def test_somebody_addressed_by_a_title_is_named_however_it_is_written(language, said, name):
    """Behind "mr" stands a name, also in small letters; who has to act is told."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=1, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language=language,
    )  # fmt: skip
    notes = read_by_rules(request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS), LANGUAGES)

    assert [(matter.kind, matter.owner) for matter in notes.matters] == [("promise", name)]


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("Ruben the electrician will move the two sockets on the 18th", "Ruben"),
        ("Rain will come on the 18th they say, we need more rain anyway", "user"),
    ],
)
def test_a_name_that_only_begins_sentences_owns_what_it_will_do(said, owner):
    """Whoever stands only at the head of a sentence is known by what they do there, unless the word is a plain one."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=1, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language="en",
    )  # fmt: skip
    notes = read_by_rules(request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS), LANGUAGES)

    assert {matter.owner for matter in notes.matters} == {owner}


def notes_of(language: str, *said: tuple[str, str]) -> SessionNotes:
    """Return the notes of one session, a minute a turn."""
    turns = [
        ConversationTurn(
            turn_id=f"t_{seq}", session_id="s", conversation_id="c", seq=seq, user_text=text, assistant_text=answer,
            created_at_ms=MONDAY_MS + seq * 60_000, language=language,
        )
        for seq, (text, answer) in enumerate(said, 1)
    ]  # fmt: skip
    request = request_of(turns, [], None, [], LANGUAGES, zone="UTC", now_ms=turns[-1].created_at_ms)
    return read_by_rules(request, LANGUAGES)


def test_what_the_answer_ticks_off_is_over():
    """A report in any words ends its matter when it is answered with "that box is ticked"."""
    told = [("i have to get the safety policy printed", "Right."), ("safety policy printed", "That box is ticked.")]

    assert [each.text for each in notes_of("en", *told).settled] == ["safety policy printed"]


def test_a_correction_of_nothing_that_is_known_is_no_matter():
    """Nobody knows what is on the day of "I meant the 21st", so it opens nothing."""
    notes = notes_of("es", ("hola qué tal", "Bien."), ("perdón, quería decir el 21 de junio", "Anotado."))

    assert notes.matters == ()


def test_a_name_that_is_denied_is_put_right_where_it_stands():
    """Of "Lena Peters, not Petersen" the first takes the place of the second, though both have one stem."""
    notes = notes_of(
        "de", ("meine steuerberaterin heißt Lena Petersen", "Gut."), ("Lena Peters, nicht Petersen", "Notiert.")
    )

    assert [each.text for each in (*notes.lasting, *notes.matters)] == ["meine steuerberaterin heißt Lena Peters"]


def test_nobody_is_told_their_own_name():
    """The name of the person is kept and not offered as something to go on with."""
    notes = notes_of("en", ("Hi, I'm Nora", "Hi Nora!"))
    seen = merge([notes], MONDAY_MS + DAY_MS, LANGUAGES)

    assert ([each.note.text for each in seen.standings], preview(seen)) == (["Hi, I'm Nora"], [])


@pytest.mark.parametrize(
    ("language", "said", "kind"),
    [
        ("en", "i'll tell the movers after sleep", "task"),
        ("en", "ill mail mr vance about the lease", "task"),
        ("en", "the caretaker is bringing the ladder, he promised", "promise"),
        ("en", "dilys said she'd look at the contract", "promise"),
        ("de", "unser Hausmeister wollte sich wegen der Leiter melden", "promise"),
        ("de", "der Hausmeister hat mir die Leiter versprochen", "promise"),
        ("es", "el conserje me prometió la escalera", "promise"),
        ("fr", "le gardien a promis de passer pour l'échelle", "promise"),
        ("fr", "auberge et train encore a reserver", "task"),
        ("it", "il custode mi ha promesso la scala", "promise"),
        ("pt", "o zelador me prometeu a escada", "promise"),
    ],
)
def test_what_somebody_takes_on_or_promised_is_open(language, said, kind):
    """Sleep that comes first makes no routine of a task, and what others promised is waited for."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=2, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language=language,
    )  # fmt: skip
    request = request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS)

    assert [matter.kind for matter in read_by_rules(request, LANGUAGES).matters] == [kind]


@pytest.mark.parametrize(
    ("language", "said", "value"),
    [
        ("en", "My doctor is Dr. Weber. She is nice", "Dr. Weber"),
        ("en", "I live in St. Ives and I'm happy", "St. Ives"),
        ("de", "Mein Arzt ist Dr. Weber. Er ist nett", "Dr. Weber"),
        ("en", "I live in Leeds. It rains", "Leeds"),
    ],
)
def test_the_full_stop_of_a_title_ends_no_value(language, said, value):
    """What somebody states runs to the end of the sentence, and "Dr." is none."""
    found = [rule.pattern.search(said) for rule in LANGUAGES.get(language).facts]

    assert [match["value"] for match in found if match] == [value]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Dilys said yes to the swap on the 13th"),
        ("en", "dad thinks we're going to a garden centre"),
        ("fr", "attends je mange"),
        ("de", "warte mal kurz, ich esse"),
        ("es", "espera, que estoy comiendo"),
    ],
)
def test_what_others_did_and_a_moment_of_patience_is_not_open(language, said):
    """Who has said yes owes nothing any more, and "hang on" waits for nobody."""
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=2, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language=language,
    )  # fmt: skip
    request = request_of([turn], [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS)

    assert {matter.kind for matter in read_by_rules(request, LANGUAGES).matters} <= {"event", "project", "theme"}


@pytest.mark.parametrize(
    ("language", "event", "errand", "done"),
    [
        ("de", "meine Nichte Jule heiratet am 12. Juni,", "muss noch ein Geschenk besorgen", "Geschenk ist besorgt"),
        ("en", "my niece Jule gets married on 12 June,", "i still have to buy a present", "present's bought"),
        ("es", "mi sobrina Jule se casa el 12 de junio,", "tengo que comprar un regalo", "el regalo ya está comprado"),
        ("fr", "ma nièce Jule se marie le 12 juin,", "je dois acheter un cadeau", "le cadeau est acheté"),
    ],
)
def test_an_errand_for_an_event_ends_without_the_event(language, event, errand, done):
    """Both were said in one breath, and only one of them is over."""
    left = alive(language, f"{event} {errand}", done)

    assert event in left
    assert errand not in left


@pytest.mark.parametrize(
    ("language", "earlier", "between", "later", "now"),
    [
        (
            "en",
            "the report for the council is due on 16 April",
            "dentist with Otto on the 9th of April",
            "the 23rd of April instead of the 16th, phew",
            "23",
        ),
        (
            "de",
            "der Bericht für die Gemeinde ist am 16. April fällig",
            "Zahnarzt mit dem Kleinen am 9. April",
            "am 23. April statt am 16., uff",
            "23",
        ),
        (
            "es",
            "el informe para el ayuntamiento es el 16 de abril",
            "dentista de los niños el 9 de abril",
            "el 23 de abril en vez del 16, uf",
            "23",
        ),
        (
            "fr",
            "le rapport pour la mairie est pour le 16 avril",
            "dentiste des enfants le 9 avril",
            "le 23 avril au lieu du 16, ouf",
            "23",
        ),
        (
            "it",
            "la relazione per il comune: consegna 16 aprile",
            "dentista dei bambini il 9 aprile",
            "23 aprile invece del 16, meno male",
            "23",
        ),
        (
            "pt",
            "o relatório para a prefeitura é dia 16 de abril",
            "dentista das crianças dia 9 de abril",
            "23 de abril em vez do 16, ufa",
            "23",
        ),
    ],
)
def test_the_day_that_is_denied_says_what_is_moved(language, earlier, between, later, now):
    """Of two days that were named before, the correction is about the one that it denies."""
    notes = notes_of(language, (earlier, "Ok."), (between, "Ok."), (later, "Ok."))
    report = [each.text for each in notes.matters if each.text[:12] == earlier[:12]]

    assert [now in text and "16" not in text for text in report] == [True]


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "my cousin Ottilie lands on the 4th of April", "Ottilie changed her ticket, now the 11th of April"),
        ("de", "meine Cousine Ottilie kommt am 4. April", "Ottilie kann da nicht, sie kommt jetzt am 11. April"),
        ("es", "mi prima Ottilie llega el 4 de abril", "Ottilie cambió el billete, ahora llega el 11 de abril"),
        ("fr", "ma cousine Ottilie arrive le 4 avril", "Ottilie a changé son billet, maintenant c'est le 11 avril"),
        ("it", "mia cugina Ottilie arriva il 4 aprile", "Ottilie ha cambiato il biglietto, adesso l'11 aprile"),
        ("pt", "minha prima Ottilie chega no dia 4 de abril", "Ottilie mudou a passagem, agora dia 11 de abril"),
        ("ru", "моя кузина Оттилия прилетает 4 апреля", "Оттилия поменяла билет, теперь 11 апреля из-за школы"),
    ],
)
def test_who_comes_on_another_day_comes_once(language, earlier, later):
    """The name and a word of change are enough: the old day does not stand beside the new one."""
    assert earlier not in alive(language, earlier, later)


def test_a_number_that_is_denied_is_not_quoted():
    """A correction is told by what holds."""
    notes = notes_of("de", ("Ich muss noch melden: der Zuschuss für die Dusche sind 4180 nicht 4000", "Ok."))

    assert [("4180" in each.text, "4000" in each.text) for each in notes.matters] == [(True, False)]


@pytest.mark.parametrize(
    ("language", "report"),
    [
        ("en", "the 1312 came in today"), ("en", "I told him no"), ("en", "they agreed to the fourth date"),
        ("en", "the loan was approved"), ("en", "the scan was clear"), ("de", "das Paket kam heute"),
        ("de", "die haben ja gesagt"), ("de", "der Befund war ok"), ("es", "ya entro el dinero"), ("es", "aceptaron"),
        ("es", "lo pago el chino"), ("fr", "ils ont dit oui"), ("fr", "je lui ai dit non"), ("fr", "il m'a remboursée"),
        ("pt", "o pix caiu"), ("pt", "disseram que sim"), ("ru", "он согласился"), ("ru", "кредит одобрили"),
        ("it", "i volantini sono arrivati"), ("it", "hanno detto di sì"), ("it", "gli ho detto di no"),
    ],
)  # fmt: skip
def test_what_came_or_was_agreed_to_or_refused_is_an_end(language, report):
    """Money that came, a yes, a no and a result end what waited for them."""
    spoken = LANGUAGES.get(language)

    assert ended(spoken.mended(lowered(report)), spoken)


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        (
            "en",
            "Mr Pringle wants me to price the vestry ceiling",
            "rang Pringle about the vestry ceiling, told him no",
        ),
        ("fr", "le salon du chocolat cherche des électros", "le salon du chocolat a dit oui !"),
        ("it", "aspetto i volantini dalla tipografia", "i volantini della tipografia sono arrivati"),
    ],
)
def test_a_yes_a_no_and_what_came_end_what_they_name(language, earlier, later):
    """It's no longer offered or listed."""
    assert earlier not in alive(language, earlier, later)
