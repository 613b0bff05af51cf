"""What can go wrong here, grouped by what can be done about it.

    AdapterError
    ├── BadProviderFile   the operator's: a provider file can't be used; carries every problem with file, line and key
    ├── BadAnswer         the vendor's: an answer that can't be read; move on to the next provider
    ├── VendorFailure     the vendor's: it says so itself, in a status or inside a 200; carries the outcome
    ├── Unsendable        the caller's or the operator's: no request can be made of this call; the provider is skipped
    └── WireError         nobody's: no whole answer came back; carries whether the vendor may have got the request

None of them reaches a caller of `Provider.call`: they become one outcome there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundwire.schemas.reply import AttemptOutcome


class AdapterError(Exception):
    """Base of this tree."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One thing wrong with a provider file. `line` counts from 1; `key` is a path like `answer.results`."""

    file: Path
    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class BadProviderFile(AdapterError):  # noqa: N818 - the name says what happened; the tree above says that it is an error
    """A provider file that can't be used."""

    def __init__(self, problems: list[FileProblem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class BadAnswer(AdapterError):  # noqa: N818 - the name says what happened; the tree above says that it is an error
    """An answer that is not what the vendor documents: HTML, broken or wrong-typed JSON, no usable row."""


class VendorFailure(AdapterError):  # noqa: N818 - the name says what happened; the tree above says that it is an error
    """The vendor says that it failed. `retry_after_s` is its wish as stated, not yet capped."""

    def __init__(
        self, outcome: AttemptOutcome, reason: str, status_code: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.status_code = status_code
        self.retry_after_s = retry_after_s


class Unsendable(AdapterError):  # noqa: N818 - the name says what happened; the tree above says that it is an error
    """No request can be made: a missing option, or a value that the place it belongs to can't carry."""


class WireError(AdapterError):
    """No whole answer came back.

    `kind`: `timeout`, `transport`, or `bad_answer` for one that was refused while reading (too large, a bomb, a redirect away).
    `reached` is False only when the vendor can't have got the request, so that it can't have billed it.
    """

    def __init__(
        self,
        kind: Literal["timeout", "transport", "bad_answer"],
        reason: str,
        *,
        reached: bool,
        status_code: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind: Literal["timeout", "transport", "bad_answer"] = kind
        self.reason = reason
        self.reached = reached
        self.status_code = status_code
