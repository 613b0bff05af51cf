"""How long an answer may be kept. Of all TTLs that apply the shortest wins, and the vendor's storage terms cap them all."""

from collections.abc import Iterable

from groundwire.schemas.request import FreshnessClass
from groundwire.schemas.settings import CacheSettings


def ttl_s(
    settings: CacheSettings,
    *,
    provider: str,
    freshness: FreshnessClass,
    domains: Iterable[str] = (),
    cap_s: int | None = None,
) -> int:
    """Seconds an answer may be served.

    `domains` are the hosts of its results; one volatile source makes the whole answer volatile. `cap_s` is the provider's
    storage terms: None means no cap, 0 that nothing may be kept.
    """
    limits = [settings.ttl_s[freshness]]
    if provider in settings.ttl_provider_s:
        limits.append(settings.ttl_provider_s[provider])
    if settings.ttl_domain_s:
        hosts = {domain.lower().rstrip(".") for domain in domains}
        limits.extend(
            seconds
            for pattern, seconds in settings.ttl_domain_s.items()
            if any(domain_matches(host, pattern) for host in hosts)
        )
    if cap_s is not None:
        limits.append(cap_s)
    return max(0, min(limits))


def domain_matches(host: str, pattern: str) -> bool:
    """`example.org` matches that host (and its `www.` twin) only, `*.example.org` the host and everything below it."""
    pattern = pattern.lower().rstrip(".")
    host = host.lower().rstrip(".")
    if pattern.startswith("*."):
        domain = pattern[2:]
        return host == domain or host.endswith(f".{domain}")
    return host.removeprefix("www.") == pattern.removeprefix("www.")
