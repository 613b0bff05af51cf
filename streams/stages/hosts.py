"""The sites that an answer's results come from."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from groundwire.schemas.reply import Result


def hosts_of(results: Sequence[Result]) -> list[str]:
    """Host names of the results, without `www.`; an address that can't be read has none."""
    hosts: dict[str, None] = {}
    for result in results:
        try:
            host = urlsplit(result.url).hostname
        except ValueError:
            continue
        if host:
            hosts[host.removeprefix("www.")] = None
    return list(hosts)
