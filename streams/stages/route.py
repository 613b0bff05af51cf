"""From a request to its chain: who may be asked, at what depth, under which cache key."""

from groundwire.adapters.call import ProviderCall
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.record import RecordError
from groundwire.schemas.request import SearchRequest
from groundwire.schemas.settings import Settings
from groundwire.streams.stages.cache_key import cache_key, compared_as, facet, filters_text, scope_of, spec_version
from groundwire.streams.stages.freshness import Freshness
from groundwire.streams.stages.ports import Directory, PlannedProvider
from groundwire.streams.stages.query import clean_query

# The route of requests that name none.
DEFAULT_ROUTE = "default"


class Router:
    """The routes of the settings over the providers there are."""

    def __init__(self, settings: Settings, directory: Directory) -> None:
        self._settings = settings
        self._directory = directory
        self._versions: dict[str, str] = {}

    def route_of(self, request: SearchRequest, freshness: Freshness) -> str:
        """The route a request takes: the one it names; `default` may be another for this class of questions."""
        if request.providers is not None or request.route != DEFAULT_ROUTE:
            return request.route
        return self._settings.routes_by_freshness.get(freshness.kind, DEFAULT_ROUTE)

    def chain(self, request: SearchRequest, normalized_query: str, freshness: Freshness) -> list[ProviderStep]:
        """One step for each provider, in order. One that can't serve stays in, with the reason, for the receipt.

        Raises RecordError (`invalid_request`) for a route or provider nobody has heard of.
        """
        call = ProviderCall(
            query=clean_query(request.query),
            depth=request.depth,
            language=request.language,
            country=request.country,
            freshness=freshness.kind,
            filters=request.filters,
        )
        filters = filters_text(request.filters)
        return [
            self._step(name, request, call, normalized_query, filters, freshness.span)
            for name in self._names(request, self.route_of(request, freshness))
        ]

    def _names(self, request: SearchRequest, route: str) -> list[str]:
        if request.providers is not None:
            known = self._directory.names()
            unknown = [name for name in request.providers if name not in known]
            if unknown:
                raise RecordError(
                    "invalid_request",
                    f"unknown provider `{unknown[0]}`; there are: {', '.join(sorted(known))}",
                    "providers",
                )
            return list(dict.fromkeys(request.providers))
        chain = self._settings.routes.get(route)
        if chain is None:
            raise RecordError(
                "invalid_request",
                f"unknown route `{route}`; there are: {', '.join(sorted(self._settings.routes))}",
                "route",
            )
        return list(dict.fromkeys(chain))

    def _step(
        self,
        name: str,
        request: SearchRequest,
        call: ProviderCall,
        normalized_query: str,
        filters: str,
        span: str | None,
    ) -> ProviderStep:
        try:
            provider = self._directory.get(name)
        except KeyError:
            # A route may name a provider whose file was turned away at start; the others still serve.
            return self._absent(name, request, normalized_query)
        depth = provider.clamp_depth(request.depth)
        if depth != call.depth:
            call = ProviderCall(call.query, depth, call.language, call.country, call.freshness, call.filters)
        terms = provider.storage
        shared = terms.shareable and self._settings.cache.scope == "shared"
        exact, compared = (
            facet(
                name,
                self._version(provider),
                depth,
                request.language.lower() if request.language else None,
                request.country.upper() if request.country else None,
                filters,
                freshness,
                scope_of(request.tenant, shared=shared),
                span,
            )
            for freshness in (call.freshness, compared_as(call.freshness, request.freshness))
        )
        warnings = provider.warnings(call)
        if depth < request.depth:
            warnings = [f"{name} gives at most {depth} results; {request.depth} were asked for", *warnings]
        return ProviderStep(
            provider=name,
            depth=depth,
            cache_key=cache_key(exact, normalized_query),
            facet=compared,
            storable=terms.allowed and terms.max_ttl_s > 0 and request.cache != "bypass",
            # Whether the vendor can serve this very call is asked on a miss, by fetch: it costs as much as the whole rest.
            skip=provider.unavailable(),
            warnings=warnings,
        )

    def _absent(self, name: str, request: SearchRequest, normalized_query: str) -> ProviderStep:
        facet_ = facet(
            name, "absent", request.depth, None, None, "", "live", scope_of(request.tenant, shared=False), None
        )
        return ProviderStep(
            provider=name,
            depth=request.depth,
            cache_key=cache_key(facet_, normalized_query),
            facet=facet_,
            storable=False,
            skip="no such provider here: its file is missing or was turned away at start",
        )

    def _version(self, provider: PlannedProvider) -> str:
        version = self._versions.get(provider.name)
        if version is None:
            version = spec_version(provider.spec, provider.adapter.options)
            self._versions[provider.name] = version
        return version
