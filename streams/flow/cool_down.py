"""A vendor that said "not before …" is not asked before."""

from groundwire.adapters.call import CallOutcome


class CoolDown:
    """One provider's Retry-After. Moments are monotonic seconds."""

    def __init__(self, cap_s: float) -> None:
        self._cap_s = cap_s
        self._until = 0.0
        self._why = ""

    def refusal(self, now: float) -> str | None:
        left_s = self._until - now
        return f"{self._why}: not before {left_s:.1f} s from now" if left_s > 0 else None

    def ended(self, outcome: CallOutcome, now: float) -> None:
        """Takes the vendor's wish, at most `cap_s`. An answer shows that the wish no longer stands."""
        if outcome.outcome == "ok":
            self._until = 0.0
        elif outcome.retry_after_s is not None and outcome.retry_after_s > 0:
            self._until = max(self._until, now + min(outcome.retry_after_s, self._cap_s))
            self._why = outcome.outcome.replace("_", " ")
