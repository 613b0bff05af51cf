"""What `providers try` does: one real call, laid open. The request is shown without its secrets."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from groundwire.adapters.call import CallOutcome, MappedResult, ProviderCall
from groundwire.adapters.errors import BadAnswer, Unsendable
from groundwire.adapters.provider import Provider

HIDDEN_KEY = "<key>"


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request with `<key>` where the key goes."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Trial:
    """One call: what was sent, what came, what was made of it. `request` is None when none could be made."""

    request: ShownRequest | None
    outcome: CallOutcome
    results: list[MappedResult]
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


async def try_provider(provider: Provider, call: ProviderCall, timeout_s: float | None = None) -> Trial:
    """Make one call and show all of it. Never raises."""
    outcome = await provider.call(call, timeout_s or provider.timeout_s)
    results: list[MappedResult] = []
    if outcome.body is not None and outcome.outcome == "ok":
        try:
            results = provider.results(outcome.body, call, int(time.time() * 1000))
        except BadAnswer:
            results = []
    return Trial(shown_request(provider, call), outcome, results, provider.warnings(call))


def shown_request(provider: Provider, call: ProviderCall) -> ShownRequest | None:
    """The request a call makes, without secrets; None when the provider can't make one of it."""
    try:
        request = provider.adapter.request(call, HIDDEN_KEY if provider.spec.keys.env else None)
    except Unsendable:
        return None
    headers = {
        name: value if HIDDEN_KEY in value or name.lower() != "authorization" else HIDDEN_KEY
        for name, value in request.headers.items()
    }
    return ShownRequest(request.method, request.url, headers, json.loads(request.body) if request.body else None)
