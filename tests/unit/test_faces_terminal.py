"""What people read: whole ids and whole prices on a terminal of 80 columns, and words that say what happened."""

import base64
import gzip
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from groundwire.adapters.call import CallOutcome, Cost, MappedResult
from groundwire.adapters.trial import Trial
from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.reply import SearchReply
from groundwire.streams.faces.cli import dead_letters, providers
from groundwire.streams.faces.cli.main import app
from groundwire.streams.faces.cli.replay import rate
from groundwire.streams.faces.cli.show_reply import show_reply
from groundwire.streams.faces.cli.terminal import shortened
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.questions import read_questions
from tests.unit.lake_events import attempt_event, land, records, request_event

NARROW = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


def test_the_report_shows_each_providers_cost_whole_on_80_columns(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    land(lake, records([request_event(1), attempt_event(1, provider="brightdata", cost_micro_usd=123_456_789)]))
    printed = CliRunner().invoke(app, ["--home", str(tmp_path), "report"], env=NARROW)
    assert printed.exit_code == 0, printed.output
    row = next(line for line in printed.output.splitlines() if "brightdata" in line)
    assert "$123.456789" in row
    assert "…" not in printed.output
    assert re.search(r"from \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ to ", printed.output)


def letter(value: bytes | None, **more: Any) -> DeadLetter:
    known: dict[str, Any] = {
        "dead_letter_id": "search.requests.v1-15-1234567",
        "reason": "invalid_request",
        "message": "unknown field `qery`; see the contract for the fields there are",
        "field": "qery",
        "topic": "search.requests.v1",
        "partition": 15,
        "offset": 1_234_567,
        "timestamp_ms": 1_796_111_951_031,
        "key_base64": None,
        "value_base64": None if value is None else base64.b64encode(value).decode(),
        "value_bytes": 0 if value is None else len(value),
        "truncated": False,
        "headers": [("correlation-id", base64.b64encode(b"abc").decode())],
        "stage": "normalize",
        "refused_at_ms": 1_796_111_951_084,
    }
    return DeadLetter(**{**known, **more})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(letters: list[DeadLetter], *command: str) -> str:
        monkeypatch.setattr(dead_letters, "_read", lambda _context: letters)
        printed = CliRunner().invoke(app, ["dead-letters", *command], env=NARROW)
        assert printed.exit_code == 0, printed.output
        return printed.output

    return run


def test_a_dead_letters_id_stands_whole_on_its_line_to_be_copied(shown: Any) -> None:
    printed = shown([letter(b'{"qery":1}')], "list")
    assert any("search.requests.v1-15-1234567" in line for line in printed.splitlines())
    assert "2026-12-01 07:59:11Z" in printed
    assert "invalid_request" in printed


def test_a_dead_letter_is_shown_with_its_record_and_without_blanks(shown: Any) -> None:
    printed = shown([letter(b'{"qery": "[red]"}')], "show", "search.requests.v1-15-1234567")
    assert "search.requests.v1, partition 15, offset 1234567" in printed
    assert "b'abc'" in printed
    assert '{"qery": "[red]"}' in printed
    assert "None" not in printed


def test_a_part_of_a_long_record_is_not_shown_as_the_whole(shown: Any) -> None:
    long = letter(b"x" * 5_000)
    assert "the first 4,000 of 5,000 bytes" in shown([long], "show", long.dead_letter_id)
    cut = letter(b"y" * 10, value_bytes=1_000_000, truncated=True)
    assert "the first 10 of 1,000,000 bytes" in shown([cut], "show", cut.dead_letter_id)


def test_a_time_that_no_calendar_has_is_shown_as_the_number_it_is(shown: Any) -> None:
    assert "9,000,000,000,000,000,000 ms" in shown(
        [letter(b"{", timestamp_ms=9 * 10**18)], "show", letter(b"").dead_letter_id
    )


def test_every_header_is_shown_though_two_have_one_name(shown: Any) -> None:
    twice = letter(
        b"{", headers=[("trace", base64.b64encode(b"one").decode()), ("trace", base64.b64encode(b"two").decode())]
    )
    printed = shown([twice], "show", twice.dead_letter_id)
    assert "b'one'" in printed
    assert "b'two'" in printed


def test_a_tombstone_is_shown_as_one(shown: Any) -> None:
    assert "a tombstone" in shown([letter(None)], "show", letter(None).dead_letter_id)


@pytest.mark.parametrize(
    ("done", "seconds", "said"), [(0, 1.0, ""), (3, 0.0, ""), (3, 2.0, "1.5/s"), (3_000, 2.0, "1,500/s")]
)
def test_a_rate_is_what_was_done_over_the_time_it_took(done: int, seconds: float, said: str) -> None:
    assert rate(done, seconds) == said


def reply(**more: Any) -> SearchReply:
    known: dict[str, Any] = {
        "request_id": "r",
        "reply_id": "p",
        "status": "ungrounded",
        "query": "q",
        "normalized_query": "q",
        "freshness": "static",
        "results": [],
        "context": "",
        "provider": None,
        "cache": None,
        "cost_micro_usd": 0,
        "saved_micro_usd": None,
        "latency_ms": {"total": 1.0},
        "attempts": [],
        "error": None,
        "warnings": [],
        "metadata": {},
        "completed_at": "2026-12-01T00:00:00Z",
    }
    return SearchReply.model_validate({**known, **more})


def printed(answer: SearchReply) -> str:
    console = Console(file=io.StringIO(), width=200, no_color=True)
    show_reply(console, answer)
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return written


def test_when_no_vendor_was_asked_nobody_is_blamed() -> None:
    assert "no vendor was asked" in printed(reply())
    failed = {
        "provider": "serper",
        "outcome": "timeout",
        "reason": "8 s",
        "status_code": None,
        "latency_ms": 8_000.0,
        "cost_micro_usd": 0,
        "cost_source": "price_list",
        "hedged": False,
    }
    assert "nobody answered" in printed(reply(attempts=[failed]))


def test_an_errors_field_is_named_once() -> None:
    about = {"kind": "invalid_request", "message": "`depth`: too large", "field": "depth"}
    assert printed(reply(status="error", error=about)).count("depth") == 1
    about = {"kind": "invalid_request", "message": "unknown route `zz`", "field": "route"}
    assert "(route)" in printed(reply(status="error", error=about))


def test_a_file_that_is_not_there_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as error:
        read_questions(tmp_path / "none.txt")
    assert str(error.value) == f"{tmp_path / 'none.txt'}: can't be read: No such file or directory"


def test_a_broken_archive_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "q.txt.gz").write_bytes(gzip.compress(b"a question\n")[:-9])
    (tmp_path / "r.txt.gz").write_bytes(b"no archive")
    for name in ("q.txt.gz", "r.txt.gz"):
        with pytest.raises(CommandError, match=r"can't be read: ."):
            read_questions(tmp_path / name)


