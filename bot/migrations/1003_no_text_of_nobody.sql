-- What could not be read was once kept without saying whose it is, so that nobody could have it forgotten: its text goes.
UPDATE inbox SET payload = '' WHERE conversation_id IS NULL AND payload <> '';
