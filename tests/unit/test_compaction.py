"""When the history is compacted, what stays, and what a model's summary has to hold."""

import pytest

from memory.context.budget import Budget
from memory.context.compaction.plan import HOLD_TURNS, held, mark_of, plan, truncation, verbatim
from memory.context.compaction.summary_check import problems
from memory.search.languages import Languages
from memory.sessions.summarizer import summarize
from memory.testing import START_MS, WordCounter, make_state, make_turn
from memory.types import CompactionMark, OpenLoop

LANGUAGES = Languages.load()
COUNTER = WordCounter()
BUDGET = Budget(history_tokens=400, cap_tokens=1000, summary_tokens=200)
SMALL_TALK = "what do you think about that whole thing then and why would anybody do it like this at all?"
FACT = "My sister Ida moved to Lyon in 2019."


def turns(n, user=SMALL_TALK, assistant="well it depends on many things"):
    return [make_turn(seq=seq, user_text=user, assistant_text=assistant, language="en") for seq in range(1, n + 1)]


def planned(history, **state):
    return plan(make_state(last_seq=len(history), **state), history, BUDGET, COUNTER)


def marked(plan_, text="- Person: tea"):
    return mark_of(plan_, "c_1", text, COUNTER)


def test_nothing_happens_while_the_history_fits():
    """004: test_no_compact_under_budget."""
    assert planned(turns(5)) is None


def test_it_cuts_back_to_about_sixty_percent_in_one_step():
    """So that the prompt's beginning stays the same for many turns."""
    made = planned(turns(14))

    assert made.verbatim_tokens <= BUDGET.compact_to_tokens
    assert made.history_from_seq == made.through_seq + 1
    assert made.from_seq == 1
    assert made.tokens_before > BUDGET.history_tokens


def test_many_small_turns_reach_the_message_limit():
    """120 messages are a limit of their own; more than thirty turns stay where they fit."""
    made = plan(make_state(last_seq=61), turns(61, "hm", "mm"), Budget(), COUNTER)

    assert "122 messages" in made.reason
    assert 61 - made.history_from_seq + 1 == 36  # 60 % of the limit


def test_what_stands_beside_the_history_makes_a_compaction_due():
    """Instructions, tools and the bootstrap take their part of the cap before the history does (004)."""
    said = turns(20, "word " * 60, "word " * 60)
    free, crowded = Budget(), Budget().beside(4500)

    assert plan(make_state(last_seq=20), said, free, COUNTER) is None
    assert crowded.history_tokens == 6150 - 500 - 4500
    assert plan(make_state(last_seq=20), said, crowded, COUNTER) is not None


@pytest.mark.parametrize("size", [80, 200, 1000])
def test_at_least_three_turns_stay_whatever_their_size(size):
    """The window shrinks with the size of the messages, never below three turns (004 phase 4)."""
    made = planned(turns(6, "word " * size))

    assert 6 - made.history_from_seq + 1 == 3


def test_a_wide_recency_window_is_kept_while_it_is_small():
    """`recency_window` counts messages."""
    budget = Budget(history_tokens=600, cap_tokens=1200, recency_window=16)
    made = plan(make_state(last_seq=25), turns(25), budget, COUNTER)

    assert 25 - made.history_from_seq + 1 >= 8


def test_what_is_cut_is_the_oldest_stretch_whole():
    """A message with a number does not stay where the one that took it back goes: both go, into the summary."""
    history = turns(14)
    history[1] = make_turn(seq=2, user_text="Order 2 rims, 36 hole, from Flaherty.", assistant_text="ok", language="en")
    history[2] = make_turn(seq=3, user_text="those messages were not mine, keep nothing", language="en")
    made = planned(history)
    state = make_state(last_seq=14, compaction=marked(made))

    assert [turn.seq for turn in made.segment] == list(range(1, made.history_from_seq))
    assert [turn.seq for turn in verbatim(state, history)] == list(range(made.history_from_seq, 15))


def test_turns_that_a_mark_from_before_kept_amid_a_cut_stay_until_the_next():
    """The summary that an earlier version stored does not tell them; the next compaction folds them, whatever fits."""
    mark = CompactionMark(compaction_id="c", history_from_seq=10, summary="", summary_tokens=0, kept_seqs=(3, 4))
    assert [turn.seq for turn in verbatim(make_state(last_seq=14, compaction=mark), turns(14))] == [
        3,
        4,
        *range(10, 15),
    ]

    mark = mark.model_copy(update={"history_from_seq": 36, "kept_seqs": tuple(range(1, 29))})
    small = turns(40, "hm", "mm")
    history = [*turns(1, "word " * 400), *small[1:]]
    made = plan(make_state(last_seq=40, compaction=mark), history, BUDGET, COUNTER)
    assert [turn.seq for turn in made.segment] == list(mark.kept_seqs)
    assert made.history_from_seq == 36


