"""Raw answers as results, each mapped once: a thousand requests that share one answer cost one mapping."""

from collections import OrderedDict
from dataclasses import dataclass

from groundwire.adapters.errors import BadAnswer
from groundwire.schemas.payload import Payload, RawAnswer
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.reply import Result
from groundwire.streams.stages.calls import provider_call
from groundwire.streams.stages.context import render_context
from groundwire.streams.stages.ports import MappingDirectory

MOST_ANSWERS = 256

# A reply and a cache write must fit into a record of 2 MiB, whatever a vendor sends and JSON makes of it.
MOST_BODY_CHARACTERS = 50_000
MOST_BYTES_OF_ALL_BODIES = 600_000


@dataclass(slots=True)
class Mapped:
    """What one raw answer holds. `problem` says why it could not be read; contexts are kept by budget."""

    results: list[Result]
    warnings: list[str]
    problem: str | None = None
    contexts: dict[int, str] | None = None

    def context(self, budget_tokens: int) -> str:
        if self.contexts is None:
            self.contexts = {}
        if budget_tokens not in self.contexts:
            self.contexts[budget_tokens] = render_context(self.results, budget_tokens)
        return self.contexts[budget_tokens]


class MappedAnswers:
    """The newest mapped answers, by the payload that paid for them."""

    def __init__(self, providers: MappingDirectory, most: int = MOST_ANSWERS) -> None:
        self._providers = providers
        self._most = most
        self._kept: OrderedDict[tuple[str, str, int], Mapped] = OrderedDict()

    def get(self, payload: Payload, raw: RawAnswer, step: ProviderStep) -> Mapped:
        key = (payload.payload_id, raw.provider, step.depth)
        mapped = self._kept.get(key)
        if mapped is None:
            mapped = self._map(payload, raw, step)
            self._kept[key] = mapped
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return mapped

    def _map(self, payload: Payload, raw: RawAnswer, step: ProviderStep) -> Mapped:
        try:
            provider = self._providers.get(raw.provider)
        except KeyError:
            return Mapped([], [], f"{raw.provider}: no such provider here, so its answer can't be read")
        try:
            rows = provider.results(raw.body, provider_call(payload.plan, step), raw.received_at_ms)
        except BadAnswer as error:
            return Mapped([], [], f"{raw.provider}: the answer can't be read: {error}")
        except Exception as error:
            # A slip in a mapping must cost one answer, not the worker; the payload stays and can be replayed.
            return Mapped([], [], f"{raw.provider}: the answer can't be read ({type(error).__name__})")
        results: list[Result] = []
        shortened: list[int] = []
        room = MOST_BYTES_OF_ALL_BODIES
        for index, row in enumerate(rows[: step.depth], start=1):
            body = _within(row.body, room)
            room -= len(body.encode())
            if len(body) < len(row.body):
                shortened.append(index)
            results.append(
                Result(
                    index=index,
                    title=row.title,
                    url=row.url,
                    body=body,
                    published_at=row.published_at,
                    score=row.score,
                    provider=raw.provider,
                )
            )
        warnings = (
            [f"the bodies of results {_numbers(shortened)} were too long and were shortened"] if shortened else []
        )
        return Mapped(results, warnings)


def _within(body: str, room_bytes: int) -> str:
    body = body[:MOST_BODY_CHARACTERS]
    if len(body) * 4 <= room_bytes:
        return body
    return body.encode()[: max(room_bytes, 0)].decode(errors="ignore")


def _numbers(indices: list[int]) -> str:
    return ", ".join(str(index) for index in indices)
