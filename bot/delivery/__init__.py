"""Messages go out: outbox, pace, previews, the commit that both hang on."""
