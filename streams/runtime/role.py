"""What a role is to the runtime: something that runs until it is told to stop, and says when it is ready."""

import asyncio
from typing import Protocol


class Role(Protocol):
    """One of schemas/topics.py's ROLES, built and ready to run."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; then finish what was begun and return within 10 s.

        Logs one line `ready` when it does its work. Raises ConfigurationError, BrokerUnreachable when it can't begin.
        """
        ...
