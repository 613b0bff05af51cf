"""One request's row, found by its id."""

from pathlib import Path
from typing import Any

import polars as pl

from groundwire.lake.events.scan import scan

_COLUMNS = ("tenant", "cache_outcome", "query", "matched_query", "provider")


def find_request(lake: Path, request_id: str, tenant: str | None = None) -> list[dict[str, Any]]:
    """The rows of a request id, one a tenant; empty when there is none. Query texts are as the lake keeps them."""
    rows = scan("requests", lake).filter(pl.col("request_id") == request_id)
    if tenant is not None:
        rows = rows.filter(pl.col("tenant") == tenant)
    return rows.select(_COLUMNS).collect().to_dicts()
