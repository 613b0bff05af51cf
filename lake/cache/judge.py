"""Judging a file of question pairs: for each, whether the second would be served the first one's answer, and why."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from groundwire.lake.cache.calibration import Calibration, Decision
from groundwire.lake.cache.calibration_fit import LabelledPair

Normalize = Callable[[str], str]
_TRUE = frozenset(("1", "true", "yes", "same", "y"))
_FALSE = frozenset(("0", "false", "no", "different", "n"))


class PairsUnusable(Exception):  # noqa: N818 - names a state one can act on
    """A file of pairs that can't be read as such. The message names the line and what is wanted."""


class Embeds(Protocol):
    """What makes vectors of length 1 from texts: the cache's embedder."""

    def embed_now(self, text: str) -> Sequence[float]:
        """The text's vector."""
        ...


@dataclass(frozen=True, slots=True)
class Pair:
    """`a` is stored, `b` is asked. `same` is what a person said, None where nobody has."""

    a: str
    b: str
    same: bool | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What the cache would do with one pair. `tier` is None on a miss."""

    pair: Pair
    hit: bool
    tier: Literal["exact", "semantic"] | None
    similarity: float
    probability: float
    reason: str
    decision: Decision

    def to_json(self) -> dict[str, Any]:
        """One row for scripts."""
        return {
            "a": self.pair.a,
            "b": self.pair.b,
            "same": None if self.pair.same is None else int(self.pair.same),
            "hit": self.hit,
            "tier": self.tier,
            "similarity": round(self.similarity, 4),
            "probability": round(self.probability, 4),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """All pairs of a file, judged."""

    rows: tuple[Judged, ...]

    def to_json(self) -> dict[str, Any]:
        """Totals and rows; the totals are over the pairs that carry a label."""
        labelled = [row for row in self.rows if row.pair.same is not None]
        hits = [row for row in labelled if row.hit]
        true_hits = sum(bool(row.pair.same) for row in hits)
        same = sum(bool(row.pair.same) for row in labelled)
        return {
            "pairs": len(self.rows),
            "labelled": len(labelled),
            "hits": sum(row.hit for row in self.rows),
            "exact_hits": sum(row.tier == "exact" for row in self.rows),
            "semantic_hits": sum(row.tier == "semantic" for row in self.rows),
            "true_hits": true_hits,
            "false_hits": len(hits) - true_hits,
            "missed": same - true_hits,
            "precision": round(true_hits / len(hits), 4) if hits else None,
            "recall": round(true_hits / same, 4) if same else None,
            "rows": [row.to_json() for row in self.rows],
        }


class Judge:
    """Decides pairs as the cache would. `normalize` is what the pipeline does to a question before it looks it up."""

    def __init__(
        self,
        embedder: Embeds,
        normalize: Normalize,
        calibration: Calibration | None = None,
        *,
        min_similarity: float = 0.0,
        min_probability: float | None = None,
    ) -> None:
        self._embedder = embedder
        self._normalize = normalize
        self._calibration = calibration or Calibration.shipped()
        self._min_similarity = min_similarity
        self._min_probability = min_probability
        self._vectors: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}

    def judge(self, pair: Pair) -> Judged:
        """Would `pair.b` be served the answer stored for `pair.a`?"""
        stored, asked = self._normalize(pair.a), self._normalize(pair.b)
        similarity = 1.0 if stored == asked else float(self._vector(stored) @ self._vector(asked))
        decision = self._calibration.decide(
            asked,
            stored,
            similarity,
            min_similarity=self._min_similarity,
            min_probability=self._min_probability,
            language=pair.language,
        )
        if stored == asked:
            return Judged(pair, True, "exact", 1.0, 1.0, "the same question once normalized", decision)
        tier: Literal["semantic"] | None = "semantic" if decision.hit else None
        return Judged(pair, decision.hit, tier, similarity, decision.probability, decision.reason, decision)

    def judge_all(self, pairs: Iterable[Pair]) -> Judgement:
        """Judge every pair."""
        return Judgement(tuple(self.judge(pair) for pair in pairs))

    def explain(self, a: str, b: str, language: str | None = None) -> dict[str, Any]:
        """How the decision about a pair comes about: similarity, each check, features, probability, decision."""
        judged = self.judge(Pair(a, b, language=language))
        verdict = judged.decision.verdict
        curve = self._calibration.curve_for(verdict)
        return {
            **{key: value for key, value in judged.to_json().items() if key != "same"},
            "normalized": {"a": self._normalize(a), "b": self._normalize(b)},
            "language": verdict.language,
            "checks": [
                {"name": check.name, "passed": check.passed, "detail": check.detail} for check in verdict.checks
            ],
            "features": verdict.features,
            "threshold": curve.threshold if self._min_probability is None else self._min_probability,
            "min_similarity": max(self._min_similarity, curve.min_similarity),
        }

    def labelled(self, pairs: Iterable[Pair]) -> list[LabelledPair]:
        """The labelled pairs with their similarities, as `calibrate` wants them. Pairs of one normalized text are left out:
        the exact tier serves them."""
        found = []
        for pair in pairs:
            if pair.same is None:
                continue
            stored, asked = self._normalize(pair.a), self._normalize(pair.b)
            if stored != asked:
                similarity = float(self._vector(stored) @ self._vector(asked))
                found.append(LabelledPair(asked, stored, pair.same, similarity, language=pair.language))
        return found

    def _vector(self, text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        if text not in self._vectors:
            self._vectors[text] = np.asarray(self._embedder.embed_now(text), dtype=np.float64)
        return self._vectors[text]


def read_pairs(path: Path) -> list[Pair]:
    """Read .tsv, .csv or .jsonl, plain or .gz, with columns or keys `a`, `b`, and `same`, `language` where there are any.

    Raises PairsUnusable, naming the file, the line and what is wanted; OSError when the file can't be opened.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if kind not in (".tsv", ".csv", ".jsonl"):
        raise PairsUnusable(
            f"{path}: a file of pairs ends in .tsv, .csv or .jsonl, with .gz after it when it is packed"
        )
    try:
        raw = gzip.decompress(path.read_bytes()) if suffixes[-1] == ".gz" else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise PairsUnusable(f"{path}: can't be read as UTF-8 text: {error}") from error
    records = _json_lines(path, text) if kind == ".jsonl" else _table(path, text, "\t" if kind == ".tsv" else ",")
    pairs = [_pair(path, line, record) for line, record in records]
    if not pairs:
        raise PairsUnusable(f"{path}: no pairs in it")
    return pairs


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        try:
            record = json.loads(content)
        except ValueError as error:
            raise PairsUnusable(f"{path}, line {line}: not JSON: {error}") from error
        if not isinstance(record, dict):
            raise PairsUnusable(f"{path}, line {line}: wanted an object with keys a and b")
        yield line, record


def _table(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if not {"a", "b"} <= set(reader.fieldnames or ()):
        raise PairsUnusable(
            f"{path}: the first line must name the columns; wanted a, b and same, got {reader.fieldnames}"
        )
    for record in reader:
        yield reader.line_num, record


def _pair(path: Path, line: int, record: dict[str, Any]) -> Pair:
    a, b = record.get("a"), record.get("b")
    if not isinstance(a, str) or not isinstance(b, str) or not a.strip() or not b.strip():
        raise PairsUnusable(f"{path}, line {line}: a and b must be texts, got {a!r} and {b!r}")
    said, language = record.get("same"), record.get("language")
    word = "" if said is None else str(said).strip().lower()
    if word and word not in _TRUE | _FALSE:
        raise PairsUnusable(f"{path}, line {line}: same must be 1 or 0, got {said!r}")
    return Pair(a, b, (word in _TRUE) if word else None, language if isinstance(language, str) and language else None)
