"""Status and body to exactly one outcome, by what can be done about it.

The provider file's rules come first: they know that one vendor's 400 means an empty purse and another's 403 a missing switch.
Then the status decides. A 400 or 422 is the caller's mistake only when the vendor says so, not when a gateway answers with HTML.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from groundwire.adapters.cleaning import clean_title
from groundwire.adapters.errors import VendorFailure
from groundwire.adapters.reading import looks_like_html
from groundwire.adapters.spec import OutcomeRule, ProviderSpec
from groundwire.schemas.reply import AttemptOutcome

MAX_REASON_CHARS = 200

_BY_STATUS: dict[int, AttemptOutcome] = {
    400: "rejected",
    401: "auth",
    402: "quota",
    403: "auth",
    407: "auth",
    408: "timeout",
    422: "rejected",
    425: "rate_limited",
    429: "rate_limited",
}
_SAID: dict[AttemptOutcome, str] = {
    "rejected": "refused the query",
    "auth": "refused the key",
    "quota": "the credit or quota is used up",
    "timeout": "the vendor gave up waiting",
    "rate_limited": "too many requests",
    "server_error": "failed",
    "bad_answer": "could not be used",
    "transport": "the line broke",
    "empty": "nothing found",
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer as it came. `document` is the parsed body; `unreadable` says why it is missing. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    text: str
    document: Any
    unreadable: str | None = None


class GenuinelyEmpty(Exception):  # noqa: N818 - not an error: the vendor's way of saying that there is nothing
    """The vendor says in its own way that nothing was found."""


def outcome_of_status(status: int) -> AttemptOutcome | None:
    """The outcome that a bare status stands for; None for one whose body has to be read."""
    if status in (200, 203):
        return None
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "server_error" if 500 <= status <= 599 else "bad_answer"


def raise_for_failure(spec: ProviderSpec, heard: Heard) -> None:
    """Raises VendorFailure for a failure, GenuinelyEmpty when the vendor says there is nothing; returns when it is to be read."""
    for rule in spec.outcomes:
        if _holds(rule, heard):
            outcome, status = _decide(rule, heard)
            if outcome == "empty":
                raise GenuinelyEmpty
            if outcome is not None:
                raise VendorFailure(outcome, _reason(spec, rule, heard, outcome, status), status)
    from_status = outcome_of_status(heard.status)
    if from_status is None:
        return
    if from_status == "rejected" and heard.unreadable and looks_like_html(heard.text):
        raise VendorFailure("bad_answer", f"{heard.status}: HTML instead of an answer", heard.status)
    raise VendorFailure(from_status, _reason(spec, None, heard, from_status, heard.status), heard.status)


def says_it_is_empty(spec: ProviderSpec, document: Any) -> bool:
    """Whether a rule calls this body empty, whatever its status was (a stored answer has none)."""
    return any(
        rule.outcome == "empty" and rule.when is not None and search(rule.when, document) not in _FALSE
        for rule in spec.outcomes
    )


_FALSE: tuple[Any, ...] = (None, False, "", [], {})


def search(expression: str, document: Any) -> Any:
    """What a JMESPath expression finds; None also when it meets types that it can't work on."""
    try:
        return _compiled(expression).search(document)
    except (JMESPathError, RecursionError, ValueError, TypeError, AttributeError):
        return None


@lru_cache(maxsize=4096)  # the library's own cache holds 128 expressions, fewer than there are
def _compiled(expression: str) -> Any:
    return jmespath.compile(expression)


def _holds(rule: OutcomeRule, heard: Heard) -> bool:
    if rule.status is not None and heard.status not in rule.status:
        return False
    if rule.when is not None and search(rule.when, heard.document) in _FALSE:
        return False
    if rule.text is not None and not re.search(rule.text, heard.text, re.IGNORECASE):
        return False
    return all(
        re.search(pattern, heard.headers.get(name.lower(), ""), re.IGNORECASE) for name, pattern in rule.header.items()
    )


def _decide(rule: OutcomeRule, heard: Heard) -> tuple[AttemptOutcome | None, int]:
    """(outcome, status to show). A code inside the body counts as that status."""
    code = search(rule.code, heard.document) if rule.code is not None else None
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    inner = code if isinstance(code, int) and not isinstance(code, bool) and 100 <= code <= 599 else None
    if rule.outcome is not None:
        return rule.outcome, inner if inner is not None else heard.status
    if inner is None:
        return None, heard.status
    return outcome_of_status(inner), inner


def _reason(spec: ProviderSpec, rule: OutcomeRule | None, heard: Heard, outcome: AttemptOutcome, status: int) -> str:
    unexpected = rule is None and outcome == "bad_answer"
    said = rule.say if rule is not None and rule.say else "not a status of an answer" if unexpected else _SAID[outcome]
    start = f"{status}: {said}" if status not in (200, 203) else said
    words = vendor_words([*(rule.reason if rule is not None else []), *spec.messages], heard)
    return f"{start}: {words}" if words else start


def vendor_words(expressions: list[str], heard: Heard) -> str | None:
    """What the vendor says about its failure, short and plain, or None."""
    for expression in expressions:
        found = search(expression, heard.document)
        if isinstance(found, str) and found.strip():
            return _short(found)
    if heard.unreadable and heard.text.strip() and not looks_like_html(heard.text):
        return _short(heard.text)
    return None


def _short(text: str) -> str:
    line = clean_title(text[:2000])
    return line if len(line) <= MAX_REASON_CHARS else f"{line[: MAX_REASON_CHARS - 1]}…"
