"""What an operator may set, each with its reason and unit. The shipped example `groundwire.example.yaml` shows every key.

Where a value comes from (file, environment, flag) is the loader's business: streams/runtime/configuration.py.
"""

from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationInfo, field_validator

from groundwire.schemas.request import FreshnessClass

Fraction = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

TTL_DEFAULT_S: dict[FreshnessClass, int] = {"static": 30 * 86_400, "slow": 7 * 86_400, "daily": 86_400, "live": 60}


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KafkaSettings(_Group):
    """How the broker is spoken to."""

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_check_hostname: bool = True
    fetch_max_wait_ms: int | None = Field(
        default=None,
        ge=1,
        description="None: 5 on the embedded broker, which waits half of it when a fetch finds nothing; else 500.",
    )
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(
        default="none",
        description="Of what we publish. none: any client can read the replies, also one without codecs, and a fifth of the "
        "frontline's time is spared; a broker can compress by itself (topic setting compression.type).",
    )
    rebalance_timeout_s: Seconds = Field(
        default=6.0, description="How long a rebalance waits for members; the first join waits for it too."
    )
    session_timeout_s: Seconds = 20.0
    idle_with_lag_s: Seconds = Field(
        default=60.0, description="Lag and no progress for this long: the worker ends itself to be started again."
    )
    replication: int | None = Field(default=None, ge=1, description="Of topics created here. None: min(3, brokers).")


class EmbeddedBrokerSettings(_Group):
    """The broker that `up` starts when no brokers are given."""

    memory_limit_mib: int = Field(
        default=512, ge=64, description="It never gives memory back; past this it is replaced at a quiet moment."
    )
    start_timeout_s: Seconds = 15.0


class ReplySettings(_Group):
    """Where replies may go."""

    default_topic: str = "search.replies.v1"
    allowed_topics: list[str] = Field(
        default=["search.replies.v1", "search.replies.*"], description="Exact names, or `prefix.*`."
    )


class StorageSettings(_Group):
    """Overrides a provider file's storage terms: the operator has read the vendor's terms and answers for it."""

    allowed: bool | None = None
    max_ttl_s: int | None = Field(default=None, ge=0)
    shareable: bool | None = None


class ProviderSettings(_Group):
    """Overrides for one provider."""

    enabled: bool = True
    base_url: str | None = Field(
        default=None, description="Replaces scheme and host; a path in it stands before the vendor's own path."
    )
    timeout_s: Seconds | None = None
    api_keys: list[SecretStr] = Field(
        default_factory=list, description="More keys than the one in the environment: rotated on quota."
    )
    options: dict[str, str] = Field(
        default_factory=dict, description="What the provider file leaves to the operator, e.g. a zone or a model."
    )
    requests_per_s: float | None = Field(default=None, gt=0)
    max_concurrency: int | None = Field(default=None, ge=1)
    budget_per_day_micro_usd: int | None = Field(default=None, ge=0)
    budget_per_month_micro_usd: int | None = Field(default=None, ge=0)
    storage: StorageSettings = StorageSettings()
    price_micro_usd: int | None = Field(
        default=None, ge=0, description="Your own price for one call at default options."
    )

    @field_validator("base_url")
    @classmethod
    def _an_http_address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value


class FreshnessSettings(_Group):
    """Which class a question gets when the caller leaves it to us. Domains and words are added to the shipped rules."""

    domains: dict[str, FreshnessClass] = Field(
        default_factory=dict, description="Domain pattern (`*.gov`) of a `site:` operator or filter → class."
    )
    words: dict[FreshnessClass, list[str]] = Field(default_factory=dict)
    default: FreshnessClass = "slow"
    time_zone: str = Field(
        default="UTC", description="Whose day `today` means. Questions in Korean mean Korea's, whatever stands here."
    )
    weighing: bool = Field(
        default=True,
        description="Questions in English that no rule settles are weighed: slow or static. False: the default.",
    )
    weights: Path | None = Field(default=None, description="Weights of your own making. None: the shipped ones.")

    @field_validator("time_zone")
    @classmethod
    def _a_known_time_zone(cls, value: str) -> str:
        try:
            if value != "UTC":
                ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"no time zone is named `{value}`; use a name like Europe/Berlin, or UTC") from None
        return value


