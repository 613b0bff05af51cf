"""The project's own near-misses and paraphrases, decided as the cache decides them: verifier, packaged model, shipped curve."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.lake.cache.calibration import Calibration
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.verifier import verify
from groundwire.schemas.settings import EmbeddingSettings
from groundwire.streams.stages.query import normalize_query

DATA = Path(__file__).resolve().parents[1] / "data"
Served = Callable[[str, str], bool]


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def served() -> Served:
    """Whether `b` would be served `a`'s answer. Only pairs that pass the verifier need vectors."""
    embedder = Embedder.load(EmbeddingSettings())
    calibration = Calibration.shipped()

    def decide(a: str, b: str) -> bool:
        stored, asked = normalize_query(a), normalize_query(b)
        if stored == asked:
            return True
        if not verify(asked, stored).passed:
            return False
        left, right = embedder.embed_now(stored), embedder.embed_now(asked)
        similarity = sum(x * y for x, y in zip(left, right, strict=True))
        return calibration.decide(asked, stored, similarity, min_similarity=0.0).hit

    return decide


def test_no_near_miss_is_served(served: Served) -> None:
    pairs = rows("near_miss.jsonl")
    assert len(pairs) >= 600 and {pair["language"] for pair in pairs} == {"en", "ko"}
    wrong = [pair for pair in pairs if served(pair["a"], pair["b"]) or served(pair["b"], pair["a"])]
    assert wrong == []


def test_six_in_ten_paraphrases_are_found(served: Served) -> None:
    pairs = rows("paraphrases.jsonl")
    assert len(pairs) >= 250
    found: Counter[str] = Counter(pair["language"] for pair in pairs if served(pair["a"], pair["b"]))
    asked: Counter[str] = Counter(pair["language"] for pair in pairs)
    for language in ("en", "ko"):
        assert found[language] / asked[language] >= 0.6, f"{language}: {found[language]} of {asked[language]}"


def test_the_suites_hold_every_pair_once() -> None:
    for name in ("near_miss.jsonl", "paraphrases.jsonl"):
        seen = Counter((pair["a"], pair["b"]) for pair in rows(name))
        assert [pair for pair, times in seen.items() if times > 1] == []
