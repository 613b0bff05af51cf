"""`groundwire cache calibrate`: what is written, and what is only said."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundwire.lake.cache.calibration import Calibration
from groundwire.lake.cache.embedder import Embedder
from groundwire.streams.faces.cli.main import app

CITIES = "oslo rome paris lima cairo delhi tokyo seoul quito accra dakar tunis minsk".split()  # noqa: SIM905  # reads better
THINGS = "map weather history hotels museums parks schools airport mayor population".split()  # noqa: SIM905


class Near:
    """Every two texts are near: only the verifier tells them apart."""

    def embed_now(self, text: str) -> Sequence[float]:
        return [1.0]


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Embedder, "load", lambda *_args, **_more: Near())


def pairs(folder: Path, number: int) -> Path:
    """Pairs that pass the verifier and are right."""
    names = [(city, thing, year) for year in range(1990, 2020) for city in CITIES for thing in THINGS][:number]
    rows = [f"{thing} of {city} {year}\t{city} {thing} {year}\t1" for city, thing, year in names]
    file = folder / "pairs.tsv"
    file.write_text("\n".join(["a\tb\tsame", *rows, "map of rome\tmap of oslo\t0"]) + "\n", encoding="utf-8")
    return file


def calibrated(home: Path, file: Path, *more: str) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["--home", str(home), "cache", "calibrate", str(file), *more])
    return ran.exit_code, ran.output


def test_a_rate_that_is_proven_is_written_and_used(tmp_path: Path) -> None:
    code, said = calibrated(tmp_path, pairs(tmp_path, 400))
    assert code == 0 and "holds" in said and "written:" in said
    kept = Calibration.load(tmp_path / "calibration.json")
    assert kept.extra["proven"] is True and kept.extra["false_hit_rate_at_most"] <= 0.01
    assert not list(tmp_path.glob("*.new"))


def test_a_rate_that_is_not_proven_leaves_the_calibration_in_use_as_it_is(tmp_path: Path) -> None:
    calibrated(tmp_path, pairs(tmp_path, 400))
    before = (tmp_path / "calibration.json").read_bytes()
    code, said = calibrated(tmp_path, pairs(tmp_path, 50))
    assert code == 1 and "not proven" in said and "nothing written" in said
    assert (tmp_path / "calibration.json").read_bytes() == before


def test_without_a_calibration_one_that_is_not_proven_makes_none(tmp_path: Path) -> None:
    code, said = calibrated(tmp_path, pairs(tmp_path, 50), "--json")
    assert code == 1 and json.loads(said)["written"] is None
    assert not (tmp_path / "calibration.json").exists()


def test_force_writes_it_and_the_file_says_that_nothing_is_proven(tmp_path: Path) -> None:
    code, said = calibrated(tmp_path, pairs(tmp_path, 50), "--force")
    assert code == 1 and "its rate is not proven" in said
    kept = Calibration.load(tmp_path / "calibration.json")
    assert kept.extra["proven"] is False and kept.extra["false_hit_rate_at_most"] > 0.01


def test_a_dry_run_writes_nothing_even_when_forced(tmp_path: Path) -> None:
    assert calibrated(tmp_path, pairs(tmp_path, 400), "--dry-run", "--force")[0] == 0
    assert not (tmp_path / "calibration.json").exists()
