"""Fixtures: recorded or written answers, with what is to become of each. One YAML file a case, found by its name.

    fixtures/<provider>/<case>.yaml
        about:   what the case is
        call:    query, depth, language, country, freshness, filters      (all optional)
        options: {…}                                                      (the operator's)
        answer:  status, headers, and one of json, text, base64
        request: url, headers, json                                       (optional: what must have been sent)
        expect:  outcome, and any of reason, results, count, cost_micro_usd, cost_source, cost_detail, retry_after_s, status_code

A planted key is sent with every case; it may appear nowhere in what comes back.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.adapters.call import CallOutcome, MappedResult, ProviderCall
from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.adapters.http import CannedTransport, HttpAnswer, HttpRequest
from groundwire.adapters.provider import Provider
from groundwire.adapters.registry import Registry
from groundwire.adapters.spec import ProviderSpec
from groundwire.adapters.yamlfile import line_of, read_yaml
from groundwire.schemas.record import field_path
from groundwire.schemas.reply import AttemptOutcome, CostSource
from groundwire.schemas.request import Filters, FreshnessClass
from groundwire.schemas.settings import ProviderSettings, Settings

PLANTED_KEY = "planted-key-7f3a9c51"
ANSWERED_AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class FixtureCall(_Part):
    query: str = "groundwire fixture"
    depth: int = 5
    language: str | None = None
    country: str | None = None
    freshness: FreshnessClass = "slow"
    filters: Filters = Filters()

    def as_call(self) -> ProviderCall:
        return ProviderCall(self.query, self.depth, self.language, self.country, self.freshness, self.filters)


class FixtureAnswer(_Part):
    status: int = 200
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: Any = Field(default=None, alias="json")
    text: str | None = None
    base64: str | None = None

    def as_answer(self) -> HttpAnswer:
        """Raises ValueError on base64 that is none."""
        if self.base64 is not None:
            try:
                body, kind = base64.b64decode(self.base64, validate=True), "application/octet-stream"
            except binascii.Error:
                raise ValueError("`answer.base64` is no base64") from None
        elif self.text is not None:
            body, kind = self.text.encode("utf-8", "surrogateescape"), "text/plain; charset=utf-8"
        else:
            body, kind = json.dumps(self.json_body, ensure_ascii=False).encode(), "application/json"
        return HttpAnswer(self.status, {"content-type": kind, **self.headers}, body)


class FixtureRequest(_Part):
    """What must have been sent. `url` and `headers` in full, `json` as the whole body."""

    method: str | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: Any = Field(default=None, alias="json")


class FixtureExpectation(_Part):
    outcome: AttemptOutcome
    reason: str | None = Field(default=None, description="A part of it.")
    status_code: int | None = None
    count: int | None = None
    results: list[dict[str, Any]] | None = Field(
        default=None, description="The first results; only the keys given count."
    )
    cost_micro_usd: int | None = None
    cost_source: CostSource | None = None
    cost_detail: Any = None
    retry_after_s: float | None = None


class Fixture(_Part):
    about: str
    call: FixtureCall = FixtureCall()
    options: dict[str, str] = Field(default_factory=dict)
    answer: FixtureAnswer = FixtureAnswer()
    request: FixtureRequest | None = None
    expect: FixtureExpectation


def load_fixture(path: Path) -> Fixture:
    """Raises BadProviderFile."""
    document, lines = read_yaml(path)
    try:
        return Fixture.model_validate(document)
    except ValidationError as error:
        raise BadProviderFile(
            [
                FileProblem(path, line_of(lines, found["loc"]), field_path(found["loc"]), str(found["msg"]))
                for found in error.errors(include_url=False)
            ]
        ) from None


def fixture_provider(
    spec: ProviderSpec, answer: HttpAnswer, sent: list[HttpRequest], options: Mapping[str, str] | None = None
) -> Provider:
    """The provider with a planted key and every required option, on a line that always brings `answer`."""

    def respond(request: HttpRequest) -> HttpAnswer:
        sent.append(request)
        return answer

    given = {name: "planted" for name, option in spec.options.items() if option.required}
    own = ProviderSettings(
        options={**given, **(options or {})},
        base_url="https://own.example" if spec.request.base_url is None else None,
        api_keys=[PLANTED_KEY] if spec.keys.env else [],
    )
    registry = Registry.of(
        {spec.name: spec}, [], Settings(providers={spec.name: own}), {}, transport=CannedTransport(respond)
    )
    provider = registry.get(spec.name)
    provider.at(ANSWERED_AT.timestamp())
    return provider


async def run_fixture(spec: ProviderSpec, fixture: Fixture) -> list[str]:
    """What is not as the fixture says; empty when all is."""
    sent: list[HttpRequest] = []
    call = fixture.call.as_call()
    try:
        provider = fixture_provider(spec, fixture.answer.as_answer(), sent, fixture.options)
    except ValueError as error:
        return [str(error)]
    outcome = await provider.call(call, 5.0)
    results: list[MappedResult] = []
    if outcome.body is not None and outcome.outcome in ("ok", "empty"):
        results = provider.results(outcome.body, call, int(ANSWERED_AT.timestamp() * 1000))
    wrong = [*_outcome_differs(fixture.expect, outcome), *_results_differ(fixture.expect, outcome, results)]
    if fixture.request is not None:
        wrong += _request_differs(fixture.request, sent)
    if PLANTED_KEY in repr(outcome) or PLANTED_KEY in repr(results):
        wrong.append("the key stands in what came back")
    return wrong


def _outcome_differs(expect: FixtureExpectation, outcome: CallOutcome) -> list[str]:
    wrong: list[str] = []
    if outcome.outcome != expect.outcome:
        wrong.append(f"outcome is `{outcome.outcome}` ({outcome.reason}) instead of `{expect.outcome}`")
    if expect.reason is not None and expect.reason.casefold() not in (outcome.reason or "").casefold():
        wrong.append(f"reason is `{outcome.reason}`, without `{expect.reason}`")
    stated = expect.model_fields_set
    found = {
        "status_code": outcome.status_code,
        "cost_micro_usd": outcome.cost.micro_usd,
        "cost_source": outcome.cost.source,
        "cost_detail": json.loads(outcome.cost.detail) if outcome.cost.detail else None,
        "retry_after_s": outcome.retry_after_s,
        "count": outcome.results,
    }
    wrong.extend(
        f"{name} is {value!r} instead of {getattr(expect, name)!r}"
        for name, value in found.items()
        if name in stated and value != getattr(expect, name)
    )
    return wrong


def _results_differ(expect: FixtureExpectation, outcome: CallOutcome, results: list[MappedResult]) -> list[str]:
    if outcome.results != len(results):
        return [f"the call counted {outcome.results} results, mapping its body gives {len(results)}"]
    wrong: list[str] = []
    for index, wanted in enumerate(expect.results or []):
        if index >= len(results):
            return [*wrong, f"result {index + 1} is missing"]
        wrong.extend(
            f"result {index + 1}: {name} is {getattr(results[index], name)!r} instead of {value!r}"
            for name, value in wanted.items()
            if getattr(results[index], name) != value
        )
    return wrong


def _request_differs(wanted: FixtureRequest, sent: list[HttpRequest]) -> list[str]:
    if not sent:
        return ["nothing was sent"]
    first, wrong = sent[0], list[str]()
    if wanted.method is not None and first.method != wanted.method:
        wrong.append(f"method is {first.method} instead of {wanted.method}")
    if wanted.url is not None and first.url != wanted.url:
        wrong.append(f"address is {first.url} instead of {wanted.url}")
    for name, value in wanted.headers.items():
        if first.headers.get(name.lower()) != value.replace("{key}", PLANTED_KEY):
            wrong.append(f"header {name} differs")
    if wanted.json_body is not None:
        body = json.loads(first.body or b"null")
        if body != wanted.json_body:
            wrong.append(f"body is {json.dumps(body, ensure_ascii=False)}")
    return wrong
