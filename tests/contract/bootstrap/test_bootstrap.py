"""What the bootstrap service promises on every database; the validation checklist of 001 line by line comes first."""

from __future__ import annotations

import pytest
from bootstrap_cases import IDLE, heartbeat_of, likes, new, noted, past, session, task, words_of

from memory.continuity.bootstrap import Bootstrap
from memory.continuity.packet import GUARDRAILS
from memory.continuity.rows import forget_preferences
from memory.continuity.types import Preference
from memory.errors import Conflict, ContinuityError, UnknownSession
from memory.ledger.types import Actor, Change, End
from memory.ports import Statement
from memory.testing import (
    CONVERSATION_ID,
    START_MS,
    USER_ID,
    WordCounter,
    make_owner,
)

# --- the validation checklist of 001


@pytest.mark.parametrize("queue", ["pending_summaries", "pending_readings", "running_turns", "waiting_messages"])
async def test_1_heartbeat_generates_only_when_the_queues_are_empty(db, bootstrap, ledgers, owner, queue):
    """While a summary, a reading, a turn or a message waits nothing is generated; afterwards it is."""
    await db.write(past())
    await noted(ledgers, task())

    waiting = await heartbeat_of(db, bootstrap, workload=IDLE._replace(**{queue: 1})).run()
    assert (waiting.generated, await db.read_one("continuity_cache", owner_key=owner.artifact_key)) == (0, None)
    assert waiting.stopped

    idle = await heartbeat_of(db, bootstrap).run()
    assert idle.generated == 1
    assert await db.read_one("continuity_cache", owner_key=owner.artifact_key)


async def test_2_new_session_or_note_makes_it_stale(db, bootstrap, ledgers, clock, owner):
    """A second heartbeat finds it fresh; after a new session, and after a new note, it is generated again."""
    await db.write(past())
    await noted(ledgers, task())
    assert (await bootstrap.refresh_if_stale(owner)).reason == "never generated"
    assert (await bootstrap.refresh_if_stale(owner)).reason == "fresh"

    await db.write(session("s_3", at_ms=clock.advance(s=60)))
    clock.advance(s=1)
    assert (await bootstrap.refresh_if_stale(owner)).reason == "a summary or memory is newer"

    await noted(ledgers, likes(), at_ms=clock.advance(s=60))
    clock.advance(s=1)
    assert (await bootstrap.refresh_if_stale(owner)).reason == "a summary or memory is newer"
    assert "Prefers short answers." in (await bootstrap.preview(owner)).text


async def test_3_packet_always_includes_the_instruction_block(db, bootstrap, ledgers, owner):
    """With arcs, without arcs and after dropping arcs the packet ends with both sentences."""
    assert (await bootstrap.stages(owner)).internal_packet.endswith("\n".join(GUARDRAILS))

    await db.write(past(), new())
    await noted(ledgers, task(), likes())
    first = (await bootstrap.preview(owner)).arcs[0]
    choice = await bootstrap.choose(owner, "s_2", "use", dropped=[first.arc_id])

    assert choice.internal_packet.endswith("\n".join(GUARDRAILS))
    assert (await bootstrap.packet_for(owner, "s_2")).endswith("\n".join(GUARDRAILS))


async def test_4_injection_happens_only_before_the_first_reply(db, bootstrap, ledgers, owner, clock):
    """The packet is there until the first reply is stored and never afterwards."""
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "use")
    assert "Send the report to Anna" in await bootstrap.packet_for(owner, "s_2")

    await db.write(Statement("set_turn_count", {"session_id": "s_2", "turn_count": 1, "at_ms": clock.now_ms()}))
    assert await bootstrap.packet_for(owner, "s_2") == ""


async def test_5_preview_is_worded_as_carrying_forward(db, bootstrap, ledgers, owner):
    """The preview opens and closes with the sentences of the specification."""
    await db.write(past())
    await noted(ledgers, task())

    text = (await bootstrap.preview(owner)).text

    assert text.startswith("If you'd like, I can carry forward this context:\n")
    assert text.endswith("\nOr we can start fresh. Either is fine.")


