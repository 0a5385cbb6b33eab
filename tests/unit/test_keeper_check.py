"""What is believed of a keeper's answer: what was said is kept in every language, what was made up never is."""

from dataclasses import replace

import pytest

from memory.foreign import foreign
from memory.keeper.contract import KeeperAnswer, KeeperRequest, ProposedChange
from memory.keeper.judge import judged, line_of, spoken_reasons, upon
from memory.keeper.operations import in_words
from memory.keeper.session_lines import SessionLine
from memory.keeper.wording import capitalises_nouns, numbers
from memory.ledger import series
from memory.ledger.apply import apply, apply_all
from memory.ledger.types import Actor, Add, Change, End, Ledger, Refusal
from memory.testing import START_MS, make_turn

BY = Actor("keeper", START_MS, "r_1")


def request(*texts, notes=(), answers=(), **overrides):
    """A request with these messages as turns 1, 2, 3 …, and these operations as the notes before."""
    ledger, _ = apply_all(Ledger("tg:1:1:0"), notes, Actor("model", START_MS, "t_0"))
    turns = [
        text
        if not isinstance(text, str)
        else make_turn(seq=n, user_text=text, assistant_text=(answers[n - 1 : n] or ["Okay."])[0])
        for n, text in enumerate(texts, 1)
    ]
    fields = {
        "reading_id": "r_1",
        "session_id": "s_1",
        "conversation_id": "tg:1:1:0",
        "ledger": ledger,
        "notes": tuple(ledger),
        "before": (),
        "turns": tuple(turns),
        "zone": "Europe/Berlin",
        "now_ms": START_MS + 86_400_000,
    }
    return KeeperRequest(**(fields | overrides))


def change(op="add", **fields):
    """A change that cites the first turn."""
    return ProposedChange(op=op, **({"turns": [1]} | fields))


def outcome(asked, *changes, **answer):
    """The operations that are taken, and the codes of what is refused."""
    found = judged(KeeperAnswer(changes=changes, **answer), asked, BY)
    return found.operations, [each.code for each in found.refused]


def add(text, said, kind="task", **fields):
    return change(kind=kind, text=text, said=said, **fields)


TRUE = [
    ("I have to pay Halden 2,400 for the tiles by Friday", add("Pay Halden 2.4k for the tiles", "pay Halden 2,400")),
    ("muss noch die miete zahlen, 1.200 euro", add("Miete über 1200 € zahlen", "die miete zahlen")),
    ("Der Elektriker kommt am Montag wegen der Lampe", add("Elektriker kommt", "Elektriker kommt am Montag", "event")),
    ("montag kommt der elektriker, die sicherung", add("Elektriker wegen der Sicherung", "montag kommt", "event")),
    ("jantar com a patricia no sabado", add("Jantar com a Patrícia", "jantar com a patricia", "event")),
    ("来週の水曜日に歯医者に行きます", add("歯医者に行く", "水曜日に歯医者", "event")),
    ("我对花生过敏,记住", add("对花生过敏", "对花生过敏", "constraint")),
    ("позвонить Лене насчёт паспорта", add("Позвонить Лене насчёт паспорта", "позвонить Лене")),
    ("priya sends the pr by thursday", add("Priya sends the PR", "priya sends the pr", "promise", owner="Priya")),
    ("my rent is 2'400 now", add("The rent is 2,400", "my rent is 2'400", "fact", subject="rent")),
    ("dinner at half past seven", add("Dinner at 19:30", "dinner at half past seven", "event", due="2023-11-16T19:30")),
    ("sleep window is 1:00 to 6:30", add("Sleeps from 1.00 to 6.30", "window is 1:00 to 6:30", "fact")),
    ("the exam is tomorrow", add("The exam is on Thursday", "exam is tomorrow", "event", due="2023-11-16")),
    ("away till the 30th", add("Away from 17 to 30 November", "till the 30th", "event", due="2023-11-17/2023-11-30")),
    ("off from friday, then lisbon", add("Off from Friday 17 November", "off from friday", "event", due="2023-11-18")),
    ("me faz o post pro insta", add("Fazer o post para o Instagram", "post pro insta")),
    ("two of the three parcels came", add("1 of 3 parcels is still missing", "two of the three parcels", "fact")),
]  # fmt: skip


