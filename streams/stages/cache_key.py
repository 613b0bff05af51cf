"""The name of an answer: two requests share one only when nothing that could change the answer differs."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache

from groundwire.adapters.spec import ProviderSpec
from groundwire.schemas.request import Filters, FreshnessClass, FreshnessWish

# Raised when the way keys or normalized texts are made changes: old entries then age out unread instead of being
# served for a question they were not made for.
KEY_VERSION = 2

# Parts of a provider file that don't change what is asked or how the answer is read.
_NO_PART_OF_THE_ANSWER = frozenset(
    {
        "title",
        "about",
        "docs_url",
        "keys",
        "price",
        "rate",
        "timeout_s",
        "storage",
        "messages",
        "outcomes",
        "retry_after",
    }
)


def spec_version(spec: ProviderSpec, options: Mapping[str, str]) -> str:
    """Changes when the provider's request or mapping does, or an option the operator set: another answer would come back."""
    text = spec.model_dump_json(exclude=set(_NO_PART_OF_THE_ANSWER))
    return _digest(text, json.dumps(dict(options), sort_keys=True))[:16]


def scope_of(tenant: str, *, shared: bool) -> str:
    """Who may be served this answer: everybody, or one tenant."""
    return "*" if shared else f"tenant {tenant}"


def filters_text(filters: Filters) -> str:
    """The filters in one spelling: the order in which domains are named changes nothing."""
    if filters == _NO_FILTERS:
        return ""
    named = filters.model_dump(exclude_defaults=True)
    for domains in ("include_domains", "exclude_domains"):
        if domains in named:
            named[domains] = sorted(set(named[domains]))
    return json.dumps(named, sort_keys=True)


_NO_FILTERS = Filters()


def compared_as(kind: FreshnessClass, wish: FreshnessWish) -> str:
    """The class of a facet. Whether a question is `static` or only `slow` is a judgement on its wording; another wording may be
    judged otherwise and yet want the same answer, which then lives as long as the asker's class allows. What a caller wished
    is compared with the same wish only."""
    return "lasting" if wish == "auto" and kind in ("static", "slow") else kind


@lru_cache(maxsize=8192)
def facet(
    provider: str,
    version: str,
    depth: int,
    language: str | None,
    country: str | None,
    filters: str,
    freshness: str,
    scope: str,
    span: str | None,
) -> str:
    """Everything but the text: answers of one facet may be compared by meaning. Cached, as there are few."""
    return _digest(
        json.dumps([KEY_VERSION, provider, version, depth, language, country, filters, freshness, scope, span])
    )


def cache_key(facet_: str, normalized_query: str) -> str:
    return _digest(facet_, normalized_query)


def _digest(*parts: str) -> str:
    # A separator that JSON, hexadecimal digits and normalized text can't hold keeps the parts apart.
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
