"""What every vendor has in common: an own path, own errors, a key, and a way to find documents."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.library import Library, Search
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, RefusedError

PLAIN: Mapping[int, str] = {
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    413: "Payload Too Large",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}


class Vendor(ABC):
    """One vendor's server. Subclasses hold no state of a call: the same request always brings the same answer.

    A key that is missing or contains `invalid` is refused; one that contains `exhausted` has no credit left.
    """

    name: ClassVar[str]
    auth: ClassVar[Refusal]
    quota: ClassVar[Refusal]
    rate: ClassVar[Refusal]
    varies: ClassVar[tuple[str, ...]] = ("authorization", "x-api-key")
    """Headers that change the answer, lower case."""
    repeatable: ClassVar[bool] = True
    """False: two equal requests get unequal answers, so none may be kept."""
    wording: ClassVar[Mapping[int, tuple[str, str | None]]] = {}
    """Status → the vendor's own message and code."""

    def __init__(self, library: Library) -> None:
        self.library = library

    @abstractmethod
    def query(self, asked: Asked) -> str | None:
        """What is searched for; None when it can't be told. May raise anything on a body that is not this vendor's."""

    @abstractmethod
    def key(self, asked: Asked) -> str | None:
        """The key that came with the request."""

    @abstractmethod
    def serve(self, asked: Asked) -> Answer:
        """Raises RefusedError."""

    @abstractmethod
    def error(self, refusal: Refusal) -> Answer:
        """A refusal in the vendor's own shape."""

    def answer(self, asked: Asked) -> Answer:
        """Never raises, whatever was sent."""
        try:
            answer = self.serve(asked)
        except RefusedError as refused:
            answer = self.error(refused.refusal)
        except (TypeError, AttributeError, ValueError, LookupError):
            # A field of a type that makes no sense, which no check of the vendor named: its schema turns it away.
            answer = self.failure(400)
        return replace(answer, query=self.query_or_none(asked))

    def query_or_none(self, asked: Asked) -> str | None:
        try:
            query = self.query(asked)
        except (ValueError, LookupError, TypeError, AttributeError):
            return None
        return query if isinstance(query, str) else None

    def failure(self, status: int) -> Answer:
        """The vendor's own answer with this status, in its wording where it has one."""
        if status in self.wording:
            message, code = self.wording[status]
            return self.error(Refusal(status, message, code))
        for known in (self.rate, self.auth, self.quota):
            if known.status == status:
                return self.error(known)
        return self.error(Refusal(status, PLAIN.get(status, "Error")))

    def masked(self, asked: Asked) -> Answer:  # noqa: ARG002 - vendors that hide errors in an answer need the request
        """A failure that hides in a 200."""
        return replace(self.failure(500), status=200)

    def admit(self, asked: Asked) -> str:
        """The key, when it opens the door. Raises RefusedError."""
        key = self.key(asked)
        if not key or "invalid" in key:
            raise RefusedError(*self.auth)
        if "exhausted" in key:
            raise RefusedError(*self.quota)
        return key

    def find(self, asked: Asked, query: str, count: int, **more: Any) -> tuple[Document, ...]:
        """Documents for the query; `more` as in Search."""
        if asked.empty:
            return ()
        return self.library.find(Search(query=query, count=count, today=asked.now.date(), **more))


def body_object(asked: Asked, refusal: Refusal) -> dict[str, Any]:
    """The JSON object in the body. Raises RefusedError with what the vendor says to anything else."""
    try:
        body = asked.json()
    except ValueError:
        raise RefusedError(*refusal) from None
    if not isinstance(body, dict):
        raise RefusedError(*refusal)
    return body


def is_int(value: object) -> bool:
    """JSON true and false are no numbers."""
    return isinstance(value, int) and not isinstance(value, bool)
