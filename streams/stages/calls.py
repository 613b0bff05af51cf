"""A plan's step as the question a provider is asked."""

from groundwire.adapters.call import ProviderCall
from groundwire.schemas.plan import Plan, ProviderStep
from groundwire.streams.stages.query import clean_query


def provider_call(plan: Plan, step: ProviderStep) -> ProviderCall:
    """The vendor gets the query as asked (cleaned of what nobody can see), not the lower-case text that is looked up."""
    return ProviderCall(
        query=clean_query(plan.query),
        depth=step.depth,
        language=plan.language,
        country=plan.country,
        freshness=plan.freshness,
        filters=plan.filters,
    )
