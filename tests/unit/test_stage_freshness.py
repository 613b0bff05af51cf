"""Which class a question gets, and which date it carries."""

import pytest

from groundwire.schemas.request import Filters
from groundwire.schemas.settings import FreshnessSettings
from groundwire.streams.stages.freshness import FreshnessRules
from groundwire.streams.stages.query import normalize_query
from tests.unit.stage_fakes import DAY_MS, NOON_MS

RULES = FreshnessRules(FreshnessSettings())


def kind(query: str, filters: Filters | None = None, rules: FreshnessRules = RULES) -> str:
    return rules.classify(normalize_query(query), "auto", filters or Filters(), NOON_MS).kind


def span(query: str, at_ms: int = NOON_MS) -> str | None:
    return RULES.classify(normalize_query(query), "auto", Filters(), at_ms).span


@pytest.mark.parametrize(
    ("expected", "queries"),
    [
        ("live", ["bitcoin price", "AAPL stock price", "usd to krw", "live score arsenal", "what time is it in Oslo"]),
        ("live", ["삼성전자 주가", "속보", "실시간 교통상황", "원달러 환율", "지금 서울 기온"]),
        ("daily", ["latest iPhone", "weather in Oslo", "price of oat milk", "score of the match", "news about Kafka"]),
        ("daily", ["오늘 뭐 먹지", "최신 스마트폰", "아이폰 가격", "서울 날씨", "이번 주 개봉 영화", "요즘 인기 노래"]),
        ("slow", ["who is the president of Korea", "population of Seoul", "한국 대통령", "best running shoes"]),
        (
            "static",
            ["who wrote Hamlet", "capital of France", "meaning of sonder", "훈민정음 뜻", "전화기를 누가 발명했나"],
        ),
        ("static", ["world cup winner 2014", "2002년 월드컵 4강"]),
        ("slow", ["kafka consumer groups", "김치 담그기"]),
    ],
)
def test_rules_class_a_question(expected: str, queries: list[str]) -> None:
    assert {query: kind(query) for query in queries} == dict.fromkeys(queries, expected)


@pytest.mark.parametrize(
    "query",
    ["alternating current", "apocalypse now cast", "periodic table", "breaking bad ending", "film score composers"],
)
def test_a_word_that_means_something_else_is_not_looked_at(query: str) -> None:
    assert kind(query) in ("slow", "static")
    assert span(query) is None


def test_the_freshest_rule_wins() -> None:
    assert kind("who won the match today") == "daily"
    assert kind("when did the price of gold peak") == "live"


def test_the_callers_wish_wins_over_every_rule() -> None:
    assert RULES.classify("bitcoin price today", "static", Filters(), NOON_MS).kind == "static"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("news today", "2026-12-01"),
        ("latest iphone", "2026-12-01"),
        ("오늘 서울 날씨", "2026-12-01"),
        ("최신 뉴스", "2026-12-01"),
        ("지금 환율", "2026-12-01"),
        ("3 days ago in parliament", "2026-12-01"),
        ("films this week", "2026-W49"),
        ("이번 주 개봉 영화", "2026-W49"),
        ("지난주 시청률", "2026-W49"),
        ("concerts next month", "2026-12"),
        ("이번 달 공휴일", "2026-12"),
        ("best films this year", "2026"),
        ("올해 최고의 영화", "2026"),
        ("today and this year", "2026-12-01"),
        ("capital of france", None),
        ("월드컵 역사", None),
    ],
)
def test_relative_words_carry_their_date(query: str, expected: str | None) -> None:
    assert span(query) == expected


DAYS = """
today, tonight, tomorrow, yesterday, this morning, this evening, last night, right now, currently, latest, recently, so far
these days, nowadays, an hour ago, 3 days ago, past 24 hours, last few days, next 7 days, last friday, next monday, this sunday
on tuesday, 오늘, 내일, 어제, 그저께, 엊그제, 모레, 어젯밤, 지금, 방금, 조금 전, 며칠 전, 금일, 당일, 최근, 최신, 요즘, 3일 전
2시간 전, 이틀 전, 지난 금요일, 이번 토요일"""
WEEKS = """this week, last week, next week, this weekend, two weeks ago, in a week
이번 주, 지난주, 저번 주, 다음주, 금주, 2주 전, 주말"""
MONTHS = """this month, last month, next month, 2 months ago, this quarter, next december
이번 달, 지난달, 저번달, 다음 달, 3개월 전"""
YEARS = "this year, last year, next year, 5 years ago, this season, last summer, 올해, 작년, 내년, 재작년, 지난해, 올여름, 3년 전"


