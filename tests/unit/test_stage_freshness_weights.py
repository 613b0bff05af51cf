"""The weighing of English questions: settled, or changing with time; who decides, and how to see why."""

import json
from pathlib import Path

import pytest

from groundwire.schemas.request import Filters
from groundwire.schemas.settings import FreshnessSettings
from groundwire.streams.stages.freshness import Explanation, FreshnessRules, explain_freshness
from groundwire.streams.stages.freshness_signs import asks_in_english, signs_of
from groundwire.streams.stages.freshness_weights import load_weights
from groundwire.streams.stages.query import normalize_query
from tests.unit.stage_fakes import NOON_MS


def explained(query: str, settings: FreshnessSettings | None = None) -> Explanation:
    return explain_freshness(query, settings, asked_at_ms=NOON_MS)


@pytest.mark.parametrize(
    "query",
    [
        "Who is the mayor of Tromsø?",
        "who's the head coach of the lighthouse keepers",
        "who holds the record for most lighthouses painted",
        "how many lighthouses are there in Norway",
        "when is the next lighthouse festival",
        "what is the tallest lighthouse in the world",
        "when was the last time the lighthouse team won a cup",
        "who has won the most medals in sailing",
        "how many people live in Tromsø",
        "which country has the largest population of keepers",
    ],
)
def test_a_question_about_how_things_stand_changes_with_time(query: str) -> None:
    assert explained(query).freshness.kind == "slow"


@pytest.mark.parametrize(
    "query",
    [
        "Who wrote the song about the lighthouse?",
        "who invented the fresnel lens",
        "when was the first lighthouse built",
        "why does fog form at night",
        "what does the word lighthouse mean in latin",
        "who played the keeper in season 2 episode 3",
        "where did the battle of the lighthouse take place",
        "when did the keeper die in the novel",
        "how do you calculate the area of a circle",
        "what is the chemical symbol for neon",
    ],
)
def test_a_question_about_what_is_settled_is_static(query: str) -> None:
    assert explained(query).freshness.kind == "static"


def test_weights_overrule_no_firm_rule() -> None:
    settled = "who wrote the song about the lighthouse"
    assert explained(settled).freshness.kind == "static"
    assert explained(f"{settled} today").freshness.kind == "daily"
    assert explained(f"{settled} this year").freshness.kind == "slow"
    assert explained(f"{settled} 2026").freshness.kind == "slow"
    assert explained("who is the mayor of Tromsø 2019").decided_by == "year that is over"
    rules = FreshnessRules(FreshnessSettings())
    news = rules.explain(settled, "auto", Filters(topic="news"), NOON_MS)
    assert (news.freshness.kind, news.decided_by) == ("daily", "topic")
    site = rules.explain(settled, "auto", Filters(include_domains=["bbc.com"]), NOON_MS)
    assert (site.freshness.kind, site.decided_by) == ("daily", "site")
    wish = rules.explain(settled, "live", Filters(), NOON_MS)
    assert (wish.freshness.kind, wish.decided_by) == ("live", "caller")


def test_an_operators_words_are_not_overruled() -> None:
    settings = FreshnessSettings(words={"slow": ["lighthouse"], "static": ["tromsø"]})
    assert explained("who wrote the song about the lighthouse", settings).freshness.kind == "slow"
    assert explained("who is responsible for tromsø", settings).decided_by == "words"


@pytest.mark.parametrize(
    "query",
    ["kafka consumer groups", "김치 담그기", "wer ist bürgermeister von hamburg", "quien es el alcalde", "Кто мэр?"],
)
def test_a_text_that_was_not_what_the_weights_were_fitted_on_is_not_weighed(query: str) -> None:
    found = explained(query)
    assert (found.decided_by, found.probability) == ("default", None)
    assert explained(query, FreshnessSettings(default="daily")).freshness.kind == "daily"


