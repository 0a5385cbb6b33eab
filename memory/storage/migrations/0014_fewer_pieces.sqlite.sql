-- Each term that a search looks for is looked up in every piece of the index that single turns brought: FTS5 joins pieces
-- as soon as there are two of a size (four), and at once when there are four (sixteen), so that there are half as many.
-- Differs by necessity because PostgreSQL has one index without pieces.

INSERT INTO search_index (search_index, rank) VALUES ('automerge', 2);
INSERT INTO search_index (search_index, rank) VALUES ('crisismerge', 4);
