"""lookup: the cache is asked, exactly and then by meaning. `search.lookups.v1` → a reply, or `search.fetches.v1`."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from groundwire.schemas.lookup import Embedding, Fetch, Lookup, StaleAnswer
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.reply import CacheReceipt
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import CACHE_WRITES, FETCHES
from groundwire.streams.stages.answered import AnsweredBefore
from groundwire.streams.stages.dead_letters import dead_letter
from groundwire.streams.stages.events import planned_request_event
from groundwire.streams.stages.forwarded import ForwardedBefore
from groundwire.streams.stages.identity import is_own_payload
from groundwire.streams.stages.moments import iso_utc
from groundwire.streams.stages.nothing_found import is_nothing, nothing_key
from groundwire.streams.stages.ports import CachePort, EmbedPort, SemanticMatch, SemanticPort, Timer
from groundwire.streams.stages.refresh_ahead import RefreshAhead
from groundwire.streams.stages.rendered import RenderedContexts
from groundwire.streams.stages.reply import Answer, latency_of, reply_record, reply_to, step_warnings
from groundwire.streams.stages.serving_terms import ServingTerms

# Waiting for a stored answer costs less than paying for it again. Half of what is left of the deadline stays for a vendor.
_MOST_PATIENCE_S = 5.0
_LEAST_PATIENCE_S = 0.5


@dataclass(frozen=True, slots=True)
class _Hit:
    """An entry that may be served until `end_ms`. `match` is None when the question was the same."""

    step: ProviderStep
    entry: CacheEntry
    end_ms: int
    match: SemanticMatch | None = None


@dataclass(slots=True)
class _Visit:
    """One request's way through the stage, with what was found out on it."""

    plan: Plan
    now_ms: int
    started: float
    warnings: list[str] = field(default_factory=list)
    embedding: Embedding | None = None
    stale: StaleAnswer | None = None


