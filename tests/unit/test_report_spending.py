"""What was spent today and this month, against which an operator reads the budgets."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from groundwire.lake.reports.spending import Spent, spent_by_provider
from groundwire.schemas.event import AttemptEvent
from tests.unit.lake_events import DAY_MS, MORNING_MS, attempt_event, land, records

NOW = datetime(2026, 12, 5, 12, 0, tzinfo=UTC)


def lake_of(path: Path, *events: AttemptEvent) -> Path:
    land(path, records(events))
    return path


def test_today_and_the_month_are_told_apart_and_unknown_costs_are_counted(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path / "lake",
        attempt_event(1, cost_micro_usd=100),
        attempt_event(2, cost_micro_usd=20, at_ms=MORNING_MS - DAY_MS),
        attempt_event(3, cost_micro_usd=None, cost_source="unknown", outcome="lost"),
        attempt_event(4, cost_micro_usd=7_000, at_ms=MORNING_MS - 10 * DAY_MS),
        attempt_event(5, provider="exa", cost_micro_usd=5, at_ms=MORNING_MS - 2 * DAY_MS),
    )
    assert spent_by_provider(lake, NOW) == {"serper": Spent(100, 120, 1), "exa": Spent(0, 5, 0)}


def test_a_day_is_a_day_of_utc(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", attempt_event(1, cost_micro_usd=100))
    still_the_fifth = datetime(2026, 12, 6, 8, 0, tzinfo=timezone(timedelta(hours=9)))
    assert spent_by_provider(lake, still_the_fifth) == {"serper": Spent(100, 100, 0)}
    assert spent_by_provider(lake, NOW + timedelta(days=1)) == {"serper": Spent(0, 100, 0)}


def test_without_a_lake_nothing_is_claimed(tmp_path: Path) -> None:
    assert spent_by_provider(tmp_path / "nowhere", NOW) is None
