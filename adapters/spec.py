"""What a provider file may say. The JSON Schema for editors is made from these models.

A file is read strictly: an unknown key, a placeholder that does not exist or an expression that can't be compiled turns the
file away, with its line (`specfile.py`).
"""

import re
from decimal import Decimal
from typing import Annotated, Any, Literal

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from groundwire.adapters.template import TemplateError, check_template
from groundwire.schemas.request import FreshnessClass, SafeSearch, SearchTopic

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,127}$")]


def _compiles(expression: str) -> str:
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        raise ValueError(f"not a JMESPath expression: {str(error).splitlines()[0]}") from None
    return expression


def _is_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return pattern


def _is_template(value: Any) -> Any:
    try:
        check_template(value)
    except TemplateError as error:
        raise ValueError(str(error)) from None
    return value


Expression = Annotated[str, AfterValidator(_compiles), Field(description="A JMESPath expression.")]
Expressions = Annotated[
    list[Expression],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=str | list[str]),
    Field(description="One JMESPath expression or several; the first that yields something wins."),
]
Pattern = Annotated[str, AfterValidator(_is_pattern), Field(description="A regular expression; case does not matter.")]
Template = Annotated[Any, AfterValidator(_is_template)]
Usd = Annotated[
    Decimal,
    BeforeValidator(
        lambda value: str(value) if isinstance(value, float) else value, json_schema_input_type=str | float
    ),
    Field(ge=0, description='A decimal in quotes ("0.001"), so that no binary fraction creeps in.'),
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeySpec(_Part):
    """Where the key comes from. A provider without a needed key is skipped, and says which variable to set."""

    env: list[EnvName] = Field(default_factory=list, description="Environment variables; the first that is set counts.")
    required: bool = True


class OptionSpec(_Part):
    """Something the operator decides: a zone, a model, a search engine's id."""

    about: str
    env: list[EnvName] = Field(default_factory=list)
    default: str | None = None
    required: bool = False
    choices: list[str] | None = None

    @model_validator(mode="after")
    def _the_default_is_a_choice(self) -> "OptionSpec":
        if self.choices is not None and self.default is not None and self.default not in self.choices:
            raise ValueError(f"default `{self.default}` is not one of the choices")
        return self


class Variant(_Part):
    """What differs when the call or an option is a certain way. `params`, `headers` and `body` are laid over the request's."""

    when: dict[str, str] = Field(
        min_length=1, description="`topic`, `freshness` or the name of an option → its value; all must hold."
    )
    path: str | None = None
    headers: dict[str, Template] = Field(default_factory=dict)
    params: dict[str, Template] = Field(default_factory=dict)
    body: dict[str, Template] = Field(default_factory=dict)


class RequestSpec(_Part):
    """The request. Placeholders: `{query}`, `{depth}`, `{language}` and so on; one that is missing leaves its value out."""

    method: Literal["GET", "POST"] = "POST"
    base_url: str | None = Field(default=None, description="None: the operator's own server, given by its base_url.")
    path: str = ""
    headers: dict[str, Template] = Field(default_factory=dict)
    params: dict[str, Template] = Field(default_factory=dict)
    body: dict[str, Template] | None = None
    variants: list[Variant] = Field(default_factory=list)
    redirects: Literal["none", "same_site"] = Field(
        default="none", description="same_site: a redirect is followed when scheme, host and port stay the same."
    )
    private_addresses: bool = Field(
        default=False, description="True: the vendor may live on a private or loopback address."
    )


class LanguageSpec(_Part):
    """How a BCP-47 tag becomes the vendor's code."""

    send: Literal["primary", "full"] = Field(default="primary", description="primary: `en` of `en-GB`.")
    case: Literal["lower", "upper", "keep"] = "lower"
    map: dict[str, str] = Field(default_factory=dict, description="Our tag in lower case → theirs; the longest wins.")
    only: list[str] | None = Field(
        default=None, description="Codes the vendor knows (after mapping); others are left out."
    )
    guess: bool = Field(default=False, description="True: the query's script decides when the caller gave no language.")
    default: str | None = None


class CountrySpec(_Part):
    """How an ISO-3166 code becomes the vendor's."""

    case: Literal["lower", "upper"] = "lower"
    map: dict[str, str] = Field(default_factory=dict, description="Our code in lower case → theirs, e.g. a name.")
    only: list[str] | None = None
    default: str | None = None


class LocaleSpec(_Part):
    language: LanguageSpec = LanguageSpec()
    country: CountrySpec = CountrySpec()


class ValuesSpec(_Part):
    """What our words are called at the vendor. A word that is missing here is not sent."""

    freshness: dict[FreshnessClass, Any] = Field(default_factory=dict)
    safe_search: dict[SafeSearch, Any] = Field(default_factory=dict)
    topic: dict[SearchTopic, Any] = Field(default_factory=dict)


class LimitsSpec(_Part):
    """The vendor's own limits."""

    max_depth: int = Field(default=20, ge=1)
    depth_steps: list[int] = Field(
        default_factory=list, description="Result counts the vendor knows; the smallest that suffices is sent."
    )
    max_query_chars: int | None = Field(default=None, ge=1, description="Unicode characters, operators included.")
    max_query_words: int | None = Field(default=None, ge=1)
    max_domains: int | None = Field(default=None, ge=1, description="In one filter.")
    max_url_chars: int | None = Field(default=None, ge=1, description="Of a URL that holds the percent-encoded query.")


DomainWay = Literal["native", "operator", "local"]
DateWay = Literal["native", "local", "no"]
Way = Literal["native", "no"]


class CapabilitiesSpec(_Part):
    """What the vendor can do, and how. `local`: we do it on the results, exactly. `no`: a call that needs it is skipped."""

    include_domains: DomainWay = Field(default="local", description="operator: `site:` in the query.")
    exclude_domains: DomainWay = Field(default="local", description="operator: `-site:` in the query.")
    only_domains: list[str] = Field(
        default_factory=list, description="All its results lie in these; a call that wants others is skipped."
    )
    published: DateWay = Field(default="no", description="local: only where results carry dates.")
    news: Way = "no"
    safe_search: list[SafeSearch] = Field(
        default_factory=list, description="Levels the vendor keeps. `off` needs nothing and never skips."
    )
    language: Way = Field(default="no", description="no: a call with a language gets a warning.")
    country: Way = Field(default="no", description="no: a call with a country gets a warning.")
    freshness: Way = Field(default="no", description="native: the freshness class changes the request.")
    text: Literal["snippet", "page", "none"] = Field(default="snippet", description="What the body of a result is.")


class Redirector(_Part):
    """An address that only forwards: the real one is in a parameter."""

    host: Pattern
    path: str
    params: list[str]


class AnswerSpec(_Part):
    """How an answer becomes results. Every path may be absent, null or of the wrong type."""

    recognise: list[str] = Field(
        min_length=1, description="Top-level keys of which a genuine answer has at least one; else it is a bad answer."
    )
    results: Expressions = Field(description="Lists of rows; all of them, one after the other.")
    keep: Expression | None = Field(default=None, description="Of a row: only rows for which it holds are results.")
    order: Expression | None = Field(default=None, description="Of a row: a number to sort by, for vendors that don't.")
    url: Expressions
    title: Expressions
    body: Expressions
    published: Expressions = Field(default_factory=list)
    score: Expression | None = None
    text: Literal["snippet", "document"] = Field(
        default="snippet", description="document: line breaks are kept (Markdown, whole pages)."
    )
    date_prefix: bool = Field(
        default=False, description="True: a body may start with its date (`3 days ago — …`), which is taken off."
    )
    day_first: bool | None = Field(
        default=None, description="How the vendor writes 03/04/2026; None: such a date is not certain."
    )
    redirectors: list[Redirector] = Field(default_factory=list)
    nothing_when: Expression | None = Field(
        default=None, description="When this holds, an answer without rows is a failure (`server_error`), not empty."
    )


FailureOutcome = Literal[
    "timeout", "transport", "rate_limited", "quota", "auth", "rejected", "server_error", "bad_answer", "empty"
]


class OutcomeRule(_Part):
    """Where an error hides, or a status that means something else than usual. The first rule that holds decides."""

    status: list[int] | None = Field(default=None, description="HTTP statuses; None: any.")
    when: Expression | None = None
    text: Pattern | None = Field(default=None, description="Searched in the whole body.")
    header: dict[str, Pattern] = Field(default_factory=dict)
    outcome: FailureOutcome | None = Field(default=None, description="None: `code` decides, else the status.")
    code: Expression | None = Field(default=None, description="The failure's own status code, inside the body.")
    reason: Expressions = Field(default_factory=list)
    say: str | None = Field(default=None, description="Said before the vendor's own words.")

    @model_validator(mode="after")
    def _looks_at_something(self) -> "OutcomeRule":
        if self.status is None and self.when is None and self.text is None and not self.header:
            raise ValueError("say what to look at: status, when, text or header")
        if self.outcome is None and self.code is None:
            raise ValueError("say the outcome, or where its status code stands")
        return self


class RetryAfterSpec(_Part):
    """Where a body says how long to wait, beside the Retry-After header. Numbers and texts like `23s` are seconds."""

    paths: Expressions = Field(default_factory=list)
    text: Pattern | None = Field(default=None, description="Its first group is the seconds.")
    header: str | None = Field(
        default=None, description="A header of the vendor's own; the first number in it is the seconds."
    )


class Rate(_Part):
    """One line of the price list: USD per 1,000 calls, for calls that fit."""

    when: dict[str, str] = Field(default_factory=dict, description="Option → value, or the beginning of one with `*`.")
    max_depth: int | None = None
    usd_per_1000: Usd
    block: int | None = Field(default=None, ge=1, description="The price is for each started block of so many results.")
    included: int | None = Field(
        default=None, ge=1, description="Results in the price; more cost `extra_usd_per_1000` each."
    )
    extra_usd_per_1000: Usd = Decimal(0)


class StatedCost(_Part):
    """Where the answer says its own cost. A value that is absent, not a number or negative counts as not said."""

    path: Expressions
    unit_usd: Usd = Field(description="What one unit costs; 1 when the answer says USD.")


class Meter(_Part):
    """One part of a cost that has several, counted in the answer."""

    name: Name
    path: Expression = Field(description="Yields a number; absent or null counts as 0 unless `required`.")
    minus: Expressions = Field(
        default_factory=list, description="Parts that are inside `path` and have their own meter."
    )
    required: bool = False
    usd_per_1000: Usd | None = None
    token: Name | None = Field(default=None, description="A column of `models`; the price is per million tokens.")
    when: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_price(self) -> "Meter":
        if (self.usd_per_1000 is None) == (self.token is None):
            raise ValueError("give one price: usd_per_1000, or a token column of `models`")
        return self


FailureCost = Literal["free", "list", "unknown"]


class RefusedWhen(_Part):
    when: dict[str, str] = Field(min_length=1)
    cost: FailureCost


class PriceSpec(_Part):
    """What a call costs. The answer's own statement wins, then the meters, then the list."""

    read_on: str | None = Field(default=None, description="When the price was read, ISO day or month.")
    url: str | None = None
    rates: list[Rate] = Field(default_factory=list, description="The first that fits; none fits: the price is unknown.")
    stated: StatedCost | None = None
    meters: list[Meter] = Field(default_factory=list)
    models: dict[str, dict[Name, Usd]] = Field(
        default_factory=dict,
        description="Model name, or its beginning with `*` → USD per million tokens by column.",
    )
    model_option: Name | None = None
    refused: FailureCost = Field(
        default="free", description="A call the vendor refused, with a status or inside a 200."
    )
    refused_when: list[RefusedWhen] = Field(default_factory=list)
    masked: FailureCost = Field(default="unknown", description="A 200 that can't be read: HTML, cut-off JSON.")
    lost: FailureCost = Field(
        default="unknown", description="We gave up waiting, or the line broke: the vendor may still bill it."
    )


class RateLimitSpec(_Part):
    """Defaults; the operator's settings win."""

    requests_per_s: float | None = Field(default=None, gt=0)
    max_concurrency: int | None = Field(default=None, ge=1)


class StorageSpec(_Part):
    """What the vendor's terms allow to keep. Direction, not legal advice: read the terms and override in the settings."""

    allowed: bool = False
    max_ttl_s: int = Field(default=0, ge=0)
    shareable: bool = Field(default=False, description="True: an answer paid by one tenant may serve another.")
    terms_url: str | None = None
    as_of: str | None = Field(default=None, description="ISO day of what stands here.")
    basis: Literal["terms", "reports"] = Field(
        default="reports", description="terms: read at the vendor's own page; reports: what others say of it."
    )
    note: str | None = None


class ProviderSpec(_Part):
    """One provider file."""

    name: Name
    title: str
    about: str
    docs_url: str | None = None
    adapter: Name | None = Field(
        default=None, description="A module in adapters/dedicated/, for what this file can't say."
    )
    kind: Literal["search", "native"] = Field(default="search", description="native: a model that searches by itself.")
    keys: KeySpec = KeySpec(required=False)
    options: dict[Name, OptionSpec] = Field(default_factory=dict)
    request: RequestSpec
    locale: LocaleSpec = LocaleSpec()
    values: ValuesSpec = ValuesSpec()
    limits: LimitsSpec = LimitsSpec()
    capabilities: CapabilitiesSpec = CapabilitiesSpec()
    answer: AnswerSpec
    outcomes: list[OutcomeRule] = Field(default_factory=list)
    messages: Expressions = Field(
        default=[
            "message",
            "error.message",
            "detail.error",
            "error.detail",
            "error.info",
            "detail[0].msg",
            "detail",
            "error",
        ],
        description="Where a failure's own words stand.",
    )
    retry_after: RetryAfterSpec = RetryAfterSpec()
    price: PriceSpec
    rate: RateLimitSpec = RateLimitSpec()
    timeout_s: float = Field(default=8.0, gt=0, le=120)
    storage: StorageSpec = StorageSpec()
