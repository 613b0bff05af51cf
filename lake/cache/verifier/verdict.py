"""What the checks on a pair of questions add up to."""

import re
from collections import Counter
from dataclasses import dataclass, field

_WORD = re.compile(r"\w+", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*\s*(?:%|[a-zµ°$€£₩]{1,3}\b)?", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|can't|don't|doesn't|isn't|aren't|won't|n't|off|closed|worst|after)\b|안 |못|않|없|말고",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Check:
    """One structural check: its name, whether the pair passed, and what it saw."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks on a pair. `reason` is for a human eye; `features` feed the calibration."""

    passed: bool
    checks: tuple[Check, ...]
    reason: str
    features: dict[str, float] = field(default_factory=dict)


def verify(asked: str, stored: str, language: str | None = None) -> Verdict:
    """Check whether the answer stored for `stored` may serve `asked`. `language` (BCP-47) is a hint."""
    del language
    checks = (
        _same("numbers", _numbers(asked), _numbers(stored)),
        _same("negation", _negations(asked), _negations(stored)),
        _same("direction", _common_order(asked, stored), _common_order(stored, asked)),
    )
    failed = [check for check in checks if not check.passed]
    reason = f"{failed[0].name}: {failed[0].detail}" if failed else "same numbers, negation and order of words"
    return Verdict(not failed, checks, reason)


def _same(name: str, asked: list[str], stored: list[str]) -> Check:
    same = asked == stored
    return Check(name, same, "same" if same else f"{' '.join(asked) or 'none'} against {' '.join(stored) or 'none'}")


def _numbers(text: str) -> list[str]:
    return sorted(match.group().lower().replace(" ", "") for match in _NUMBER.finditer(text))


def _negations(text: str) -> list[str]:
    return sorted(Counter(match.group().lower() for match in _NEGATION.finditer(text.replace("’", "'"))).elements())


def _common_order(text: str, other: str) -> list[str]:
    """The words both texts share once, in this text's order."""
    mine = Counter(_WORD.findall(text.lower()))
    theirs = Counter(_WORD.findall(other.lower()))
    return [word for word in _WORD.findall(text.lower()) if mine[word] == theirs[word] == 1]
