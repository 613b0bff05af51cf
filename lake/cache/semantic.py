"""The semantic tier: the best stored question near the asked one that the verifier and the calibration let through.

A hit serves somebody else's answer, so everything here fails towards a miss: a verifier that raises or takes too long, a
candidate of another facet, an answer that can't be read.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import structlog

from groundwire.lake.cache.calibration import Calibration, Decision
from groundwire.lake.cache.embedder import too_long
from groundwire.lake.cache.vectors import Candidate
from groundwire.lake.cache.vetoes import Vetoes
from groundwire.lake.cache.view import CacheReader
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.settings import Settings

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SemanticHit:
    """A stored entry whose answer may be served for the question asked, and why."""

    entry: CacheEntry
    similarity: float
    probability: float
    reason: str


class SemanticTier:
    """Finds semantic hits in a view."""

    def __init__(self, reader: CacheReader, settings: Settings, calibration: Calibration | None = None) -> None:
        self._reader = reader
        self._settings = settings.cache.semantic
        self._calibration = calibration or calibration_of(settings)
        self._vetoes = Vetoes(settings.feedback_path)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="verifier")

    def reads(self, query: str) -> bool:
        """Whether a match is possible at all: a text that the model can't read to its end needs no vector."""
        return self._settings.enabled and not too_long(query)

    async def match(
        self,
        query: str,
        language: str | None,
        step: ProviderStep,
        vector: list[float],
        min_similarity: float | None,
        now_ms: int,
        *,
        stored_since_ms: int | None = None,
    ) -> SemanticHit | None:
        """The candidate most probably right, or None.

        `query` is the normalized one; only entries of the step's facet are looked at, so never another provider, depth,
        locale, filter, freshness class or scope. `min_similarity` may only tighten the operator's. `stored_since_ms`
        leaves older answers out.
        """
        if not self.reads(query):
            return None
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._match(query, language, step, vector, min_similarity, now_ms, stored_since_ms)
        except TimeoutError:
            log.info("semantic lookup given up", timeout_s=self._settings.timeout_s)
            return None
        except Exception as error:  # whatever the verifier stumbles over, the request goes on as a miss
            log.warning("semantic lookup failed; taken as a miss", error=repr(error))
            return None

    async def _match(
        self,
        query: str,
        language: str | None,
        step: ProviderStep,
        vector: list[float],
        min_similarity: float | None,
        now_ms: int,
        stored_since_ms: int | None,
    ) -> SemanticHit | None:
        found = await self._reader.candidates(step.facet, vector, self._settings.candidates, now_ms)
        least = max(self._settings.min_similarity, min_similarity or 0.0)
        if not found or found[0].similarity < least:
            return None
        loop = asyncio.get_running_loop()
        passed = await loop.run_in_executor(self._thread, self._judge, query, language, found, least)
        for candidate, decision in passed:
            entry = await self._reader.entry(candidate, step.facet)
            if entry is None or entry.provider != step.provider:
                continue
            if stored_since_ms is not None and entry.stored_at_ms < stored_since_ms:
                continue
            return SemanticHit(entry, decision.similarity, decision.probability, decision.reason)
        return None

    def _judge(
        self, query: str, language: str | None, found: list[Candidate], least: float
    ) -> list[tuple[Candidate, Decision]]:
        """The candidates that pass, the most probable first."""
        passed = []
        for place, candidate in enumerate(found):
            if candidate.similarity < least:
                break
            if self._vetoes.forbids(query, candidate.query):
                continue
            rivals = [other.similarity for at, other in enumerate(found) if at != place]
            decision = self._calibration.decide(
                query,
                candidate.query,
                candidate.similarity,
                margin=candidate.similarity - max(rivals) if rivals else None,
                min_similarity=least,
                min_probability=self._settings.min_probability,
                language=language,
            )
            if decision.hit:
                passed.append((candidate, decision))
        return sorted(passed, key=lambda pair: (-pair[1].probability, -pair[0].similarity))

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def calibration_of(settings: Settings) -> Calibration:
    """The owner's own calibration where there is one, else the shipped one. Raises CalibrationUnusable."""
    path = settings.calibration_path
    return Calibration.load(path) if path.exists() else Calibration.shipped()
