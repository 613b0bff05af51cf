"""Result addresses: which are usable, what is taken out of them, when two are one page."""

import ipaddress

import pytest

from groundwire.adapters.addresses import is_private_address, is_private_host, same_page_key, usable_url
from groundwire.adapters.spec import Redirector

FORWARDER = Redirector(host=r"(www\.)?search\.example", path="/url", params=["q", "url"])


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("https://example.org/a?b=1#part", "https://example.org/a?b=1#part"),
        (" HTTPS://Example.ORG/A ", "https://example.org/A"),
        ("https://example.org/a?utm_source=x&b=1&UTM_Medium=y&gclid=1&fbclid=2&srsltid=3", "https://example.org/a?b=1"),
        ("https://example.org/a?ref=1&source=2&id=3", "https://example.org/a?ref=1&source=2&id=3"),
        ("https://example.org/a#:~:text=word", "https://example.org/a"),
        ("https://example.org/a#part:~:text=word", "https://example.org/a#part"),
        ("https://example.org/a?x=1&amp;y=2", "https://example.org/a?x=1&y=2"),
        ("https://example.org/%E3%82%AB?q=a%20b", "https://example.org/%E3%82%AB?q=a%20b"),
        ('https://example.org/a b"<x>\n[1]', "https://example.org/a%20b%22%3Cx%3E[1]"),
        ("https://user:pass@example.org/", "https://example.org/"),
        ("https://bank.example@evil.example/", "https://evil.example/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("https://münchen.example/ü", "https://münchen.example/ü"),
        ("http://[2001:db8::1]:80/x", "http://[2001:db8::1]:80/x"),
        ("https://example.org/\u202egnp.exe", "https://example.org/%E2%80%AEgnp.exe"),
    ],
)
def test_a_usable_address_is_kept_but_for_tracking_and_what_no_address_may_hold(raw: str, clean: str) -> None:
    assert usable_url(raw) == clean


@pytest.mark.parametrize(
    "raw",
    [
        None,
        5,
        [],
        {},
        "",
        " ",
        "example.org",
        "//example.org/a",
        "/a",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "https:///a",
        "http://a.example:0/",
        "http://a.example:99999/",
        "http://[::1",
        "http://host/",
        "http://.../",
        "https://exa mple.org/",
        "https://a%2e.example/",
        "mailto:a@b.example",
        "https://example.org/" + "x" * 9000,
        "https://\ud800.example/",
    ],
)
def test_what_is_no_absolute_web_address_is_not_usable(raw: object) -> None:
    assert usable_url(raw) is None


def test_an_address_that_only_forwards_is_taken_apart() -> None:
    wrapped = "https://www.search.example/url?sa=t&q=https://example.org/a%3Fid%3D1&ved=x"
    assert usable_url(wrapped, [FORWARDER]) == "https://example.org/a?id=1"
    assert usable_url("https://search.example/url?sa=t", [FORWARDER]) == "https://search.example/url?sa=t"
    assert usable_url("https://other.example/url?q=https://a.example/", [FORWARDER]) == (
        "https://other.example/url?q=https://a.example/"
    )


def test_a_forwarder_that_forwards_to_itself_has_an_end() -> None:
    inner = "https://search.example/url?q=https%3A%2F%2Fa.example%2F"
    for _ in range(4):
        inner = "https://search.example/url?q=" + inner.replace("%", "%25").replace(":", "%3A").replace("&", "%26")
    assert usable_url(inner, [FORWARDER]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "http://www.a.example/x/"),
        ("https://a.example/x?b=1&a=2", "https://a.example/x?a=2&b=1#frag"),
        ("https://a.example/x?ved=1&sa=2&usg=3", "https://a.example/x"),
        ("https://a.example:443/", "http://a.example:80"),
    ],
)
def test_twins_are_one_page(one: str, other: str) -> None:
    assert same_page_key(one) == same_page_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example/x", "https://b.a.example/x"),
        ("https://a.example/x?id=1", "https://a.example/x?id=2"),
        ("https://a.example:8080/", "https://a.example/"),
    ],
)
def test_different_pages_stay_different(one: str, other: str) -> None:
    assert same_page_key(one) != same_page_key(other)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fc00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "255.255.255.255",
    ],
)
def test_private_addresses_are_known(text: str) -> None:
    assert is_private_address(ipaddress.ip_address(text))
    assert is_private_host(text)


def test_public_hosts_are_known() -> None:
    assert not is_private_host("8.8.8.8")
    assert not is_private_host("api.vendor.example")
    assert not is_private_host("2606:4700::1111")
    assert is_private_host("box.internal")
    assert is_private_host("LOCALHOST".lower())
