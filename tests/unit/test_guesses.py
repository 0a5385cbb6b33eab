"""Wrong tokens and secrets are counted where they come from, and never stand before a right one."""

from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from bot.http.guesses import ADDRESSES, TRIES, TRIES_OF_ALL, WINDOW_MS, Guesses, origin
from bot.settings import HTTP_TOKEN_CHARS, Settings


def test_an_address_has_few_wrong_ones_a_minute():
    """Behind them it is told how long to wait; a minute later it may err again."""
    guesses = Guesses()

    waits = [guesses.failed("192.0.2.1", now_ms) for now_ms in range(TRIES + 1)]

    assert waits[:TRIES] == [0] * TRIES
    assert waits[TRIES] == WINDOW_MS - TRIES
    assert guesses.failed("192.0.2.2", TRIES) == 0
    assert guesses.failed("192.0.2.1", 2 * WINDOW_MS) == 0


@pytest.mark.parametrize("address", ["192.0.{}.{}", "2001:db8:{:x}:{:x}::1"])
def test_many_addresses_together_have_a_limit_and_bounded_memory(address):
    """Who has a network of them gets no further than the limit for all, and fills no memory."""
    guesses = Guesses()

    waits = [guesses.failed(address.format(n // 256, n % 256), 0) for n in range(3 * ADDRESSES)]

    assert waits[:TRIES_OF_ALL] == [0] * TRIES_OF_ALL
    assert all(waits[TRIES_OF_ALL:])
    assert len(guesses._failed) <= ADDRESSES


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "?"),
        ("x" * 1000, "x" * 64),
    ],
)
def test_an_address_is_counted_by_who_can_have_it(address, counted):
    """All of an IPv6 network is one person's."""
    assert origin(address) == counted


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "bot.example"])  # noqa: S104 - the case under test
@pytest.mark.parametrize("token", ["a", "x" * (HTTP_TOKEN_CHARS - 1), "x" + " " * 40])
def test_a_short_token_lets_nobody_in_from_elsewhere(host, token):
    """Where other machines reach the port, the start is refused with how to make a long one."""
    with pytest.raises(ValidationError, match="openssl rand"):
        Settings(_env_file=None, continuity_http_host=host, continuity_http_port=8080, continuity_http_token=token)

    Settings(_env_file=None, continuity_http_host="127.0.0.1", continuity_http_port=8080, continuity_http_token=token)


def test_a_blank_token_is_none():
    """`Authorization: Bearer ` would open everything."""
    with pytest.raises(ValidationError, match="blank"):
        Settings(_env_file=None, continuity_http_port=8080, continuity_http_token=SecretStr("  "))


@pytest.mark.parametrize("proxies", ["*", "0.0.0.0/0", "::/0", "proxy.example", "10.0.0.0/33", "10.0.0.1/8"])
def test_nobody_is_believed_for_everybody(proxies):
    """Who trusts all proxies lets each client say where it comes from: such a setting is refused."""
    with pytest.raises(ValidationError, match="addresses or networks"):
        Settings(_env_file=None, continuity_http_trusted_proxies=proxies)