async def test_6_clearing_removes_artifacts_and_keeps_preferences(db, bootstrap, ledgers, owner):
    """Relationship state, arcs, cache and packets are gone, what the user chose is not."""
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "use", remember=True, skip_preview=True)

    await bootstrap.clear(owner)

    assert (await words_of(db)).strip() == ""
    assert await bootstrap.preference(owner) == Preference(mode="use", skip_preview=True)


# --- injection and choice


@pytest.mark.parametrize("mode", ["ask", "off"])
async def test_nothing_is_injected_without_consent(db, bootstrap, ledgers, owner, mode):
    """In mode ask without an answer, and in mode off, no packet is given."""
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.prefer(owner, Preference(mode=mode))

    assert await bootstrap.packet_for(owner, "s_2") == ""


async def test_always_do_this_works_for_the_next_session_too(db, bootstrap, ledgers, owner):
    """A remembered choice with the preview skipped injects into a session that was never asked about."""
    await db.write(past(), new(), new("s_3"))
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "use", remember=True, skip_preview=True)

    assert (await bootstrap.preview(owner)).offer == "use"
    assert "Send the report" in await bootstrap.packet_for(owner, "s_3")


async def test_start_fresh_injects_nothing_even_when_always_was_chosen(db, bootstrap, ledgers, owner):
    """A fresh start counts for its session, by a tap as well as by /fresh."""
    await db.write(past(), new(), new("s_3", origin="fresh"))
    await noted(ledgers, task())
    await bootstrap.prefer(owner, Preference(mode="use", skip_preview=True))

    choice = await bootstrap.choose(owner, "s_2", "off")

    assert choice.mode == "off"
    assert await bootstrap.packet_for(owner, "s_2") == ""
    assert await bootstrap.packet_for(owner, "s_3") == ""


async def test_continue_lifts_a_fresh_start(db, bootstrap, ledgers, owner):
    """After /fresh the user may ask for the context after all; the last word counts."""
    await db.write(past(), new(origin="fresh"))
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "off")

    choice = await bootstrap.choose(owner, "s_2", "use")

    assert choice.mode == "use"
    assert "Send the report" in await bootstrap.packet_for(owner, "s_2")


async def test_packet_is_the_one_that_was_shown_also_after_a_restart(db, bootstrap, ledgers, clock, owner):
    """What was chosen is injected though something newer was generated in between, by another process too."""
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "use")
    await noted(ledgers, likes("Wants to move to Porto."), at_ms=clock.now_ms())
    await bootstrap.refresh(owner)

    after_restart = Bootstrap(db, clock, WordCounter(), ledgers)

    assert "Porto" not in await after_restart.packet_for(owner, "s_2")
    assert "Send the report" in await after_restart.packet_for(owner, "s_2")


async def test_nobody_but_the_primary_user_gets_or_chooses(db, bootstrap, ledgers):
    """In a group another user gets no packet into this session and cannot choose for it."""
    await db.write(past(), new())
    await noted(ledgers, task())
    other = make_owner(user_id=8)
    await bootstrap.prefer(other, Preference(mode="use", skip_preview=True))

    assert await bootstrap.packet_for(other, "s_2") == ""
    with pytest.raises(ContinuityError, match="another user"):
        await bootstrap.choose(other, "s_2", "use")


async def test_session_names_its_owner(db, bootstrap, ledgers, owner):
    """The runner is given a session and finds whose bootstrap it is; unknown and ownerless sessions are refused."""
    await db.write(past(), past(session_id="s_0", user_id=None))
    await noted(ledgers, task())

    assert await bootstrap.owner_of("s_1", owner.persona) == owner
    with pytest.raises(UnknownSession, match="s_9"):
        await bootstrap.owner_of("s_9", owner.persona)
    with pytest.raises(ContinuityError, match="primary user"):
        await bootstrap.owner_of("s_0", owner.persona)


