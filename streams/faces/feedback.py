"""Verdicts on semantic hits.

A wrong one is purged on every node and never served again on this one; every verdict becomes a pair to calibrate on.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from groundwire.schemas.cache_write import Purge
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.purge import now_ms, publish_purge
from groundwire.streams.stages.query import normalize_query


@dataclass(frozen=True, slots=True)
class ServedHit:
    """A semantic hit as the lake has it."""

    query: str
    matched_query: str
    provider: str | None


def find_hit(settings: Settings, request_id: str, tenant: str | None) -> ServedHit:
    """Look a semantic hit up in the lake. Raises CommandError when there is none of that id, or its text was not kept."""
    from groundwire.lake.events.find import find_request  # brings Polars

    found = find_request(settings.lake_path, request_id, tenant)
    if not found:
        raise CommandError(f"no request {request_id} in the lake {settings.lake_path}")
    if len({row["tenant"] for row in found}) > 1:
        raise CommandError(f"several tenants have a request {request_id}; name one with --tenant")
    row = found[0]
    if row["cache_outcome"] != "semantic":
        raise CommandError(f"request {request_id} was no semantic hit but: {row['cache_outcome']}")
    if not row["query"] or not row["matched_query"]:
        raise CommandError(
            "the lake does not keep query texts (lake.query_text), so there is nothing to purge or teach by"
        )
    return ServedHit(row["query"], row["matched_query"], row["provider"])


async def purge_hit(settings: Settings, hit: ServedHit) -> None:
    """Forget the answer under the question it was served for. The entry it came from is right for its own question."""
    query = normalize_query(hit.query)
    await publish_purge(settings, Purge(query=query, provider=hit.provider, requested_at_ms=now_ms()))


def remember(settings: Settings, hit: ServedHit, *, same: bool) -> Path:
    """Append the pair to `feedback.jsonl` in the state folder. Raises CommandError when it can't be written."""
    path = settings.feedback_path
    row = {"a": hit.matched_query, "b": normalize_query(hit.query), "same": int(same)}
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    except OSError as error:
        raise CommandError(f"{path}: can't be written: {error.strerror}") from None
    return path
