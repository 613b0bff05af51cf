"""Fitting: exact bounds, curves with the right signs, and a threshold whose false hits stay below what is stated."""

import math
import random

import pytest

from groundwire.lake.cache.calibration import FEATURE_SIGNS, Calibration
from groundwire.lake.cache.calibration_fit import LabelledPair, calibrate, fit, next_sample_bound, upper_bound

CITIES = (
    "oslo",
    "rome",
    "paris",
    "lima",
    "cairo",
    "delhi",
    "tokyo",
    "seoul",
    "quito",
    "accra",
    "dakar",
    "tunis",
    "minsk",
)
THINGS = ("weather", "map", "hotels", "museums", "history", "population", "mayor", "airport", "parks", "schools")
LIMITS = {"en": (0.5, 0.9), "ko": (0.4, 0.9), "other": (0.9, 0.95)}


def pairs(number: int, wrong_share: float, seed: int = 0) -> list[LabelledPair]:
    """Pairs that all pass the verifier; wrong ones lie lower on the scale of similarity, as they do in life."""
    random_ = random.Random(seed)
    found = []
    for at in range(number):
        city, thing = random_.choice(CITIES), random_.choice(THINGS)
        same = random_.random() >= wrong_share
        similarity = min(0.999, max(0.5, random_.gauss(0.95 if same else 0.85, 0.04)))
        found.append(LabelledPair(f"{thing} of {city} {at}", f"{city} {thing} {at}", same, similarity))
    return found


@pytest.mark.parametrize(("wrong", "of"), [(0, 1), (0, 300), (1, 50), (5, 100), (20, 400)])
def test_the_upper_bound_is_the_exact_binomial_one(wrong: int, of: int) -> None:
    bound = upper_bound(wrong, of, 0.95)
    at_most = sum(math.comb(of, k) * bound**k * (1 - bound) ** (of - k) for k in range(wrong + 1))
    assert at_most == pytest.approx(0.05, abs=1e-6)


def test_a_bound_of_nothing_is_everything() -> None:
    assert upper_bound(0, 0) == upper_bound(3, 3) == next_sample_bound(0, 0) == 1.0


def test_a_second_sample_seldom_shows_more_than_is_said() -> None:
    random_ = random.Random(7)
    exceeded = 0
    for _ in range(2000):
        first, second = (sum(random_.random() < 0.02 for _ in range(150)) for _ in range(2))
        exceeded += second / 150 > next_sample_bound(first, 150, 0.95)
    assert exceeded / 2000 <= 0.05


def test_a_fitted_curve_rises_with_similarity_and_keeps_its_signs() -> None:
    fitted = fit(pairs(400, 0.2), LIMITS, "made up")
    assert fitted.made_from == "made up" and set(fitted.curves) == set(LIMITS)
    for curve in fitted.curves.values():
        assert all(weight * FEATURE_SIGNS[name] >= 0 for name, weight in curve.weights.items())
    assert fitted.curves["en"].weights["similarity"] > 0.5
    low, high = (
        fitted.decide("lima map", "map of lima", at, min_similarity=0, min_probability=0) for at in (0.8, 0.99)
    )
    assert high.probability > low.probability


def test_enough_pairs_certify_the_rate_that_was_asked_for() -> None:
    found = calibrate(pairs(1200, 0.1), max_false_hit_rate=0.05)
    assert found.certified and found.chosen.upper_bound <= 0.05
    assert found.upper_bound >= 0.05  # what was tested, not the lower bound of the threshold that came out best
    assert 0 < found.chosen.recall <= 1 and found.chosen.hits > 300
    assert [point.hits for point in found.points] == sorted(point.hits for point in found.points)
    assert all(curve.threshold == found.chosen.threshold for curve in found.calibration.curves.values())
    document = found.to_json()
    assert document["certified"] is True and document["upper_bound"] == found.upper_bound and document["curve"]
    assert found.calibration.to_json()["statement"]["hits"] == found.chosen.hits


def test_a_looser_rate_finds_more() -> None:
    strict = calibrate(pairs(1200, 0.15), max_false_hit_rate=0.03)
    loose = calibrate(pairs(1200, 0.15), max_false_hit_rate=0.2)
    assert loose.chosen.recall > strict.chosen.recall


def test_too_few_pairs_say_so_and_keep_the_shipped_threshold() -> None:
    found = calibrate(pairs(60, 0.05), max_false_hit_rate=0.01)
    assert not found.certified and "too few" in found.note and found.upper_bound > 0.01
    for group, curve in Calibration.shipped().curves.items():
        assert found.calibration.curves[group].threshold == curve.threshold


def test_pairs_without_a_same_one_are_refused() -> None:
    with pytest.raises(ValueError, match="labelled the same"):
        calibrate([LabelledPair("a b", "c d", False, 0.9)])


def test_the_stated_bound_holds_on_held_out_pairs() -> None:
    everything = pairs(600, 0.12, seed=3)
    violations = 0
    for seed in range(20):
        random.Random(seed).shuffle(everything)
        half = len(everything) // 2
        found = calibrate(everything[:half], max_false_hit_rate=0.05)
        hits = [
            pair.same
            for pair in everything[half:]
            if found.calibration.decide(pair.asked, pair.stored, pair.similarity, min_similarity=0.0).hit
        ]
        violations += (len(hits) - sum(hits)) / len(hits) > found.upper_bound
    assert violations <= 1