def test_three_huge_turns_are_never_compacted():
    """There is nothing to fold; the packet shortens them. So it cannot loop."""
    assert planned(turns(3, "word " * 3000)) is None


def test_a_summary_that_does_not_shrink_the_prompt_is_refused():
    """Then truncation is the way out, with the summary that was there."""
    made = planned(turns(14))

    assert marked(made, "word " * 5000) is None
    assert marked(made, "  ") is None
    assert truncation(made, "c_1", COUNTER).summary == made.previous


def test_after_a_compaction_none_is_due():
    """Planning again on its outcome plans nothing, also after a truncation."""
    history = turns(14)
    made = planned(history)

    for mark in (marked(made), truncation(made, "c_1", COUNTER)):
        state = make_state(last_seq=14, compaction=mark)
        assert plan(state, verbatim(state, history), BUDGET, COUNTER) is None


def test_the_deterministic_summary_always_shrinks_the_prompt():
    """Its room is less than what it replaces."""
    history = [make_turn(seq=n, user_text=f"{FACT} Box {n}.", assistant_text="ok", language="en") for n in range(1, 60)]
    made = planned(history)
    text = summarize(made.segment, made.previous, LANGUAGES, COUNTER, made.summary_max_tokens)

    assert marked(made, text).summary_tokens <= made.summary_max_tokens


def test_the_rolling_summary_stands_for_turns_that_are_not_loaded():
    """A long session that was never compacted loses nothing at its first compaction."""
    history = [turn.model_copy(update={"seq": turn.seq + 100}) for turn in turns(14)]

    assert planned(history, rolling_summary="- Person: x").previous == "- Person: x"
    assert planned(turns(14), rolling_summary="- Person: x").previous == ""


def test_an_undo_holds_for_ten_turns():
    """Otherwise the next message would compact again what was just brought back."""
    since = [make_turn(seq=n, created_at_ms=START_MS + n) for n in range(1, HOLD_TURNS + 1)]

    assert held(since[:-1], START_MS)
    assert not held(since, START_MS)
    assert not held(since, None)


TOLD = "thank you for telling me, that sounds like quite a change for all of you"
SOURCE = [
    make_turn(seq=1, user_text=FACT, assistant_text=TOLD, language="en"),
    make_turn(seq=2, user_text="We decided to paint the fence green in March.", assistant_text=TOLD, language="en"),
    make_turn(seq=3, user_text="haha ok", language="en"),
]
LOOP = OpenLoop(
    loop_id="t_2.1",
    kind="task",
    owner="user",
    text="paint the fence",
    turn_id="t_2",
    opened_seq=2,
    opened_at_ms=0,
    touched_at_ms=0,
)
GOOD = "- The user's sister, called Ida, moved to Lyon in 2019.\n- They decided to paint the fence green in March."


def test_a_true_and_whole_summary_of_a_model_is_accepted():
    """Numbers, names, dates and open loops are there, nothing is new."""
    assert problems(GOOD, SOURCE, "", [LOOP], LANGUAGES) == []


@pytest.mark.parametrize(
    ("summary", "problem"),
    [
        (GOOD.replace("2019", "spring"), "the number 2019 is missing"),
        (GOOD.replace("Ida", "she"), "the name Ida is missing"),
        (GOOD.replace("March", "spring"), "the name March is missing"),
        (GOOD.replace("paint the fence green", "go ahead"), "the open loop t_2.1 is missing"),
        (GOOD + " It costs 45 euros.", "the number 45 was made up"),
        (GOOD + " They asked Roberto.", "the name Roberto was made up"),
        (" ", "it is empty"),
    ],
)
def test_a_model_that_drops_or_invents_is_caught(summary, problem):
    """The check is code, not another model (DESIGN section 7)."""
    assert problem in problems(summary, SOURCE, "", [LOOP], LANGUAGES)


def test_where_nouns_are_written_large_a_capital_tells_nothing():
    """A German summary in other words is no loss of names; its numbers count as everywhere."""
    said = "Wir haben beschlossen, im Frühjahr den alten Zaun hinter dem Schuppen in Nauen zu streichen, für 45 Euro."
    source = [make_turn(seq=n, user_text=said, assistant_text="Gute Idee.", language="de") for n in (1, 2)]
    summary = "- Sie streichen im März für 45 Euro den Gartenzaun am Haus in Nauen."

    assert problems(summary, source, "", [], LANGUAGES) == []
    assert problems(summary.replace("45", "50"), source, "", [], LANGUAGES) == [
        "the number 45 is missing",
        "the number 50 was made up",
    ]


def test_what_the_previous_summary_knew_may_not_be_lost_either():
    """Cascade: facts of long ago survive every rewriting."""
    previous = "- Person: My locker at the Nordbad is number 88. (2023-11-14)"

    assert "the number 88 is missing" in problems(GOOD, SOURCE, previous, [LOOP], LANGUAGES)
