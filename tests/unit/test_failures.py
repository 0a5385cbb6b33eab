"""What went wrong with messages, in words for whoever runs the bot."""

import pytest

from bot.ops.runs.failures import FailedMessages, cause_of, in_words, words_in


@pytest.mark.parametrize(
    ("error", "cause", "remedy"),
    [
        ("Status 401", "refused the key", "check the key"),
        ("Status 503", "out of order (503)", "wait"),
        ("Status 418", "refused the request (418)", "look at the log"),
        ("NoKey: OPENAI_API_KEY is not set", "key is not set", "doctor"),
        ("TimeoutError", "fell silent", "CONTINUITY_MODEL_TIMEOUT_S"),
        ("ContractBroken", "a keeper of notes", "CONTINUITY_MEMORY_MODEL"),
        ("OSError", "could not be reached (OSError)", "look at the log"),
        ("the person's budget for today is used up", "used up today's tokens", "nothing is broken"),
        ("it did not begin in time", "did not begin", "CONTINUITY_MODEL_TIMEOUT_S"),
        ("", "could not be reached (no reason known)", "look at the log"),
    ],
)
def test_an_error_is_said_with_its_cause_and_what_to_do(error, cause, remedy):
    """No code alone, no name of a class alone: why, and what now."""
    why, what = cause_of(error)

    assert cause in why
    assert remedy in what


def test_each_cause_is_said_once_over_all_chats():
    """Three chats that the same key keeps waiting are one line, with the oldest of them."""
    failures = [FailedMessages(f"tg:1:{chat}:0", 1, 1_000_000 - chat, "Status 401") for chat in (1, 2, 3)]

    keys, limits = in_words([*failures, FailedMessages("tg:1:9:0", 2, 1_000_000, "Status 429")], 1_060_000)
    assert keys.startswith("3 messages failed (the first 1 minute ago): the model's provider refused the key; check")
    assert limits.startswith("2 messages failed (the first 1 minute ago): the model's provider has too many requests;")


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ('{"message": {"text": "hi"}}', "hi"),
        ('{"edited_message": {"caption": "look"}}', "look"),
        ('{"local_message": {"text": "over HTTP"}}', "over HTTP"),
        ("", ""),
        ("[1", ""),
    ],
)
def test_the_words_of_a_message_are_read_from_its_update(payload, words):
    """Whatever it came by; what cannot be read has none."""
    assert words_in(payload) == words
