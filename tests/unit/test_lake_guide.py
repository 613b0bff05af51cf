"""The lake's guide names every column there is, every baseline, and examples that run."""

import re
from pathlib import Path

import pytest

from groundwire.lake.events.tables import ATTEMPTS, REQUESTS, Table
from groundwire.lake.reports.savings import BASELINES
from tests.unit.lake_events import attempt_event, land, records, request_event

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "lake.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [REQUESTS, ATTEMPTS], ids=lambda table: table.name)
def test_every_column_is_explained_and_no_other(table: Table) -> None:
    section = GUIDE.split(f"**{table.name}**")[1].split("\n\n")[1]
    explained = [name for line in section.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(explained) == sorted(table.schema.names)


def test_every_baseline_is_explained() -> None:
    for name, baseline in BASELINES.items():
        assert f"| `{name}` | {baseline.what.split(';')[0]} |" in GUIDE


@pytest.mark.parametrize("number", [0, 1])
def test_the_python_examples_run(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    land(tmp_path / ".groundwire" / "lake", records([request_event(1), attempt_event(1)]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GROUNDWIRE_HOME", raising=False)
    monkeypatch.delenv("GROUNDWIRE_LAKE__PATH", raising=False)
    example = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[number]
    exec(compile(example, "lake.md", "exec"), {})
