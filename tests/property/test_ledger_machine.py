"""Any sequence of writers, undo, forgetting, other processes, restarts and lost databases: one truth everywhere."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bot.headings import by_heading
from memory.ledger import series, views
from memory.ledger.ledgers import Ledgers
from memory.ledger.lines import model_line
from memory.ledger.types import Actor, Add, Applied, Change, End, Ledger, Merge, Move, Reopen, Ring
from memory.ledger.undo import rebased, rebuilt
from memory.privacy.plan import ForgetRequest
from memory.state import fields
from memory.testing import START_MS, lay_tables, make_exchange, start_memory

HERE = "tg:1:7:0"
NUMBERS = st.integers(1, 8)
HANDS = st.sampled_from(["person", "model", "keeper", "operator"])
KINDS = st.sampled_from(["fact", "task", "promise", "event", "story"])
TEXTS = st.sampled_from(["Call mum", "Buy tea", "Lives in Lima", "The exam", "Pay the rent"])
ONCE = {"rings_from": "2023-11-20T09:00"}
DAILY = ONCE | {"repeats": "FREQ=DAILY"}
RINGS = st.sampled_from([{}, {}, ONCE, DAILY, DAILY | {"rings_again_min": (90,)}])
LATER = {"snoozed_until_ms": START_MS * 2}
CHANGED = st.sampled_from([{"text": "Call dad"}, {"due_at_ms": START_MS}, {"weight": 0.9}, LATER])


class LedgerMachine(RuleBasedStateMachine):
    """One conversation over a real database, and beside it what a plain dictionary says that there has to be."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.count = 0
        self.version = 0
        self.turns: list[str] = []
        self.snapshot: Ledger | None = None
        self.model: dict[int, tuple[str, str]] = {}
        self.homes: set[int] = set()
        self.memory = self.run(start_memory(self.path, recover=True))
        self.session = self.run(self.memory.recorder.open_session(HERE, 7, "first")).session_id

    def run(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self):
        self.run(self.memory.close())
        self.folder.cleanup()
        self.loop.close()

    # --- what the plain model does ------------------------------------------------------------------------------------

    def expect(self, outcomes):
        """Follow what was said to be done: the note as it is told, and nothing else."""
        for outcome in outcomes:
            if isinstance(outcome, Applied):
                for change in outcome.changes:
                    note = outcome.ledger.notes[change.number]
                    self.model[note.number] = (note.text, note.status)

    # --- writers ------------------------------------------------------------------------------------------------------

    @rule(text=TEXTS, kind=KINDS, rings=RINGS, about=st.sampled_from(["", "", "a story"]))
    def says(self, text, kind, rings, about):
        """A turn notes something, in one transaction with itself."""
        self.count += 1
        turn = f"t_{self.count}"
        fields = {"turn_ids": (turn,), "session_id": self.session, "about": about, **rings}
        add = Add(kind=kind, text=f"{text} {self.count}", note_id=f"n_{self.count}", fields=fields)
        exchange = make_exchange(self.count, session_id=self.session, conversation_id=HERE, operations=(add,))
        before = set(self.run(self.memory.ledgers.read(HERE)).notes)
        self.run(self.memory.recorder.record(exchange, None))
        self.turns.append(turn)
        after = self.run(self.memory.ledgers.read(HERE))
        self.model |= {n: (after.notes[n].text, "open") for n in set(after.notes) - before}
        assert set(after.notes) - before == {max(after.notes)}

    @rule()
    def moves_house(self):
        """A value that changed takes the place of the old one."""
        self.count += 1
        turn = f"t_{self.count}"
        fields = {"turn_ids": (turn,), "session_id": self.session, "subject": "home"}
        add = Add(kind="fact", text=f"Lives at {self.count}", note_id=f"n_{self.count}", fields=fields)
        exchange = make_exchange(self.count, session_id=self.session, conversation_id=HERE, operations=(add,))
        self.run(self.memory.recorder.record(exchange, None))
        self.turns.append(turn)
        old = next((n for n in sorted(self.homes) if self.model.get(n, ("", ""))[1] == "open"), None)
        if old is not None:
            self.model[old] = (self.model[old][0], "replaced")
        number = max(self.run(self.memory.ledgers.read(HERE)).notes)
        self.homes.add(number)
        self.model[number] = (f"Lives at {self.count}", "open")

    @rule(number=NUMBERS, fields=CHANGED, hand=HANDS, cites=st.booleans())
    def changes(self, number, fields, hand, cites):
        """Some hand gives a note another value."""
        turn_ids = {"turn_ids": (self.turns[-1],)} if cites and self.turns else {}
        self.write(Change(number=number, fields=fields | turn_ids), hand=hand)

    @rule(number=NUMBERS, how=st.sampled_from(["done", "dropped"]), hand=HANDS)
    def ends(self, number, how, hand):
        """Some hand ends a note."""
        self.write(End(number=number, how=how), hand=hand)

    @rule(number=NUMBERS)
    def reopens(self, number):
        """A tap lets one stand again."""
        self.write(Reopen(number=number))

    @rule(number=NUMBERS, into=NUMBERS)
    def merges(self, number, into):
        """The keeper sees that two are one."""
        self.write(Merge(number=number, into=into), hand="keeper")

    @rule(number=NUMBERS)
    def rings(self, number):
        """The scheduler rings what is due next."""
        note = self.run(self.memory.ledgers.read(HERE)).find(number)
        if note and note.rings_at_ms is not None:
            self.write(Ring(number=number, occurrence=series.next_ring(note)[0], rings_at_ms=note.rings_at_ms))

    @rule(number=NUMBERS)
    def leaves_a_date_out(self, number):
        """A tap leaves the next date of a series out."""
        note = self.run(self.memory.ledgers.read(HERE)).find(number)
        if note and note.rings_at_ms is not None:
            self.write(Move(number=number, occurrence=series.next_ring(note)[0]))

    @rule()
    def undoes(self):
        """[Undo] of whatever was done last."""
        ledger = self.run(self.memory.ledgers.read(HERE))
        last = self.run(self.memory.ledgers.since(HERE, max(0, ledger.version - 1)))
        self.expect(self.run(self.memory.ledgers.undo(HERE, last, Actor("person", START_MS, "b"))))

    @rule()
    def keeper_looks(self):
        """The keeper takes its snapshot."""
        self.snapshot = self.run(self.memory.ledgers.read(HERE))

    @precondition(lambda self: self.snapshot is not None)
    @rule(number=NUMBERS)
    def keeper_answers(self, number):
        """Its answer comes late: what others changed since, wins."""
        since = self.run(self.memory.ledgers.since(HERE, self.snapshot.version))
        wanted = [Change(number=number, fields={"text": f"Keeper's {self.count}"}), End(number=number + 1)]
        kept, _ = rebased(wanted, since)
        self.snapshot = None
        self.expect(self.run(self.memory.ledgers.change(HERE, kept, Actor("keeper", START_MS, "r"))))

    @rule(number=NUMBERS)
    def another_process_writes(self, number):
        """Its cache knows nothing of ours, and ours nothing of it."""
        other = Ledgers(self.memory.db)
        change = [Change(number=number, fields={"text": f"Other {self.count}"})]
        self.expect(self.run(other.change(HERE, change, Actor("person", START_MS, "b"))))
        self.write(End(number=number, how="done"))
        self.memory.ledgers.evict(lambda _: True)

    def write(self, *operations, hand="person"):
        self.expect(self.run(self.memory.change(HERE, operations, Actor(hand, START_MS, "b"))))

    # --- what happens to it -------------------------------------------------------------------------------------------

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def forgets(self, data):
        """A turn goes, with every note that rests on it; a note that it had replaced stands again."""
        turn = data.draw(st.sampled_from(self.turns))
        before = self.run(self.memory.ledgers.read(HERE))
        gone = {note.note_id for note in before if turn in note.turn_ids}
        self.turns.remove(turn)
        self.run(self.memory.forgetter.forget(ForgetRequest(HERE, turn_ids=(turn,))))
        for note in before:
            if note.note_id in gone:
                del self.model[note.number]
            elif note.replaced_by in gone:
                self.model[note.number] = (note.text, "open")
        told = self.run(self.memory.ledgers.since(HERE, 0))
        assert not any(turn in {change.cause, *change.model_dump_json().split('"')} for change in told)

    @rule()
    def restarts(self):
        """The process is killed and started again."""
        self.run(self.memory.recorder.settle())
        self.run(self.memory.close())
        self.memory = self.run(start_memory(self.path, recover=True))

    @precondition(lambda self: self.turns)
    @rule()
    def loses_the_database(self):
        """Only checkpoints are left."""
        self.run(self.leave_copies())
        for file in self.path.glob("continuity.db*"):
            file.unlink()
        lay_tables(self.path / "continuity.db")
        self.memory = self.run(start_memory(self.path, recover=True))
        self.version = self.version if self.model else 0  # a ledger without a note is in no checkpoint

    async def leave_copies(self):
        await self.memory.recorder.session(self.session)
        self.memory.recorder.noted(HERE)
        await self.memory.recorder.settle()
        await self.memory.close()

    @precondition(lambda self: self.model)
    @rule()
    def a_byte_flips(self):
        """In a note's row."""
        with closing(sqlite3.connect(self.path / "continuity.db")) as disk, disk:
            disk.execute("UPDATE notes SET text = 'x' || text WHERE number = (SELECT MIN(number) FROM notes)")
        self.memory.ledgers.evict(lambda _: True)

    # --- what has to hold ---------------------------------------------------------------------------------------------

    @invariant()
    def all_views_name_the_same_notes(self):
        """The ledger is what the model says; each view shows a part of it, and none shows anything else."""
        ledger = self.run(self.memory.ledgers.read(HERE))
        assert {note.number: (note.text, note.status) for note in ledger} == self.model
        standing = {n for n, (_, status) in self.model.items() if status == "open"}
        to_do = {note.number for note in views.to_do(ledger, START_MS)}
        known = {note.number for _, notes in by_heading(ledger, START_MS) for note in notes}
        ringing = {note.number for note in views.ringing(ledger, START_MS)}
        ids = {note.note_id: note.number for note in ledger}
        agenda = {note.number for note in views.agenda(ledger, START_MS)}
        work = {n for n in standing if views.is_work(ledger.notes[n])}
        assert to_do - work <= agenda
        assert agenda | known | ringing <= standing
        assert {n for n in standing - work if ledger.notes[n].is_real} <= agenda | known
        both = (ledger.notes[n] for n in agenda & known)  # an event that rings
        assert not any(note.is_real and note.kind != "event" for note in both)
        assert {ids[each.loop_id] for each in fields.loops_of(ledger, START_MS)} == to_do
        assert {ids[each] for each in fields.job_refs_of(ledger)} <= ringing
        assert {ids[each] for each in fields.entities_of(ledger, START_MS).values()} == to_do
        assert all(f"#{note.number} " in model_line(note, START_MS, "UTC") for note in ledger)

    @invariant()
    def changes_make_the_notes_and_no_version_falls(self):
        """Rows, changes and what is at hand say the same."""
        ledger = self.run(self.memory.ledgers.read(HERE))
        assert self.run(Ledgers(self.memory.db).read(HERE)) == ledger
        assert rebuilt(HERE, self.run(self.memory.ledgers.since(HERE, 0))).notes == ledger.notes
        assert ledger.version >= self.version
        self.version = ledger.version


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(settings.default, max_examples=10, stateful_step_count=30)