async def test_session_of_another_conversation_is_unknown(db, bootstrap, ledgers):
    """A session id from elsewhere is refused, so that nothing crosses over."""
    await db.write(past(), new())
    await noted(ledgers, task())
    elsewhere = make_owner(conversation_id="tg:1:-5:0")

    with pytest.raises(UnknownSession, match="s_2"):
        await bootstrap.choose(elsewhere, "s_2", "use")
    with pytest.raises(UnknownSession):
        await bootstrap.packet_for(elsewhere, "s_2")


async def test_private_chat_never_shows_in_a_group(db, bootstrap, ledgers):
    """The same user's bootstrap in a group holds nothing of their private sessions and notes."""
    group = make_owner(conversation_id="tg:1:-5:0")
    await db.write(past(), session("s_g", conversation_id=group.conversation_id))
    await noted(ledgers, task(), likes())
    await noted(ledgers, task("Host the book club"), conversation_id=group.conversation_id)

    packet = (await bootstrap.stages(group)).internal_packet

    assert "book club" in packet
    assert "Anna" not in packet
    assert "short answers" not in packet


async def test_what_others_said_in_a_group_is_not_this_users(db, bootstrap, ledgers, owner):
    """A promise that another member made in the user's session is not carried forward as theirs."""
    await db.write(session())
    await noted(ledgers, task("Bring the cake"), task("Book the hall", user_id=99, turn_ids=("t_2",)))

    text = (await bootstrap.preview(owner)).text

    assert "Bring the cake" in text
    assert "Book the hall" not in text


async def test_personas_have_bootstraps_and_preferences_of_their_own(db, bootstrap, ledgers, owner):
    """What is chosen and generated for one persona is not another's, also when one name begins with the other."""
    await db.write(past())
    await noted(ledgers, task())
    other = make_owner(name="assistant-2")
    await bootstrap.prefer(owner, Preference(mode="off"))
    await bootstrap.refresh(owner)
    await bootstrap.refresh(other)

    await bootstrap.clear(owner)

    assert (await bootstrap.preference(other)).is_chosen is False
    assert await db.read_one("continuity_cache", owner_key=other.artifact_key)


# --- preview, dropping, forgetting


async def test_first_session_ever_has_nothing_to_offer(db, bootstrap, owner):
    """Without a past nobody is asked anything."""
    await db.write(new("s_1", origin="first"))

    shown = await bootstrap.preview(owner, origin="first")

    assert (shown.offer, shown.text, shown.available) == ("nothing", "", False)


async def test_mode_off_costs_no_generation(db, bootstrap, ledgers, owner):
    """Neither preview nor heartbeat generate for a user in mode off; /continue still does."""
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.prefer(owner, Preference(mode="off"))

    assert (await bootstrap.preview(owner)).offer == "nothing"
    assert await bootstrap.packet_for(owner, "s_2") == ""
    assert (await heartbeat_of(db, bootstrap).run()).skipped == {"mode is off": 1}
    assert await words_of(db) == ""
    assert (await bootstrap.preview(owner, asked_for=True)).offer == "ask"


async def test_dropped_arc_is_out_of_the_packet_and_is_not_offered_again(db, bootstrap, ledgers, clock, owner):
    """Dropping is stored with the choice, takes the words out of every table, and outlives a regeneration."""
    await db.write(past(), new())
    await noted(ledgers, task(), likes())
    arcs = {arc.summary: arc.arc_id for arc in (await bootstrap.preview(owner)).arcs}
    gone = next(arc_id for summary, arc_id in arcs.items() if "Anna" in summary)

    await bootstrap.choose(owner, "s_2", "use", dropped=[gone, "a_unknown"])
    assert "Anna" not in await words_of(db)

    await bootstrap.refresh(owner)
    assert "Anna" not in (await bootstrap.preview(owner)).text
    assert "Anna" not in await bootstrap.packet_for(owner, "s_2")

    (number,) = [each.number for each in await ledgers.read(CONVERSATION_ID) if "Anna" in each.text]
    again = Change(number=number, fields={"text": "Send Anna the new report", "turn_ids": ("t_9",)})
    await ledgers.change(CONVERSATION_ID, [again], Actor("keeper", clock.advance(s=60)))
    assert "Anna" in (await bootstrap.preview(owner)).text


