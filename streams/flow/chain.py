"""The provider chain of one request: one vendor after the other until one answers, inside the deadline.

Everything but `ok` and `rejected` moves on to the next provider; `empty` by `fetch.on_empty`. Before each call the marks of all
calls begun so far are handed to `began`, which returns when they are durable: a call that a crash swallows is then known.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from groundwire.adapters.call import FREE, UNKNOWN_COST, CallOutcome, Cost, ProviderCall
from groundwire.schemas.payload import AttemptMark, RawAnswer
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.reply import Attempt, AttemptOutcome
from groundwire.schemas.settings import Settings
from groundwire.streams.flow.attempt_id import attempt_id
from groundwire.streams.flow.budget import Budgets
from groundwire.streams.flow.deadline import Deadline, attempt_timeout_s
from groundwire.streams.flow.gate import Gate
from groundwire.streams.flow.hedging import Hedging
from groundwire.streams.stages.calls import provider_call
from groundwire.streams.stages.ports import CallableDirectory, CallableProvider, Clock

Began = Callable[[Sequence[AttemptMark]], Awaitable[None]]

TOO_NEAR = "deadline too near"

# A provider that does not come back at its own timeout is broken off this much later.
_GRACE_S = 0.25
# A rate limit may hold an attempt up for this part of its time; beyond it the next provider is asked.
_WAIT_SHARE = 0.5
# Failures that the same vendor may not repeat a moment later.
_PASSING: frozenset[AttemptOutcome] = frozenset({"transport", "server_error", "rate_limited"})
# Of answers in JSON that nobody could read, so much is kept for each request: it may be the mapping that is wrong, and then
# they are read again without a call. What is served never loses its room in the record to them.
_MOST_UNREAD_CHARACTERS = 256 * 1024
# Failures of a key: another key may do.
_OF_THE_KEY: frozenset[AttemptOutcome] = frozenset({"quota", "auth"})


@dataclass(slots=True)
class ChainResult:
    """What came of it: `marks` and `attempts` line by line, the raw answers, and the index of the one to serve.

    `short_of_time` is True when a vendor might have answered, had there been more time.
    """

    marks: list[AttemptMark] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    answers: list[RawAnswer] = field(default_factory=list)
    chosen: int | None = None
    short_of_time: bool = False


def lost_attempt(mark: AttemptMark) -> Attempt:
    """The receipt's line for a call that was begun and whose outcome a crash swallowed."""
    return Attempt(
        provider=mark.provider,
        outcome="lost",
        reason="begun, and the outcome was lost in a crash",
        cost_source="unknown",
        hedged=mark.hedged,
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    step: ProviderStep
    provider: CallableProvider
    call: ProviderCall


class Chain:
    """Runs chains. Knows every provider's guards; keeps nothing of a request."""

    def __init__(
        self,
        providers: CallableDirectory,
        gate: Gate,
        budgets: Budgets,
        hedging: Hedging,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self.providers = providers
        self.gate = gate
        self.budgets = budgets
        self.hedging = hedging
        self.settings = settings
        self.clock = clock

    async def run(self, plan: Plan, lost: Sequence[AttemptMark], began: Began) -> ChainResult:
        """Never raises anything but what `began` raises, and CancelledError. `lost` are calls that a crash swallowed."""
        return await _Run(self, plan, began).go(lost)


class _Run:
    """One request's chain."""

    def __init__(self, chain: Chain, plan: Plan, began: Began) -> None:
        self._chain = chain
        self._plan = plan
        self._began = began
        self._deadline = Deadline(plan.requested_at_ms, plan.deadline_ms, chain.clock)
        self._result = ChainResult()
        self._calls: list[AttemptMark] = []
        self._unfit: dict[str, str | None] = {}

    async def go(self, lost: Sequence[AttemptMark]) -> ChainResult:
        for mark in lost:
            self._note(mark, lost_attempt(mark))
        steps = list(self._plan.chain)
        while steps:
            step = steps.pop(0)
            candidate, reason = self._candidate(step)
            if candidate is None:
                self._skip(step, reason or "")
                continue
            if self._deadline.too_near():
                self._result.short_of_time = True
                self._skip(step, TOO_NEAR)
                continue
            last = await self._ask(candidate, steps)
            if self._settles(last):
                break
        return self._result

    # ---- who can be asked --------------------------------------------------------------------------------------------

    def _candidate(self, step: ProviderStep) -> tuple[_Candidate | None, str | None]:
        """The provider of a step, or why it is passed over."""
        if step.skip is not None:
            return None, step.skip
        try:
            provider = self._chain.providers.get(step.provider)
        except KeyError:
            return None, "no such provider here"
        call = provider_call(self._plan, step)
        if step.provider not in self._unfit:
            self._unfit[step.provider] = provider.unfit(call)
        reason = self._unfit[step.provider] or self._chain.gate.refusal(provider, self._plan.tenant, call)
        return (None, reason) if reason is not None else (_Candidate(step, provider, call), None)

    def _next(self, steps: Sequence[ProviderStep]) -> _Candidate | None:
        return next((candidate for step in steps if (candidate := self._candidate(step)[0]) is not None), None)

    # ---- asking ------------------------------------------------------------------------------------------------------

    async def _ask(self, candidate: _Candidate, steps: list[ProviderStep]) -> int:
        """Ask one provider, with retries and perhaps a hedge beside it. Gives the number of the attempt that counts."""
        hedge_after_s = self._chain.hedging.after_s(candidate.provider.name)
        if hedge_after_s is not None and self._next(steps) is not None:
            return await self._ask_two(candidate, hedge_after_s, steps)
        return await self._ask_one(candidate, steps, hedged=False)

    async def _ask_one(self, candidate: _Candidate, steps: Sequence[ProviderStep], *, hedged: bool) -> int:
        retries = self._chain.settings.retry
        keys_left = candidate.provider.key_count - 1
        tries_left = retries.max_per_provider
        while True:
            number, outcome = await self._call(candidate, steps, hedged=hedged)
            if outcome is None or self._settles(number):
                return number
            if outcome.outcome in _OF_THE_KEY and keys_left > 0 and candidate.provider.has_another_key():
                keys_left -= 1
                wait_s = 0.0
            elif outcome.outcome in _PASSING and tries_left > 0:
                done = retries.max_per_provider - tries_left
                tries_left -= 1
                wait_s = outcome.retry_after_s or retries.backoff_s * 2**done * random.uniform(0.5, 1.0)
            else:
                return number
            # A pause that eats the time of the next provider does not pay.
            if wait_s > self._time_for(candidate, steps) * _WAIT_SHARE or self._deadline.too_near():
                return number
            await asyncio.sleep(wait_s)

    async def _ask_two(self, candidate: _Candidate, hedge_after_s: float, steps: list[ProviderStep]) -> int:
        """Ask one provider, and the next one too when the first is slow. The first to answer wins, the other is broken off."""
        first = asyncio.ensure_future(self._ask_one(candidate, steps, hedged=False))
        running = {first}
        try:
            await asyncio.wait(running, timeout=hedge_after_s)
            second = self._next(steps)
            slow = not first.done() and not self._deadline.too_near()
            if slow and second is not None and self._affordable(second):
                while (passed := steps.pop(0)) is not second.step:
                    self._skip(passed, self._candidate(passed)[1] or "")
                running.add(asyncio.ensure_future(self._ask_one(second, steps, hedged=True)))
            number = -1
            while running:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    number = task.result()
                    if self._settles(number):
                        return number
            return number
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _affordable(self, candidate: _Candidate) -> bool:
        return self._chain.hedging.affordable(candidate.provider.price_micro_usd(candidate.call))

    async def _call(
        self, candidate: _Candidate, steps: Sequence[ProviderStep], *, hedged: bool
    ) -> tuple[int, CallOutcome | None]:
        """One call, from the mark to the receipt. The outcome is None when the call did not take place."""
        step, provider, call = candidate.step, candidate.provider, candidate.call
        gate, tenant = self._chain.gate, self._plan.tenant
        patience_s = self._time_for(candidate, steps) * _WAIT_SHARE
        rate_wait_s = gate.rate_wait_s(provider)
        if rate_wait_s > patience_s:
            return self._skip(step, f"rate limit: next call in {rate_wait_s:.1f} s"), None
        refused = await gate.enter(provider, tenant, call, patience_s)
        if refused is not None:
            return self._skip(step, refused), None
        outcome: CallOutcome | None = None
        number: int | None = None
        asked = False
        try:
            if rate_wait_s > 0:
                await asyncio.sleep(rate_wait_s)
            mark = self._mark(step, hedged=hedged)
            self._calls.append(mark)
            number = self._note(mark, _under_way(mark))
            await self._began(tuple(self._calls))
            timeout_s = self._time_for(candidate, steps)
            if self._deadline.too_near():
                self._result.short_of_time = True
                outcome = _made_up("skipped", TOO_NEAR, 0.0, FREE)
            else:
                asked = True
                outcome = await self._outcome(provider, call, timeout_s)
        except asyncio.CancelledError:
            if number is not None:
                self._settle(number, step, self._broken_off(provider, call, self._result.marks[number], asked=asked))
            raise
        finally:
            gate.leave(provider, tenant, call, outcome)
        if outcome.outcome == "timeout" and timeout_s < provider.timeout_s:
            self._result.short_of_time = True
        self._settle(number, step, outcome)
        return number, outcome

    async def _outcome(self, provider: CallableProvider, call: ProviderCall, timeout_s: float) -> CallOutcome:
        started = self._chain.clock.monotonic()
        try:
            async with asyncio.timeout(timeout_s + _GRACE_S):
                return await provider.call(call, timeout_s)
        except TimeoutError:
            outcome: AttemptOutcome = "timeout"
            reason = f"no answer within {timeout_s:.2f} s"
        except Exception as error:
            # The port promises not to raise; a slip in an adapter must cost one attempt, not the request.
            outcome, reason = "bad_answer", f"the adapter failed ({type(error).__name__})"
        latency_ms = (self._chain.clock.monotonic() - started) * 1000
        return _made_up(outcome, reason, latency_ms, UNKNOWN_COST)

    def _time_for(self, candidate: _Candidate, steps: Sequence[ProviderStep]) -> float:
        return attempt_timeout_s(
            self._deadline.left_s(),
            candidate.provider.timeout_s,
            share=self._chain.settings.fetch.share_of_remaining,
            another_follows=self._next(steps) is not None,
        )

    # ---- the receipt -------------------------------------------------------------------------------------------------

    def _settles(self, number: int) -> bool:
        """True when this attempt ends the chain."""
        outcome = self._result.attempts[number].outcome
        return outcome in ("ok", "rejected") or (outcome == "empty" and self._chain.settings.fetch.on_empty == "accept")

    def _mark(self, step: ProviderStep, *, hedged: bool) -> AttemptMark:
        number = len(self._result.marks)
        now_ms = self._chain.clock.now_ms()
        return AttemptMark(
            attempt_id=attempt_id(self._plan.reply_id, step.provider, number, now_ms),
            provider=step.provider,
            attempt=number,
            hedged=hedged,
            depth=step.depth,
            started_at_ms=now_ms,
        )

    def _note(self, mark: AttemptMark, attempt: Attempt) -> int:
        self._result.marks.append(mark)
        self._result.attempts.append(attempt)
        return len(self._result.attempts) - 1

    def _skip(self, step: ProviderStep, reason: str) -> int:
        return self._note(
            self._mark(step, hedged=False),
            Attempt(
                provider=step.provider, outcome="skipped", reason=reason, cost_micro_usd=0, cost_source="price_list"
            ),
        )

    def _settle(self, number: int, step: ProviderStep, outcome: CallOutcome) -> None:
        mark = self._result.marks[number]
        self._result.marks[number] = mark.model_copy(update={"results": outcome.results, "bytes": outcome.body_bytes})
        self._result.attempts[number] = Attempt(
            provider=mark.provider,
            outcome=outcome.outcome,
            reason=outcome.reason,
            status_code=outcome.status_code,
            latency_ms=outcome.latency_ms,
            cost_micro_usd=outcome.cost.micro_usd,
            cost_source=outcome.cost.source,
            cost_detail=outcome.cost.detail,
            hedged=mark.hedged,
        )
        self._book(mark, outcome)
        if outcome.body is None or not (outcome.outcome in ("ok", "empty") or self._may_be_ours(outcome)):
            return
        self._result.answers.append(
            RawAnswer(
                provider=mark.provider,
                attempt=number,
                status_code=outcome.status_code or 0,
                content_type=outcome.content_type,
                body=outcome.body,
                received_at_ms=self._chain.clock.now_ms(),
                depth=step.depth,
            )
        )
        if self._settles(number) and self._result.chosen is None:
            self._result.chosen = len(self._result.answers) - 1

    def _may_be_ours(self, outcome: CallOutcome) -> bool:
        """A paid answer in JSON that could not be read: the vendor's slip, or our mapping's."""
        if outcome.outcome != "bad_answer" or outcome.body is None or not outcome.body.lstrip().startswith(("{", "[")):
            return False
        unread = {number for number, one in enumerate(self._result.attempts) if one.outcome == "bad_answer"}
        kept = sum(len(answer.body) for answer in self._result.answers if answer.attempt in unread)
        return kept + len(outcome.body) <= _MOST_UNREAD_CHARACTERS

    def _book(self, mark: AttemptMark, outcome: CallOutcome) -> None:
        self._chain.budgets.book(
            mark.attempt_id, mark.provider, self._plan.tenant, outcome.cost.micro_usd, mark.started_at_ms
        )
        self._chain.hedging.ended(
            mark.provider,
            answered=outcome.outcome in ("ok", "empty"),
            latency_ms=outcome.latency_ms,
            cost_micro_usd=outcome.cost.micro_usd,
            hedged=mark.hedged,
        )

    def _broken_off(
        self, provider: CallableProvider, call: ProviderCall, mark: AttemptMark, *, asked: bool
    ) -> CallOutcome:
        """The loser of a hedge: the vendor has the call and is likely to bill it, so it is booked at its list price."""
        if not asked:
            return _made_up("skipped", "another vendor answered before this one was asked", 0.0, FREE)
        price = provider.price_micro_usd(call)
        cost = UNKNOWN_COST if price is None else Cost(price, "price_list")
        latency_ms = float(self._chain.clock.now_ms() - mark.started_at_ms)
        return _made_up("timeout", "broken off: another vendor answered first", latency_ms, cost)


def _under_way(mark: AttemptMark) -> Attempt:
    """The line of a call until its outcome is known. It only gets out when the worker dies."""
    return Attempt(provider=mark.provider, outcome="lost", cost_source="unknown", hedged=mark.hedged)


def _made_up(outcome: AttemptOutcome, reason: str, latency_ms: float, cost: Cost) -> CallOutcome:
    """An outcome that no adapter reported."""
    return CallOutcome(
        outcome=outcome,
        reason=reason,
        status_code=None,
        latency_ms=latency_ms,
        cost=cost,
        content_type="",
        body=None,
        body_bytes=0,
        results=0,
        retry_after_s=None,
    )
