"""An old plan with the cache keys of now.

A key holds the version of its provider file, so that answers which were mapped otherwise are never served. What is read again
with a corrected file has to stand under the key that the same question has now.
"""

from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.schemas.request import SearchRequest
from groundwire.schemas.settings import Settings
from groundwire.streams.stages.freshness import FreshnessRules
from groundwire.streams.stages.ports import Directory
from groundwire.streams.stages.route import Router


class Rekeying:
    """Plans anew what a plan knows of its request, with the providers and settings of now, and takes the keys of it."""

    def __init__(self, settings: Settings, directory: Directory) -> None:
        self._directory = directory
        self._router = Router(settings, directory)
        self._freshness = FreshnessRules(settings.freshness)

    def __call__(self, plan: Plan) -> Plan:
        known = set(self._directory.names())
        names = [step.provider for step in plan.chain if step.provider in known]
        if not names:
            return plan
        # A plan has the class and not the wish; where the rules give another class, it was wished.
        asked = (plan.normalized_query, plan.filters, plan.requested_at_ms)
        freshness = self._freshness.classify(asked[0], "auto", *asked[1:])
        wished = freshness.kind != plan.freshness
        if wished:
            freshness = self._freshness.classify(asked[0], plan.freshness, *asked[1:])
        request = SearchRequest(
            query=plan.query,
            depth=plan.depth,
            providers=names,
            freshness=plan.freshness if wished else "auto",
            cache=plan.cache,
            language=plan.language,
            country=plan.country,
            filters=plan.filters,
            tenant=plan.refreshes_for or plan.tenant,
        )
        now = {step.provider: step for step in self._router.chain(request, plan.normalized_query, freshness)}
        return plan.model_copy(update={"chain": [_with_keys(step, now.get(step.provider)) for step in plan.chain]})


def _with_keys(step: ProviderStep, now: ProviderStep | None) -> ProviderStep:
    """The step as it was asked. At another depth than now it would be another answer."""
    if now is None or now.depth != step.depth:
        return step
    return step.model_copy(update={"cache_key": now.cache_key, "facet": now.facet})
