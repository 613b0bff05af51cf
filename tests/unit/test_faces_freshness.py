"""`groundwire freshness`: the class, who decided, the signs and the life of an answer."""

import json
from pathlib import Path

from typer.testing import CliRunner

from groundwire.streams.faces.cli.main import app


def ran(home: Path, *words: str, config: str = "") -> str:
    options = ["--home", str(home)]
    if config:
        (home / "own.yaml").write_text(config, encoding="utf-8")
        options += ["--config", str(home / "own.yaml")]
    found = CliRunner().invoke(app, [*options, "freshness", *words])
    assert found.exit_code == 0, found.output
    return found.output


def test_a_weighed_question_shows_its_signs_and_its_life(tmp_path: Path) -> None:
    said = ran(tmp_path, "who", "is", "the", "mayor", "of", "Oslo")
    assert said.startswith("slow, decided by: weights\n  lives        7 d at most")
    assert "office +" in said and "static below" in said


def test_a_question_about_today_shows_the_day_in_its_key(tmp_path: Path) -> None:
    found = json.loads(ran(tmp_path, "news today", "--json"))
    assert (found["freshness"], found["decided_by"], found["ttl_s"]) == ("daily", "words", 86_400)
    assert {"class": "daily", "word": "today"} in found["words"] and len(found["span"]) == len("2026-12-01")
    assert f"means        {found['span']}" in ran(tmp_path, "news today")


def test_the_operators_words_and_lives_are_the_ones_that_hold(tmp_path: Path) -> None:
    own = "freshness: {words: {live: [tide]}}\ncache: {ttl_s: {live: 7}}\n"
    found = json.loads(ran(tmp_path, "tide in oslo", "--json", config=own))
    assert (found["freshness"], found["ttl_s"]) == ("live", 7)
