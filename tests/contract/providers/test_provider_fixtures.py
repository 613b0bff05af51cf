"""Every provider file against its own fixtures, picked up by their names."""

import asyncio
from pathlib import Path

import pytest

from groundwire.adapters.fixtures import load_fixture, run_fixture
from groundwire.adapters.registry import load_specs

FIXTURES = Path(__file__).parent / "fixtures"
SPECS, PROBLEMS = load_specs([])
CASES = sorted(FIXTURES.glob("*/*.yaml"))


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}-{path.stem}" for path in CASES])
def test_a_fixture_comes_out_as_it_says(path: Path) -> None:
    assert asyncio.run(run_fixture(SPECS[path.parent.name], load_fixture(path))) == []


def test_every_shipped_file_loads() -> None:
    assert PROBLEMS == []
    assert len(SPECS) >= 16


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_provider_has_the_fixtures_that_no_provider_can_do_without(name: str) -> None:
    cases = {path.stem for path in CASES if path.parent.name == name}
    assert {"happy", "empty"} <= cases
    assert len(cases) >= 7


def test_no_fixture_belongs_to_nobody() -> None:
    assert {path.parent.name for path in CASES} <= set(SPECS)
