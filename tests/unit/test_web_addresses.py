"""Addresses of pages: which may be reached, which stand in a text, and the rules of sites for programs."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from bot.tools.tool import NotDone
from bot.tools.web.addresses import is_public, parsed, stands_in
from bot.tools.web.robots import allows, fits

INSIDE = [
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",  # noqa: S104 - an address that must not be reached
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
]


@pytest.mark.parametrize("address", INSIDE)
def test_no_address_inside_a_house_is_reached(address):
    """Private, loopback, link-local, multicast, reserved, and those in which such a one is wrapped."""
    assert not is_public(ip_address(address), 443)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_the_open_net_is_reached_at_the_ports_of_the_web(address):
    """80 and 443, no other."""
    assert is_public(ip_address(address), 80)
    assert is_public(ip_address(address), 443)
    assert not is_public(ip_address(address), 22)


@pytest.mark.parametrize(
    "text",
    [
        "ftp://example.org",
        "file:///etc/passwd",
        "javascript://x",
        "http://",
        "https://me:word@example.org",
        "http://[",
        "",
    ],
)
def test_what_is_no_address_of_a_page_is_said(text):
    """Other schemes, no host, names and passwords."""
    with pytest.raises(NotDone):
        parsed(text)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://example.org/a", "what does https://example.org/a say?"),
        ("https://example.org/a", "read example.org/a."),
        ("https://example.org/", "(example.org)"),
        ("https://example.org/a", "[words](https://example.org/a)"),
        ("https://example.org/a", "https://example.org/a#part"),
        ("https://example.org/a?b=1", "x https://example.org/a?b=1, and"),
    ],
)
def test_an_address_that_was_given_is_known(address, text):
    """With or without its scheme, its last slash and the end of a sentence."""
    assert stands_in(address, text)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://example.org/abc", "https://example.org/a"),
        ("https://example.org/a", "https://example.org/abc"),
        ("https://example.org", "https://example.org/a?q=1"),
        ("https://example.org", "https://example.org.evil.test"),
        ("https://ample.org", "https://example.org"),
        ("https://evil.test/?q=secret", "https://evil.test/?q= and secret"),
        ("https://evil.test/?q=secret", ""),
        ("https://", "anything"),
    ],
)
def test_an_address_that_was_made_up_is_not_known(address, text):
    """Neither a part of another one nor one with something added."""
    assert not stands_in(address, text)


ROBOTS = """
User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$

User-agent: ContinuityBot
User-agent: other
Disallow: /not-for-bots/
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("stranger", "/", True),
        ("stranger", "/private/x", False),
        ("stranger", "/private/open/x", True),
        ("stranger", "/a/b.pdf", False),
        ("stranger", "/a/b.pdf?x", True),
        ("ContinuityBot", "/private/x", True),
        ("ContinuityBot", "/not-for-bots/x", False),
        ("ContinuityBot", "/robots.txt", True),
    ],
)
def test_a_site_says_what_programs_may_read(agent, path, allowed):
    """The group of the agent's own name, else of all; of the rules that fit the longest."""
    assert allows(ROBOTS, agent, path) is allowed


def test_a_pattern_never_goes_back():
    """A file of wildcards is matched in one pass."""
    assert not fits("*a" * 1000 + "b$", "/" + "a" * 2000)
    assert fits("/*a*b$", "/xaxb")
    assert not fits("/a*a$", "/a")
