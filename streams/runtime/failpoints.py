"""Named places where a test may end the process without a word, as a power cut would: at the exact worst moments.

    GROUNDWIRE_FAILPOINTS=before-publish:search.payloads.v1@3,in-rebalance

The process kills itself the third time it is about to publish a payload (a vendor was paid and nobody knows yet), or in its
first rebalance. Without the variable a place is a call of a function that does nothing.

    before-publish:TOPIC   the handler's work is done and nothing of it is published
    after-publish:TOPIC    published and confirmed, the record it came from not yet done
    before-commit          done, not committed
    after-batch:ROLE       a sink's batch is durable and not committed
    in-rebalance           partitions are being given up
"""

import os
import signal
from collections.abc import Callable, Mapping

VARIABLE = "GROUNDWIRE_FAILPOINTS"


def compile_failpoints(environ: Mapping[str, str]) -> Callable[[str], None] | None:
    """What happens at a named place; None when no place is named. Raises ValueError for text that can't be read."""
    left: dict[str, int] = {}
    for part in environ.get(VARIABLE, "").split(","):
        if part.strip():
            name, _, passages = part.strip().partition("@")
            left[name] = int(passages or 1)
    if not left:
        return None

    def pass_by(name: str) -> None:
        if name in left:
            left[name] -= 1
            if left[name] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return pass_by


_pass_by = compile_failpoints(os.environ)


def failpoint(name: str) -> None:
    """A place a test may name."""
    if _pass_by is not None:
        _pass_by(name)