class SemanticSettings(_Group):
    """The semantic tier."""

    enabled: bool = True
    min_similarity: Fraction = Field(
        default=0.45,
        description="Cosine a candidate needs before the verifier looks at it. The calibration's own limits hold beside it "
        "(0.80 for English, 0.45 for Korean with the packaged model).",
    )
    min_probability: Fraction | None = Field(
        default=None, description="None: the threshold the shipped calibration chose."
    )
    candidates: int = Field(default=8, ge=1, le=64)
    memory_rows: int = Field(
        default=20_000, ge=0, description="Newest vectors searched in memory, before the index knows them."
    )
    timeout_s: Seconds = Field(default=0.5, description="A semantic lookup slower than this is a miss.")


class EmbeddingSettings(_Group):
    """Which model makes the vectors. Order: `path`, then the packaged model, then nothing; `hub_model` only when named."""

    path: Path | None = Field(
        default=None, description="Folder with model.onnx, tokenizer.json and its three JSON files."
    )
    hub_model: str | None = Field(
        default=None, description="A fastembed model name, fetched from its hub at first use."
    )
    threads: int = Field(default=1, ge=1)


class RefreshAheadSettings(_Group):
    """Hot answers are fetched anew shortly before they end. Costs money: off unless switched on."""

    enabled: bool = False
    life_left: Fraction = Field(default=0.1, description="From when on: so much of an answer's life is left, or less.")
    min_hits: int = Field(
        default=3, ge=1, description="Hits that make an answer hot, in one worker, since it was stored."
    )
    max_share: Fraction = Field(default=0.02, description="Refreshes at most this share of the lookups of a worker.")


class CacheSettings(_Group):
    """The cache view and its tiers. Of all TTLs that apply the shortest wins; a provider's storage terms cap them all."""

    path: Path | None = Field(default=None, description="A folder on a disk of this machine. None: <home>/cache.")
    ttl_s: dict[FreshnessClass, int] = Field(default_factory=lambda: dict(TTL_DEFAULT_S))
    ttl_provider_s: dict[str, int] = Field(default_factory=dict)
    ttl_domain_s: dict[str, int] = Field(default_factory=dict, description="Domain pattern of a result → seconds.")
    scope: Literal["shared", "tenant"] = Field(
        default="shared", description="tenant: no answer is shared between tenants."
    )
    semantic: SemanticSettings = SemanticSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    memory_mib: int = Field(default=96, ge=1, description="Answers kept in memory by each frontline worker.")
    poll_interval_s: Seconds = Field(default=0.1, description="How often a reader looks for new commits of the view.")
    batch_linger_s: Seconds = Field(default=0.05, description="How long the writer waits to make a batch.")
    batch_rows: int = Field(default=500, ge=1)
    optimize_interval_s: Seconds = 60.0
    expiry_interval_s: Seconds = 60.0
    stale_if_error_s: int = Field(
        default=0, ge=0, description="How long past its end an answer may be served, flagged, when nobody answers."
    )
    negative_ttl_s: int = Field(
        default=0,
        ge=0,
        description="How long it is remembered that every provider of a chain found nothing. 0: not at all.",
    )
    refresh_ahead: RefreshAheadSettings = RefreshAheadSettings()

    @field_validator("ttl_s")
    @classmethod
    def _every_class_has_a_ttl(cls, value: dict[FreshnessClass, int]) -> dict[FreshnessClass, int]:
        return {**TTL_DEFAULT_S, **value}


class BreakerSettings(_Group):
    """A provider that keeps failing is left alone for a while."""

    enabled: bool = True
    min_calls: int = Field(default=10, ge=1)
    failure_rate: Fraction = 0.5
    window_s: Seconds = 30.0
    open_s: Seconds = 15.0


class RetrySettings(_Group):
    """Retries at the same vendor, only where they pay and inside the deadline."""

    max_per_provider: int = Field(default=0, ge=0, le=5, description="0: the next provider is the retry.")
    backoff_s: Seconds = 0.2
    retry_after_cap_s: Seconds = Field(default=30.0, description="A vendor's Retry-After beyond this is taken as this.")


class HedgingSettings(_Group):
    """A second vendor is asked when the first is slower than its own p95. Costs money: off unless switched on."""

    enabled: bool = False
    max_extra_cost: Fraction = Field(default=0.05, description="Hedged spending at most this share of all spending.")
    min_samples: int = Field(default=50, ge=1)


class TenantSettings(_Group):
    """Limits of one tenant."""

    budget_per_day_micro_usd: int | None = Field(default=None, ge=0)
    budget_per_month_micro_usd: int | None = Field(default=None, ge=0)