@pytest.mark.parametrize(("said", "proposed"), TRUE, ids=[said for said, _ in TRUE])
def test_what_was_said_is_kept(said, proposed):
    """In whatever language, with its numbers written another way."""
    operations, refused = outcome(request(said, "ok"), proposed)

    assert refused == []
    assert operations[0].text == proposed.text
    assert operations[0].fields["turn_ids"] == ("t_1",)


SAID = "I'll call the plumber about the leak on Friday, it's 120 an hour, not tomorrow"
FALSE = [
    ("name", add("Call Gustav, so that Petrov comes about the leak", "call the plumber")),
    ("number", add("Call the plumber, who takes 340 an hour", "call the plumber")),
    ("number", add("Call the plumber on Friday 23", "call the plumber")),
    ("number", add("Call the plumber, who takes 20 an hour", "call the plumber")),
    ("due", add("Call the plumber", "call the plumber", due="2043-11-17")),
    ("due", add("Call the plumber", "call the plumber", due="soon")),
    ("due", add("Call the plumber", "call the plumber", due="2023-11-20/2023-11-17")),
    ("said", add("Call the plumber", "ring the plumber up")),
    ("said", add("Call the plumber", "")),
    ("said", add("Call the plumber", "I'll call the plumber about the leak on Friday, it's 120 an hour")),
    ("name", add("Call Tom, the plumber", "call the plumber")),
    ("foreign", add("Bring the keys", "shall bring you the keys")),
    ("turns", add("Call the plumber", "call the plumber", turns=[9])),
    ("name", add("Call the plumber", "call the plumber", owner="Gustav")),
    ("note", change("end", number=7, said="call the plumber")),
    ("shape", change("add", text="Call the plumber", said="call the plumber")),
    ("story", add("Call the plumber", "call the plumber", about="The Leak")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "proposed"), FALSE)
def test_what_was_made_up_is_refused(code, proposed):
    """A name, number, day, quotation, turn or note that is not there."""
    asked = request(SAID, answers=["I shall bring you the keys."])
    operations, refused = outcome(asked, proposed)

    assert (operations, refused) == ([], [code])


def test_where_nouns_are_capitalised_a_name_that_nobody_said_is_refused_all_the_same():
    """A noun may be joined of others that were said; a name that shares no part with anything is made up."""
    told = "Das Lager hat die Fliesen. Der Termin ist im Bad, die Leiter steht im Flur, der Schlüssel beim Nachbarn."
    asked = request("der fliesenleger will ein neues angebot machen", answers=[told])
    offer = add("Fliesenangebot vom Fliesenleger abwarten", "fliesenleger will ein neues")

    assert outcome(asked, offer)[1] == []
    assert outcome(asked, offer.model_copy(update={"text": "Angebot von Gustavsen abwarten"}))[1] == ["name"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("bin auf dem heimweg noch bei der post", "Auf dem Weg zur Post"),
        ("der plan für eine küche kommt am montag", "Den Bauplan für eine Küche ansehen"),
    ],
)
def test_a_short_noun_is_known_by_the_end_of_another(said, text):
    """“Weg” was taken for a name: of a noun of three letters the last five were compared. No little word is a part."""
    told = "Das Lager hat die Fliesen. Der Termin ist im Bad, die Leiter steht im Flur, der Schlüssel beim Nachbarn."
    asked = request(said, answers=[told])

    assert outcome(asked, add(text, said))[1] == []
    assert outcome(request(f"{said}, eine freude", answers=[told]), add("Kommt mit Madeleine", said))[1] == ["name"]


def test_the_language_of_the_turns_that_are_read_counts_however_much_was_said_in_another():
    """A noun of a German standing was taken for an invented name, since a group's second member wrote English."""
    english = [make_turn(turn_id=f"t_b{n}", assistant_text="The plumber comes soon and looks at it") for n in range(20)]
    told = (
        "Ist notiert. Die Liste für den Einkauf steht, der Termin in der Werkstatt auch, nur die Rede fehlt noch ganz."
    )
    asked = replace(request("die einkaufsliste ist jetzt fertig", answers=[told]), beside=tuple(english))
    answer = KeeperAnswer(standing="Die Liste steht, zum Abhaken fehlt nur die Rede.", standing_turns=[1])

    assert line_of(answer, asked, SessionLine("s_1", "tg:1:1:0")).standing == answer.standing


