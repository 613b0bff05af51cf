"""The semantic tier: what it lets through, and that whatever goes wrong is a miss."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.lake.cache.calibration import Decision
from groundwire.lake.cache.embedder import too_long
from groundwire.lake.cache.semantic import SemanticHit, SemanticTier
from groundwire.lake.cache.vectors import Candidate
from groundwire.lake.cache.verifier import Verdict
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.settings import SemanticSettings, Settings
from tests.unit.cache_views import NOW_MS, entry

VERDICT = Verdict(True, (), "same question")


class FakeReader:
    """Candidates by facet, as CacheReader gives them."""

    def __init__(self, *stored: tuple[CacheEntry, float]) -> None:
        self.stored = {seq: (one, similarity) for seq, (one, similarity) in enumerate(stored)}
        self.asked_for = 0

    async def candidates(self, facet: str, vector: list[float], k: int, now_ms: int) -> list[Candidate]:
        self.asked_for = k
        found = [
            Candidate(similarity, seq, seq, one.normalized_query)
            for seq, (one, similarity) in self.stored.items()
            if one.facet == facet
        ]
        return sorted(found, key=lambda one: -one.similarity)[:k]

    async def entry(self, candidate: Candidate, facet: str) -> CacheEntry | None:
        return self.stored[candidate.seq][0]


class FakeCalibration:
    """Probability by stored question; remembers what it was asked."""

    def __init__(self, **probabilities: float) -> None:
        self.probabilities = probabilities
        self.asked: list[dict[str, Any]] = []

    def decide(self, asked: str, stored: str, similarity: float, **options: Any) -> Decision:
        self.asked.append({"asked": asked, "stored": stored, "similarity": similarity, **options})
        probability = self.probabilities.get(stored, 0.0)
        return Decision(probability >= 0.5, similarity, probability, f"because of {stored}", VERDICT)


STEP = ProviderStep(provider="serper", depth=5, cache_key="asked", facet="facet", storable=True)
tiers: list[SemanticTier] = []


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    while tiers:
        tiers.pop().close()


def tier(reader: FakeReader, calibration: Any, **semantic: Any) -> SemanticTier:
    settings = Settings(home=Path("unused"))
    cache = settings.cache.model_copy(update={"semantic": SemanticSettings(**semantic)})
    made = SemanticTier(reader, settings.model_copy(update={"cache": cache}), calibration)  # type: ignore[arg-type]
    tiers.append(made)
    return made


async def match(
    made: SemanticTier, query: str = "asked", least: float | None = None, **options: Any
) -> SemanticHit | None:
    return await made.match(query, "en", STEP, [1.0], least, NOW_MS, **options)


async def test_the_most_probable_candidate_wins_not_the_nearest() -> None:
    reader = FakeReader((entry("near"), 0.99), (entry("right"), 0.97), (entry("wrong"), 0.98))
    hit = await match(tier(reader, FakeCalibration(near=0.6, right=0.9)))
    assert hit == SemanticHit(entry("right"), 0.97, 0.9, "because of right")


async def test_of_equally_probable_candidates_the_nearest_wins() -> None:
    reader = FakeReader((entry("a"), 0.97), (entry("b"), 0.98))
    hit = await match(tier(reader, FakeCalibration(a=0.9, b=0.9)))
    assert hit is not None and hit.entry.cache_key == "b"


async def test_nothing_that_passes_is_a_miss() -> None:
    assert await match(tier(FakeReader((entry("a"), 0.99)), FakeCalibration())) is None
    assert await match(tier(FakeReader(), FakeCalibration())) is None


async def test_another_facet_or_provider_is_never_served() -> None:
    reader = FakeReader((entry("a", facet="elsewhere"), 1.0), (entry("b", provider="exa"), 1.0))
    assert await match(tier(reader, FakeCalibration(a=1.0, b=1.0))) is None


async def test_a_caller_may_tighten_the_gate_and_never_loosen_it() -> None:
    reader = FakeReader((entry("a"), 0.96), (entry("b"), 0.90))
    calibration = FakeCalibration(a=0.9, b=0.99)
    made = tier(reader, calibration, min_similarity=0.95)
    assert await match(made, least=0.97) is None
    assert calibration.asked == []
    for least in (None, 0.5, 0.95):
        hit = await match(made, least=least)
        assert hit is not None and hit.entry.cache_key == "a"
    assert {one["stored"] for one in calibration.asked} == {"a"}
    assert {one["min_similarity"] for one in calibration.asked} == {0.95}


async def test_the_calibration_is_told_the_margin_to_the_best_other() -> None:
    reader = FakeReader((entry("a"), 0.99), (entry("b"), 0.97), (entry("c"), 0.80))
    calibration = FakeCalibration(a=0.9)
    await match(tier(reader, calibration, min_similarity=0.95, min_probability=0.7))
    assert [(one["stored"], round(one["margin"], 3)) for one in calibration.asked] == [("a", 0.02), ("b", -0.02)]
    assert calibration.asked[0]["language"] == "en"
    assert calibration.asked[0]["min_probability"] == 0.7
    alone = FakeCalibration(a=0.9)
    await match(tier(FakeReader((entry("a"), 0.99)), alone))
    assert alone.asked[0]["margin"] is None


async def test_an_answer_too_old_for_the_caller_gives_way_to_a_younger_one() -> None:
    reader = FakeReader((entry("old", stored_at_ms=NOW_MS - 100), 0.99), (entry("young"), 0.98))
    made = tier(reader, FakeCalibration(old=0.9, young=0.8))
    hit = await match(made, stored_since_ms=NOW_MS - 50)
    assert hit is not None and hit.entry.cache_key == "young"
    assert await match(made, stored_since_ms=NOW_MS + 1) is None


async def test_as_many_candidates_are_judged_as_the_settings_say() -> None:
    reader = FakeReader(*((entry(f"k{at}"), 0.99) for at in range(9)))
    calibration = FakeCalibration()
    await match(tier(reader, calibration, candidates=3))
    assert reader.asked_for == 3
    assert len(calibration.asked) == 3


async def test_a_verifier_that_raises_is_a_miss() -> None:
    class Broken:
        def decide(self, *_: object, **__: object) -> Decision:
            raise RecursionError("a hard sentence")

    assert await match(tier(FakeReader((entry("a"), 0.99)), Broken())) is None


async def test_a_verifier_that_takes_too_long_is_a_miss() -> None:
    class Slow(FakeCalibration):
        def decide(self, *arguments: Any, **options: Any) -> Decision:
            time.sleep(0.2)
            return super().decide(*arguments, **options)

    assert await match(tier(FakeReader((entry("a"), 0.99)), Slow(a=1.0), timeout_s=0.01)) is None


async def test_an_entry_that_cannot_be_read_is_passed_over() -> None:
    class Lossy(FakeReader):
        async def entry(self, candidate: Candidate, facet: str) -> CacheEntry | None:
            return None if candidate.query == "a" else await super().entry(candidate, facet)

    reader = Lossy((entry("a"), 0.99), (entry("b"), 0.98))
    hit = await match(tier(reader, FakeCalibration(a=0.9, b=0.8)))
    assert hit is not None and hit.entry.cache_key == "b"


async def test_switched_off_it_looks_at_nothing() -> None:
    reader = FakeReader((entry("a"), 0.99))
    assert await match(tier(reader, FakeCalibration(a=1.0), enabled=False)) is None
    assert reader.asked_for == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how does photosynthesis work", False),
        ("서울에서 부산 가는 기차", False),
        ("why " * 170, False),
        ("why " * 200, True),
        ("가" * 60, False),
        ("가" * 120, True),
    ],
)
async def test_a_text_the_model_does_not_read_to_its_end_is_not_compared(text: str, expected: bool) -> None:
    assert too_long(text) is expected
    hit = await match(tier(FakeReader((entry("a"), 0.99)), FakeCalibration(a=1.0)), query=text)
    assert (hit is None) is expected


async def test_the_shipped_calibration_is_used_where_none_is_given() -> None:
    stored = entry("a", query="how much does the iphone 15 cost")
    reader = FakeReader((stored, 0.99))
    hit = await match(tier(reader, None), query="how much does the iphone 15 cost?")
    assert hit is not None and hit.entry == stored
    assert await match(tier(reader, None), query="how much does the iphone 16 cost") is None
