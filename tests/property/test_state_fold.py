"""The fold of any text: it never raises, stays bounded, and gives the same state twice."""

from hypothesis import given
from hypothesis import strategies as st

from memory.state.state_manager import TITLE_CHARS, apply_turn, new_state, read_turn, session_title
from memory.types import ConversationTurn, SessionState

PHRASES = st.sampled_from(
    [
        "I need to call the bank tomorrow.",
        "I'll send it by Friday",
        "Which one, red or blue?",
        "the second one",
        "yes",
        "why?",
        "never mind",
        "I did it",
        "Напомни мне завтра в 9",
        "明日の天気は？",
        "مرحبا كيف حالك؟",
        "👩‍👩‍👧‍👦 🎉",
        "\ud800 lone",
        "1. tea\n2. coffee\nWhich?",
    ]
)
TEXTS = st.one_of(PHRASES, st.lists(PHRASES, max_size=4).map(" ".join), st.text(max_size=400))
EXCHANGES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12)


def fold(exchanges) -> SessionState:
    state = new_state("s", "c")
    for seq, (user, assistant) in enumerate(exchanges, 1):
        signs = read_turn(state, user, assistant)
        turn = ConversationTurn(
            turn_id=f"t{seq}",
            session_id="s",
            conversation_id="c",
            seq=seq,
            user_text=user,
            assistant_text=assistant,
            intent=signs.intent,
            response_type=signs.response_type,
            created_at_ms=seq * 60_000,
        )
        state = apply_turn(state, turn)
    return state


@given(EXCHANGES)
def test_any_conversation_folds_to_one_bounded_state(exchanges):
    """Any texts fold without an error to the same bounded state each time, and it survives JSON."""
    state = fold(exchanges)

    assert fold(exchanges) == state
    assert SessionState.model_validate_json(state.model_dump_json()) == state
    assert len(state.active_topics) <= 1
    assert len(state.pending_clarifications) <= 1
    assert (state.status == "awaiting_clarification") is bool(state.pending_clarifications)
    assert len(session_title(state)) <= TITLE_CHARS


def test_a_hundred_thousand_characters_leave_a_small_state():
    """Of a huge message only the beginning and the end are read; the state stays small."""
    huge = "I will call the bank about the flat, won't I? " * 3_000
    state = fold([(huge, huge), ("x" * 100_000, "?" * 100_000), ("a b " * 30_000, "\n" * 100_000)])

    assert len(state.model_dump_json()) < 20_000
