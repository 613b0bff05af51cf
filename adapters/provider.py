"""One provider, ready to be called. `Provider.call` makes exactly one outcome of whatever happens and never raises."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundwire.adapters.adapter import Adapter, Send
from groundwire.adapters.call import FREE, CallOutcome, Cost, MappedResult, ProviderCall, StorageTerms
from groundwire.adapters.classify import GenuinelyEmpty, Heard
from groundwire.adapters.errors import BadAnswer, Unsendable, VendorFailure, WireError
from groundwire.adapters.filters import unfit_for, warnings_for
from groundwire.adapters.http import HttpAnswer, HttpClient, HttpRequest
from groundwire.adapters.keys import KeyRing
from groundwire.adapters.reading import decode_text
from groundwire.adapters.redaction import Redactor
from groundwire.adapters.retry_after import retry_after_s
from groundwire.adapters.spec import ProviderSpec
from groundwire.schemas.reply import AttemptOutcome
from groundwire.schemas.settings import ProviderSettings

MAX_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class _Reading:
    """What an answer turned out to be."""

    outcome: AttemptOutcome
    reason: str | None
    cost: Cost
    body: str
    results: int = 0
    status: int | None = None


class Provider:
    """A search vendor behind one interface. Made by the registry."""

    def __init__(
        self,
        adapter: Adapter,
        settings: ProviderSettings,
        *,
        http: HttpClient,
        keys: Sequence[str],
        redact: Redactor,
        missing: str | None,
        retry_after_cap_s: float,
    ) -> None:
        self.spec: ProviderSpec = adapter.spec
        self.name = self.spec.name
        self.adapter = adapter
        self.timeout_s = settings.timeout_s if settings.timeout_s is not None else self.spec.timeout_s
        self.requests_per_s = settings.requests_per_s or self.spec.rate.requests_per_s
        self.max_concurrency = settings.max_concurrency or self.spec.rate.max_concurrency
        self.storage = _storage(self.spec, settings)
        self._http = http
        self._keys = KeyRing(keys)
        self._redact = redact
        self._missing = missing
        self._retry_after_cap_s = retry_after_cap_s
        self._wall_clock: Callable[[], float] = time.time

    def __repr__(self) -> str:
        return f"Provider({self.name})"

    def unavailable(self) -> str | None:
        """Why this provider can't be called at all (`no key: set …`), or None."""
        return self._missing

    def unfit(self, call: ProviderCall) -> str | None:
        """Why this provider can't serve this call, or None."""
        reason = self._missing or unfit_for(self.spec, call)
        if reason is not None:
            return reason
        try:
            self.adapter.request(call, "key" if len(self._keys) else None)
        except Unsendable as error:
            return self._redact(str(error))
        return None

    def clamp_depth(self, depth: int) -> int:
        """The depth this vendor can serve."""
        return min(depth, self.spec.limits.max_depth)

    def warnings(self, call: ProviderCall) -> list[str]:
        """What a caller should know about how this provider serves the call."""
        return warnings_for(self.spec, call)

    def price_micro_usd(self, call: ProviderCall) -> int | None:
        """List price of one call; None when the file does not say."""
        return self.adapter.prices.list_price(self.adapter.depth_to_ask(call))

    def has_another_key(self) -> bool:
        """Whether, after a quota or auth failure, a key is left that has not failed."""
        return self._keys.has_fresh() and self._keys.resting() > 0

    def at(self, seconds: float) -> None:
        """Fix the clock that relative dates and HTTP dates count from: for fixtures, whose answers are of one day."""
        self._wall_clock = lambda: seconds

    @property
    def key_count(self) -> int:
        return len(self._keys)

    async def call(self, call: ProviderCall, timeout_s: float) -> CallOutcome:
        """One vendor call. Never raises but CancelledError; no key is ever in what it returns."""
        started = time.perf_counter()
        skip = self._missing or unfit_for(self.spec, call) or (None if timeout_s > 0 else "no time left")
        if skip is not None:
            return _outcome("skipped", skip, started, FREE)
        key = self._keys.current()
        depth = self.adapter.depth_to_ask(call)
        deadline = started + timeout_s
        try:
            request = self.adapter.request(call, key)
            answer = await self._http.send(request, timeout_s)
        except Unsendable as error:
            return _outcome("skipped", self._redact(str(error)), started, FREE)
        except WireError as error:
            return self._from_wire(error, depth, started)
        except Exception as error:  # a promise: whatever a library raises becomes an outcome
            return self._unforeseen(error, depth, started)
        try:
            outcome = await self._from_answer(request, answer, call, depth, started, deadline)
        except Exception as error:
            return self._unforeseen(error, depth, started)
        if outcome.outcome in ("quota", "auth"):
            self._keys.rest(key, outcome.retry_after_s if outcome.outcome == "quota" else None)
        return outcome

    def results(self, body: str, call: ProviderCall, received_at_ms: int) -> list[MappedResult]:
        """Results of a stored body. Raises BadAnswer only."""
        try:
            return self.adapter.results(body, call, received_at_ms)
        except VendorFailure as failure:
            raise BadAnswer(failure.reason) from None
        except (RecursionError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadAnswer(f"can't be mapped ({type(error).__name__})") from None

    # ---- from what came to an outcome --------------------------------------------------------------------------------

    async def _from_answer(
        self, request: HttpRequest, answer: HttpAnswer, call: ProviderCall, depth: int, started: float, deadline: float
    ) -> CallOutcome:
        content_type = answer.headers.get("content-type", "")
        text = self._redact(decode_text(answer.body, content_type)).replace("\x00", "")
        heard = self.adapter.hear(answer.status, answer.headers, text)
        read = await self._read(request, heard, text, call, depth, self._sender(deadline))
        waits = read.outcome in ("rate_limited", "quota", "server_error")
        return CallOutcome(
            outcome=read.outcome,
            reason=None if read.reason is None else self._redact(read.reason)[:MAX_REASON_CHARS],
            status_code=read.status or answer.status,
            latency_ms=_since(started),
            cost=read.cost,
            content_type=self._redact(content_type)[:MAX_REASON_CHARS],
            body=read.body if 200 <= answer.status < 300 or read.outcome == "empty" else None,
            body_bytes=len(answer.body),
            results=read.results,
            retry_after_s=self._retry_after(heard) if waits else None,
        )

    async def _read(
        self, request: HttpRequest, heard: Heard, text: str, call: ProviderCall, depth: int, send: Send
    ) -> "_Reading":
        adapter, prices = self.adapter, self.adapter.prices
        try:
            adapter.judge(heard)
            whole = await adapter.complete(request, text, send)
            document = heard.document if whole is text else adapter.document(whole)
            text = self._redact(whole)
            results = len(adapter.results_of(document, call, int(self._wall_clock() * 1000)))
        except GenuinelyEmpty:
            # Said with an error status it is billed like one.
            free = heard.status >= 400
            cost = (prices.cost_of_refusal if free else prices.cost_of_answer)(depth, heard.document)
            return _Reading("empty", None, cost, text)
        except VendorFailure as failure:
            half_said = 200 < heard.status < 300  # a success without an answer, which may well be billed
            cost = (prices.cost_of_masked if half_said else prices.cost_of_refusal)(depth, heard.document)
            return _Reading(failure.outcome, failure.reason, cost, text, status=failure.status_code)
        except BadAnswer as error:
            masked = 200 <= heard.status < 300
            cost = (prices.cost_of_masked if masked else prices.cost_of_refusal)(depth, heard.document)
            return _Reading("bad_answer", f"{heard.status}: {error}", cost, text)
        cost = prices.cost_of_answer(depth, document)
        if results:
            return _Reading("ok", None, cost, text, results=results)
        return _Reading("empty", self._why_empty(document), cost, text)

    def _why_empty(self, document: object) -> str | None:
        rows = len(self.adapter.rows(document))
        return f"none of {rows} results passes the filters" if rows else None

    def _sender(self, deadline: float) -> Send:
        """For an adapter that needs more than one call: what is left of the deadline is all it gets."""

        async def send(request: HttpRequest) -> HttpAnswer:
            left = deadline - time.perf_counter()
            if left <= 0:
                raise WireError("timeout", "no time left for the rest of the answer", reached=False)
            return await self._http.send(request, left)

        return send

    def _retry_after(self, heard: Heard) -> float | None:
        return retry_after_s(
            self.spec.retry_after,
            heard.headers,
            heard.document,
            heard.text,
            now_s=self._wall_clock(),
            cap_s=self._retry_after_cap_s,
        )

    def _from_wire(self, error: WireError, depth: int, started: float) -> CallOutcome:
        if error.kind == "bad_answer":
            cost = self.adapter.prices.cost_of_masked(depth, None)
        else:
            cost = self.adapter.prices.cost_of_lost(depth) if error.reached else FREE
        return _outcome(error.kind, self._redact(error.reason), started, cost, error.status_code)

    def _unforeseen(self, error: Exception, depth: int, started: float) -> CallOutcome:
        # Only the type: the text of an exception may hold a URL, a header or half an answer.
        reason = f"an error that was not foreseen ({type(error).__name__})"
        return _outcome("bad_answer", reason, started, self.adapter.prices.cost_of_lost(depth))


def _outcome(
    outcome: AttemptOutcome, reason: str, started: float, cost: Cost, status_code: int | None = None
) -> CallOutcome:
    return CallOutcome(
        outcome=outcome,
        reason=reason[:MAX_REASON_CHARS],
        status_code=status_code,
        latency_ms=_since(started),
        cost=cost,
        content_type="",
        body=None,
        body_bytes=0,
        results=0,
        retry_after_s=None,
    )


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _storage(spec: ProviderSpec, settings: ProviderSettings) -> StorageTerms:
    own, override = spec.storage, settings.storage
    allowed = own.allowed if override.allowed is None else override.allowed
    max_ttl_s = own.max_ttl_s if override.max_ttl_s is None else override.max_ttl_s
    if override.allowed and override.max_ttl_s is None and max_ttl_s == 0:
        max_ttl_s = 7 * 86_400  # the operator allows what the file forbids and names no limit: that of the other files
    return StorageTerms(
        allowed=allowed and max_ttl_s > 0,
        max_ttl_s=max_ttl_s,
        shareable=own.shareable if override.shareable is None else override.shareable,
        terms_url=own.terms_url,
        read_on=own.as_of if own.basis == "terms" else None,
    )
