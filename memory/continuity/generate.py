"""One generation from end to end, every stage kept: candidates → framed → scored → selected → packets."""

from __future__ import annotations

from memory.continuity.candidates import candidates
from memory.continuity.framing import frame
from memory.continuity.packet import internal_packet, preview
from memory.continuity.relationship import relationship_state
from memory.continuity.scoring import score, select
from memory.continuity.staleness import fingerprint
from memory.continuity.types import BootstrapInputs, BootstrapOwner, Selection, Stages


def generate(owner: BootstrapOwner, inputs: BootstrapInputs) -> Stages:
    """Return all stages; the same inputs always give the same stages, and these hold nothing else."""
    found = candidates(inputs, owner.persona)
    scored = score(frame(found, owner, inputs.dropped), owner.persona)
    selection = select(scored)
    relationship = relationship_state(inputs, owner.persona)
    return Stages(
        owner_key=owner.artifact_key,
        fingerprint=fingerprint(owner, inputs),
        relationship=relationship,
        candidates=found,
        scored=scored,
        selection=selection,
        internal_packet=internal_packet(relationship, selection),
        preview=preview(selection),
    )


def with_selection(stages: Stages, selection: Selection) -> Stages:
    """Return the stages with another selection (shorter, or with arcs dropped) and both packets assembled again."""
    return stages.model_copy(
        update={
            "selection": selection,
            "internal_packet": internal_packet(stages.relationship, selection),
            "preview": preview(selection),
        }
    )
