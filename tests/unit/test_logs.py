"""What a log may show: no secret in any form, and no message of a person in an error's words."""

from __future__ import annotations

import logging

import pytest
import stamina
import structlog
from pydantic import SecretStr, TypeAdapter, ValidationError

from bot.process.logs import LEFT_OUT, error_in_words, redact, set_up
from memory.errors import StorageUnavailable

CANARY = "a canary sings"
SECRET = "a-secret/of+16=characters"


@pytest.fixture(autouse=True)
def _as_before():
    """Leave logging and retries as they were."""
    root = logging.getLogger()
    handlers, level, config = root.handlers, root.level, structlog.get_config()
    yield
    root.handlers, root.level = handlers, level
    structlog.configure(**config)
    stamina.instrumentation.set_on_retry_hooks(None)


class ProviderError(RuntimeError):
    """What a provider's library raises: a body that repeats the prompt."""

    __module__ = "pydantic_ai.exceptions"


def raised(error):
    try:
        raise error
    except type(error) as exc:
        return exc


def invalid():
    try:
        TypeAdapter(int).validate_python(CANARY)
    except ValidationError as exc:
        return exc


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(CANARY),
        ValueError(CANARY),
        KeyError(CANARY),
        UnicodeEncodeError("utf-8", CANARY, 0, 1, "x"),
        invalid(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_that_may_repeat_a_message_is_told_by_its_kind(error):
    """Also as the cause of ours, and in a group; at DEBUG it is told whole."""
    ours = StorageUnavailable("no room")
    ours.__cause__ = raised(error)
    group = ExceptionGroup("several", [error, ours])

    for each in (raised(error), raised(ours), raised(group)):
        told = error_in_words(each, whole=False)
        assert CANARY not in told
        assert LEFT_OUT in told
        assert "test_logs.py" in told
    assert "no room" in error_in_words(raised(ours), whole=False)
    assert LEFT_OUT not in error_in_words(raised(error), whole=True)


def test_an_error_that_cannot_be_told_does_not_break_the_log():
    """Its own words fail: the trace is there all the same."""

    class Mute(Exception):
        def __str__(self):
            raise ValueError

    Mute.__module__ = "memory.somewhere"
    assert "cannot be told" in error_in_words(raised(Mute(1)), whole=False)


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
@pytest.mark.parametrize("style", ["console", "json"])
def test_no_secret_stands_in_any_line(capsys, monkeypatch, level, style):
    """Known by value, from the settings and from the environment; a token also by its looks."""
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", SECRET)
    set_up(level, style, secrets=[SecretStr("webhook-secret-value"), None])
    token = "123456789:" + "A" * 35
    line = f"called with {{'secret_token': 'webhook-secret-value'}} {SECRET} {token} {token.replace(':', '%3A')}"
    for logger in (logging.getLogger("telegram"), structlog.get_logger("bot")):
        logger.warning(line)
        logger.error("failed", exc_info=raised(ProviderError(f"Bearer {SECRET} {token}")))
    shown = capsys.readouterr().err

    assert shown.count("failed") == 2
    for secret in (SECRET, "webhook-secret-value", "A" * 35):
        assert secret not in shown
    assert redact(token) == "<token>"


def test_a_retry_is_logged_without_what_it_was_called_with(capsys):
    """The kind of error, the number of tries, the pause: enough to see what goes on."""
    set_up()

    @stamina.retry(on=ProviderError, attempts=2, wait_initial=0, wait_jitter=0)
    def ask(prompt):
        raise ProviderError(f"cannot answer {prompt}")

    with pytest.raises(ProviderError):
        ask(CANARY)
    shown = capsys.readouterr().err

    assert "ProviderError" in shown
    assert CANARY not in shown
