"""One row a provider, for `providers list` and whoever reads it as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.capability_table import capabilities
from groundwire.adapters.provider import Provider
from groundwire.adapters.registry import Registry
from groundwire.lake.reports.spending import Spent
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import ProviderSettings, Settings
from groundwire.streams.runtime.guards_file import Guards

_ANY_CALL = ProviderCall(query="a question", depth=5, language=None, country=None, freshness="slow", filters=Filters())

# With several workers the one that is worst off is told.
_WORST_FIRST = ("open", "half_open", "closed")


def provider_rows(
    registry: Registry, settings: Settings, guards: Sequence[Guards], spent: Mapping[str, Spent] | None
) -> list[dict[str, Any]]:
    """What a provider can do, what it may do, and how it is doing.

    `guards` are those of the fetch workers on this machine: with none, `breaker` is `unknown`. `spent` is what the lake says;
    None: there is no lake here, and what was spent is null.
    """
    return [
        {
            "provider": name,
            "unavailable": provider.unavailable(),
            "key": _key(provider),
            **_health(name, guards),
            "requests_per_s": provider.requests_per_s,
            "max_concurrency": provider.max_concurrency,
            "price_micro_usd": provider.price_micro_usd(_ANY_CALL),
            **_money(settings.providers.get(name, ProviderSettings()), name, spent),
            "max_depth": provider.clamp_depth(20),
            "timeout_s": provider.timeout_s,
            "capabilities": capabilities(provider.spec),
            "storage_allowed": provider.storage.allowed,
            "storage_max_ttl_s": provider.storage.max_ttl_s,
            "storage_shareable": provider.storage.shareable,
            "terms_url": provider.storage.terms_url,
            "terms_read_on": provider.storage.read_on,
            "routes": [route for route, chain in settings.routes.items() if name in chain],
        }
        for name, provider in ((name, registry.get(name)) for name in registry.names())
    ]


def _key(provider: Provider) -> str:
    if provider.key_count:
        return "present"
    return "missing" if provider.spec.keys.required else "not needed"


def _health(name: str, guards: Sequence[Guards]) -> dict[str, Any]:
    seen = [one[name] for one in guards if name in one]
    states = [one.breaker for one in seen]
    return {
        "breaker": next((state for state in _WORST_FIRST if state in states), "unknown"),
        "under_way": sum(one.under_way for one in seen) if seen else None,
        "fetch_workers": len(seen),
    }


def _money(own: ProviderSettings, name: str, spent: Mapping[str, Spent] | None) -> dict[str, Any]:
    mine = None if spent is None else spent.get(name, Spent(0, 0, 0))
    return {
        "spent_today_micro_usd": mine.today_micro_usd if mine else None,
        "spent_this_month_micro_usd": mine.month_micro_usd if mine else None,
        "calls_of_unknown_cost_this_month": mine.unknown_cost if mine else None,
        "budget_per_day_micro_usd": own.budget_per_day_micro_usd,
        "budget_per_month_micro_usd": own.budget_per_month_micro_usd,
    }
