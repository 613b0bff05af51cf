"""What an answer itself says about how soon it goes stale: sources of today and yesterday will be followed by others tomorrow."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from groundwire.schemas.reply import Result
from groundwire.schemas.request import FreshnessClass

_NEWS_IS_YOUNGER_THAN = timedelta(days=2)
_FRESHER_THAN_DAILY: frozenset[FreshnessClass] = frozenset({"live", "daily"})


def class_for_ttl(asked: FreshnessClass, results: Sequence[Result], received_at_ms: int) -> FreshnessClass:
    """The question's class, or `daily` when at least half of the results were published within two days of the answer.

    Results without a date say nothing. The cache key keeps the question's class: only the time to live changes.
    """
    if asked in _FRESHER_THAN_DAILY or not results:
        return asked
    received = datetime.fromtimestamp(received_at_ms / 1000, UTC)
    young = sum(1 for result in results if _is_young(result.published_at, received))
    return "daily" if 2 * young >= len(results) else asked


def _is_young(published_at: str | None, received: datetime) -> bool:
    if published_at is None:
        return False
    try:
        published = datetime.fromisoformat(published_at)
    except ValueError:
        return False
    if published.tzinfo is None:
        published = published.replace(tzinfo=UTC)
    return abs(received - published) <= _NEWS_IS_YOUNGER_THAN
