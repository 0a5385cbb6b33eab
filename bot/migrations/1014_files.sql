-- Files that people send: written down with the update that brings them, fetched and read behind it.

-- One row per message that brought a file. The bytes are kept once, by their digest.
CREATE TABLE files (
    file_id TEXT PRIMARY KEY,                 -- <bot_id>:<chat_id>:<message_id> of the message that brought it
    bot_id BIGINT NOT NULL,                   -- the bot that was sent it: the others cannot fetch it
    conversation_id TEXT NOT NULL,            -- where it was sent; a private chat's never shows in a group
    chat_id BIGINT NOT NULL,                  -- Telegram's chat
    message_id BIGINT NOT NULL,               -- Telegram's message
    user_id BIGINT,                           -- who sent it
    number BIGINT,                            -- what people, prompts and tools call it; per conversation; NULL = not worked on yet
    turn_id TEXT,                             -- the turn that it came with, NULL = not worked on yet
    session_id TEXT,                          -- the session of that turn
    private BIGINT NOT NULL,                  -- 1 = that session is private: no other one is told of it
    telegram_id TEXT NOT NULL,                -- what Telegram is asked for it by
    unique_id TEXT NOT NULL,                  -- the same for every bot and chat
    kind TEXT NOT NULL,                       -- document | picture | voice message | audio | video message | video | GIF
    name TEXT NOT NULL,                       -- as the sender calls it, without folders and control signs
    media_type TEXT NOT NULL,                 -- as Telegram says; once it is here, by its content
    size_bytes BIGINT NOT NULL,               -- as Telegram says; once it is here, counted
    seconds BIGINT NOT NULL,                  -- how long it plays, as Telegram says; 0 = it does not
    digest TEXT NOT NULL,                     -- sha256 of the bytes, '' = they are not here
    state TEXT NOT NULL,                      -- wanted | fetched | read | failed | expired
    reason TEXT NOT NULL,                     -- why it failed: a word, and what it is about behind a space
    unit TEXT NOT NULL,                       -- what its pages are called: page | sheet | slide | chapter | part, '' = it has none
    pages BIGINT NOT NULL,                    -- how many pages it has
    blank_json TEXT NOT NULL,                 -- JSON array: the numbers of pages without text
    language TEXT NOT NULL,                   -- of its text, '' = unknown
    described TEXT NOT NULL,                  -- what it shows or says, in a sentence or two; of a recording what was said
    attempts BIGINT NOT NULL,                 -- how often a model was asked to describe it
    received_at_ms BIGINT NOT NULL            -- when it was written down
);
CREATE INDEX files_by_conversation ON files (conversation_id, number);
CREATE INDEX files_by_digest ON files (digest);
CREATE INDEX files_by_user ON files (user_id);
CREATE INDEX files_by_turn ON files (turn_id);

-- What was read from a file, in pieces that fit into a prompt; searched under `files of <conversation_id>`.
CREATE TABLE file_passages (
    passage_id TEXT PRIMARY KEY,              -- <file_id>/<position>
    file_id TEXT NOT NULL,                    -- the file
    position BIGINT NOT NULL,                 -- 0, 1, 2 … in the order of the file
    page BIGINT NOT NULL,                     -- the page that it stands on, from 1
    text TEXT NOT NULL                        -- the text
);
CREATE INDEX file_passages_by_file ON file_passages (file_id, page);

-- The bytes of files, where several processes share a server; on one machine they lie in a folder.
CREATE TABLE file_chunks (
    digest TEXT NOT NULL,                     -- sha256 of the whole
    position BIGINT NOT NULL,                 -- 0, 1, 2 …
    data BYTEA NOT NULL,                      -- at most a quarter of a megabyte
    PRIMARY KEY (digest, position)
);
