"""Whether notes of other sessions may reach the model in a session: the one answer for prompt, tools and keeper."""

from __future__ import annotations

from bot.lines import is_group
from bot.people.personas import Personas
from memory.continuity.types import BootstrapOwner
from memory.opening import ConversationMemory
from memory.types import SessionState


async def is_carried(memory: ConversationMemory, personas: Personas, user_id: int, state: SessionState) -> bool:
    """Whether they may, in an answer to this person. Raises `StorageUnavailable`.

    Not after /fresh, nor where the person chose to begin without. In a group the person who began the session decides
    for all of its members: everybody heard the earlier sessions.
    """
    if state.isolated:
        return False
    if is_group(state.conversation_id):
        session = await memory.store.session(state.session_id)
        user_id = session.user_id if session and session.user_id is not None else user_id
    choice = await memory.bootstrap.choice(state.session_id)
    if choice is not None:
        return choice.mode != "off"
    persona = await personas.of(user_id)
    owner = BootstrapOwner(conversation_id=state.conversation_id, user_id=user_id, persona=persona)
    chosen = await memory.bootstrap.preference(owner)
    return chosen.mode == "use" or (chosen.mode == "ask" and not chosen.skip_preview)
