-- What stands in a prompt beside the tiers is on its receipt too.

ALTER TABLE context_snapshots ADD COLUMN instructions_tokens BIGINT NOT NULL DEFAULT 0; -- instructions, the bootstrap not counted
ALTER TABLE context_snapshots ADD COLUMN tools_tokens BIGINT NOT NULL DEFAULT 0; -- descriptions of the tools
ALTER TABLE context_snapshots ADD COLUMN bootstrap_tokens BIGINT NOT NULL DEFAULT 0; -- what was carried forward
ALTER TABLE context_snapshots ADD COLUMN message_tokens BIGINT NOT NULL DEFAULT 0; -- the message that was answered
