"""What a purge matches, said twice: of an entry in hand, and as a filter for the store. Tests hold the two equal."""

from urllib.parse import urlsplit

from groundwire.schemas.cache_write import CacheEntry, Purge


def matches(purge: Purge, entry: CacheEntry) -> bool:
    """Whether the purge forgets this entry. Entries stored after the purge was asked for are never forgotten by it."""
    return (
        entry.stored_at_ms < purge.requested_at_ms
        and (purge.query is None or entry.normalized_query == purge.query)
        and (purge.provider is None or entry.provider == purge.provider)
        and (purge.tenant is None or entry.tenant == purge.tenant)
        and (purge.before_ms is None or entry.stored_at_ms < purge.before_ms)
        and (purge.domain is None or _label(purge.domain) in domain_labels(entry))
    )


def where(purge: Purge) -> str:
    """The same as a filter on the columns of the store (lake/cache/layout.py)."""
    terms = [f"stored_at_ms < {purge.requested_at_ms}"]
    if purge.query is not None:
        terms.append(f"normalized_query = {quoted(purge.query)}")
    if purge.provider is not None:
        terms.append(f"provider = {quoted(purge.provider)}")
    if purge.tenant is not None:
        terms.append(f"tenant = {quoted(purge.tenant)}")
    if purge.before_ms is not None:
        terms.append(f"stored_at_ms < {purge.before_ms}")
    if purge.domain is not None:
        terms.append(f"strpos(domains, {quoted(_label(purge.domain))}) > 0")
    return " AND ".join(terms)


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def hosts(entry: CacheEntry) -> set[str]:
    """The hosts of an entry's results, in lower case."""
    found = set()
    for result in entry.results:
        try:
            host = urlsplit(result.url).hostname
        except ValueError:  # a vendor's URL with a broken IPv6 part has no host to purge by
            host = None
        if host:
            found.add(host.rstrip("."))
    return found


def domain_labels(entry: CacheEntry) -> str:
    """Each result's domain and every domain above it, delimited: `|docs.example.org|example.org|org|`."""
    labels: dict[str, None] = {}
    for host in sorted(hosts(entry)):
        parts = host.split(".")
        for start in range(len(parts)):
            labels[".".join(parts[start:])] = None
    return "".join(f"|{label}" for label in labels) + "|"


def _label(domain: str) -> str:
    return f"|{domain.lower().removeprefix('*.').removeprefix('www.').strip('.')}|"
