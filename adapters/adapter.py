"""What a provider file says, as functions: call → request, answer → outcome and rows. Pure: no I/O, no clock, no key of its own.

A dedicated adapter (`dedicated/`) is a subclass that overrides the one step which its vendor does in a way YAML can't say.
"""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from groundwire.adapters.call import MappedResult, ProviderCall
from groundwire.adapters.classify import Heard, raise_for_failure, says_it_is_empty
from groundwire.adapters.errors import BadAnswer, Unsendable
from groundwire.adapters.filters import filters_here, keep_matching, query_with_operators
from groundwire.adapters.http import HttpAnswer, HttpRequest
from groundwire.adapters.locality import country_code, language_code
from groundwire.adapters.mapping import Row, map_rows, rows_of
from groundwire.adapters.pricing import PriceList
from groundwire.adapters.reading import read_json
from groundwire.adapters.spec import ProviderSpec, Variant
from groundwire.adapters.template import LEFT_OUT, as_text, render

Send = Callable[[HttpRequest], Awaitable[HttpAnswer]]


class Adapter:
    """Speaks one vendor's language, under the operator's options."""

    def __init__(self, spec: ProviderSpec, options: Mapping[str, str], base_url: str | None, prices: PriceList) -> None:
        self.spec = spec
        self.options = options
        self.base_url, self._authorization = _without_credentials(base_url)
        self.prices = prices

    # ---- out -----------------------------------------------------------------------------------------------------

    def request(self, call: ProviderCall, key: str | None) -> HttpRequest:
        """The vendor's request for a call. Raises Unsendable."""
        try:
            return self._request(call, key)
        except ValueError:
            raise Unsendable("an option's value does not fit where the provider file puts it") from None

    def _request(self, call: ProviderCall, key: str | None) -> HttpRequest:
        spec = self.spec.request
        variables = self.variables(call, key)
        variants = [variant for variant in spec.variants if self._applies(variant, call)]
        headers = _merged(spec.headers, [variant.headers for variant in variants])
        params = _merged(spec.params, [variant.params for variant in variants])
        path = next((variant.path for variant in reversed(variants) if variant.path is not None), spec.path)
        url = self._url(path, variables)
        query = render(params, variables)
        if query is not LEFT_OUT and query:
            url = f"{url}?{urlencode([(name, as_text(value)) for name, value in query.items()], quote_via=quote)}"
        filled = render(headers, variables)
        sent = {name: as_text(value) for name, value in filled.items()} if filled is not LEFT_OUT else {}
        if self._authorization is not None and not any(name.lower() == "authorization" for name in sent):
            sent["Authorization"] = self._authorization
        body: bytes | None = None
        if spec.body is not None:
            content = render(_merged(spec.body, [variant.body for variant in variants]), variables)
            body = json.dumps({} if content is LEFT_OUT else content, ensure_ascii=False).encode("utf-8", "replace")
            sent = {"Content-Type": "application/json", **sent}
        self._check(url, sent, body)
        return HttpRequest(spec.method, url, sent, body, follow_same_site=spec.redirects == "same_site")

    def variables(self, call: ProviderCall, key: str | None) -> dict[str, Any]:
        """What the request's placeholders stand for."""
        values, filters = self.spec.values, call.filters
        language = language_code(self.spec.locale.language, call.language, call.query).value
        country = country_code(self.spec.locale.country, call.country).value
        return {
            "query": query_with_operators(self.spec, call),
            "raw_query": call.query.strip(),
            "depth": self.depth_to_ask(call),
            "language": language,
            "country": country,
            "locale_tag": f"{language}-{country}" if language and country else None,
            "freshness": values.freshness.get(call.freshness),
            "topic": values.topic.get(filters.topic or "general"),
            "safe_search": values.safe_search.get(filters.safe_search) if filters.safe_search else None,
            "include_domains": list(filters.include_domains),
            "exclude_domains": list(filters.exclude_domains),
            "after": filters.published_after,
            "before": filters.published_before,
            "today": datetime.now(UTC).date().isoformat(),
            "key": key,
            **{f"option.{name}": value for name, value in self.options.items()},
        }

    def depth_to_ask(self, call: ProviderCall) -> int:
        """How many rows to ask for: the depth, rounded up to a count the vendor knows. When filters are applied here, as many as
        the same price buys."""
        limits = self.spec.limits
        depth = self._step(min(max(call.depth, 1), limits.max_depth))
        if not filters_here(self.spec, call.filters):
            return depth
        price = self.prices.list_price(depth)
        for more in range(limits.max_depth, depth, -1):
            if self._step(more) == more and self.prices.list_price(more) == price:
                return more
        return depth

    def _step(self, depth: int) -> int:
        return min((step for step in self.spec.limits.depth_steps if step >= depth), default=depth)

    def _url(self, path: str, variables: Mapping[str, Any]) -> str:
        own = render(self.spec.request.base_url, variables) if self.spec.request.base_url is not None else ""
        tail = render(
            path,
            {name: quote(value, safe="") if isinstance(value, str) else value for name, value in variables.items()},
        )
        if own is LEFT_OUT or tail is LEFT_OUT:
            raise Unsendable("an option that stands in the address is not set")
        if self.base_url is None:
            return f"{str(own).rstrip('/')}{tail}"
        return f"{self.base_url.rstrip('/')}{urlsplit(str(own)).path.rstrip('/')}{tail}"

    def _applies(self, variant: Variant, call: ProviderCall) -> bool:
        facts = {**self.options, "topic": call.filters.topic or "general", "freshness": call.freshness}
        return all(facts.get(name) == value for name, value in variant.when.items())

    def _check(self, url: str, headers: Mapping[str, str], body: bytes | None) -> None:
        for value in headers.values():
            if not value.isascii() or any(ord(character) < 32 or ord(character) == 127 for character in value):
                raise Unsendable(
                    "a header would hold a character that headers can't carry; check the key and the options"
                )
        limit = self.spec.limits.max_url_chars
        longest = max([len(url), *(len(value) for value in _urls_in(body))])
        if limit is not None and longest > limit:
            raise Unsendable(
                f"the query makes an address of {longest:,} characters; {self.spec.title} takes at most {limit:,}"
            )

    # ---- in ------------------------------------------------------------------------------------------------------

    def document(self, text: str) -> Any:
        """The answer as JSON. Raises BadAnswer."""
        return read_json(text)

    def hear(self, status: int, headers: Mapping[str, str], text: str) -> Heard:
        """An answer with its JSON, if it is JSON: only what is to be read has to be. Never raises."""
        try:
            return Heard(status, headers, text, self.document(text))
        except BadAnswer as error:
            return Heard(status, headers, text, None, str(error))

    def judge(self, heard: Heard) -> None:
        """Raises VendorFailure, BadAnswer or GenuinelyEmpty; returns when the answer's rows are to be read."""
        raise_for_failure(self.spec, heard)
        if heard.unreadable is not None:
            raise BadAnswer(heard.unreadable)

    async def complete(self, request: HttpRequest, text: str, send: Send) -> str:  # noqa: ARG002 - for those who need more calls
        """The whole answer, when it takes more than one call to get it. What can't be had is left out: what came was paid."""
        return text

    def rows(self, document: Any) -> list[Row]:
        """The rows of an answer. Raises BadAnswer or VendorFailure."""
        return rows_of(self.spec.answer, document)

    def results(self, text: str, call: ProviderCall, answered_at_ms: int) -> list[MappedResult]:
        """An answer's body as results: clean, each page once, filtered, at most `depth`. Raises BadAnswer or VendorFailure."""
        return self.results_of(self.document(text), call, answered_at_ms)

    def results_of(self, document: Any, call: ProviderCall, answered_at_ms: int) -> list[MappedResult]:
        """The same for an answer that is already parsed."""
        if says_it_is_empty(self.spec, document):
            return []
        mapped = map_rows(self.spec.answer, self.rows(document), answered_at_ms)
        return keep_matching(call.filters, mapped)[: call.depth]


def _without_credentials(base_url: str | None) -> tuple[str | None, str | None]:
    """(address, Authorization) of an address like `https://user:password@host/`: a password is no part of an address."""
    if base_url is None:
        return None, None
    parts = urlsplit(base_url)
    if parts.username is None:
        return base_url, None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return bare.geturl(), f"Basic {b64encode(pair).decode()}"


def _merged(own: Mapping[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    """A variant's values over the request's; null takes one out."""
    merged = dict(own)
    for layer in layers:
        merged.update(layer)
    return {name: value for name, value in merged.items() if value is not None}


def _urls_in(body: bytes | None) -> list[str]:
    """Addresses at the top of a JSON body: vendors that take a URL have its limits too."""
    if body is None:
        return []
    content = json.loads(body)
    return [value for value in content.values() if isinstance(value, str) and value.startswith(("http://", "https://"))]
