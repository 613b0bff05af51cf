"""Dates are ISO when they are certain, counted from the time of the answer, and missing otherwise."""

from datetime import UTC, datetime

import pytest

from groundwire.adapters.dates import published_at, split_date_prefix

ANSWERED = int(datetime(2026, 12, 1, 9, 30, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("3 days ago", "2026-11-28"),
        ("1 day ago", "2026-11-30"),
        ("a day ago", "2026-11-30"),
        ("2 hours ago", "2026-12-01T07:00Z"),
        ("an hour ago", "2026-12-01T08:00Z"),
        ("10 hours ago", "2026-11-30T23:00Z"),
        ("45 mins ago", "2026-12-01T08:45Z"),
        ("5 minutes ago", "2026-12-01T09:25Z"),
        ("2 weeks ago", "2026-11-17"),
        ("yesterday", "2026-11-30"),
        ("Today", "2026-12-01"),
        ("just now", "2026-12-01T09:30Z"),
        ("hace 3 días", "2026-11-28"),
        ("hace una hora", "2026-12-01T08:00Z"),
        ("hace 2 semanas", "2026-11-17"),
        ("ayer", "2026-11-30"),
        ("3일 전", "2026-11-28"),
        ("2시간 전", "2026-12-01T07:00Z"),
        ("5분 전", "2026-12-01T09:25Z"),
        ("1주 전", "2026-11-24"),
        ("어제", "2026-11-30"),
        ("3 日前", "2026-11-28"),
        ("2時間前", "2026-12-01T07:00Z"),
        ("昨日", "2026-11-30"),
        ("vor 3 Tagen", "2026-11-28"),
        ("vor einer Stunde", "2026-12-01T08:00Z"),
        ("vor 2 Wochen", "2026-11-17"),
        ("gestern", "2026-11-30"),
        ("il y a 3 jours", "2026-11-28"),
        ("il y a une heure", "2026-12-01T08:00Z"),
        ("hier", "2026-11-30"),
        ("há 3 dias", "2026-11-28"),
        ("3 giorni fa", "2026-11-28"),
        ("3 дня назад", "2026-11-28"),
        ("3天前", "2026-11-28"),
        ("‎3 days ago ", "2026-11-28"),
    ],
)
def test_a_relative_date_counts_back_from_the_answer(raw: str, expected: str) -> None:
    assert published_at(raw, ANSWERED) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Mar 4, 2026", "2026-03-04"),
        ("March 4, 2026", "2026-03-04"),
        ("Wed, Mar 4, 2026", "2026-03-04"),
        ("4 Mar 2026", "2026-03-04"),
        ("4th March 2026", "2026-03-04"),
        ("4 de marzo de 2026", "2026-03-04"),
        ("4 mar. 2026", "2026-03-04"),
        ("4. März 2026", "2026-03-04"),
        ("04.03.2026", "2026-03-04"),
        ("1er janvier 2026", "2026-01-01"),
        ("4 févr. 2026", "2026-02-04"),
        ("2026. 11. 3.", "2026-11-03"),
        ("2026년 11월 3일", "2026-11-03"),
        ("2026年11月3日", "2026-11-03"),
        ("2026/11/03", "2026-11-03"),
        ("2026-11-03", "2026-11-03"),
        ("2026-11-03 08:15", "2026-11-03T08:15:00"),
        ("2026-11-02T08:00:00", "2026-11-02T08:00:00"),
        ("2026-10-16T01:36:32.547Z", "2026-10-16T01:36:32.547Z"),
        ("2026-10-16T01:36:32.000Z", "2026-10-16T01:36:32Z"),
        ("2026-10-16T01:36:32+0900", "2026-10-16T01:36:32+09:00"),
        ("2026-10-16 01:36:32 UTC", "2026-10-16T01:36:32Z"),
        ("Mon, 30 Nov 2026 06:12:00 GMT", "2026-11-30T06:12:00Z"),
        ("Mon, 30 Nov 2026 06:12:00 +0100", "2026-11-30T05:12:00Z"),
        ("25/12/2025", "2025-12-25"),
        ("12/25/2025", "2025-12-25"),
        ("05/05/2026", "2026-05-05"),
    ],
)
def test_a_written_date_becomes_iso(raw: str, expected: str) -> None:
    assert published_at(raw, ANSWERED) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "03/04/2026",
        "2 months ago",
        "a year ago",
        "hace 2 meses",
        "Nov 2026",
        "2026",
        "recently",
        "",
        " ",
        "n/a",
        "Feb 30, 2026",
        "2026-13-01",
        "2026-02-30T10:00:00",
        "2026-11-02T25:00:00",
        "2026-11-02T08:00:00+99:00",
        "2027-01-15",
        "Dec 24, 2026",
        "1066-10-14",
        "May",
        "4 Foo 2026",
        "x" * 200,
        None,
        5,
        1764579600,
        1.5,
        True,
        [],
        {},
        ["2026-11-02"],
        "0 0 0",
        "12:30",
        "Mon, 99 Nov 2026 06:12:00 GMT",
        "\ud800",
    ],
)
def test_what_is_not_certain_is_missing(raw: object) -> None:
    assert published_at(raw, ANSWERED) is None


def test_tomorrow_is_today_further_east() -> None:
    assert published_at("2026-12-02", ANSWERED) == "2026-12-02"
    assert published_at("2026-12-03", ANSWERED) is None


def test_a_file_may_say_how_its_vendor_writes_days() -> None:
    assert published_at("03/04/2026", ANSWERED, day_first=True) == "2026-04-03"
    assert published_at("03/04/2026", ANSWERED, day_first=False) == "2026-03-04"


@pytest.mark.parametrize(
    ("text", "date", "rest"),
    [
        ("3 days ago — The flat white …", "2026-11-28", "The flat white …"),
        ("Nov 28, 2026 — The line 4", "2026-11-28", "The line 4"),
        ("Nov 3, 2026 ... text …", "2026-11-03", "text …"),
        ("Nov 3, 2026 · text", "2026-11-03", "text"),
        ("2026. 11. 3. — 본문", "2026-11-03", "본문"),
        ("hace 3 días - texto", "2026-11-28", "texto"),
        ("2 months ago — text", None, "text"),
        ("Rome — the city", None, "Rome — the city"),
        ("2019 - the year", None, "2019 - the year"),
        ("No prefix at all", None, "No prefix at all"),
        ("Nov 3, 2026", None, "Nov 3, 2026"),
        ("", None, ""),
    ],
)
def test_a_date_before_the_text_is_taken_off(text: str, date: str | None, rest: str) -> None:
    assert split_date_prefix(text, ANSWERED) == (date, rest)
