"""Decisions: the verifier's gate, the limits of similarity, the curve; and what becomes of a calibration file."""

import json
from pathlib import Path

import pytest

from groundwire.lake.cache.calibration import FEATURE_SIGNS, Calibration, CalibrationUnusable, features_of, is_soft
from groundwire.lake.cache.verifier import verify

SAME = ("how do i learn python", "how can i learn python")
SOFT = ("what are the best ways to learn spoken english daily", "what are the best ways to learn english daily")
KOREAN = ("프랑스의 수도는 어디인가요", "프랑스의 수도는")


@pytest.fixture
def shipped() -> Calibration:
    return Calibration.shipped()


def test_a_pair_the_verifier_turns_away_is_a_miss_at_any_similarity(shipped: Calibration) -> None:
    decision = shipped.decide("flights from oslo to rome", "flights from rome to oslo", 0.999, min_similarity=0.0)
    assert not decision.hit and decision.probability == 0.0
    assert decision.reason.startswith("order:") and not decision.verdict.passed


def test_a_hit_says_how_close_and_why(shipped: Calibration) -> None:
    decision = shipped.decide(*SAME, 0.97, min_similarity=0.0)
    assert decision.hit and decision.similarity == 0.97 and 0.95 < decision.probability < 1
    assert decision.reason == "similarity 0.970; same words, numbers, question and order"


def test_each_language_has_its_own_lowest_similarity(shipped: Calibration) -> None:
    assert not shipped.decide(*SAME, 0.7, min_similarity=0.0).hit
    assert shipped.decide(*KOREAN, 0.7, min_similarity=0.0).hit
    assert not shipped.decide(*KOREAN, 0.2, min_similarity=0.0).hit
    assert not shipped.decide("wie wird das wetter", "wie wird das wetter", 0.85, min_similarity=0.0).hit


def test_the_asked_similarity_only_tightens(shipped: Calibration) -> None:
    decision = shipped.decide(*SAME, 0.93, min_similarity=0.95)
    assert not decision.hit and "similarity 0.930 below 0.950" in decision.reason
    assert shipped.decide(*SAME, 0.96, min_similarity=0.95).hit


def test_a_word_more_needs_more_similarity(shipped: Calibration) -> None:
    assert is_soft(verify(*SOFT))
    assert not shipped.decide(*SOFT, 0.85, min_similarity=0.0).hit
    assert shipped.decide(*SOFT, 0.98, min_similarity=0.0).hit


def test_a_probability_can_be_asked_for(shipped: Calibration) -> None:
    decision = shipped.decide(*SAME, 0.97, min_similarity=0.0, min_probability=0.9999)
    assert not decision.hit and "probability" in decision.reason and "below 1.000" in decision.reason


def test_more_similarity_never_lowers_the_probability(shipped: Calibration) -> None:
    found = [shipped.decide(*SAME, at / 100, min_similarity=0.0).probability for at in range(80, 101)]
    assert found == sorted(found)
    near = shipped.decide(*SAME, 0.9, margin=0.0, min_similarity=0.0).probability
    assert shipped.decide(*SAME, 0.9, margin=0.1, min_similarity=0.0).probability >= near


def test_no_shipped_weight_has_the_wrong_sign(shipped: Calibration) -> None:
    assert set(shipped.curves) == {"en", "ko", "other"}
    for curve in shipped.curves.values():
        for name, weight in curve.weights.items():
            assert weight * FEATURE_SIGNS[name] >= 0


def test_features_are_on_their_scales() -> None:
    features = features_of(verify("peru", "peru"), 0.95, 5.0)
    assert features["similarity"] == pytest.approx(1.0) and features["margin"] == 1.0 and features["short"] == 1.0
    assert features_of(verify(*SAME), 0.9, None)["margin"] == 0.0


def test_a_calibration_comes_back_from_its_file_as_it_was(shipped: Calibration, tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(shipped.to_json()), encoding="utf-8")
    assert Calibration.load(file) == shipped


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 99}, "version 99"),
        ({"curves": {}}, "`other`"),
        ({"curves": {"other": {"intercept": 1}}}, "weights"),
        (
            {
                "curves": {
                    "other": {
                        "intercept": 1,
                        "weights": {"luck": 1},
                        "threshold": 0.5,
                        "min_similarity": 0,
                        "min_similarity_soft": 0,
                    }
                }
            },
            "luck",
        ),
    ],
)
def test_a_file_that_is_no_calibration_is_turned_away_with_what_is_wrong(
    shipped: Calibration, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(shipped.to_json() | change), encoding="utf-8")
    with pytest.raises(CalibrationUnusable, match=said):
        Calibration.load(file)


def test_a_missing_or_broken_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CalibrationUnusable, match=r"gone\.json"):
        Calibration.load(tmp_path / "gone.json")
    (tmp_path / "half.json").write_text('{"version": 1', encoding="utf-8")
    with pytest.raises(CalibrationUnusable, match=r"half\.json"):
        Calibration.load(tmp_path / "half.json")
