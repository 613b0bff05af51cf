"""One row a provider, for `providers list` and whoever reads it as JSON."""

from typing import Any

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.registry import Registry
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings

_ANY_CALL = ProviderCall(query="a question", depth=5, language=None, country=None, freshness="slow", filters=Filters())


def provider_rows(registry: Registry, settings: Settings) -> list[dict[str, Any]]:
    """Name, whether usable and why not, the list price of a call at depth 5, limits, storage terms, and its routes."""
    rows = []
    for name in registry.names():
        provider = registry.get(name)
        terms = provider.storage
        rows.append(
            {
                "provider": name,
                "unavailable": provider.unavailable(),
                "price_micro_usd": provider.price_micro_usd(_ANY_CALL),
                "max_depth": provider.clamp_depth(20),
                "timeout_s": provider.timeout_s,
                "storage_allowed": terms.allowed,
                "storage_max_ttl_s": terms.max_ttl_s,
                "storage_shareable": terms.shareable,
                "terms_url": terms.terms_url,
                "terms_read_on": terms.read_on,
                "routes": [route for route, chain in settings.routes.items() if name in chain],
            }
        )
    return rows
