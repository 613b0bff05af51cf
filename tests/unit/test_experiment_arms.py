"""The experiments of several arms: the same questions in several ways, one table, and the conditions under it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from groundwire.lake.reports.arms import Arm, depth_experiment, grounding_experiment
from groundwire.schemas.reply import CacheReceipt, Latency, Result, SearchReply
from groundwire.streams.faces.arms import holds
from groundwire.streams.faces.cli import experiment
from groundwire.streams.faces.cli.main import app
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.questions import read_answered
from groundwire.streams.faces.replay import LatencySummary, PassSummary, ReplayResult


def arm(name: str, **more: Any) -> Arm:
    known: dict[str, Any] = {
        "name": name,
        "requests": 10,
        "answered": 10,
        "status": {"grounded": 9, "ungrounded": 1},
        "cache": {"miss": 8, "exact": 2},
        "cost_micro_usd": 8_000,
        "cost_unknown": 0,
        "latency_ms": {"mean": 300.0, "p50": 280.0, "p95": 700.0, "p99": 900.0},
        "results_mean": 3.0,
        "context_tokens_mean": 410.5,
        "context_tokens_total": 3_694,
        "sites_mean": 2.5,
    }
    return Arm(**{**known, **more})


def test_each_arm_is_a_column_and_hits_cost_latency_and_tokens_are_rows() -> None:
    dear = arm("depth 10", cost_micro_usd=40_000, cost_unknown=1, cache={"miss": 10}, results_mean=None, answered=0)
    found = depth_experiment(
        [arm("depth 3"), dear], questions=10, source="q.csv", sandbox=True, cache="use", context_tokens=32_000
    )
    lines = {line.measure: line.values for line in found.lines}
    assert lines["from the cache"] == ["2 (20 %)", "0 (0 %)"]
    assert lines["vendor cost"] == ["$0.008", "$0.04 + 1 unknown"]
    assert lines["p95 latency"] == ["700.0 ms", "–"]
    assert lines["results, mean"] == ["3.0", "–"]
    assert lines["context tokens, mean"] == ["410.5", "410.5"]
    assert "answer in context" not in lines


@pytest.mark.parametrize(
    ("cache", "hits", "said"),
    [
        ("use", 2, "2 replies came from it, at no cost"),
        ("use", 0, "no reply came from it"),
        ("bypass", 0, "passed by (bypass)"),
    ],
)
def test_the_conditions_name_the_cache_and_the_vendors(cache: str, hits: int, said: str) -> None:
    one = arm("exa", cache={"exact": hits, "miss": 10 - hits})
    for sandbox, vendors in ((True, "the sandbox's local servers"), (False, "The vendors were real")):
        found = grounding_experiment([one], questions=10, source="q.csv", sandbox=sandbox, cache=cache)
        assert said in " ".join(found.conditions)
        assert vendors in " ".join(found.conditions)
        assert "No model was asked" in " ".join(found.conditions)


def test_expected_answers_are_counted_in_the_contexts_and_the_limits_of_that_are_said() -> None:
    found = grounding_experiment(
        [arm("exa", answers_found=7)], questions=10, source="q.csv", sandbox=False, cache="use"
    )
    assert {line.measure: line.values for line in found.lines}["answer in context"] == ["7 (70 %)"]
    assert "an answer in other words is not found" in " ".join(found.conditions)


@pytest.mark.parametrize(
    ("context", "answer", "found"),
    [
        ("It was Michio Sugeno, in 2010.", "michio sugeno", True),
        ("in 2010.", "2010", True),
        ("in 20100.", "2010", False),
        ("The Los-Angeles river", "los angeles", True),
        ("수도는 서울이다", "서울", True),
        ("nothing", "", False),
        ("nothing", "…", False),
    ],
)
def test_an_answer_is_found_by_its_words(context: str, answer: str, found: bool) -> None:
    assert holds(context, answer) is found


def test_questions_come_with_their_answers(tmp_path: Path) -> None:
    file = tmp_path / "qa.csv"
    file.write_text("problem,answer\nwho,Ann\n,\nwhere,Rome\n")
    assert read_answered(file, None, "answer") == [("who", "Ann"), ("where", "Rome")]
    with pytest.raises(CommandError, match="no column `answers`; there are: problem, answer"):
        read_answered(file, None, "answers")
    file.write_text("problem,answer\nwho,\n")
    with pytest.raises(CommandError, match="nothing under `answer` for the question: who"):
        read_answered(file, None, "answer")
    lines = tmp_path / "qa.jsonl"
    lines.write_text('{"q": "who", "a": "Ann"}\n')
    assert read_answered(lines, "q", "a") == [("who", "Ann")]
    lines.write_text('{"q": "who", "a": 3}\n')
    with pytest.raises(CommandError, match="line 1 has no text under `a`"):
        read_answered(lines, "q", "a")
    text = tmp_path / "q.txt"
    text.write_text("who\n")
    with pytest.raises(CommandError, match="a text file has no column"):
        read_answered(text, None, "answer")


def reply(query: str, depth: int) -> SearchReply:
    results = [
        Result(
            index=n,
            title="",
            url=f"https://{n % 2}.example/{n}",
            body="",
            published_at=None,
            score=None,
            provider="exa",
        )
        for n in range(1, depth + 1)
    ]
    return SearchReply(
        request_id="r",
        reply_id="r",
        status="grounded",
        query=query,
        normalized_query=query,
        freshness="slow",
        results=results,
        context=f"[1] {query} says Ann " + "x" * 30 * depth,
        provider="exa",
        cache=CacheReceipt(outcome="miss"),
        cost_micro_usd=1_000,
        saved_micro_usd=None,
        latency_ms=Latency(total=1.0),
        attempts=[],
        error=None,
        warnings=[],
        metadata={},
        completed_at="2026-12-01T12:00:00Z",
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of every arm; each question is answered, with so many results as were asked for."""
    seen: list[dict[str, Any]] = []

    def run(
        _settings: Any,
        questions: list[str],
        *,
        options: dict[str, Any],
        observe: Callable[[int, SearchReply], None],
        **_more: Any,
    ) -> ReplayResult:
        seen.append(options)
        for index, question in enumerate(questions):
            observe(index, reply(question, options["depth"]))
        summary = PassSummary(
            number=1,
            requests=len(questions),
            answered=len(questions),
            status={"grounded": len(questions)},
            cache={"miss": len(questions)},
            cost_micro_usd=1_000 * len(questions),
            cost_unknown=0,
            saved_micro_usd=0,
            latency_ms=LatencySummary(mean=1.0, p50=1.0, p95=1.0, p99=1.0),
            seconds=1.0,
            receipts_incomplete=0,
            errors={},
        )
        return ReplayResult(passes=[summary], semantic_hits=[])

    monkeypatch.setattr(experiment, "run_replay", run)
    monkeypatch.setattr(experiment, "connected", lambda settings, **_: settings)
    return seen


