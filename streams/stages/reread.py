"""Kept answers read again with the mappings of now: which of them a replay may send through unify once more, and as what.

Where nobody seemed to have answered, an answer that can be read now is chosen: a mapping that finds no rows looks like a
vendor that has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from groundwire.schemas.payload import Payload
from groundwire.schemas.settings import Settings
from groundwire.streams.flow.consistency import is_consistent
from groundwire.streams.stages.mapped import Mapped, MappedAnswers
from groundwire.streams.stages.ports import Directory, MappingDirectory, MappingProvider, PlannedProvider
from groundwire.streams.stages.rekeyed import Rekeying


class ReadingDirectory(Directory, MappingDirectory, Protocol):
    """Providers that can be planned with and that read answers."""

    def get(self, name: str) -> "ReadingProvider": ...


class ReadingProvider(PlannedProvider, MappingProvider, Protocol):
    """A vendor as planning and unify see it."""


@dataclass(frozen=True, slots=True)
class Reread:
    """A payload as it would be sent again. `results` is how many the answer holds now; 0 with the `problem`, if there is one."""

    payload: Payload
    provider: str
    results: int
    problem: str | None = None


class Rereading:
    """Reads payloads with the providers and settings there are now."""

    def __init__(self, providers: ReadingDirectory, settings: Settings) -> None:
        self._answers = MappedAnswers(providers)
        self._rekeyed = Rekeying(settings, providers)

    def __call__(self, payload: Payload) -> Reread | None:
        """None for a payload that holds no answer, or none that its plan knows."""
        if payload.kind == "begun" or not is_consistent(payload):
            return None
        readings = [(index, mapped) for index in _candidates(payload) if (mapped := self._read(payload, index))]
        if not readings:
            return None
        index, mapped = next(((index, mapped) for index, mapped in readings if mapped.results), readings[0])
        corrected = payload.model_copy(update={"chosen": index, "plan": self._rekeyed(payload.plan)})
        return Reread(corrected, payload.answers[index].provider, len(mapped.results), mapped.problem)

    def _read(self, payload: Payload, index: int) -> Mapped | None:
        raw = payload.answers[index]
        step = next((step for step in payload.plan.chain if step.provider == raw.provider), None)
        return None if step is None else self._answers.get(payload, raw, step)


def _candidates(payload: Payload) -> Sequence[int]:
    """The answer that was served; else all there are, in the order the vendors were asked."""
    if payload.chosen is not None:
        return [payload.chosen]
    return range(len(payload.answers)) if payload.kind == "answer" else []
