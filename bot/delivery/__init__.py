"""What the bot says goes out: outbox, pace, previews, the commit that both hang on."""
