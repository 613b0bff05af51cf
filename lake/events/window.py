"""The stretch of time that a scan or a report looks at: from `since` on, up to but without `until`."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

Moment = datetime | date | str

_AGO = re.compile(r"(\d{1,6})\s*([mhdw])")
_UNIT = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

# Copies of one event lie on one day but for the one asked around midnight; so far around a window are copies looked for.
_AROUND = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open stretch of time, UTC. None: open on that side."""

    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, since: Moment | None, until: Moment | None, *, now: datetime | None = None) -> "Window":
        """From what a person writes: a datetime (without a zone it is UTC), a date (the whole day is meant, also as the
        end), ISO text of either, or an age such as `90m`, `24h`, `7d`, `2w`. Raises ValueError that says so."""
        now = now or datetime.now(UTC)
        window = cls(_moment(since, now, end=False), _moment(until, now, end=True))
        if window.since is not None and window.until is not None and window.since >= window.until:
            raise ValueError(f"the window is empty: it begins {window.since} and ends {window.until}")
        return window

    def reaches(self, day: date) -> bool:
        """Whether a row of the window, or a copy of one, may lie in that day's folder."""
        start = datetime.combine(day, time(), UTC)
        end = start + timedelta(days=1) if day < date.max else datetime.max.replace(tzinfo=UTC)
        after_since = self.since is None or self.since - start < timedelta(days=1) + _AROUND
        before_until = self.until is None or end - self.until < timedelta(days=1) + _AROUND
        return after_since and before_until


def _moment(value: Moment | None, now: datetime, *, end: bool) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = _read(value.strip(), now)
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    start = datetime.combine(value, time(), UTC)
    return start + timedelta(days=1) if end else start


def _read(text: str, now: datetime) -> datetime | date:
    ago = _AGO.fullmatch(text)
    try:
        if ago is not None:
            return now - int(ago[1]) * _UNIT[ago[2]]
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ValueError(
            f"`{text[:40]}` is not a time: give a day (2026-12-05), a time (2026-12-05T10:00:00Z) or an age (24h, 7d)"
        ) from None