class LookupStage:
    """The second stage. Never raises: a cache that fails is a miss, and the reply's warnings say so.

    A provider that can't be called (no key, switched off) may still serve what it answered before.
    """

    def __init__(
        self,
        cache: CachePort,
        embedder: EmbedPort | None,
        semantic: SemanticPort | None,
        settings: Settings,
        terms: ServingTerms,
        *,
        timer: Timer = time.perf_counter,
    ) -> None:
        self._cache = cache
        self._embedder = embedder
        self._semantic = semantic if settings.cache.semantic.enabled else None
        self._semantic_timeout_s = settings.cache.semantic.timeout_s
        self._stale_s = settings.cache.stale_if_error_s
        self._negative_ttl_s = settings.cache.negative_ttl_s
        self._terms = terms
        self._refresh = RefreshAhead(settings.cache.refresh_ahead)
        # A repeated request whose answer is younger than this is answered again from the payload it paid for, by fetch,
        # which surely still has it. Later it gets the same answer as a hit.
        self._replay_ms = int(settings.fetch.recent_s * 500)
        self._contexts = RenderedContexts()
        self._answered = AnsweredBefore(settings.dedup_window_s)
        self._forwarded = ForwardedBefore()
        self._timer = timer

    async def __call__(self, record: InboundRecord, now_ms: int) -> list[OutboundRecord]:
        try:
            plan = Lookup.decode(record.value).plan
        except RecordError as error:
            return [dead_letter(record, error, stage="lookup", now_ms=now_ms)]
        again = self._answered.again(plan, now_ms)
        if again is not None:
            return again
        visit = _Visit(plan, now_ms, self._timer())
        past = now_ms >= plan.deadline_ms
        self._refresh.on_lookup()
        if plan.cache in ("use", "only"):
            hit = await self._exact(visit) or await self._by_meaning(visit) or await self._nothing_found(visit)
            if hit is not None and not (plan.cache == "use" and self._goes_to_fetch_again(visit, hit, past=past)):
                return self._serve(visit, hit)
        if plan.cache == "only":
            return self._reply(visit, Answer("ungrounded", CacheReceipt(outcome="miss"), warnings=visit.warnings))
        # Past its deadline it goes on as well: fetch asks nobody then, but it knows whether this request was answered before.
        self._forwarded.note(plan.reply_id, now_ms)
        fetch = Fetch(plan=plan, lookup_ms=self._elapsed_ms(visit), embedding=visit.embedding, stale=visit.stale)
        if visit.warnings:
            fetch = fetch.model_copy(
                update={"plan": plan.model_copy(update={"warnings": [*plan.warnings, *visit.warnings]})}
            )
        return [OutboundRecord(FETCHES.name, plan.chain[0].cache_key.encode(), fetch.encode())]

    async def _exact(self, visit: _Visit) -> _Hit | None:
        for step in visit.plan.chain:
            if not step.storable:
                continue
            try:
                entry = await self._cache.exact(
                    step.cache_key, visit.now_ms, stale_s=self._stale_s, patience_s=self._patience_s(visit)
                )
            except Exception as error:
                visit.warnings.append(f"the cache could not be read ({type(error).__name__}): taken as a miss")
                return None
            if entry is None:
                continue
            end_ms = self._terms.end_ms(entry, visit.plan.freshness)
            if _may_serve(visit, entry, end_ms):
                return _Hit(step, entry, end_ms)
            if visit.stale is None and self._may_serve_stale(visit, entry, end_ms):
                visit.stale = StaleAnswer(
                    provider=entry.provider,
                    results=entry.results,
                    cost_micro_usd=entry.cost_micro_usd,
                    stored_at_ms=entry.stored_at_ms,
                    expires_at_ms=end_ms,
                )
        return None

    def _may_serve_stale(self, visit: _Visit, entry: CacheEntry, end_ms: int) -> bool:
        """An answer past its end, not longer than the operator allows, and still within the vendor's terms."""
        past_ms = visit.now_ms - end_ms
        return (
            0 <= past_ms < self._stale_s * 1000
            and visit.now_ms < self._terms.allowed_until_ms(entry)
            and _young_enough(visit, entry)
        )

    async def _nothing_found(self, visit: _Visit) -> _Hit | None:
        """A moment ago every provider of this very chain found nothing."""
        plan = visit.plan
        if self._negative_ttl_s <= 0:
            return None
        try:
            entry = await self._cache.exact(nothing_key(plan.chain), visit.now_ms, patience_s=self._patience_s(visit))
        except Exception as error:
            visit.warnings.append(f"the cache could not be read ({type(error).__name__}): taken as a miss")
            return None
        if entry is None or not is_nothing(entry):
            return None
        end_ms = min(entry.expires_at_ms, entry.stored_at_ms + self._negative_ttl_s * 1000)
        return _Hit(plan.chain[0], entry, end_ms) if _may_serve(visit, entry, end_ms) else None

    async def _by_meaning(self, visit: _Visit) -> _Hit | None:
        """A live answer is never taken from another question: what is asked changes while one looks."""
        plan = visit.plan
        steps = [step for step in plan.chain if step.storable]
        if self._semantic is None or self._embedder is None or plan.freshness == "live" or not steps:
            return None
        if not self._semantic.reads(plan.normalized_query):
            return None
        oldest_ms = None if plan.max_age_s is None else visit.now_ms - plan.max_age_s * 1000
        try:
            async with asyncio.timeout(self._semantic_timeout_s):
                vector = await self._embedder.embed(plan.normalized_query)
                visit.embedding = Embedding.of(self._embedder.model, vector)
                for step in steps:
                    match = await self._semantic.match(
                        plan.normalized_query,
                        plan.language,
                        step,
                        vector,
                        plan.min_similarity,
                        visit.now_ms,
                        stored_since_ms=oldest_ms,
                    )
                    if match is None:
                        continue
                    end_ms = self._terms.end_ms(match.entry, plan.freshness)
                    if not _may_serve(visit, match.entry, end_ms):
                        continue
                    # The same question's own answer came in while meaning was looked for.
                    same = match.entry.cache_key == step.cache_key
                    return _Hit(step, match.entry, end_ms, None if same else match)
        except TimeoutError:
            visit.warnings.append(
                f"the semantic tier took longer than {self._semantic_timeout_s * 1000:.0f} ms: taken as a miss"
            )
        except Exception as error:
            visit.warnings.append(f"the semantic tier failed ({type(error).__name__}): taken as a miss")
        return None

    def restore(self, records: Iterable[InboundRecord]) -> None:
        """Take in the tail of the payload log after taking partitions over: who went on to fetch, and what came of it."""
        self._forwarded.restore(records)

    def _goes_to_fetch_again(self, visit: _Visit, hit: _Hit, *, past: bool) -> bool:
        """Whether this is a request looked up again that fetch has answered, or may have answered, otherwise."""
        plan, entry = visit.plan, hit.entry
        if is_own_payload(entry.payload_id, plan.reply_id):
            return not past and visit.now_ms - entry.stored_at_ms < self._replay_ms
        return self._forwarded.must_go_again(plan.reply_id, entry.payload_id, visit.now_ms)

    def _serve(self, visit: _Visit, hit: _Hit) -> list[OutboundRecord]:
        plan, entry, match = visit.plan, hit.entry, hit.match
        results = entry.results[: plan.depth]
        receipt = CacheReceipt(
            outcome="exact" if match is None else "semantic",
            age_s=max(visit.now_ms - entry.stored_at_ms, 0) / 1000,
            expires_at=iso_utc(hit.end_ms),
            # An exact hit on a back-fill is still another question's answer, and says whose.
            matched_query=entry.fetched_for if match is None else entry.normalized_query,
            similarity=None if match is None else match.similarity,
            probability=None if match is None else match.probability,
            reason=None if match is None else match.reason,
        )
        if is_nothing(entry):
            found = "nobody found anything for this question a moment ago: it is not asked again yet"
            return self._reply(
                visit,
                Answer(
                    "ungrounded",
                    receipt,
                    saved_micro_usd=entry.cost_micro_usd,
                    warnings=[*visit.warnings, found],
                ),
            )
        answer = Answer(
            status="grounded",
            cache=receipt,
            results=results,
            context=self._contexts.of(entry.cache_key, results, plan.context_tokens),
            provider=entry.provider,
            saved_micro_usd=entry.cost_micro_usd,
            warnings=[*visit.warnings, *step_warnings(plan, entry.provider)],
        )
        outputs = self._reply(visit, answer)
        if match is not None:
            outputs.append(_back_fill(plan, hit))
        elif plan.cache == "use":
            refresh = self._refresh.on_hit(plan, hit.step, entry, hit.end_ms, visit.now_ms)
            if refresh is not None:
                outputs.append(refresh)
        return outputs

    def _reply(self, visit: _Visit, answer: Answer) -> list[OutboundRecord]:
        lookup_ms = self._elapsed_ms(visit)
        completed_at_ms = visit.now_ms + round(lookup_ms)
        reply = reply_to(
            visit.plan, answer, latency_of(visit.plan, completed_at_ms, lookup_ms=lookup_ms), completed_at_ms
        )
        record = reply_record(reply, visit.plan.address)
        event = planned_request_event(reply, visit.plan, completed_at_ms)
        self._answered.remember(visit.plan, record, event, visit.now_ms)
        return [record, event]

    def _patience_s(self, visit: _Visit) -> float:
        left_s = (visit.plan.deadline_ms - visit.now_ms - self._elapsed_ms(visit)) / 1000
        return min(max(left_s / 2, _LEAST_PATIENCE_S), _MOST_PATIENCE_S)

    def _elapsed_ms(self, visit: _Visit) -> float:
        return (self._timer() - visit.started) * 1000


def _may_serve(visit: _Visit, entry: CacheEntry, end_ms: int) -> bool:
    return end_ms > visit.now_ms and _young_enough(visit, entry)


def _young_enough(visit: _Visit, entry: CacheEntry) -> bool:
    limit_s = visit.plan.max_age_s
    return limit_s is None or visit.now_ms - entry.stored_at_ms <= limit_s * 1000


def _back_fill(plan: Plan, hit: _Hit) -> OutboundRecord:
    """The same answer under the asker's own key, so that the next asking is an exact hit, for as long as its source lasts.

    It stays out of the semantic tier: an answer must not drift from question to question.
    """
    entry = hit.entry.model_copy(
        update={
            "cache_key": hit.step.cache_key,
            "facet": hit.step.facet,
            "tenant": plan.tenant,
            "normalized_query": plan.normalized_query,
            "language": plan.language,
            "freshness": plan.freshness,
            "expires_at_ms": hit.end_ms,
            "semantic": False,
            "fetched_for": hit.entry.normalized_query,
            "embedding": None,
        }
    )
    write = CacheWrite(kind="put", entry=entry)
    return OutboundRecord(CACHE_WRITES.name, hit.step.cache_key.encode(), write.encode())