def test_an_assistants_promise_may_rest_on_its_own_words():
    """What it said that it would do is the assistant's to do; as anybody else's it is not believed."""
    asked = request("great", answers=["I'll send you the packing list on Sunday."])
    promise = add("Send the packing list", "I'll send you the packing list", "promise", owner="assistant")

    assert outcome(asked, promise)[1] == []
    assert outcome(asked, promise.model_copy(update={"owner": "user"}))[1] == ["foreign"]


def test_forwarded_words_bear_nothing_out():
    """What somebody else wrote in the person's message is theirs; what the person adds to it counts."""
    text = f"{foreign('Please pay the invoice of 300 by Monday', 'Ben')}\nI have to sort this out with Ben"
    asked = request(make_turn(user_text=text, third_party=True))

    assert outcome(asked, add("Pay the invoice", "pay the invoice of 300"))[1] == ["foreign"]
    assert outcome(asked, add("Sort out the invoice of 300 with Ben", "sort this out with Ben"))[1] == []


TILE = "> picture #1 (JPEG)\nThat's the tile we take"
SHOWS = "picture #1: Grey hexagonal tiles, 38.50 a square metre, by Nordhus. Call the plumber tomorrow."


def test_what_a_picture_shows_bears_out_nothing_by_itself():
    """A note of what the person says to it may hold its numbers and names; the words in it are nobody's."""
    picture = make_turn(user_text=TILE, third_party=True)
    asked = request(picture, seen={picture.turn_id: SHOWS})
    kept = add("You take the grey hexagonal tile by Nordhus, 38.50", "the tile we take", "decision")

    assert outcome(asked, kept)[1] == []
    assert outcome(asked, add("Call the plumber", "call the plumber tomorrow"))[1] == ["foreign"]
    assert outcome(asked, add("Grey hexagonal tiles", "grey hexagonal tiles", "fact"))[1] == ["foreign"]
    assert outcome(request(picture), kept)[1] == ["number"]


def test_a_picture_without_a_word_is_no_note():
    """Nobody said anything: whatever it shows, there is nothing to rest on."""
    picture = make_turn(user_text="> picture #1 (JPEG)", assistant_text="Nice tiles.", third_party=True)
    asked = request(picture, seen={picture.turn_id: SHOWS})
    said = ("grey hexagonal tiles", "picture", "nice tiles")

    assert [outcome(asked, add("Grey tiles", each, "fact"))[1] for each in said] == [["foreign"]] * 3


def test_of_material_only_the_project_or_the_story_is_noted():
    """A character's errand in a pasted novel is nobody's to do."""
    asked = request("Translate this: I must kill the king at dawn, said Orlan. He had three sons.")
    task = add("Kill the king at dawn", "I must kill the king")
    project = add("Translating a story about Orlan", "kill the king at dawn", "project")

    assert outcome(asked, task, worked_on=[1])[1] == ["worked on"]
    assert outcome(asked, project, worked_on=[1])[1] == []


def test_a_number_may_be_the_difference_of_two_but_not_every_number_is():
    """Of a debt of 300, 120 are paid: 180 are left, and no second figure comes out of thin air."""
    note = Add(kind="task", text="Pay Ana back 300", note_id="n_1", fields={"turn_ids": ("t_0",)})
    asked = request("gave ana 120 today", notes=[note])
    paid = change("change", number=1, text="Pay Ana back the last 180", said="gave ana 120")

    assert outcome(asked, paid)[1] == []
    assert outcome(asked, paid.model_copy(update={"text": "Pay Ana back 180 of 420"}))[1] == ["number"]


@pytest.mark.parametrize(("text", "refused"), [("155 done, 485 left", []), ("155 done, 470 left", ["number"])])
def test_behind_a_sum_stands_what_is_left_of_the_whole(text, refused):
    """Of 640 photos 125 were done and 30 more are: 155, and 485 are left."""
    note = Add(kind="task", text="The 640 photos: 125 done", note_id="n_1", fields={"turn_ids": ("t_0",)})
    asked = request("did 30 more on the train", notes=[note])
    done = change("change", number=1, text=f"The 640 photos: {text}", said="did 30 more on the train")

    assert outcome(asked, done)[1] == refused


def test_where_a_number_or_name_was_found_is_what_a_note_rests_on():
    """Forgetting the turn that alone gave the sum takes the note, too."""
    asked = request("Halden wants 2,400 for the tiles", "ok I'll pay him on friday")
    operations, _ = outcome(asked, add("Pay Halden 2,400", "I'll pay him", turns=[2]))

    assert set(operations[0].fields["turn_ids"]) == {"t_1", "t_2"}


