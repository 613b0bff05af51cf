"""fetch: a miss is taken to the vendors, once for all who ask the same. `search.fetches.v1` → `search.payloads.v1`, events.

In this order, so that no paid answer is lost and no call goes uncounted:
1. the mark of a call is published and confirmed; 2. the vendor is called; 3. the payload is published and confirmed;
4. only then those who wait are served and the events go out; 5. the record is done.

Whoever is served without a call of its own:
- a request delivered again (a crash, a rebalance, a producer's retry): from the outcome it got, receipt included;
- an equal request at the same time: shares the flight, at cost 0. When the leader got nothing because its time was short, one
  that has more time leads a flight of its own; any other failure is shared, or a dead vendor would be asked a thousand times;
- an equal request a moment later: from the recent answers, for as long as the answer's TTL and `fetch.recent_s` allow.

`refresh` joins a flight (its answer is as fresh as can be) but takes nothing recent. `bypass` shares nothing with anyone: its
caller pays for isolation. Answers whose storage is forbidden are shared in flight only, as one transient call.
"""

from collections.abc import Iterable, Sequence

from groundwire.schemas.cache_write import Purge
from groundwire.schemas.event import AttemptEvent
from groundwire.schemas.lookup import Fetch
from groundwire.schemas.payload import AttemptMark, Payload
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS
from groundwire.streams.flow.budget import Budgets
from groundwire.streams.flow.chain import TOO_NEAR, Chain, ChainResult, lost_attempt
from groundwire.streams.flow.clock import SystemClock
from groundwire.streams.flow.consistency import is_consistent
from groundwire.streams.flow.deadline import Deadline
from groundwire.streams.flow.gate import Gate, Guarded
from groundwire.streams.flow.hedging import Hedging
from groundwire.streams.flow.recent import RecentAnswers, Shareable, shareable_of
from groundwire.streams.flow.single_flight import Flight, Landed, SingleFlight
from groundwire.streams.stages.dead_letters import dead_letter
from groundwire.streams.stages.events import attempt_event, attempt_events
from groundwire.streams.stages.identity import payload_id
from groundwire.streams.stages.ports import CallableDirectory, Clock, Publish, TtlRule

# With less than this left, a request whose leader ran out of time does not start again.
_LEAST_TO_START_AGAIN_S = 0.5

# A record of the topic has 8 MiB; a little is left for keys and headers.
_MOST_PAYLOAD_BYTES = PAYLOADS.max_bytes - 64 * 1024


