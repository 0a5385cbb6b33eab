"""Times, memories, references and languages: any text is read without an error."""

from hypothesis import given
from hypothesis import strategies as st

from memory.language.due_dates import find_due, parse_when, reminder_request
from memory.language.languages import Languages
from memory.longterm.promotion import candidates, write_if_worthy
from memory.state.references import options_of, resolve
from memory.state.state_manager import new_state, open_loop
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
CODES = st.sampled_from([*LANGUAGES.codes, "ja", "xx"])
WORDS = st.sampled_from(
    [
        "remind",
        "me",
        "tomorrow",
        "at",
        "9",
        "25:00",
        "31.",
        "Februar",
        "in",
        "999",
        "weeks",
        "my",
        "name",
        "is",
        "I",
        "live",
        "пятницу",
        "12",
        "mañana",
        "às",
        "9h",
        "d'",
        "or",
        "yes",
        "the",
        "second",
        "one",
        "\ud800",
        "İ",
        "ß",
        "32.13.",
        "2026-99-99",
        "next",
        "Friday",
        "dog's",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=14).map(" ".join))
NOW_MS = st.integers(min_value=0, max_value=4_000_000_000_000)


@given(TEXTS, NOW_MS, CODES)
def test_a_due_time_lies_ahead(text, now_ms, code):
    """Whatever is said, a due time is in the future, or there is none."""
    language = LANGUAGES.get(code)
    due = find_due(text, now_ms, "Europe/Berlin", language)

    assert due is None or due.due_at_ms > now_ms
    assert find_due(text, now_ms, "Europe/Berlin", language) == due


@given(TEXTS, CODES)
def test_a_reminder_never_raises(text, code):
    """Odd texts are no reminders, or reminders with a short matter."""
    found = reminder_request(f"remind me {text}", 1_790_000_000_000, "UTC", LANGUAGES.get(code))
    timed = parse_when(text, 1_790_000_000_000, "UTC", LANGUAGES.get(code))

    assert found is None or len(found.what) <= 200
    assert timed is None or len(timed[1]) <= 200


@given(TEXTS, CODES)
def test_promotion_reads_anything(text, code):
    """Candidates are few and short, and the gate decides about each."""
    turn = ConversationTurn(
        turn_id="t1",
        session_id="s",
        conversation_id="c",
        seq=1,
        user_text=text,
        assistant_text=text,
        language=code,
        created_at_ms=1,
    )
    found = candidates(turn, LANGUAGES)

    assert len(found) <= 5
    assert all(len(item.text) <= 240 and 0 <= item.score <= 1 and item.subject for item in found)
    assert all(write_if_worthy(item, []).action in {"write", "skip"} for item in found)


@given(TEXTS, TEXTS, CODES)
def test_references_read_anything(question, text, code):
    """Options and meanings are bounded for any question and reply."""
    language = LANGUAGES.get(code)
    state = open_loop(new_state("s", "c"), text or "matter", turn_id="t1", at_ms=1)

    assert len(options_of(question, text, language)) <= 8
    assert all(len(value) <= 300 for value in resolve(state, text, language).values())


@given(st.text(max_size=300))
def test_every_text_is_in_some_language(text):
    """Detection answers for any text, the same each time."""
    assert LANGUAGES.detect(text) is LANGUAGES.detect(text)
