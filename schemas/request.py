"""The request: what a producer publishes to `search.requests.v1`, and how its bytes are read."""

import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from groundwire.schemas.record import MAX_PATH_CHARACTERS, RecordError, field_path

MAX_REQUEST_BYTES = 64 * 1024

FreshnessWish = Literal["auto", "static", "slow", "daily", "live"]
FreshnessClass = Literal["static", "slow", "daily", "live"]
CacheMode = Literal["use", "refresh", "bypass", "only"]
SafeSearch = Literal["off", "moderate", "strict"]
SearchTopic = Literal["general", "news"]

Domain = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[^\s/:?#]+$")]
IsoDate = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class Filters(BaseModel):
    """What results are wanted. Dates are ISO days, both ends included."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    include_domains: list[Domain] = Field(default_factory=list, max_length=100)
    exclude_domains: list[Domain] = Field(default_factory=list, max_length=100)
    published_after: IsoDate | None = None
    published_before: IsoDate | None = None
    topic: SearchTopic | None = None
    safe_search: SafeSearch | None = None

    @field_validator("published_after", "published_before")
    @classmethod
    def _a_real_day(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                date.fromisoformat(value)
            except ValueError:
                raise ValueError("no such day; give an ISO date like 2026-11-30") from None
        return value

    @field_validator("include_domains", "exclude_domains")
    @classmethod
    def _domains_compare_in_lower_case(cls, value: list[str]) -> list[str]:
        return [domain.lower().removeprefix("www.") for domain in value]


class SearchRequest(BaseModel):
    """One question for the web. Contract §1.

    Types are strict (`"5"` is not 5); an unknown field is an error unless its name starts with `x-`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    query: str = Field(description="The question, 1 to 2,000 characters after trimming.")
    request_id: Annotated[str, StringConstraints(min_length=1, max_length=128)] | None = Field(
        default=None,
        description="Same id again (per tenant) = same request delivered again. Made from the record's place when missing.",
    )
    depth: int = Field(default=5, ge=1, le=20, description="Number of results wanted.")
    route: Annotated[str, StringConstraints(min_length=1, max_length=64)] = Field(
        default="default", description="A named chain of providers from the configuration."
    )
    providers: list[Annotated[str, StringConstraints(min_length=1, max_length=64)]] | None = Field(
        default=None, min_length=1, max_length=16, description="An explicit chain instead of the route's."
    )
    freshness: FreshnessWish = "auto"
    max_age_s: int | None = Field(default=None, ge=0, description="Oldest cached answer this caller accepts, seconds.")
    cache: CacheMode = Field(
        default="use",
        description="refresh: no read, write. bypass: neither. only: never call a vendor.",
    )
    min_similarity: float | None = Field(default=None, ge=0, le=1, description="May only tighten the operator's.")
    language: (
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)] | None
    ) = Field(default=None, description="BCP-47.")
    country: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2}$")] | None = Field(
        default=None, description="ISO-3166 alpha-2."
    )
    filters: Filters = Field(default_factory=Filters)
    context_tokens: int = Field(default=2000, ge=50, le=32_000, description="Budget of the rendered context.")
    timeout_s: float = Field(default=15.0, ge=0.05, le=120, description="Whole request, from the record's timestamp.")
    tenant: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    metadata: dict[str, str] = Field(
        default_factory=dict, max_length=16, description="Echoed in the reply and the events."
    )

    @field_validator("query")
    @classmethod
    def _query_has_text(cls, value: str) -> str:
        trimmed = len(value.strip())
        if trimmed == 0:
            raise ValueError("the query is empty")
        if trimmed > 2000:
            raise ValueError(f"the query has {trimmed:,} characters; at most 2,000 are allowed")
        return value


def parse_request(value: bytes) -> SearchRequest:
    """Read a request's bytes.

    Raises RecordError of kind `too_large`, `invalid_json` or `invalid_request`, the latter with the field's path. The
    message never repeats the content, which may be anything.
    """
    document = parse_json_object(value)
    known = {name: content for name, content in document.items() if not name.startswith("x-")}
    try:
        # Strict JSON mode on the re-encoded text is what keeps "5" from passing as 5 while a JSON array may be a list.
        return SearchRequest.model_validate_json(json.dumps(known))
    except ValidationError as error:
        raise _invalid(error) from None


def parse_json_object(value: bytes) -> dict[str, Any]:
    """Bytes to a JSON object: UTF-8 only, no NaN, no duplicate keys, no absurd depth, 64 KiB at most. Raises RecordError."""
    if len(value) > MAX_REQUEST_BYTES:
        raise RecordError(
            "too_large", f"the record has {len(value):,} bytes; at most {MAX_REQUEST_BYTES:,} are allowed"
        )
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("invalid_json", f"not UTF-8 (byte {error.start}); send UTF-8 JSON") from None
    try:
        document = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except RecordError:
        raise
    except RecursionError:
        raise RecordError("invalid_json", "nested too deeply") from None
    except json.JSONDecodeError as error:
        raise RecordError(
            "invalid_json", f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except ValueError:  # the interpreter's limit on the digits of an integer: quadratic time is an attack
        raise RecordError("invalid_json", "a number has too many digits; at most 4,300 are read") from None
    if not isinstance(document, dict):
        raise RecordError("invalid_request", "the request must be a JSON object")
    try:
        json.dumps(document).encode()
        _refuse_lone_surrogates(document)
    except UnicodeEncodeError:
        raise RecordError("invalid_json", "a string holds half a surrogate pair; send whole characters") from None
    return document


def _refuse_lone_surrogates(document: dict[str, Any]) -> None:
    json.dumps(document, ensure_ascii=False).encode("utf-8")


def _refuse_constant(name: str) -> Any:
    raise RecordError("invalid_json", f"{name} is not JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, content in pairs:
        if name in document:
            raise RecordError("invalid_json", "a key stands twice in one object", name[:64])
        document[name] = content
    return document


def _invalid(error: ValidationError) -> RecordError:
    # An unknown field is the likeliest typing slip and explains the others, so it is reported first.
    problems = sorted(
        error.errors(include_input=False, include_url=False), key=lambda e: e["type"] != "extra_forbidden"
    )
    first = problems[0]
    path = field_path(first["loc"])[:MAX_PATH_CHARACTERS]
    if first["type"] == "extra_forbidden":
        message = f"unknown field `{path}`; see the contract for the fields there are (names starting with `x-` pass)"
    elif first["type"] == "missing":
        message = f"`{path}` is required"
    else:
        message = f"`{path}`: {first['msg'].removeprefix('Value error, ')}"
    return RecordError("invalid_request", message, path)