@pytest.mark.parametrize(
    "command",
    [
        ["search", "hello"],
        ["dead-letters", "list"],
        ["cache", "purge", "--all"],
        ["topics", "check"],
    ],
    ids=lambda command: " ".join(command),
)
def test_a_broker_that_is_not_there_is_one_line_and_exit_code_2(command: list[str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "groundwire.streams.faces.cli", "--home", str(tmp_path), *command],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **NARROW, "GROUNDWIRE_BROKERS": "127.0.0.1:1"},
        cwd=tmp_path,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("groundwire: no broker answers at 127.0.0.1:1")


def test_compacting_says_how_many_days_of_which_table(tmp_path: Path) -> None:
    for number in (1, 2):
        land(tmp_path / "lake", records([request_event(number)], first=number))
    printed = CliRunner().invoke(app, ["--home", str(tmp_path), "lake", "compact"], env=NARROW)
    assert printed.output.startswith("merged requests of 1 day: 2 files → 1, 2 rows, 0 copies dropped, ")
    again = CliRunner().invoke(app, ["--home", str(tmp_path), "lake", "compact"], env=NARROW)
    assert again.output == "nothing to merge: no day has more than one small file\n"


def test_a_purge_of_a_provider_nobody_knows_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """Also when nothing runs: the purge would have been accepted and have done nothing."""
    refused = CliRunner().invoke(app, ["--home", str(tmp_path), "cache", "purge", "--provider", "nope"])
    assert isinstance(refused.exception, CommandError)
    assert str(refused.exception).startswith("no provider `nope`; there are: anthropic, brave, ")


@pytest.mark.parametrize(("length", "ends"), [(240, "xx"), (241, "x…"), (1_000, "x…")])
def test_a_text_that_is_cut_says_so(length: int, ends: str) -> None:
    shown = shortened("x" * length)
    assert shown.endswith(ends) and len(shown) == 240


def test_a_tried_provider_shows_its_long_texts_with_an_ellipsis(capsys: pytest.CaptureFixture[str]) -> None:
    result = MappedResult("A title", "https://a.example", "word " * 100, None, None)
    cost = Cost(1_000, "answer")
    outcome = CallOutcome("ok", None, 200, 12.0, cost, "application/json", "{}", 2, 1, None)
    providers._show_trial(Trial(request=None, outcome=outcome, results=[result], warnings=[]), raw=False)
    assert capsys.readouterr().out.rstrip().endswith("word…")
