"""A long piece of work on the event loop, done so that heartbeats and other records get their turn."""

import asyncio
from collections.abc import Callable, Sequence

from groundwire.schemas.record import InboundRecord

_STEP_RECORDS = 100


async def in_small_steps(take: Callable[[Sequence[InboundRecord]], None], records: Sequence[InboundRecord]) -> None:
    """Hand the records to `take`, some at a time, in order."""
    for start in range(0, len(records), _STEP_RECORDS):
        take(records[start : start + _STEP_RECORDS])
        await asyncio.sleep(0)
