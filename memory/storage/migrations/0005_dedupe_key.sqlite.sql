-- Differs by necessity because the trigger went with the old table.
CREATE TRIGGER search_forgets_turn AFTER DELETE ON conversation_turns BEGIN
    DELETE FROM search_docs WHERE ref = old.turn_id AND source = 'turn';
END;
