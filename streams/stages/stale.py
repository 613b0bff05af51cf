"""An answer past its end, served with a flag when nobody answers and the operator allows it (`cache.stale_if_error_s`)."""

from collections.abc import Sequence

from groundwire.schemas.lookup import StaleAnswer
from groundwire.schemas.plan import Plan
from groundwire.schemas.reply import Attempt, CacheReceipt
from groundwire.streams.stages.context import render_context
from groundwire.streams.stages.moments import iso_utc
from groundwire.streams.stages.reply import Answer, step_warnings


def stale_answer(
    plan: Plan,
    stale: StaleAnswer,
    now_ms: int,
    warnings: Sequence[str] = (),
    *,
    attempts: Sequence[Attempt] = (),
    cost_micro_usd: int | None = 0,
) -> Answer:
    """The old results with the cost and receipt of the attempts that failed before it came to this."""
    results = stale.results[: plan.depth]
    past_s = max(now_ms - stale.expires_at_ms, 0) // 1000
    return Answer(
        status="grounded",
        cache=CacheReceipt(
            outcome="stale",
            age_s=max(now_ms - stale.stored_at_ms, 0) / 1000,
            expires_at=iso_utc(stale.expires_at_ms),
        ),
        results=results,
        context=render_context(results, plan.context_tokens),
        provider=stale.provider,
        cost_micro_usd=cost_micro_usd,
        saved_micro_usd=stale.cost_micro_usd,
        attempts=list(attempts),
        warnings=[
            *warnings,
            f"nobody answered: this is an older answer, {past_s:,} s past its end",
            *step_warnings(plan, stale.provider),
        ],
    )