def test_what_ended_is_not_opened_by_saying_it_again():
    """The person ticked it off; the turns that it came from are read only now."""
    noted = Add(kind="task", text="Call the plumber", note_id="n_1", fields={"turn_ids": ("t_1",)})
    asked = request(SAID, notes=[noted, End(number=1)])

    assert outcome(asked, add("Call the plumber.", "call the plumber"))[1] == ["ledger"]
    later = request(SAID, notes=[replace(noted, fields={**noted.fields, "due_at_ms": START_MS}), End(number=1)])
    another = add(
        "Call the plumber.", "call the plumber", due="2026-11-27"
    )  # not the day that ended: an edited message
    assert outcome(later, another)[1] == []
    assert outcome(asked, change("change", number=1, text="Call him", said="call the plumber"))[1] == ["note"]


@pytest.mark.parametrize("kind", ["preference", "task"])
@pytest.mark.parametrize("hand", ["keeper", "person"])
def test_a_keeper_deletes_what_a_keeper_should_not_have_noted_though_no_turn_says_so(hand, kind):
    """A greeting stood for weeks as a preference: nobody says that it is none. What waits, and others' notes, stay."""
    greeting = Add(kind=kind, text="You like good mornings", note_id="n_1", fields={"turn_ids": ("t_0",)})
    ledger, _ = apply_all(Ledger("tg:1:1:0"), [greeting], Actor(hand, START_MS, "t_0"))
    asked = request("and now the oven", ledger=ledger, notes=())
    asked = replace(asked, notes=tuple(ledger))
    operations, refused = outcome(asked, ProposedChange(op="delete", number=1))

    is_taken = (hand, kind) == ("keeper", "preference")
    assert ([each.how for each in operations], refused) == ((["dropped"], []) if is_taken else ([], ["turns"]))
    made_up = change("delete", number=1, said="never liked mornings")
    assert outcome(asked, made_up) == ([], ["said"])


def test_what_stands_already_needs_no_word():
    """A note that says the same is neither doubled nor sent back to the model."""
    noted = Add(kind="task", text="Call the plumber", note_id="n_1", fields={"turn_ids": ("t_1",)})

    assert outcome(request(SAID, notes=[noted]), add("call the plumber", "call the plumber")) == ([], [])


HISTORY = "Bread history: Tell me one true story of bread in at most 120 words"
DAILY = {"owner": "assistant", "rings_from": "2023-11-19T07:30", "repeats": "FREQ=DAILY", "time_zone": "UTC"}
WORK = Add(kind="task", text=HISTORY, note_id="n_1", fields=DAILY | {"turn_ids": ("t_0",)})


def test_the_words_of_work_that_a_keeper_is_not_shown_stay():
    """It reads `Bread history…`, so a text of its own would replace what the model is to do; its title is no text."""
    rye = Add(kind="fact", text="You like rye", note_id="n_2", fields={"turn_ids": ("t_0",)})
    asked = request("make the bread history about rye", notes=[WORK, rye])
    changed = change("change", number=1, text="Bread history by Gustav", said="bread history about rye")
    into_work = change("merge", number=2, into=1, text="Bread history, you like rye")

    assert outcome(asked, changed) == ([], [])
    [reweighed], refused = outcome(asked, changed.model_copy(update={"weight": 0.9}))
    assert (set(reweighed.fields), refused) == ({"weight", "turn_ids", "doubtful"}, [])
    [merged], refused = outcome(asked, into_work)
    assert (merged.fields, refused) == ({}, [])
    assert outcome(asked, change("merge", number=1, into=2)) == ([], ["ledger"])


def test_done_ends_one_date_of_a_series_and_never_all_of_it():
    """Mum was called this Sunday; next Sunday it rings again."""
    weekly = {"rings_from": "2023-11-19T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", "time_zone": "UTC"}
    noted = Add(kind="task", text="Call mum", note_id="n_1", fields=weekly)
    asked = request("called mum, all good", notes=[noted])

    assert outcome(asked, change("end", number=1, how="done", said="called mum"))[1] == ["ledger"]
    assert outcome(asked, change("end", number=1, how="dropped", said="called mum"))[1] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("2,400", 2400), ("2.4k", 2400), ("2'400", 2400), ("2 400", 2400), ("1.200,50", 1200.5), ("３５", 35)],
)
def test_a_number_has_one_value_however_it_is_written(text, value):
    """People write the same sum in many ways."""
    assert [found for _, found in numbers(text)] == [value]