class FetchSettings(_Group):
    """The provider chain."""

    on_empty: Literal["next", "accept"] = "next"
    share_of_remaining: Fraction = Field(
        default=0.6,
        gt=0,
        description="Of what is left of the deadline, at most this for a provider that is not the last.",
    )
    max_answer_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, description="A larger answer is a bad answer.")
    recent_s: Seconds = Field(
        default=600.0,
        description="How long a paid answer is kept at hand, for requests that come before the cache shows it: as long as "
        "a cache writer or a unify worker may be away.",
    )
    recent_mib: int = Field(default=64, ge=1)


class WindowSettings(_Group):
    """Requests in work at once, for each worker of a role."""

    normalize: int = Field(default=256, ge=1)
    lookup: int = Field(default=256, ge=1)
    fetch: int = Field(default=512, ge=1)
    unify: int = Field(default=32, ge=1)


class LakeSettings(_Group):
    """Parquet."""

    path: Path | None = Field(default=None, description="None: <home>/lake.")
    query_text: Literal["full", "hash", "none"] = "full"
    flush_interval_s: Seconds = 5.0
    flush_rows: int = Field(default=20_000, ge=1)


class ReportSettings(_Group):
    """What savings are held against."""

    baseline: str = "built-in-10"
    search_share: Fraction = Field(
        default=1.0, description="Share of these requests for which a model with built-in search would have searched."
    )


class LogSettings(_Group):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["console", "json"] = "console"


class Settings(_Group):
    """Everything. `GROUNDWIRE_<GROUP>__<KEY>` in the environment wins over the file."""

    home: Path = Field(default=Path(".groundwire"), description="Where state lives.")
    brokers: str | None = Field(
        default=None, description="host:port, comma-separated. None: the embedded broker of `up`."
    )
    node: str | None = Field(
        default=None,
        description="Names this machine's cache view in the broker's list of groups, when there are several.",
    )
    routes: dict[Name, list[str]] = Field(
        default_factory=dict,
        description="Named chains. The shipped ones are configuration: streams/runtime/defaults.yaml.",
    )
    routes_by_freshness: dict[FreshnessClass, Name] = Field(
        default_factory=dict, description="Class of a question → the route it takes instead of `default`."
    )
    providers: dict[Name, ProviderSettings] = Field(default_factory=dict)
    provider_path: list[Path] = Field(default_factory=list, description="Folders with more provider files.")
    kafka: KafkaSettings = KafkaSettings()
    embedded: EmbeddedBrokerSettings = EmbeddedBrokerSettings()
    reply: ReplySettings = ReplySettings()
    freshness: FreshnessSettings = FreshnessSettings()
    cache: CacheSettings = CacheSettings()
    fetch: FetchSettings = FetchSettings()
    breaker: BreakerSettings = BreakerSettings()
    retry: RetrySettings = RetrySettings()
    hedging: HedgingSettings = HedgingSettings()
    tenants: dict[str, TenantSettings] = Field(default_factory=dict)
    dedup_window_s: Seconds = Field(
        default=600.0, description="How long a request id is remembered: sent again with other content it is an error."
    )
    window: WindowSettings = WindowSettings()
    lake: LakeSettings = LakeSettings()
    report: ReportSettings = ReportSettings()
    log: LogSettings = LogSettings()

    @field_validator("routes")
    @classmethod
    def _no_empty_route(cls, value: dict[str, list[str]]) -> dict[str, list[str]]:
        for name, chain in value.items():
            if not chain:
                raise ValueError(f"route `{name}` names no provider")
        return value

    @field_validator("routes_by_freshness")
    @classmethod
    def _known_routes(cls, value: dict[FreshnessClass, str], info: ValidationInfo) -> dict[FreshnessClass, str]:
        known = info.data.get("routes", {})
        for name in value.values():
            if known and name not in known:
                raise ValueError(f"no route `{name}`; there are: {', '.join(sorted(known))}")
        return value

    @property
    def cache_path(self) -> Path:
        return self.cache.path or self.home / "cache"

    @property
    def lake_path(self) -> Path:
        return self.lake.path or self.home / "lake"

    @property
    def calibration_path(self) -> Path:
        """An owner's own calibration of the semantic tier, where there is one."""
        return self.home / "calibration.json"

    @property
    def feedback_path(self) -> Path:
        """Verdicts of people on semantic hits, one pair a line."""
        return self.home / "feedback.jsonl"
