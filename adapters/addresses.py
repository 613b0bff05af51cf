"""Result addresses: which are usable, what is taken out of them, and when two are one result."""

import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import SplitResult, parse_qs, quote, urlsplit, urlunsplit

from groundwire.adapters.spec import Redirector

MAX_URL_CHARS = 8192

# Parameters that only follow people around. Those with a meaning on some sites (`ref`, `source`, `id`) are not here.
_TRACKING = re.compile(
    r"^(?:utm_.*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|srsltid|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|mkt_tok|vero_id|oly_enc_id|oly_anon_id)$",
    re.IGNORECASE,
)
# Left in the address, and ignored when two are compared.
_IGNORED = frozenset({"ved", "sa", "usg"})
_TEXT_FRAGMENT = re.compile(r":~:text=.*$")
_UNSAFE = re.compile(r"[\s<>\"`\\^{}|\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def usable_url(raw: object, redirectors: Sequence[Redirector] = ()) -> str | None:
    """An absolute http(s) address, unwrapped and without tracking, or None.

    Everything else of it is kept byte for byte, but for characters that no address may hold: they are percent-encoded, so that
    an address can't break out of the line it is printed on.
    """
    if not isinstance(raw, str):
        return None
    text = raw.strip().replace("&amp;", "&")
    for _ in range(3):  # a redirector may point at another one
        parts = _split(text)
        if parts is None:
            return None
        target = _redirect_target(parts, redirectors)
        if target is None:
            return _rebuild(parts)
        text = target.strip()
    return None


def same_page_key(url: str) -> str:
    """What two addresses of one page have in common: scheme, `www.`, trailing slash, tracking and fragment do not count."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    query = "&".join(sorted(pair for pair in parts.query.split("&") if pair and pair.partition("=")[0] not in _IGNORED))
    return f"{host}{port}{parts.path.rstrip('/')}?{query}"


def is_private_host(host: str) -> bool:
    """Whether a literal host is an address that is not on the public internet. Names are judged by what they resolve to."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    return is_private_address(address)


def is_private_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Private, loopback, link-local, reserved, multicast, also when an IPv4 address hides in an IPv6 one."""
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if mapped is not None:
        return is_private_address(mapped)
    return not address.is_global or address.is_multicast


def _split(text: str) -> SplitResult | None:
    if len(text) > MAX_URL_CHARS:
        return None
    try:
        parts = urlsplit(text)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.port == 0:
            return None
        parts.hostname.encode("utf-8")
    except ValueError:  # a bad port, a bad IPv6 literal, half a surrogate pair
        return None
    if _UNSAFE.search(parts.hostname) or "%" in parts.hostname or "." not in parts.hostname.strip("."):
        return None if ":" not in parts.hostname else parts
    return parts


def _redirect_target(parts: SplitResult, redirectors: Sequence[Redirector]) -> str | None:
    for redirector in redirectors:
        if re.fullmatch(redirector.host, parts.hostname or "", re.IGNORECASE) and parts.path == redirector.path:
            query = parse_qs(parts.query)
            for name in redirector.params:
                for value in query.get(name, []):
                    if value.startswith(("http://", "https://")):
                        return value
    return None


def _rebuild(parts: SplitResult) -> str:
    """Back to text: scheme and host in lower case, user names dropped (they serve to disguise a host), tracking gone."""
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    query = "&".join(pair for pair in parts.query.split("&") if not _TRACKING.match(pair.partition("=")[0]))
    fragment = _TEXT_FRAGMENT.sub("", parts.fragment)
    netloc = host if parts.port is None else f"{host}:{parts.port}"
    return _UNSAFE.sub(
        lambda match: quote(match.group(0), safe=""),
        urlunsplit((parts.scheme.lower(), netloc, parts.path, query, fragment)),
    )
