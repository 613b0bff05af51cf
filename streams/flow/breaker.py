"""A provider that keeps failing is left alone for a while, then tried with one call at a time."""

from collections import deque
from typing import Literal

from groundwire.schemas.reply import AttemptOutcome
from groundwire.schemas.settings import BreakerSettings

State = Literal["closed", "open", "half_open"]

# The vendor worked: it answered, or said that the query is the problem. Everything else counts against it.
_WORKS: frozenset[AttemptOutcome] = frozenset({"ok", "empty", "rejected"})
# Says nothing about the vendor: it was not asked.
_SAYS_NOTHING: frozenset[AttemptOutcome] = frozenset({"skipped", "lost"})


class Breaker:
    """One provider's breaker. Moments are monotonic seconds.

    closed: calls pass; opens when, of at least `min_calls` within `window_s`, `failure_rate` or more failed.
    open: nothing passes for `open_s`.
    half_open: one call passes as a probe; its success closes the breaker, its failure opens it again.
    """

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._calls: deque[tuple[float, bool]] = deque()
        self._opened_at: float | None = None
        self._probe_since: float | None = None

    def state(self, now: float) -> State:
        if self._opened_at is None:
            return "closed"
        return "open" if now - self._opened_at < self._settings.open_s else "half_open"

    def refusal(self, now: float) -> str | None:
        """Why no call may pass now, or None. Asking changes nothing."""
        if self._opened_at is None:
            return None
        left_s = self._opened_at + self._settings.open_s - now
        if left_s > 0:
            return f"breaker open for {left_s:.1f} s more"
        # A probe whose outcome never came (its request was cancelled) must not shut the provider out for ever.
        if self._probe_since is not None and now - self._probe_since < self._settings.open_s:
            return "breaker half open: a probe is under way"
        return None

    def began(self, now: float) -> None:
        """A call passes; in half_open it is the probe."""
        if self._opened_at is not None:
            self._probe_since = now

    def ended(self, outcome: AttemptOutcome, now: float) -> None:
        if not self._settings.enabled:
            return
        if outcome in _SAYS_NOTHING:
            self._probe_since = None
            return
        works = outcome in _WORKS
        if self._opened_at is not None:
            # Calls begun before the breaker opened may end now; only a probe's outcome decides.
            if self._probe_since is not None:
                self._probe_since = None
                self._opened_at = None if works else now
                self._calls.clear()
            return
        self._calls.append((now, works))
        while self._calls and now - self._calls[0][0] > self._settings.window_s:
            self._calls.popleft()
        failed = sum(1 for _, worked in self._calls if not worked)
        enough = len(self._calls) >= self._settings.min_calls
        if enough and failed and failed >= self._settings.failure_rate * len(self._calls):
            self._opened_at = now
            self._calls.clear()
