-- Differs by necessity because the trigger went with the old table.
CREATE TRIGGER search_forgets_turn AFTER DELETE ON conversation_turns
    FOR EACH ROW EXECUTE FUNCTION search_forgets();
