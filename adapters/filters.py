"""Filters: sent to the vendor, put into the query, applied here on the results, or a reason to skip the vendor.

None is ever dropped in silence. Domains can be checked exactly on any result. Dates can be checked on results that have one;
undated results of a provider that gives dates are kept, and a warning says so.
"""

from collections.abc import Sequence
from datetime import date
from urllib.parse import urlsplit

from groundwire.adapters.call import MappedResult, ProviderCall
from groundwire.adapters.locality import country_code, language_code
from groundwire.adapters.spec import ProviderSpec
from groundwire.schemas.request import Filters


def query_with_operators(spec: ProviderSpec, call: ProviderCall) -> str:
    """The query, with `site:` operators for the domain filters that this vendor takes that way."""
    parts = [call.query.strip()]
    if spec.capabilities.include_domains == "operator" and call.filters.include_domains:
        parts.append(" OR ".join(f"site:{domain}" for domain in call.filters.include_domains))
    if spec.capabilities.exclude_domains == "operator":
        parts.extend(f"-site:{domain}" for domain in call.filters.exclude_domains)
    return " ".join(parts)


def unfit_for(spec: ProviderSpec, call: ProviderCall) -> str | None:
    """Why this vendor can't serve this call, or None."""
    filters = call.filters
    if (filters.published_after or filters.published_before) and spec.capabilities.published == "no":
        return "can't filter by date, and its results have none"
    own = spec.capabilities.only_domains
    if own and filters.include_domains and not _overlap(own, filters.include_domains):
        return f"its results all lie in {', '.join(own)}"
    if filters.topic == "news" and spec.capabilities.news == "no":
        return "has no news search"
    if filters.safe_search not in (None, "off", *spec.capabilities.safe_search):
        return f"has no safe search at level `{filters.safe_search}`"
    return _over_a_limit(spec, query_with_operators(spec, call), filters)


def _over_a_limit(spec: ProviderSpec, query: str, filters: Filters) -> str | None:
    limits = spec.limits
    domains = max(len(filters.include_domains), len(filters.exclude_domains))
    if limits.max_domains is not None and domains > limits.max_domains:
        return f"{domains} domains in a filter; {spec.title} takes at most {limits.max_domains}"
    if limits.max_query_chars is not None and len(query) > limits.max_query_chars:
        return f"the query has {len(query):,} characters; {spec.title} takes at most {limits.max_query_chars:,}"
    words = len(query.split())
    if limits.max_query_words is not None and words > limits.max_query_words:
        return f"the query has {words} words; {spec.title} takes at most {limits.max_query_words}"
    return None


def warnings_for(spec: ProviderSpec, call: ProviderCall) -> list[str]:
    """What a caller should know about how this vendor serves the call."""
    found: list[str] = []
    filters = call.filters
    if (filters.published_after or filters.published_before) and spec.capabilities.published == "local":
        found.append(f"{spec.name}: results without a date are kept unchecked by published_after and published_before")
    if call.language is not None:
        if spec.capabilities.language == "no":
            found.append(f"{spec.name}: language is not used; this provider has no such option")
        elif language_code(spec.locale.language, call.language, call.query).unknown:
            found.append(f"{spec.name}: language `{call.language}` is not used; this provider does not know it")
    if call.country is not None:
        if spec.capabilities.country == "no":
            found.append(f"{spec.name}: country is not used; this provider has no such option")
        elif country_code(spec.locale.country, call.country).unknown:
            found.append(f"{spec.name}: country `{call.country}` is not used; this provider does not know it")
    return found


def filters_here(spec: ProviderSpec, filters: Filters) -> bool:
    """Whether a filter is applied on the results only, so that more rows should be asked for."""
    return bool(
        (filters.include_domains and spec.capabilities.include_domains == "local")
        or (filters.exclude_domains and spec.capabilities.exclude_domains == "local")
        or ((filters.published_after or filters.published_before) and spec.capabilities.published == "local")
    )


def keep_matching(filters: Filters, results: Sequence[MappedResult]) -> list[MappedResult]:
    """The results that pass. Every filter is checked here too where that is exact: vendors' own filters leak."""
    return [result for result in results if _domain_passes(filters, result.url) and _date_passes(filters, result)]


def _domain_passes(filters: Filters, url: str) -> bool:
    if not filters.include_domains and not filters.exclude_domains:
        return True
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    if filters.include_domains and not any(_within(host, domain) for domain in filters.include_domains):
        return False
    return not any(_within(host, domain) for domain in filters.exclude_domains)


def _overlap(own: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(_within(one, other) or _within(other, one) for one in own for other in wanted)


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _date_passes(filters: Filters, result: MappedResult) -> bool:
    if result.published_at is None or not (filters.published_after or filters.published_before):
        return True
    day = date.fromisoformat(result.published_at[:10])
    if filters.published_after is not None and day < date.fromisoformat(filters.published_after):
        return False
    return filters.published_before is None or day <= date.fromisoformat(filters.published_before)
