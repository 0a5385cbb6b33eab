-- Logins by a code that is entered elsewhere: it's asked now and then whether the person did.
ALTER TABLE tool_logins_begun ADD COLUMN polls_at_ms BIGINT; -- when it's asked next; NULL = an address comes back
