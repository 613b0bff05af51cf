"""`search.payloads.v1`: raw paid answers, and the marks that say a vendor call is about to begin.

The topic is the journal of vendor calls. A mark without a later payload is a call whose outcome a crash swallowed; a
payload is an answer that is paid and need never be paid again.
"""

from typing import Literal

from pydantic import BaseModel, Field

from groundwire.schemas.lookup import Embedding, StaleAnswer
from groundwire.schemas.plan import PLAN_CONFIG, Plan
from groundwire.schemas.record import Record
from groundwire.schemas.reply import Attempt


class RawAnswer(BaseModel):
    """A vendor's answer as it came: the decoded body text, before any mapping. `attempt` is its index in the receipt."""

    model_config = PLAN_CONFIG

    provider: str
    attempt: int = Field(ge=0)
    status_code: int
    content_type: str
    body: str
    received_at_ms: int
    depth: int = Field(ge=1)


class AttemptMark(BaseModel):
    """One vendor call that was begun, by the id its event will have. `results` and `bytes` are known once it has ended."""

    model_config = PLAN_CONFIG

    attempt_id: str
    provider: str
    attempt: int
    hedged: bool
    depth: int
    started_at_ms: int
    results: int = 0
    bytes: int = 0


class Payload(Record):
    """The outcome of one request's fetch.

    `kind` is `begun` (written before each vendor call: `marks` are the calls begun so far), `answer` (vendors were asked for
    this request; `answers` may be empty when nobody answered) or `shared` (the answer another request paid for).
    `payload_id` names the paid answer; a shared payload carries the id of the one it shares.
    Of an `answer`, `marks` and `attempts` are the same calls line by line, those passed over or lost in a crash included. On
    `shared`, `attempts` are the other request's, to say why nobody answered: they are no part of this one's receipt.
    """

    kind: Literal["begun", "answer", "shared"]
    payload_id: str
    plan: Plan
    lookup_ms: float
    fetch_ms: float | None = None
    embedding: Embedding | None = None
    marks: list[AttemptMark] = Field(default_factory=list)
    attempts: list[Attempt] = Field(default_factory=list)
    answers: list[RawAnswer] = Field(default_factory=list)
    chosen: int | None = Field(
        default=None, description="Index into `answers` of the one to serve; null: nobody answered."
    )
    paid_micro_usd: int | None = Field(
        default=None, description="On `shared`: what the shared answer cost the one who paid."
    )
    stale: StaleAnswer | None = None
    warnings: list[str] = Field(default_factory=list)
