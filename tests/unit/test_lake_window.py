"""What a person writes as a time becomes the stretch of time meant."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from groundwire.lake.events.window import Moment, Window

NOW = datetime(2026, 12, 5, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "meant"),
    [
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        (date(2026, 12, 1), datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T10:00:00Z", datetime(2026, 12, 1, 10, tzinfo=UTC)),
        ("2026-12-01T10:00:00+09:00", datetime(2026, 12, 1, 1, tzinfo=UTC)),
        ("2026-12-01 10:00", datetime(2026, 12, 1, 10, tzinfo=UTC)),
        (datetime(2026, 12, 1, 10), datetime(2026, 12, 1, 10, tzinfo=UTC)),  # noqa: DTZ001 - without a zone on purpose
        (datetime(2026, 12, 1, 10, tzinfo=timezone(timedelta(hours=9))), datetime(2026, 12, 1, 1, tzinfo=UTC)),
        ("90m", NOW - timedelta(minutes=90)),
        ("24h", NOW - timedelta(hours=24)),
        (" 7d ", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
    ],
)
def test_a_beginning(since: Moment, meant: datetime) -> None:
    assert Window.of(since, None, now=NOW) == Window(meant, None)


def test_a_date_as_the_end_means_the_whole_day() -> None:
    assert Window.of("2026-12-05", "2026-12-05") == Window(
        datetime(2026, 12, 5, tzinfo=UTC), datetime(2026, 12, 6, tzinfo=UTC)
    )
    assert Window.of(None, "2026-12-05T00:00:00Z").until == datetime(2026, 12, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "7 years", "2026-12-05T25:00", "999999w"])
def test_what_is_no_time_is_said_with_what_would_be(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time: give a day"):
        Window.of(text, None)


def test_a_window_that_ends_before_it_begins_is_said() -> None:
    with pytest.raises(ValueError, match="the window is empty"):
        Window.of("2026-12-05", "2026-12-04")


@pytest.mark.parametrize(
    ("day", "reached"),
    [
        (date(2026, 12, 3), False),
        (date(2026, 12, 4), True),
        (date(2026, 12, 5), True),
        (date(2026, 12, 6), True),
        (date(2026, 12, 7), False),
        (date.max, False),
    ],
)
def test_a_window_reaches_its_days_and_their_neighbours(day: date, reached: bool) -> None:
    assert Window.of("2026-12-05", "2026-12-05").reaches(day) is reached


def test_an_open_window_reaches_every_day() -> None:
    assert Window().reaches(date.min)
    assert Window().reaches(date.max)
