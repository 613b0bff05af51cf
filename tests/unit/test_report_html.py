"""The report as a page: everything in one file, nothing that runs or is fetched, and hostile texts shown as text."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from groundwire.lake.reports.html import render
from groundwire.lake.reports.html.text import escaped, foreign, milliseconds
from groundwire.lake.reports.report import build_report
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.settings import Settings
from tests.unit.lake_events import (
    MORNING_MS,
    attempt_event,
    error_event,
    hit_event,
    land,
    parquet_files,
    records,
    request_event,
)

VOID = {"meta"}
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & \u202egnihton \x00\x1b[31m"


class Page(HTMLParser):
    """A page read strictly: every element that opens closes in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(lake: Path, events: Sequence[RequestEvent | AttemptEvent]) -> tuple[str, Page]:
    if events:
        land(lake, records(events))
    html = render(build_report(Settings.model_validate({"lake": {"path": lake}})))
    return html, Page(html)


def busy(hostile: str = "plain") -> list[RequestEvent | AttemptEvent]:
    """Something of everything a page can show."""
    events: list[RequestEvent | AttemptEvent] = [
        hit_event(
            number,
            cache_outcome="semantic",
            query=f"{hostile} {number}",
            matched_query=hostile,
            similarity=0.96,
            probability=0.98,
        )
        for number in range(30)
    ]
    for number, outcome in enumerate(("exact", "stale", "coalesced", "miss", "bypass"), 100):
        events.append(request_event(number, cache_outcome=outcome, total_ms=3.0 * number**2, tenant=hostile[:64]))
    events += [error_event(200), request_event(201, at_ms=MORNING_MS + 7_200_000, total_ms=0.02)]
    events += [
        attempt_event(300 + number, outcome="server_error", reason=f"{hostile} {number}", status_code=None)
        for number in range(12)
    ]
    events += [
        attempt_event(400, provider="tavily", cost_micro_usd=None, cost_source="unknown"),
        attempt_event(401, provider="exa", outcome="skipped", reason=hostile, latency_ms=None, cost_micro_usd=0),
    ]
    return events


def test_the_page_is_well_formed_and_shows_the_figures(tmp_path: Path) -> None:
    _, page = page_of(tmp_path, busy())
    for words in (
        "requests 37",
        "hit rate",
        "$0.012",
        "1 call of unknown cost",
        "this counts search fees only",
        "Hit rate over time",
        "Semantic hits: 30",
        "10 more",
        "p50",
        "exa",
        "error: invalid_request",
    ):
        assert words in page.text, words
    assert page.seen.count("svg") == 4


def test_nothing_runs_and_nothing_is_fetched(tmp_path: Path) -> None:
    html, page = page_of(tmp_path, busy(HOSTILE))
    assert set(page.seen) <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "main",
            "header",
            "footer",
            "section",
            "details",
            "summary",
        ),
        *("div", "p", "h1", "h2", "ul", "li", "span", "b", "bdi", "table", "thead", "tbody", "tr", "th", "td"),
        *("svg", "rect", "line", "circle", "polygon", "polyline", "text", "tspan"),
    }
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "src", "style")]
    assert "default-src 'none'" in html
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_hostile_texts_are_shown_as_what_they_are(tmp_path: Path) -> None:
    html, page = page_of(tmp_path, busy(HOSTILE))
    assert "<script>alert(1)</script><img src=x onerror=alert(2)> \" ' &" in page.text
    assert "<script" not in html
    assert "\u202e" not in html
    assert "\x1b" not in html


@pytest.mark.parametrize("made", [False, True])
def test_an_empty_lake_gives_a_page_that_says_so(tmp_path: Path, made: bool) -> None:
    lake = tmp_path / "lake"
    if made:
        lake.mkdir()
    _, page = page_of(lake, [])
    assert "no requests in this window" in page.text
    assert "No vendor was called." in page.text
    assert "svg" not in page.seen


def test_one_request_is_enough_for_a_page(tmp_path: Path) -> None:
    _, page = page_of(tmp_path, [request_event(1)])
    assert "2026-12-05 10:00 to 2026-12-05 10:00 UTC" in page.text
    assert "No vendor was called." in page.text


def test_errors_only_make_a_page(tmp_path: Path) -> None:
    _, page = page_of(tmp_path, [error_event(1)])
    assert "1 error" in page.text


def test_calls_of_unknown_cost_only_make_a_page(tmp_path: Path) -> None:
    _, page = page_of(tmp_path, [attempt_event(1, cost_micro_usd=None, cost_source="unknown")])
    assert "1 call, 1 of unknown cost" in page.text


def test_left_out_files_stand_at_the_top(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    parquet_files(tmp_path)[0].write_bytes(b"")
    html, page = page_of(tmp_path, [request_event(2)])
    assert "1 file left out" in page.text
    assert html.index("left out") < html.index("Savings")


def test_steps_of_days_are_labelled_with_days(tmp_path: Path) -> None:
    events = [request_event(day, at_ms=MORNING_MS + 86_400_000 * day) for day in range(90)]
    land(tmp_path, records(events))
    _, page = page_of(tmp_path, [])
    assert "2026-12-03" in page.text


def test_a_step_without_a_rate_leaves_a_gap_and_no_error(tmp_path: Path) -> None:
    _, page = page_of(tmp_path, [request_event(1), error_event(2), hit_event(3)])
    assert page.seen.count("circle") == 2
    assert page.seen.count("rect") > 3


def test_large_numbers_of_requests_are_shown_short(tmp_path: Path) -> None:
    report = build_report(Settings.model_validate({"lake": {"path": tmp_path}}))
    land(tmp_path, records([hit_event(1)]))
    report = build_report(Settings.model_validate({"lake": {"path": tmp_path}}))
    step = report.timeline.steps[0].model_copy(update={"requests": 12_345})
    crowded = report.model_copy(update={"timeline": report.timeline.model_copy(update={"steps": [step]})})
    assert "12.3k" in Page(render(crowded)).text


def test_texts_are_cut_to_a_readable_length() -> None:
    shown = foreign("x" * 1000)
    assert len(shown) < 320
    assert shown.endswith("…</bdi>")
    assert "–" in foreign(None)


def test_line_breaks_and_control_characters_do_not_reach_the_page() -> None:
    assert escaped("a\nb\tc\x07d\u2066e\ud800") == "a b c\ufffdd\ufffde\ufffd"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.42, "0.4 ms"), (312.4, "312 ms"), (2440.0, "2.4 s"), (1_500_000.0, "1,500.0 s")]
)
def test_durations_are_readable(value: float | None, text: str) -> None:
    assert milliseconds(value) == text
