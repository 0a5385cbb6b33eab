"""The process around a bot: its threads, the watch over its event loop, the messages to systemd."""