def invoke(tmp_path: Path, *arguments: str) -> Any:
    file = tmp_path / "qa.csv"
    file.write_text("problem,answer\nwho,Ann\nwhere,Rome\n")
    name, *options = arguments
    return CliRunner().invoke(app, ["--home", str(tmp_path), "experiment", name, str(file), *options])


def test_depth_asks_the_same_questions_at_each_depth(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    done = invoke(tmp_path, "depth", "--depths", "2,4,2", "--provider", "exa", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    common = {"cache": "use", "context_tokens": 32_000, "providers": ["exa"]}
    assert asked == [{**common, "depth": 2}, {**common, "depth": 4}]
    assert [(one["name"], one["results_mean"], one["sites_mean"]) for one in document["arms"]] == [
        ("depth 2", 2.0, 2.0),
        ("depth 4", 4.0, 2.0),
    ]
    few, many = (one["context_tokens_mean"] for one in document["arms"])
    assert many > few > 0


def test_grounding_has_an_arm_for_each_provider_and_route(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    done = invoke(tmp_path, "grounding", "--answers", "answer", "--provider", "exa", "--route", "news", "--json")
    assert done.exit_code == 0, done.output
    assert asked == [
        {"cache": "use", "depth": 5, "providers": ["exa"]},
        {"cache": "use", "depth": 5, "route": "news"},
    ]
    document = json.loads(done.stdout)
    assert [(one["name"], one["answers_found"]) for one in document["arms"]] == [("exa", 1), ("route news", 1)]
    asked.clear()
    shown = invoke(tmp_path, "grounding")
    assert asked == [{"cache": "use", "depth": 5, "route": "default"}]
    assert "route default" in shown.output and "No model was asked" in shown.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("depth", "--depths", "0,5"), "give numbers from 1 to 20"),
        (("depth", "--depths", "five"), "give numbers from 1 to 20"),
        (("depth", "--cache", "only"), "there are use, refresh and bypass"),
        (("grounding", "--cache", "no"), "there are use, refresh and bypass"),
    ],
)
def test_what_makes_no_experiment_is_refused(
    asked: list[dict[str, Any]], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = invoke(tmp_path, *arguments)
    assert isinstance(done.exception, CommandError) and said in str(done.exception)
    assert asked == []