class FetchStage:
    """The third stage. Never raises, but for what `publish` raises when the broker can't be reached for good."""

    def __init__(
        self,
        providers: CallableDirectory,
        publish: Publish,
        settings: Settings,
        ttl: TtlRule,
        clock: Clock | None = None,
    ) -> None:
        self._providers = providers
        self._publish = publish
        self._settings = settings
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._budgets = Budgets(settings.providers, settings.tenants)
        self._gate = Gate(settings, self._clock, self._budgets)
        self._chain = Chain(providers, self._gate, self._budgets, Hedging(settings.hedging), settings, self._clock)
        self._flights = SingleFlight()
        self._recent = RecentAnswers(settings.fetch.recent_mib * 1024 * 1024, self._max_age_s)

    async def __call__(self, record: InboundRecord) -> list[OutboundRecord]:
        try:
            fetch = Fetch.decode(record.value)
        except RecordError as error:
            return [dead_letter(record, error, stage="fetch", now_ms=self._clock.now_ms())]
        started = self._clock.monotonic()
        while True:
            outputs = await self._served(fetch, started)
            if outputs is not None:
                return outputs

    # ---- what the worker tells the stage -----------------------------------------------------------------------------

    def restore(self, records: Iterable[InboundRecord]) -> None:
        """Take in the tail of a payload partition that was taken over, oldest first. Unreadable records are passed over:
        unify reports them."""
        for record in records:
            try:
                payload = Payload.decode(record.value)
            except RecordError:
                continue
            if payload.kind == "begun":
                self._recent.begin(payload)
            elif is_consistent(payload):
                self._recent.add(payload, record.timestamp_ms)

    def observe(self, events: Iterable[AttemptEvent]) -> None:
        """Book what all workers spend, also before this one started, on the budgets."""
        for event in events:
            self._budgets.observe(event)

    def forget(self, purge: Purge) -> None:
        """A purge reaches the recent answers too."""
        self._recent.forget(purge)

    def set_share(self, share: float) -> None:
        """This worker's part of all fetch partitions, 0 to 1: its part of the rate limits and concurrency caps."""
        self._gate.set_share(share)

    def seen(self, provider: str) -> Guarded | None:
        """A provider's guards, once it was asked."""
        return self._gate.seen(provider)

    @property
    def recent_bytes(self) -> int:
        return self._recent.bytes

    @property
    def flights(self) -> int:
        return len(self._flights)

    # ---- one request -------------------------------------------------------------------------------------------------

    async def _served(self, fetch: Fetch, started: float) -> list[OutboundRecord] | None:
        """The outputs, or None when the request has to look again at what there is."""
        plan = fetch.plan
        before = self._recent.outcome_of(plan.reply_id)
        if before is not None:
            return _again(fetch, before)
        now_ms = self._clock.now_ms()
        recent = self._recent.share(plan, now_ms) if plan.cache == "use" else None
        if recent is not None:
            return await self._share(fetch, started, recent)
        key = _flight_key(plan)
        flight = self._flights.under_way(key)
        if flight is None:
            return await self._lead(fetch, started, self._flights.lead(key, plan.reply_id))
        return await self._follow(fetch, started, flight)

    async def _lead(self, fetch: Fetch, started: float, flight: Flight) -> list[OutboundRecord]:
        plan = fetch.plan
        payload_id_ = payload_id(plan.reply_id, self._clock.now_ms())

        async def began(marks: Sequence[AttemptMark]) -> None:
            mark = Payload(
                kind="begun", payload_id=payload_id_, plan=plan, lookup_ms=fetch.lookup_ms, marks=list(marks)
            )
            await self._publish([_record(mark)])

        landed: Landed | None = None
        try:
            result = await self._chain.run(plan, self._recent.take_lost(plan.reply_id), began)
            payload = self._paid(fetch, payload_id_, result, started)
            await self._publish([_record(payload)])
            self._recent.add(payload, self._clock.now_ms())
            landed = Landed(payload, result.short_of_time)
        finally:
            self._flights.land(flight, landed)
        return attempt_events(payload)

    async def _follow(self, fetch: Fetch, started: float, flight: Flight) -> list[OutboundRecord] | None:
        plan = fetch.plan
        deadline = Deadline(plan.requested_at_ms, plan.deadline_ms, self._clock)
        # Another delivery of this very request leads: it ends by the same deadline, and both have to say the same.
        is_own = flight.reply_id == plan.reply_id
        try:
            landed = await flight.wait(None if is_own else deadline.left_s())
        except TimeoutError:
            before = self._recent.outcome_of(plan.reply_id)
            if before is not None:
                return _again(fetch, before)
            warning = "the deadline passed while the vendors were being asked for an equal request"
            return await self._share_nothing(fetch, started, [warning])
        before = self._recent.outcome_of(plan.reply_id)
        if before is not None:
            return _again(fetch, before)
        if landed is None:
            return None  # the leader broke off: look again, and perhaps lead
        if is_own:
            return _again(fetch, landed.payload)
        shareable = shareable_of(landed.payload)
        if shareable is not None:
            return await self._share(fetch, started, shareable)
        if landed.short_of_time and deadline.left_s() >= _LEAST_TO_START_AGAIN_S:
            return None
        return await self._share_nothing(fetch, started, [], landed.payload)

    def _paid(self, fetch: Fetch, payload_id_: str, result: ChainResult, started: float) -> Payload:
        payload = Payload(
            kind="answer",
            payload_id=payload_id_,
            plan=fetch.plan,
            lookup_ms=fetch.lookup_ms,
            fetch_ms=self._elapsed_ms(started),
            embedding=fetch.embedding,
            marks=result.marks,
            attempts=result.attempts,
            answers=result.answers,
            chosen=result.chosen,
            stale=fetch.stale,
            warnings=_nobody_was_asked(result),
        )
        if len(payload.encode()) <= _MOST_PAYLOAD_BYTES:
            return payload
        # Escaped as JSON the bodies have outgrown the topic's records. Better no answer than a worker stuck on one.
        return payload.model_copy(
            update={
                "answers": [],
                "chosen": None,
                "warnings": [*payload.warnings, "the vendor's answer is too large to be kept: it was not used"],
            }
        )

    async def _share(self, fetch: Fetch, started: float, shareable: Shareable) -> list[OutboundRecord]:
        return await self._without_a_call(
            Payload(
                kind="shared",
                payload_id=shareable.payload_id,
                plan=fetch.plan,
                lookup_ms=fetch.lookup_ms,
                fetch_ms=self._elapsed_ms(started),
                embedding=fetch.embedding,
                answers=[shareable.raw],
                chosen=0,
                paid_micro_usd=shareable.paid_micro_usd,
                stale=fetch.stale,
            )
        )

    async def _share_nothing(
        self, fetch: Fetch, started: float, warnings: list[str], failed: Payload | None = None
    ) -> list[OutboundRecord]:
        return await self._without_a_call(
            Payload(
                kind="shared",
                payload_id=payload_id(fetch.plan.reply_id, self._clock.now_ms()),
                plan=fetch.plan,
                lookup_ms=fetch.lookup_ms,
                fetch_ms=self._elapsed_ms(started),
                attempts=failed.attempts if failed is not None else [],
                stale=fetch.stale,
                warnings=warnings,
            )
        )

    async def _without_a_call(self, payload: Payload) -> list[OutboundRecord]:
        """A request that is served without a call of its own may have lost one in a crash: that is told first."""
        lost = self._recent.take_lost(payload.plan.reply_id)
        if lost:
            await self._publish([attempt_event(payload.plan, mark, lost_attempt(mark)) for mark in lost])
        self._recent.add(payload, self._clock.now_ms())
        return [_record(payload)]

    def _max_age_s(self, step: ProviderStep, plan: Plan) -> float:
        """How long an answer may serve others from here: never longer than the cache would serve it."""
        try:
            cap_s = self._providers.get(step.provider).storage.max_ttl_s
        except KeyError:
            return 0.0
        ttl_s = self._ttl(
            self._settings.cache, provider=step.provider, freshness=plan.freshness, domains=(), cap_s=cap_s
        )
        return min(self._settings.fetch.recent_s, float(ttl_s))

    def _elapsed_ms(self, started: float) -> float:
        return (self._clock.monotonic() - started) * 1000


def _nobody_was_asked(result: ChainResult) -> list[str]:
    reasons = {attempt.reason for attempt in result.attempts if attempt.outcome == "skipped"}
    if TOO_NEAR in reasons and all(attempt.outcome in ("skipped", "lost") for attempt in result.attempts):
        return ["the deadline had passed, or was too near, when the vendors' turn came: none was asked"]
    return []


def _again(fetch: Fetch, before: Payload) -> list[OutboundRecord]:
    """The outcome that this very request got before, for this delivery: it may ask for the reply in another place."""
    again = before.model_copy(update={"plan": fetch.plan, "lookup_ms": fetch.lookup_ms})
    return [_record(again), *(attempt_events(again) if again.kind == "answer" else [])]


def _record(payload: Payload) -> OutboundRecord:
    # The key of the fetch, so that a partition's payloads are the outcomes of the same partition's fetches.
    return OutboundRecord(PAYLOADS.name, payload.plan.chain[0].cache_key.encode(), payload.encode())


def _flight_key(plan: Plan) -> str:
    """Requests of one key would ask the same vendors the same thing."""
    if plan.cache == "bypass":
        return f"bypass {plan.reply_id}"
    return " ".join(step.cache_key for step in plan.chain)
