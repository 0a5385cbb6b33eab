"""A loopback Telegram Bot API server: the world behind it, its methods and its rules, and faults that tests plant."""
