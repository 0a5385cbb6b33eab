"""Who is offered a bootstrap, when it is made, and when it is injected (001)."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.people.personas import PersonaError, instructions_of, load_persona, load_personas, own_persona, persona_names
from memory.continuity.offer import injection, offer, session_mode
from memory.continuity.relationship import relationship_state
from memory.continuity.staleness import Workload, fingerprint, heartbeat_decision, staleness
from memory.continuity.types import (
    BootstrapInputs,
    CachedBootstrap,
    DroppedArc,
    Preference,
    Selection,
    SessionChoice,
)
from memory.testing import START_MS, make_note, make_owner, make_persona, make_session

# --- relationship state


@pytest.mark.parametrize(
    ("sessions", "turns", "familiarity"),
    [(0, 0, "new"), (1, 2, "new"), (1, 3, "familiar"), (6, 10, "established"), (20, 10, "close"), (20, 1, "familiar")],
)
def test_familiarity_grows_with_what_was_shared(sessions, turns, familiarity):
    """New, familiar, established, close: by the number of sessions and of turns."""
    past = tuple(make_session(session_id=f"s_{n}", turn_count=turns) for n in range(sessions))

    assert relationship_state(BootstrapInputs(sessions=past), make_persona()).familiarity == familiarity


def test_minimal_immersion_is_never_close():
    """A persona of minimal immersion does not claim closeness, however long the acquaintance."""
    past = tuple(make_session(session_id=f"s_{n}", turn_count=50) for n in range(25))

    assert (
        relationship_state(BootstrapInputs(sessions=past), make_persona(immersion="minimal")).familiarity
        == "established"
    )


@pytest.mark.parametrize("role", ["assistant", "companion", "roleplay"])
def test_relationship_state_is_small_and_declarative(role):
    """It has two to four adjectives, norms, boundaries beyond the persona's, and one sentence as role frame."""
    state = relationship_state(BootstrapInputs(), make_persona(role=role, boundaries=("Never swear",)))

    assert 2 <= len(state.tone) <= 4
    assert state.contract
    assert len(state.boundaries) > 1
    assert state.boundaries[-1] == "Never swear"
    assert state.role_frame.count(".") == 1


def test_what_was_learned_comes_from_notes_that_are_real_and_not_in_doubt():
    """The best fact says who this is, at most three preferences how they like it; a story's facts are its own."""
    notes = (
        make_note("The knight is called Bors", kind="fact", about="Camelot"),
        make_note("Lives in Rome", kind="fact", doubtful=True),
        make_note("Ines is a nurse", kind="fact"),
        make_note("Ines has a cat", kind="fact"),
        *(make_note(f"Likes {each}", kind="preference") for each in ("tea", "rain", "brevity", "maps")),
    )

    state = relationship_state(BootstrapInputs(notes=notes), make_persona())

    assert state.who == "Ines is a nurse"
    assert state.norms == ("Likes tea", "Likes rain", "Likes brevity")


# --- offer and injection


@pytest.mark.parametrize(
    ("mode", "skip_preview", "origin", "asked_for", "expected"),
    [
        ("ask", False, "gap", False, "ask"),
        ("ask", True, "gap", False, "nothing"),
        ("use", True, "gap", False, "use"),
        ("use", False, "gap", False, "show_and_use"),
        ("off", False, "gap", False, "nothing"),
        ("ask", False, "fresh", False, "nothing"),
        ("use", True, "fresh", False, "nothing"),
        ("off", False, "gap", True, "ask"),
        ("use", True, "fresh", True, "ask"),
    ],
)
def test_what_happens_at_the_start_of_a_session(mode, skip_preview, origin, asked_for, expected):
    """Mode, skip preview, /fresh and /continue decide together whether to ask, to use, or to say nothing."""
    preference = Preference(mode=mode, skip_preview=skip_preview)

    assert offer(preference, available=True, origin=origin, asked_for=asked_for) == expected


def test_nothing_available_is_nothing_offered():
    """Without anything to carry forward nobody is asked, not even after /continue."""
    assert offer(Preference(), available=False, origin="gap", asked_for=True) == "nothing"


@pytest.mark.parametrize(
    ("mode", "stored_turns", "user_id", "go"),
    [
        ("use", 0, 7, True),
        ("use", 1, 7, False),
        ("ask", 0, 7, False),
        ("off", 0, 7, False),
        ("use", 0, 8, False),
        ("use", 0, None, False),
    ],
)
def test_injection_happens_before_the_first_reply_in_mode_use_for_the_primary_user(mode, stored_turns, user_id, go):
    """All three conditions of 001 must hold."""
    assert injection(mode, stored_turns=stored_turns, user_id=user_id, primary_user_id=7).go is go


def test_choice_for_a_session_goes_before_the_preference():
    """What was tapped counts; without a tap a fresh session is off and any other follows the preference."""
    always = Preference(mode="use")
    fresh = SessionChoice(session_id="s_1", mode="off", chosen_at_ms=START_MS)

    assert session_mode(always, fresh, "gap") == "off"
    assert session_mode(always, None, "fresh") == "off"
    assert session_mode(always, None, "gap") == "use"


# --- staleness


def cached(owner, inputs, **overrides):
    fields = {
        "fingerprint": fingerprint(owner, inputs),
        "internal_packet": "",
        "relationship": relationship_state(BootstrapInputs(), owner.persona),
        "selection": Selection(),
        "generated_at_ms": START_MS + 1000,
    }
    return CachedBootstrap.model_validate(fields | overrides)


def stale(owner, before, after):
    return staleness(cached(owner, before), fingerprint(owner, after), after.newest_at_ms).go


def test_missing_bootstrap_is_stale():
    """What was never generated has to be."""
    assert staleness(None, "f", 0).go