@pytest.mark.parametrize(
    ("words", "expected"), [(DAYS, "2026-12-01"), (WEEKS, "2026-W49"), (MONTHS, "2026-12"), (YEARS, "2026")]
)
def test_relative_time_is_known_in_both_languages(words: str, expected: str) -> None:
    for word in (one.strip() for one in words.strip().replace("\n", ",").split(",")):
        korean = not word.isascii()
        query = f"{word} 등대 축제" if korean else f"lighthouse festival {word}"
        assert span(query) == expected, word
        assert kind(query) != "static", word


def test_a_week_begins_on_monday_and_a_day_at_midnight_utc() -> None:
    sunday_end, monday = 1_796_601_599_000, 1_796_601_600_000
    assert (span("films this week", sunday_end), span("films this week", monday)) == ("2026-W49", "2026-W50")
    assert (span("news today", sunday_end), span("news today", monday)) == ("2026-12-06", "2026-12-07")


def test_last_friday_is_another_one_on_saturday() -> None:
    assert span("match last friday", NOON_MS) != span("match last friday", NOON_MS + 4 * DAY_MS)


def test_a_korean_today_is_koreas_day() -> None:
    eight_in_seoul = NOON_MS + 11 * 3_600_000
    assert span("오늘 날씨", eight_in_seoul) == "2026-12-02"
    assert span("weather today", eight_in_seoul) == "2026-12-01"


def test_an_operator_says_whose_day_it_is() -> None:
    auckland = FreshnessRules(FreshnessSettings(time_zone="Pacific/Auckland"))
    assert auckland.classify("weather today", "auto", Filters(), NOON_MS).span == "2026-12-02"
    assert auckland.classify("오늘 날씨", "auto", Filters(), NOON_MS).span == "2026-12-01"
    with pytest.raises(ValueError, match="no time zone is named `Atlantis`"):
        FreshnessSettings(time_zone="Atlantis")


def test_yesterdays_today_is_another_day() -> None:
    assert span("news today", NOON_MS - DAY_MS) == "2026-11-30"


def test_the_last_days_of_a_year_may_lie_in_the_next_ones_first_week() -> None:
    new_years_eve_2024 = 1_735_646_400_000
    assert span("films this week", new_years_eve_2024) == "2025-W01"


def test_the_date_is_carried_also_when_the_caller_chose_the_class() -> None:
    assert RULES.classify("news today", "static", Filters(), NOON_MS).span == "2026-12-01"


def test_a_year_that_is_over_makes_an_answer_static_unless_the_question_is_relative() -> None:
    assert kind("formula one champion 2019") == "static"
    assert kind("formula one champion 2026") == "slow"
    assert kind("formula one champion 2019 latest") == "daily"


@pytest.mark.parametrize(
    ("query", "filters", "expected"),
    [
        ("site:bbc.com brexit", Filters(), "daily"),
        ("brexit", Filters(include_domains=["news.bbc.co.uk"]), "daily"),
        ("kafka", Filters(topic="news"), "daily"),
        ("site:arxiv.org attention", Filters(), "static"),
        ("gold site:xe.com", Filters(), "live"),
    ],
)
def test_the_site_asked_for_counts(query: str, filters: Filters, expected: str) -> None:
    assert kind(query, filters) == expected


def test_an_operators_words_and_domains_are_added_and_the_default_is_theirs() -> None:
    rules = FreshnessRules(
        FreshnessSettings(
            domains={"*.status.example": "live", "bbc.com": "static"},
            words={"live": ["outbreak"], "daily": ["핫딜"]},
            default="daily",
        )
    )
    assert kind("site:eu.status.example kafka", rules=rules) == "live"
    assert kind("site:bbc.com brexit", rules=rules) == "static"
    assert kind("ebola outbreak", rules=rules) == "live"
    assert kind("오늘의 핫딜", rules=rules) == "daily"
    assert kind("bitcoin price", rules=rules) == "live"
    assert kind("kafka consumer groups", rules=rules) == "daily"
