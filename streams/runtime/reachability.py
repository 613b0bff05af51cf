"""Why a broker can't be reached. aiokafka raises one error for every reason and writes the reason into its log."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire.schemas.settings import Settings


class BrokerUnreachable(Exception):  # noqa: N818 - it is what happened, as in the message
    """Nobody answers at the brokers' addresses, or we are turned away. The message says which, and what to do."""


class _Keep(logging.Handler):
    """Takes aiokafka's lines, and with the first of several keepers its way to other handlers."""

    keepers = 0

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def reasons_kept() -> Iterator[list[str]]:
    """While the block runs, aiokafka's log goes into the list and nowhere else. Several may run at once."""
    library, keep = logging.getLogger("aiokafka"), _Keep()
    library.addHandler(keep)
    _Keep.keepers += 1
    library.propagate = False
    try:
        yield keep.lines
    finally:
        library.removeHandler(keep)
        _Keep.keepers -= 1
        library.propagate = _Keep.keepers == 0


# What aiokafka said → what it means. The first that fits.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (
        r"(?i)certificate",
        "{where} shows a certificate that is not trusted here: give its authority in kafka.ssl_cafile "
        "(GROUNDWIRE_KAFKA__SSL_CAFILE)",
    ),
    (
        r"UnsupportedSaslMechanism|IllegalSaslState",
        "{where} does not know this way of logging in: look at kafka.sasl_mechanism and kafka.security_protocol",
    ),
    (
        r"uthentication|credentials|SASL",
        "{where} does not accept the user name or the password: look at kafka.sasl_username and kafka.sasl_password",
    ),
    (
        r"Connect call failed|Multiple exceptions|Name or service not known|nodename nor servname|getaddrinfo|failure in name",
        "no broker answers at {brokers}: is it running, and is the address right? (`--brokers`, GROUNDWIRE_BROKERS)",
    ),
    (
        r"",
        "{where} does not talk to us: does it want TLS or SASL, or none of them? (kafka.security_protocol)",
    ),
)


def unreachable(settings: Settings, reasons: list[str]) -> BrokerUnreachable:
    """The error to raise, by what aiokafka said."""
    said = " ".join(reasons)
    meaning = next(text for pattern, text in _MEANINGS if re.search(pattern, said))
    return BrokerUnreachable(meaning.format(where=f"the broker at {settings.brokers}", brokers=settings.brokers))
