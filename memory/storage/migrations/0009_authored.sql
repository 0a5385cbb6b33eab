-- What the program says in its own name in a reply that it put together itself.
-- Portable subset (SQLite, PostgreSQL).

ALTER TABLE conversation_turns ADD COLUMN authored TEXT;  -- what the program says in its own name; NULL = all of the reply is the assistant's own