def test_a_language_that_capitalises_its_nouns_is_told_by_its_text():
    """Nobody names the language; many capitals inside sentences are enough."""
    german = (
        "Der Elektriker kommt am Montag wegen der Sicherung in der Küche und bringt die neue Lampe für den Flur mit"
    )
    english = "The electrician comes on Monday about the fuse in the kitchen and brings the new lamp for the hall along"

    assert capitalises_nouns(german)
    assert not capitalises_nouns(english)


def test_short_answers_in_which_little_is_named_tell_it_together():
    """Asked to be brief, a model writes `Ist notiert, ich sage dir dann am Freitag Bescheid` and hardly a noun."""
    brief = (
        "Ist notiert, ich sage dir dann am Freitag Bescheid. Passt so, das ist jetzt auch schon alles erledigt.",
        "Gern, das habe ich für Montag so notiert. Wenn es dir besser passt, schieben wir die Probe noch weiter.",
        "Alles klar, dann bleibt der Termin so stehen. Morgen frage ich dich noch nach dem Schlüssel und der Post.",
        "Verstanden, davon sage ich nichts mehr. Sonst steht bis zum Wochenende nichts weiter an, nur noch die Liste.",
    )

    assert capitalises_nouns("\n".join(brief))


def test_one_short_answer_with_two_names_lets_no_invented_name_pass():
    """Two capitals of 16 words are Ana and Porto: nothing says that nouns have them, too."""
    told = "So you meet Ana at the harbour near Porto and then go on by train together."
    asked = request("tell me again what we said about the bread", answers=[told])
    told_of = add("You bake the bread with Beatrice", "what we said about the bread", "fact")

    assert outcome(asked, told_of)[1] == ["name"]
    assert (
        line_of(
            KeeperAnswer(standing="Beatrice bakes bread with Beatrice.", standing_turns=[1]),
            asked,
            SessionLine("s_1", "c"),
        ).standing
        == ""
    )


def test_a_title_that_names_somebody_unheard_of_is_dropped():
    """What a session is called is believed like anything else."""
    from memory.keeper.session_lines import SessionLine

    asked = request(SAID)
    answer = KeeperAnswer(title="The leak and Gustav", standing="The plumber is called on Friday.", standing_turns=[1])
    line = line_of(answer, asked, SessionLine("s_1", "tg:1:1:0"))

    assert (line.title, line.standing) == ("", "The plumber is called on Friday.")
    assert line.turn_ids == ("t_1",)
    assert "Gustav" in spoken_reasons(judged(answer, asked, BY), answer, asked)[0]


def test_a_talk_goes_on_resting_on_the_turns_of_its_standing_until_now():
    """What still holds of it lives on in the new words, and the turns before are not shown any more."""
    from memory.keeper.judge import line_of
    from memory.keeper.session_lines import SessionLine

    before = SessionLine("s_1", "c", title="The leak", standing="It drips.", turn_ids=("t_0",))
    new = KeeperAnswer(title="The plumber", standing="It drips; the plumber is called on Friday.", standing_turns=[1])

    assert line_of(new, request(SAID, standing="The leak: It drips."), before).turn_ids == ("t_0", "t_1")
    assert line_of(new, request(SAID), before).turn_ids == ("t_1",)


def test_a_standing_of_which_nothing_is_left_ends():
    """An empty one stays, so that a keeper had to write filler once all of it was settled (a trial)."""
    before = SessionLine("s_1", "tg:1:1:0", title="The leak", standing="It drips.", turn_ids=("t_0",))
    asked = request(SAID, standing="The leak: It drips.")
    after = line_of(KeeperAnswer(standing="None."), asked, before)

    assert (after.title, after.standing) == ("The leak", "")
    assert spoken_reasons(judged(KeeperAnswer(standing="none"), asked, BY), KeeperAnswer(standing="none"), asked) == ()


def test_new_turns_that_add_nothing_leave_title_and_standing_as_they_are():
    """All three fields empty: the line stays, and counts from when it was worded."""
    from memory.keeper.judge import line_of
    from memory.keeper.session_lines import SessionLine

    before = SessionLine("s_1", "c", title="The leak", standing="It drips.", turn_ids=("t_0",), written_at_ms=7)
    after = line_of(KeeperAnswer(), request(SAID, standing="The leak: It drips."), before)

    assert after == replace(before, read_through_seq=1)


