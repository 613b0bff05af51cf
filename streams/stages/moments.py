"""Moments as text, the way replies carry them."""

from datetime import UTC, datetime


def iso_utc(moment_ms: int) -> str:
    """Unix milliseconds as ISO 8601 in UTC: `2026-12-01T09:30:00.250Z`."""
    return datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
