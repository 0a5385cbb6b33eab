"""A wrong setting ends in one sentence that names it: absurd numbers, odd addresses, a file in another encoding."""

from __future__ import annotations

import math

import pytest
from annotated_types import Ge, Gt, Le

from bot import settings as module
from bot.settings import Settings, SettingsError, read_settings

NUMBERS = [name for name, field in Settings.model_fields.items() if module.limits(field)]
ABSURD = ("inf", "-inf", "nan", "1e400", "-1e400", "1e18", "9" * 5000, "-1", "0x10", "many", "[/x]", "1,5", "٣ ٣")


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Read no other `.env` and no variable of the machine."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def fault_of(monkeypatch, name, value):
    """Return what is said about this value, None when it is taken."""
    return faults_of(monkeypatch, [name], value)[name]


def faults_of(monkeypatch, names, value):
    """Return what is said about each of these when all of them have this value."""
    for name in names:
        monkeypatch.setenv(name.upper(), value)
    try:
        read_settings()
    except SettingsError as exc:
        return {name: exc.faults.get(name.upper()) for name in names}
    return dict.fromkeys(names)


def test_every_number_has_two_ends():
    """Also a setting that is added later: none of them takes more than it can use."""
    numeric = {
        name
        for name, field in Settings.model_fields.items()
        if field.annotation in (int, float, int | None, float | None)
    }

    assert numeric == set(NUMBERS)
    for name in NUMBERS:
        kinds = {type(limit) for limit in Settings.model_fields[name].metadata}
        assert Le in kinds, name
        assert kinds & {Ge, Gt}, name


@pytest.mark.parametrize("value", ABSURD)
def test_an_absurd_number_is_refused_with_its_bounds(monkeypatch, value):
    """One sentence of ours for each number: what it must be and what it is, shortened; never the library's words."""
    for name, fault in faults_of(monkeypatch, NUMBERS, value).items():
        assert fault is not None, name
        assert fault.startswith("must be a "), name
        assert "at most" in fault, name
        assert "Input should" not in fault, name
        assert len(fault) < 200, name


@pytest.mark.parametrize("name", NUMBERS)
def test_both_ends_themselves_work(monkeypatch, name):
    """What is allowed can be used: times in milliseconds are finite whole numbers."""
    (most,) = [limit.le for limit in Settings.model_fields[name].metadata if isinstance(limit, Le)]
    monkeypatch.setenv(name.upper(), str(most))
    found = read_settings() if "tokens" not in name and "window" not in name and "messages" not in name else None

    assert found is None or (math.isfinite(found.session_gap_ms) and found.resume_window_ms < 2**53)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("telegram_api_url", "api.telegram.org"),
        ("telegram_api_url", "ftp://api.telegram.org"),
        ("telegram_api_url", "https://"),
        ("telegram_api_url", "http://[::1"),
        ("telegram_api_url", "http://host:99999"),
        ("telegram_api_url", "http://ho st"),
        ("telegram_webhook_url", "not an address"),
        ("continuity_http_host", "a b"),
        ("continuity_http_host", "x" * 300),
        ("continuity_streaming", "loud"),
        ("continuity_resend_unproven", "perhaps"),
        ("continuity_log_level", "LOUD"),
        ("continuity_timezone", "Mars/Olympus"),
        ("continuity_timezone", "../../etc/passwd"),
        ("continuity_allowed_users", "1,two"),
        ("continuity_allowed_users", "9" * 6000),
        ("continuity_database_url", "mysql://x"),
        ("continuity_database_url", "sqlite:///"),
        ("telegram_bot_token", "not-a-token"),
    ],
)
def test_a_wrong_word_is_refused_in_our_words(monkeypatch, name, value):
    """The sentence says what would be right."""
    fault = fault_of(monkeypatch, name, value)

    assert fault is not None
    assert "Input should" not in fault
    assert len(fault) < 300


def test_a_secret_is_never_repeated(monkeypatch):
    """A token that is almost right is as good as the right one to whoever reads the log."""
    fault = fault_of(monkeypatch, "telegram_bot_token", "123456789:almost-a-secret")

    assert "almost" not in fault


@pytest.mark.parametrize("content", [b"CONTINUITY_PERSONA=caf\xe9\n", "CONTINUITY_PERSONA=x\n".encode("utf-16")])
def test_a_file_that_is_not_utf_8_is_named(tmp_path, content):
    """It is the file that is wrong, not a setting."""
    (tmp_path / ".env").write_bytes(content)

    with pytest.raises(SettingsError, match=r"\.env is not UTF-8"):
        read_settings()


def test_a_value_that_no_environment_takes_is_named(tmp_path):
    """A NUL in the file ends in a sentence as well."""
    (tmp_path / ".env").write_bytes(b"CONTINUITY_PERSONA=a\x00b\n")

    with pytest.raises(SettingsError, match=r"\.env"):
        read_settings()