@pytest.mark.parametrize("kind", ["story", "project"])
def test_a_story_may_cite_a_turn_that_is_worked_on(kind):
    """Played words are where it comes from."""
    asked = request("I am professor Salseparrilha and promise three frogs")
    change = add("Professor Salseparrilha promised three frogs", "promise three frogs", kind)
    answer = KeeperAnswer(worked_on=[1], changes=[change])

    assert judged(answer, asked, BY).refused == ()


@pytest.mark.parametrize("day", ["am Samstag geht es weiter.", "the rest comes in late Sept or in Nov."])
def test_where_a_talk_stands_may_name_a_day_of_the_week_that_nobody_said(day):
    """Who writes "am Samstag" for the fifth of December says nothing new; a note has its day in a field of its own."""
    from memory.keeper.judge import line_of
    from memory.keeper.session_lines import SessionLine

    answer = KeeperAnswer(standing=f"The plumber is called, {day}", standing_turns=[1])

    assert line_of(answer, request(SAID), SessionLine("s_1", "tg:1:1:0")).standing == answer.standing


def test_several_days_have_a_first_and_a_last():
    """The note knows when it ends; one day alone has no end."""
    asked = request("away from friday to monday")
    (away,), _ = outcome(asked, add("Away", "from friday to monday", "event", due="2023-11-17/2023-11-20"))
    (day,), _ = outcome(asked, add("Away", "from friday to monday", "event", due="2023-11-17"))

    assert away.fields["ends_at_ms"] - away.fields["due_at_ms"] == 3 * 86_400_000
    assert (day.fields["due_at_ms"], day.fields["ends_at_ms"]) == (away.fields["due_at_ms"], None)


def test_hours_have_a_first_and_a_last():
    """The note knows that it lasts them, not that it ends on another day."""
    asked = request("the boiler man comes friday between 12 and 4")
    (man,), _ = outcome(asked, add("Boiler man", "boiler man comes friday", "event", due="2023-11-17T12:00/16:00"))

    assert (man.fields["lasts_ms"], man.fields["ends_at_ms"]) == (4 * 3_600_000, None)


def test_a_keeper_notes_what_comes_again_and_again_with_its_rule():
    """Its next date is due; what rings keeps the rule of its ring, and no rule is taken that is none."""
    asked = request("hurling is on saturdays at seven")
    club = add("Hurling", "hurling is on saturdays", "event", due="2023-11-18T19:00", repeats="freq=weekly;byday=sa")
    [noted], _ = outcome(asked, club)
    made = apply(asked.ledger, noted, BY)
    wrong = outcome(asked, club.model_copy(update={"repeats": "saturdays"}))
    daily = {"rings_from": "2023-11-18T07:00", "repeats": "FREQ=DAILY"}
    rings = request("hurling is on saturdays at seven", notes=[replace(noted, fields=noted.fields | daily)])
    [moved], _ = outcome(rings, club.model_copy(update={"op": "change", "number": 1, "due": "2023-11-25T19:00"}))

    assert (made.note.repeats, made.note.rings) == ("FREQ=WEEKLY;BYDAY=SA", False)
    assert wrong == ([], ["ledger"])
    assert "repeats" not in moved.fields


def test_another_day_leaves_a_ring_where_it_was_promised():
    """By the note's own clock, wherever the person is by now; a keeper has no other way to keep it."""
    rings = {"rings_from": "2023-11-18T07:00", "time_zone": "Asia/Tokyo", "due_at_ms": START_MS + 6 * 86_400_000}
    deposit = Add(kind="task", text="The deposit of 150", note_id="n_1", fields=rings)
    asked = request("the deposit is 120, by sunday", notes=[deposit])
    moved = change("change", number=1, text="The deposit of 120", due="2023-11-19", said="deposit is 120")
    [operation], refused = outcome(asked, moved)
    [before], now = asked.ledger, apply(asked.ledger, operation, BY).note

    assert not refused
    assert now.due_at_ms != before.due_at_ms
    assert now.rings_at_ms == before.rings_at_ms


def test_a_series_that_rings_gets_no_day_beside_its_own_time():
    """“Make the pill 7:15” was read: the list said every day at 7:30, tomorrow at 7:15, and it rang at 7:30."""
    rings = {"rings_from": "2023-11-18T07:30", "repeats": "FREQ=DAILY"}
    pill = Add(kind="task", text="Give Pixel the pill", note_id="n_1", fields=rings)
    asked = request("and make the pill 7:15", notes=[pill])

    moved = change("change", number=1, due="2023-11-19T07:15", said="make the pill 7:15")
    assert outcome(asked, moved) == ([], [])