def test_key_words_that_show_little_stay_what_the_rules_say() -> None:
    little = explained("notes for the lighthouse keepers")
    assert (little.freshness.kind, little.decided_by) == ("slow", "default")
    assert little.probability is not None and little.threshold is not None
    assert little.probability < little.threshold


def test_weighing_can_be_switched_off() -> None:
    found = explained("how many lighthouses are there in Norway", FreshnessSettings(weighing=False))
    assert (found.freshness.kind, found.decided_by, found.probability, found.weighed) == ("slow", "words", None, [])


def test_an_explanation_names_the_words_or_the_signs_with_their_weights() -> None:
    by_words = explained("price of oat milk today")
    assert ("daily", "price") in by_words.words and ("daily", "today") in by_words.words
    assert "today: daily" in str(by_words)
    by_weights = explained("who is the mayor of Tromsø")
    assert by_weights.decided_by == "weights"
    assert dict(by_weights.weighed)["office"] > 0
    assert by_weights.probability is not None and by_weights.threshold is not None
    assert by_weights.probability >= by_weights.threshold
    assert "weights" in str(by_weights) and f"{by_weights.probability:.2f}" in str(by_weights)


def test_the_sum_of_what_is_shown_is_the_probability() -> None:
    weights = load_weights()
    signs = signs_of("who is the mayor of tromsø")
    only = weights.model_copy(update={"weights": dict(weights.weighed(signs))})
    assert only.probability(signs) == weights.probability(signs)


def test_signs_are_read_of_what_is_meant_not_of_how_it_is_written() -> None:
    assert signs_of("who's the mayor") == signs_of("who is the mayor") == signs_of("whos the mayor")
    assert "when did" in signs_of("what year did the light go out")
    assert {"superlative", "who has", "who has + superlative"} <= signs_of("who has the brightest lamp")
    assert "superlative" not in signs_of("who lives in the west of the forest")
    assert "numbered_part" in signs_of("who dies in season 3")
    assert {"year", "win & year"} <= signs_of("who won in 1988")
    assert "who + past" in signs_of("who painted the tower")
    assert "yes or no" in signs_of("did the light go out")
    assert signs_of("") == frozenset({"no question word", "short", "no question word + short"})


def test_english_is_told_from_other_languages_by_its_function_words() -> None:
    assert (
        asks_in_english("who is göran") and asks_in_english("population of seoul") and asks_in_english("what's a buoy")
    )
    assert (
        not asks_in_english("was ist das") and not asks_in_english("what is 등대") and not asks_in_english("lighthouse")
    )


def test_weights_of_ones_own_are_used_and_a_bad_file_is_named(tmp_path: Path) -> None:
    shipped = load_weights()
    mine = tmp_path / "mine.json"
    mine.write_text(shipped.model_copy(update={"threshold": 0.999}).model_dump_json())
    assert explained("who is the mayor of Tromsø", FreshnessSettings(weights=mine)).freshness.kind == "static"
    mine.write_text(json.dumps({**shipped.model_dump(), "threshold": 2}))
    with pytest.raises(ValueError, match=r"freshness\.weights: .*mine\.json: threshold"):
        FreshnessRules(FreshnessSettings(weights=mine))
    with pytest.raises(ValueError, match=r"gone\.json can't be read"):
        FreshnessRules(FreshnessSettings(weights=tmp_path / "gone.json"))


def test_every_shipped_weight_belongs_to_a_sign_that_can_be_read() -> None:
    from groundwire.streams.stages import freshness_signs as signs

    named = {sign for found in signs._LEXICON.values() for sign in found}
    forms = {"superlative", "past_form", "ing_form", "year", "number", "numbered_part", "short", "long"}
    pairs = {f"{one} & {other}" for one, other in signs._PAIRS}
    for name in load_weights().weights:
        sign = (
            name.split(" + ", 1)[-1]
            if not name.startswith("who + ")
            else name.removeprefix("who + ").split(" + ", 1)[-1]
        )
        assert sign in named | forms | pairs or name == normalize_query(name), name