async def test_what_was_forgotten_never_shows(db, bootstrap, ledgers, owner):
    """After a note is dropped the next preview is made again, without it."""
    await db.write(past())
    await noted(ledgers, task(), likes())
    assert "short answers" in (await bootstrap.preview(owner)).text

    await ledgers.change(CONVERSATION_ID, [End(number=2, how="dropped")], Actor("person", START_MS))

    assert "short answers" not in (await bootstrap.preview(owner)).text


async def test_clearing_a_conversation_clears_everybody_in_it(db, bootstrap, owner):
    """Every persona and user of one conversation is cleared, another conversation is left alone."""
    elsewhere = make_owner(conversation_id="tg:1:77:0")
    other_persona = make_owner(name="companion", role="companion")
    for one in (owner, other_persona, elsewhere):
        await bootstrap.refresh(one)

    await bootstrap.clear_conversation(CONVERSATION_ID)

    keys = [await db.read_one("continuity_cache", owner_key=one.artifact_key) for one in (owner, other_persona)]
    assert keys == [None, None]
    assert await db.read_one("continuity_cache", owner_key=elsewhere.artifact_key)


async def test_forgetting_leaves_no_generation_behind(db, bootstrap, ledgers, owner):
    """What is forgotten and everything made from it go in one transaction; the next preview knows nothing of it."""
    await db.write(past(), new())
    await noted(ledgers, task(), likes())
    await bootstrap.choose(owner, "s_2", "use")

    erased = ("erase_all_notes", "erase_all_note_changes", "erase_ledger")
    gone = [Statement(each, {"conversation_id": CONVERSATION_ID}) for each in erased]
    async with ledgers.alone(CONVERSATION_ID):
        await bootstrap.clear_conversation(CONVERSATION_ID, also=gone)

    assert "short answers" not in await words_of(db)
    assert "short answers" not in await bootstrap.packet_for(owner, "s_2")


async def test_forgotten_conversation_and_person_leave_nothing(db, bootstrap, ledgers, owner):
    """Choices of the sessions go with the conversation, preferences with the person; another person keeps theirs."""
    other = make_owner(user_id=71)
    await db.write(past(), new())
    await noted(ledgers, task())
    await bootstrap.choose(owner, "s_2", "use", remember=True)
    await bootstrap.prefer(other, Preference(mode="off"))

    await bootstrap.forget_conversation(CONVERSATION_ID)
    await db.write(forget_preferences(USER_ID))

    assert await db.read_one("continuity_choice", session_id="s_2") is None
    assert (await bootstrap.preference(owner)).is_chosen is False
    assert (await bootstrap.preference(other)).mode == "off"


async def test_stages_are_shown_without_storing(db, bootstrap, ledgers, owner):
    """The runner shows relationship, candidates, scores and packets, and leaves no trace."""
    await db.write(past())
    await noted(ledgers, task(), likes())

    stages = await bootstrap.stages(owner)

    assert stages.candidates
    assert stages.scored[0].breakdown
    assert stages.relationship.familiarity == "familiar"
    assert stages.preview
    assert await words_of(db) == ""


async def test_choice_and_what_belongs_to_it_are_one_transaction(db, bootstrap, ledgers, owner):
    """When what the caller adds cannot be stored, neither choice nor drop nor preference is."""
    await db.write(past(), new())
    await noted(ledgers, task())
    arc_id = (await bootstrap.preview(owner)).arcs[0].arc_id

    with pytest.raises(Conflict):
        await bootstrap.choose(owner, "s_2", "use", remember=True, dropped=[arc_id], also=[new()])

    assert await db.read_one("continuity_choice", session_id="s_2") is None
    assert (await bootstrap.preference(owner)).is_chosen is False
    assert arc_id in {arc.arc_id for arc in (await bootstrap.preview(owner)).arcs}
