"""Which calls came in: the newest ones in full, and how many there were for each query (single flight is seen here)."""

from collections import Counter, OrderedDict, deque
from dataclasses import asdict, dataclass

NEWEST = 2_000
QUERIES = 500_000
"""Queries counted at most; past this the oldest go, so that a sandbox that runs for days stays small."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `at` is Unix time in seconds; `fault` names the scripted fault that shaped the answer."""

    vendor: str
    query: str | None
    status: int | None
    billed_micro_usd: int | None
    at: float
    took_ms: float
    fault: str | None = None


class CallLog:
    """In memory only."""

    def __init__(self) -> None:
        self._newest: deque[Call] = deque(maxlen=NEWEST)
        self._queries: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._vendors: Counter[str] = Counter()

    def arrived(self, vendor: str, query: str | None) -> None:
        """Counted on arrival: a call that hangs, or whose client has left, was made all the same."""
        self._vendors[vendor] += 1
        if query is not None:
            key = (vendor, query)
            self._queries[key] = self._queries.get(key, 0) + 1
            if len(self._queries) > QUERIES:
                self._queries.popitem(last=False)

    def answered(self, call: Call) -> None:
        self._newest.append(call)

    def count(self, vendor: str | None = None, query: str | None = None) -> int:
        """How many calls came for a vendor, for a query, or for both."""
        if query is None:
            return self._vendors.total() if vendor is None else self._vendors[vendor]
        if vendor is not None:
            return self._queries.get((vendor, query), 0)
        return sum(n for (_, asked), n in self._queries.items() if asked == query)

    def newest(self, vendor: str | None = None, query: str | None = None, limit: int = 50) -> list[Call]:
        """The newest answered calls, newest first."""
        chosen: list[Call] = []
        for call in reversed(self._newest):
            if len(chosen) >= limit:
                break
            if vendor in (None, call.vendor) and query in (None, call.query):
                chosen.append(call)
        return chosen

    def as_dict(self, vendor: str | None = None, query: str | None = None, limit: int = 50) -> dict[str, object]:
        """The shape of GET /_control/calls."""
        repeated = Counter(
            {f"{name}: {asked}": n for (name, asked), n in self._queries.items() if n > 1 and vendor in (None, name)}
        )
        return {
            "count": self.count(vendor, query),
            "by_vendor": dict(self._vendors),
            "repeated": dict(repeated.most_common(limit)),
            "calls": [asdict(call) for call in self.newest(vendor, query, limit)],
        }

    def reset(self) -> None:
        self._newest.clear()
        self._queries.clear()
        self._vendors.clear()
