"""Scripted faults: what is to go wrong, at which vendor, how often."""

from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

FaultKind = Literal[
    "status",
    "auth",
    "quota",
    "rate_limit",
    "masked",
    "key_echo",
    "empty_results",
    "wrong_types",
    "null_values",
    "html",
    "empty_body",
    "truncated",
    "raw",
    "redirect",
    "huge",
    "gzip",
    "gzip_bomb",
    "slow",
    "drip",
    "hang",
    "reset",
    "close",
]

OWN_BILL: frozenset[str] = frozenset({"empty_results", "masked"})
"""The vendor decides: an empty answer costs what it costs there, and a model that failed to search has used its tokens."""

HONEST: frozenset[str] = OWN_BILL | {"gzip", "slow", "drip"}
"""After these the client holds the vendor's whole answer, and the vendor bills as ever. The others are free, as failures
are, unless `billed` says that this vendor has taken the money all the same."""


class Fault(BaseModel):
    """One rule. The first rule that matches a call is used; rules are tried in the order they came.

    status        the vendor's own error with `status` (400 401 402 403 408 422 429 432 433 500 502 503 504 529, 202 …)
    auth quota rate_limit   the vendor's own way of saying so, whatever its status
    masked        a failure hidden in a 200: `success:false`, `unresponsive_engines`, an inner status, a tool error …
    key_echo      an error whose text repeats the key that was sent
    empty_results the vendor finds nothing, and says and bills it in its own way
    wrong_types, null_values   the true answer with its values turned into other types, or into null
    html          an HTML page with `status` (200 by default)
    empty_body truncated raw   nothing; half the JSON; `body` as it stands, with `status` and `content_type`
    redirect      302 (or `status`) to `location`
    huge gzip_bomb   `size_bytes` of padding (default 20 MB), or that much after decompression (default 256 MB)
    gzip          the true answer, compressed
    slow          `seconds` later than usual
    drip          the true answer in small pieces, one every `seconds` (default 0.2)
    hang          no answer, until the client leaves or `seconds` are over
    reset         the connection breaks in the middle of the body
    close         the connection is closed at once
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    vendor: str = Field(description="A vendor's name, or `*` for all.")
    kind: FaultKind
    times: int | None = Field(default=None, ge=1, description="None: until cleared.")
    probability: float = Field(default=1.0, ge=0, le=1)
    query_contains: str | None = None
    status: int | None = Field(default=None, ge=200, le=599)
    retry_after: str | None = Field(default=None, description="Sent as it stands: `2`, `0`, `soon`, a date.")
    retry_after_date_s: float | None = Field(default=None, description="Sent as an HTTP date this far from now.")
    seconds: float | None = Field(default=None, ge=0)
    size_bytes: int | None = Field(default=None, ge=0)
    location: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    content_type: str | None = None
    billed: bool | None = None


class Rule:
    """A fault with what is left of it."""

    def __init__(self, number: int, fault: Fault) -> None:
        self.number = number
        self.fault = fault
        self.left = fault.times
        self.fired = 0

    def as_dict(self) -> dict[str, object]:
        return {
            "id": self.number,
            "fired": self.fired,
            "left": self.left,
            **self.fault.model_dump(exclude_unset=True),
        }


class FaultBook:
    """All rules, and the vendors that are switched off."""

    def __init__(self, vendors: frozenset[str], seed: int) -> None:
        self._vendors = vendors
        self._rules: list[Rule] = []
        self._off: dict[str, Fault] = {}
        self._random = Random(seed)
        self._next = 1

    def add(self, fault: Fault) -> Rule:
        """Raises KeyError for a vendor that is not here."""
        self._known(fault.vendor)
        rule = Rule(self._next, fault)
        self._next += 1
        self._rules.append(rule)
        return rule

    def switch_off(self, vendor: str, status: int | None = None) -> None:
        """From now on the connection is closed at once, or answered with `status` when one is given."""
        self._known(vendor)
        fault = (
            Fault(vendor=vendor, kind="close") if status is None else Fault(vendor=vendor, kind="status", status=status)
        )
        for name in self._vendors if vendor == "*" else (vendor,):
            self._off[name] = fault

    def switch_on(self, vendor: str) -> None:
        self._known(vendor)
        for name in self._vendors if vendor == "*" else (vendor,):
            self._off.pop(name, None)

    def clear(self, vendor: str | None = None, number: int | None = None) -> int:
        """Removes rules: all, one vendor's, or one by its number. Says how many."""
        kept = [
            rule
            for rule in self._rules
            if (number is not None and rule.number != number) or (vendor is not None and rule.fault.vendor != vendor)
        ]
        removed = len(self._rules) - len(kept)
        self._rules = kept
        return removed

    def reset(self) -> None:
        self._rules.clear()
        self._off.clear()

    def draw(self, vendor: str, query: str | None) -> Fault | None:
        """The fault for the next call, counted as used."""
        if not self._rules and not self._off:
            return None
        switched_off = self._off.get(vendor)
        if switched_off is not None:
            return switched_off
        for rule in self._rules:
            fault = rule.fault
            if fault.vendor not in ("*", vendor) or rule.left == 0:
                continue
            if fault.query_contains is not None and fault.query_contains not in (query or ""):
                continue
            if fault.probability < 1 and self._random.random() >= fault.probability:
                continue
            rule.fired += 1
            if rule.left is not None:
                rule.left -= 1
            return fault
        return None

    def as_dict(self) -> dict[str, object]:
        return {"rules": [rule.as_dict() for rule in self._rules], "off": sorted(self._off)}

    def _known(self, vendor: str) -> None:
        if vendor != "*" and vendor not in self._vendors:
            raise KeyError(f"no vendor {vendor!r}; there are: {', '.join(sorted(self._vendors))}")
