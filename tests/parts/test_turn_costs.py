"""What a turn in the middle of a talk asks of the database: nothing is added unseen."""

from __future__ import annotations

from pydantic_ai.models.function import FunctionModel

AHEAD = [
    "person_language",
    "person_choices",
    "groups_open",
    "current_session",
    "list_sessions",
    "session_lines_of",
    "files_of",
    "polls_ended",
]
"""Read in one visit when a message comes to its turn."""
OF_A_MODEL = ["inbox_parked_here", "tool_choices_of", "tool_calls_untold", "tool_calls_of_turn"]
"""Read in the same visit where a model answers: it can call tools, and answers what went unanswered before."""
SEARCH = ["search_terms", "search_terms", "search_documents"]
"""The terms, those not found once more in other spellings, and who has them; texts when something is worth them."""
BEFORE_THE_REPLY = [
    ["inbox_insert"],
    ["inbox_claim"],
    [
        "ledger_unforgotten",
        "insert_turn",
        "insert_context_snapshot",
        "inbox_done",
        "turn_figures_keep",
        "prompt_texts_keep",
        "prompt_keep",
        "outbox_insert",
        "update_session",
    ],
]
"""The commits on the way of a reply (P1, P3, P4); the second is stored while the packet is made."""
BEHIND_THE_REPLY = [["outbox_sent"], ["turn_as_said", "index_document"]]


class Seen:
    """Every visit to the database, by the names of its statements."""

    def __init__(self, one, monkeypatch) -> None:
        self.visits: list[list[str]] = []
        self.commits: list[list[str]] = []
        database, writer = one.services.db, one.services.db._writer
        execute, write, run = database._reader._execute, writer.write, database._all_of

        async def visit(work, *arguments):
            self.visits.append([])
            return await execute(work, *arguments)

        async def commit(statements):
            self.commits.append([statement.name for statement in statements])
            return await write(statements)

        def asked(reads, names):
            found = run(reads, names)
            self.visits[-1] = list(names)
            return found

        monkeypatch.setattr(database._reader, "_execute", visit)
        monkeypatch.setattr(database, "_all_of", asked)
        monkeypatch.setattr(writer, "write", commit)


async def second_turn(one, screen, monkeypatch):
    """Take a message and its answer, then another one; return what the second asked of the database."""
    await one.take(1, "My sister Ana lives in Turin.")
    await one.settled()
    await one.services.memory.settle()
    seen = Seen(one, monkeypatch)
    await one.take(2, "Where does my sister live?")
    await screen.until(lambda: len(screen.sent) == 2)
    return seen


async def test_a_turn_costs_two_visits_to_the_reader_and_three_commits(one, screen, monkeypatch):
    """One visit reads what is known beforehand, one searches; behind the reply its send is noted and it is indexed."""
    seen = await second_turn(one, screen, monkeypatch)

    known, searched = seen.visits
    assert known == AHEAD
    assert searched == SEARCH
    assert seen.commits == BEFORE_THE_REPLY + BEHIND_THE_REPLY[: len(seen.commits) - 3]


async def test_tools_cost_a_turn_no_visit_more(start, screen, monkeypatch):
    """What was chosen about them and how their calls ended is read with what is known beforehand."""

    async def stream(*_):
        yield "In Turin."

    monkeypatch.setattr("bot.answers.wires.any_provider.infer_model", lambda _: FunctionModel(stream_function=stream))
    one = await start(continuity_model="another:scripted", continuity_memory_model="off")
    seen = await second_turn(one, screen, monkeypatch)

    known, searched = seen.visits
    assert known == AHEAD + OF_A_MODEL
    assert searched == SEARCH