LATER_MS = START_MS + 2000
BEFORE = BootstrapInputs(sessions=(make_session(),), notes=(make_note(),), version=4, now_ms=START_MS)


def test_bootstrap_is_fresh_while_nothing_is_newer():
    """The same inputs, all older than the bootstrap, leave it fresh, also some hours later."""
    assert not stale(make_owner(), BEFORE, BEFORE)
    assert not stale(make_owner(), BEFORE, BEFORE.model_copy(update={"now_ms": LATER_MS}))


@pytest.mark.parametrize(
    "newer",
    [{"sessions": (make_session(last_turn_at_ms=LATER_MS),)}, {"notes": (make_note(said_at_ms=LATER_MS),)}],
    ids=["session", "note"],
)
def test_anything_newer_makes_it_stale_whatever_the_fingerprint_says(newer):
    """The rule of 001 holds by itself: an input newer than the bootstrap is enough."""
    newest_at_ms = BEFORE.model_copy(update=newer).newest_at_ms

    assert newest_at_ms == LATER_MS
    assert staleness(cached(make_owner(), BEFORE, fingerprint="f"), "f", newest_at_ms).go


@pytest.mark.parametrize(
    "change",
    [
        {"version": 5},
        {"now_ms": START_MS + 86_400_000},
        {"zone": "Asia/Tokyo"},
        {"sessions": ()},
        {"sessions": (make_session(title="Harbour"),)},
        {"dropped": (DroppedArc(arc_id="a_1", sources=()),)},
    ],
    ids=["a note changed", "a new day", "another clock", "a session forgotten", "a session named", "an arc dropped"],
)
def test_change_that_is_not_newer_is_noticed_too(change):
    """What was ended, forgotten or dropped changes the fingerprint though nothing is newer."""
    assert stale(make_owner(), BEFORE, BEFORE.model_copy(update=change))


def test_changed_persona_or_prompt_makes_it_stale(monkeypatch):
    """The fingerprint holds the persona and the prompt version."""
    before = fingerprint(make_owner(), BEFORE)
    other_persona = fingerprint(make_owner(tone=("brisk", "dry")), BEFORE)
    monkeypatch.setattr("memory.continuity.staleness.PROMPT_VERSION", "next")

    assert len({before, other_persona, fingerprint(make_owner(), BEFORE)}) == 3


# --- heartbeat gate


def test_idle_process_with_nothing_waiting_may_generate():
    """The gate opens when all queues are empty and the last message is long enough ago."""
    assert heartbeat_decision(Workload(idle_ms=60_000, load=0.2)).go


@pytest.mark.parametrize(
    ("workload", "reason"),
    [
        (Workload(running_turns=1), "a turn is running"),
        (Workload(waiting_messages=1), "a message is waiting"),
        (Workload(pending_summaries=1), "summaries are pending"),
        (Workload(pending_readings=1), "sessions are to be read"),
        (Workload(idle_ms=10), "not idle long enough"),
        (Workload(load=9.0), "the machine is under load"),
    ],
)
def test_heartbeat_waits_and_says_why(workload, reason):
    """Analysis queues, running turns, recent messages and load each keep the gate shut, with their reason."""
    assert heartbeat_decision(workload) == (False, reason)


# --- personas


@pytest.mark.parametrize("name", persona_names())
def test_every_persona_that_comes_along_is_complete(name):
    """Each file loads, and its name is its file's."""
    persona = load_persona(name)

    assert persona.name == name
    assert persona.boundaries


@pytest.mark.parametrize("words", ["", "a grumpy old lighthouse keeper"])
def test_who_plays_a_role_is_told_to_step_out_of_it_for_what_is_real(words):
    """The persona stays until it is changed, and so it was asked about a bus the next morning."""
    storyteller = load_persona("roleplay")
    persona = own_persona(storyteller, words) if words else storyteller

    assert "Real matters (a date, an errand)" in instructions_of(persona)
    assert words in instructions_of(persona)


def test_the_three_roles_come_along():
    """Assistant, companion and roleplay are there, each in its role; the default comes first."""
    personas = load_personas("companion")

    assert next(iter(personas)) == "companion"
    assert {persona.role for persona in personas.values()} == {"assistant", "companion", "roleplay"}


def test_persona_may_be_a_file_of_the_operator(tmp_path):
    """CONTINUITY_PERSONA may be a path; the file's stem is its name."""
    file = tmp_path / "Butler.toml"
    file.write_text('role = "assistant"\ntone = ["dry", "exact"]\ninstructions = "Serve."\n', encoding="utf-8")

    assert load_persona(str(file)).name == "butler"
    assert next(iter(load_personas(str(file)))) == "butler"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ('role = "pirate"\ntone = ["a", "b"]\ninstructions = "x"', "role"),
        ('role = "assistant"\ntone = ["one"]\ninstructions = "x"', "tone"),
        ('role = "assistant"\ntone = ["a", "b"]\ninstructions = "x"\nmodel = "y"', "model"),
        ("role = ", "is not TOML"),
    ],
)
def test_faulty_persona_says_what_is_wrong(tmp_path, content, hint):
    """The error names the file and the field."""
    file = tmp_path / "mine.toml"
    file.write_text(content, encoding="utf-8")

    with pytest.raises(PersonaError, match=hint) as raised:
        load_persona(str(file))
    assert "mine.toml" in str(raised.value)


def test_unknown_persona_lists_the_known_ones():
    """A name that does not exist is answered with those that do."""
    with pytest.raises(PersonaError, match="assistant, companion, roleplay"):
        load_persona("pirate")


def test_persona_name_cannot_break_the_key():
    """A name with a separator in it is refused, so that two owners never share a key."""
    with pytest.raises(ValidationError):
        make_persona(name="a|b")
