"""Equal requests that are under way at once cost one vendor call: the first leads, the others wait for what it gets."""

import asyncio
from dataclasses import dataclass, field

from groundwire.schemas.payload import Payload


@dataclass(frozen=True, slots=True)
class Landed:
    """What the leader got. `short_of_time`: with more time a vendor might have answered."""

    payload: Payload
    short_of_time: bool


@dataclass(slots=True)
class Flight:
    """One chain under way. `landed` gives None when the leader broke off: one of those who wait may then lead."""

    key: str
    reply_id: str
    landed: "asyncio.Future[Landed | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def wait(self, timeout_s: float | None) -> Landed | None:
        """Raises TimeoutError when it has not landed in time (None: it is waited for). Leaves the flight alone either way."""
        await asyncio.wait({self.landed}, timeout=timeout_s)
        if not self.landed.done():
            raise TimeoutError
        return self.landed.result()


class SingleFlight:
    """The flights of one worker. Equal requests have one key, so they are on one partition and at one worker."""

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def under_way(self, key: str) -> Flight | None:
        return self._flights.get(key)

    def lead(self, key: str, reply_id: str) -> Flight:
        flight = Flight(key, reply_id)
        self._flights[key] = flight
        return flight

    def land(self, flight: Flight, landed: Landed | None) -> None:
        """Tell those who wait; the next equal request leads a new flight."""
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]
        if not flight.landed.done():
            flight.landed.set_result(landed)