PILL, AT_FOUR = {"rings_from": "2023-11-18T07:30", "repeats": "FREQ=DAILY"}, series.at_ms_of("2023-11-20T16:00", "UTC")
WALK = {"rings_from": "2023-11-19T18:00", "repeats": "FREQ=WEEKLY;BYDAY=SU"}
CONFIRM = {"rings_from": "2023-11-18T09:00", "due_at_ms": AT_FOUR, "due_exact": True}
TWICE = series.ringing_at(["2023-11-18T09:00", "2023-11-19T09:00"], "UTC")
IN_DOUBT = [
    (CONFIRM, {"rings": "2023-11-18T09:00"}, ["2023-11-18T09:00"]),
    (CONFIRM, {"rings": "2023-11-18T11:00"}, ["2023-11-18T11:00"]),
    (CONFIRM, {"rings": "2023-11-18"}, ["2023-11-18T09:00"]),
    (CONFIRM, {"due": "2023-11-20T16:00"}, None),
    (TWICE, {"rings": "2023-11-19T09:00"}, ["2023-11-18T09:00", "2023-11-19T09:00"]),
    (TWICE, {"due": "2023-11-18T10:00"}, ["2023-11-18T10:00", "2023-11-19T09:00"]),
    (PILL, {"rings": "2023-11-18T07:30"}, ["2023-11-18T07:30"]),
    (PILL, {"due": "2023-11-18T07:15"}, ["2023-11-18T07:15"]),
    (PILL, {"rings": "2023-11-10T07:15"}, ["2023-11-16T07:15"]),  # the first date that is still to come
    (PILL, {"rings": "2023-11-20T07:30", "repeats": "FREQ=WEEKLY;BYDAY=MO"}, ["2023-11-20T07:30"]),
    (PILL, {}, None),
    (WALK, {"rings": "2023-11-20T18:00", "repeats": "FREQ=WEEKLY;BYDAY=MO"}, ["2023-11-20T18:00"]),
]


@pytest.mark.parametrize(("ring", "told", "rings"), IN_DOUBT)
def test_a_ring_in_doubt_is_one_no_more_once_the_keeper_says_when(ring, told, rings):
    """Also one that hangs on no day, several, and a series; silence leaves it in doubt, and so does its day alone."""
    noted = Add(kind="task", text="Call the vet", note_id="n_1", fields={**ring, "turn_ids": ("t_1",)})
    asked = request("call the vet", notes=[noted, Change(number=1, fields={"doubtful": True})], zone="UTC")
    found = judged(KeeperAnswer(changes=[change("change", number=1, said="call the vet", **told)]), asked, BY)
    note = found.ledger.find(1)

    assert found.refused == ()
    assert note.doubtful == (rings is None)
    assert note.due_at_ms == ring.get("due_at_ms")
    assert rings is None or series.singles(note) == rings
    assert note.repeats == told.get("repeats", ring.get("repeats", ""))


def test_a_series_in_doubt_is_asked_for_its_rule_where_the_day_is_none_of_its_own():
    """“Every monday” that was a Sunday: with the old rule the next ring would be on Sunday."""
    noted = [Add(kind="task", text="Walk", note_id="n_1", fields=WALK), Change(number=1, fields={"doubtful": True})]
    asked = request("walk on mondays", notes=noted, zone="UTC")

    assert outcome(asked, change("change", number=1, rings="2023-11-20T18:00", said="on mondays"))[1] == ["ledger"]


def test_the_ring_of_a_note_that_is_not_in_doubt_is_no_keepers_matter():
    """Only the person and the model set reminders."""
    asked = request("call the vet at 11", notes=[Add(kind="task", text="Call the vet", note_id="n_1", fields=CONFIRM)])

    assert outcome(asked, change("change", number=1, rings="2023-11-18T11:00", said="call the vet at 11")) == ([], [])


@pytest.mark.parametrize(("kind", "owner"), [("constraint", "Aoife"), ("preference", "Aoife"), ("fact", "")])
def test_a_limit_says_whose_it_is(kind, owner):
    """By it somebody else's stands with the people; nobody has to act on a fact."""
    [noted], _ = outcome(request("Aoife is coeliac"), add("Aoife is coeliac", "Aoife is coeliac", kind, owner="Aoife"))

    assert noted.fields["owner"] == owner


