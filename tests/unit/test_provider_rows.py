"""`providers list`: what is told of a provider, and what is not claimed."""

import functools
import json
import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from groundwire.adapters.registry import Registry
from groundwire.lake.reports.spending import Spent
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.main import app
from groundwire.streams.faces.provider_rows import provider_rows
from groundwire.streams.runtime.guards_file import Seen
from tests.unit.lake_events import attempt_event, land, records

SETTINGS = Settings.model_validate(
    {
        "routes": {"default": ["serper", "exa"]},
        "providers": {"serper": {"budget_per_day_micro_usd": 5_000, "requests_per_s": 7, "max_concurrency": 2}},
    }
)


REGISTRY = functools.cache(lambda: Registry.load(SETTINGS, {"SERPER_API_KEY": "k"}))


def row(name: str, **more: Any) -> dict[str, Any]:
    registry = REGISTRY()
    given: dict[str, Any] = {"guards": [], "spent": None, **more}
    return next(one for one in provider_rows(registry, SETTINGS, **given) if one["provider"] == name)


@pytest.mark.parametrize(
    ("name", "key"),
    [("serper", "present"), ("exa", "missing"), ("wikipedia", "not needed"), ("searxng", "not needed")],
)
def test_whether_the_key_is_there(name: str, key: str) -> None:
    assert row(name)["key"] == key


def test_limits_budget_capabilities_and_routes_are_those_in_force() -> None:
    found = row("serper")
    assert (found["requests_per_s"], found["max_concurrency"], found["budget_per_day_micro_usd"]) == (7, 2, 5_000)
    assert (found["routes"], row("brave")["routes"]) == (["default"], [])
    assert found["capabilities"]["news"] == "vendor"
    assert row("exa")["capabilities"]["text"] == "page"


def test_without_a_worker_and_a_lake_here_nothing_is_claimed() -> None:
    found = row("serper")
    assert (found["breaker"], found["under_way"], found["fetch_workers"]) == ("unknown", None, 0)
    assert (found["spent_today_micro_usd"], found["spent_this_month_micro_usd"]) == (None, None)


def test_of_several_workers_the_one_that_is_worst_off_is_told() -> None:
    guards = [
        {"serper": Seen("closed", 2), "exa": Seen("half_open", 1)},
        {"serper": Seen("open", 1), "exa": Seen("closed", 0)},
    ]
    found = row("serper", guards=guards)
    assert (found["breaker"], found["under_way"], found["fetch_workers"]) == ("open", 3, 2)
    assert row("exa", guards=guards)["breaker"] == "half_open"
    assert row("brave", guards=guards)["breaker"] == "unknown"


def test_what_was_spent_is_what_the_lake_says_and_nothing_when_it_was_not_asked() -> None:
    spent = {"serper": Spent(3, 40, 1)}
    found = row("serper", spent=spent)
    assert (found["spent_today_micro_usd"], found["spent_this_month_micro_usd"]) == (3, 40)
    assert found["calls_of_unknown_cost_this_month"] == 1
    assert row("exa", spent=spent)["spent_this_month_micro_usd"] == 0


def test_the_command_shows_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ms = time.time_ns() // 1_000_000
    land(tmp_path / "lake", records([attempt_event(1, cost_micro_usd=1_250, at_ms=now_ms)]))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / f"fetch-{os.getpid()}.json").write_text(
        json.dumps(
            {
                "pid": os.getpid(),
                "started_at": psutil.Process().create_time(),
                "at": time.time(),
                "providers": {"serper": {"breaker": "half_open", "under_way": 1}},
            }
        )
    )
    monkeypatch.chdir(tmp_path)
    environ = {
        "GROUNDWIRE_HOME": str(tmp_path),
        "SERPER_API_KEY": "a-key",
        "GROUNDWIRE_PROVIDERS__SERPER__BUDGET_PER_DAY_MICRO_USD": "2000000",
        "COLUMNS": "400",
    }
    shown = CliRunner().invoke(app, ["providers", "list"], env=environ)
    assert shown.exit_code == 0, shown.output
    (line,) = [line for line in shown.output.splitlines() if line.startswith("serper")]
    for part in ("usable", "key present", "breaker half open, 1 under way", "$0.0010 a call", "50/s, 50 at once"):
        assert part in line
    assert "today $0.00125 of $2.0000" in line and "this month $0.00125" in line
    assert "no key: set EXA_API_KEY" in shown.output
    assert "a-key" not in shown.output
    as_json = CliRunner().invoke(app, ["providers", "list", "--json"], env=environ)
    rows = {one["provider"]: one for one in json.loads(as_json.stdout)["providers"]}
    assert (rows["serper"]["breaker"], rows["exa"]["breaker"]) == ("half_open", "unknown")


def test_the_command_says_when_it_can_not_know_the_breakers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["providers", "list"], env={"GROUNDWIRE_HOME": str(tmp_path), "COLUMNS": "200"})
    assert "Breakers are unknown: there is no fetch worker on this machine and state folder." in shown.output
    assert "today" not in shown.output