TWO = [
    Add(kind="task", text="Wedding cake for Inès: lemon, 80 people", note_id="n_1", fields={"turn_ids": ("t_0",)}),
    Add(kind="event", text="Inès' cake has tiers and stands in a warm hall", note_id="n_2"),
]
BOTH = "Wedding cake for Inès: lemon, tiers, 80 people; it stands in a warm hall"


def test_two_notes_are_merged_without_new_words_of_the_person():
    """They bear it out themselves; a text for both takes the place of the one that stays."""
    asked = request("thanks, good night", notes=TWO)
    found = judged(KeeperAnswer(changes=[ProposedChange(op="merge", number=2, into=1, text=BOTH)]), asked, BY)

    assert (found.refused, found.ledger.notes[1].text, found.ledger.notes[2].status) == ((), BOTH, "replaced")


def test_a_merge_that_falls_leaves_both_texts_as_they_are():
    """Once the person corrected one of the two meanwhile."""
    asked = request("thanks, good night", notes=TWO)
    found = judged(KeeperAnswer(changes=[ProposedChange(op="merge", number=2, into=1, text=BOTH)]), asked, BY)
    corrected = apply(asked.ledger, Change(number=2, fields={"text": "Inès' cake has no tiers"}), Actor("person", 0))
    left, [lost] = upon(found, corrected.changes)

    assert (left, lost.reason) == ([], in_words(Refusal("changed", 2)))


def test_a_merge_can_name_the_day():
    """Of the note that stays for both."""
    asked = request("thanks, good night", notes=TWO)
    merge = ProposedChange(op="merge", number=2, into=1, text=BOTH, due="2023-12-04")
    note = judged(KeeperAnswer(changes=[merge]), asked, BY).ledger.notes[1]

    assert (series.local_of(note.due_at_ms, note.time_zone), note.due_exact) == ("2023-12-04T00:00", False)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("Ana comes Friday", "Ana brings cake", "Ana comes Friday with cake"),
        ("Ana vient vendredi", "Ana apporte un gâteau", "Ana vient vendredi avec un gâteau"),
        ("你对坚果过敏", "你对虾过敏", "你对坚果和虾过敏"),
        ("あなたは猫を飼っている", "猫の名前はミケ", "あなたはミケという猫を飼っている"),
        ("คุณแพ้ถั่ว", "คุณแพ้กุ้ง", "คุณแพ้ถั่วและกุ้ง"),
    ],
)
def test_a_merged_text_joins_the_two_in_the_ways_of_its_language(one, other, both):
    """By a little word, or by signs in a script that does not part its words."""
    notes = [Add(kind="fact", text=text, note_id=f"n_{n}") for n, text in enumerate((one, other))]
    merge = ProposedChange(op="merge", number=2, into=1, text=both)

    assert outcome(request("thanks", notes=notes), merge)[1] == []
    assert outcome(request("thanks", notes=notes), merge.model_copy(update={"text": f"{both}転送五百億円"}))[1] == [
        "said"
    ]


def test_a_merged_text_says_nothing_that_neither_note_says():
    """Pasted words have no way in."""
    text = "Wedding cake for Inès: lemon, 80 people, transfer the money"
    asked = request("> transfer the money", notes=TWO)

    assert outcome(asked, ProposedChange(op="merge", number=2, into=1, text=text)) == ([], ["said"])


def test_where_a_talk_stands_may_name_the_time_of_a_note():
    """“On the 16th at 23:13 you order the nuts”: nobody said it so, the note that is shown does."""
    at_ms = START_MS + 2 * 86_400_000
    nuts = Add(kind="task", text="Order the nuts", note_id="n_1", fields={"due_at_ms": at_ms, "due_exact": True})
    asked = request("remind me the day after tomorrow of the nuts", notes=[nuts])
    line = line_of(KeeperAnswer(standing="On the 16th at 23:13 you order the nuts."), asked, SessionLine("s_1", "c"))

    assert line.standing == "On the 16th at 23:13 you order the nuts."
    worked_out = "From 17.11. on you are away."
    assert line_of(KeeperAnswer(standing=worked_out), asked, SessionLine("s_1", "c")).standing == worked_out
    assert line_of(KeeperAnswer(standing="You need 48 nuts."), asked, SessionLine("s_1", "c")).standing == ""
