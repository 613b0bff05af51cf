"""A broker that can't be reached is one message that says why and what to look at; aiokafka's own lines are kept out of sight."""

import asyncio
import logging

import pytest

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.reachability import reasons_kept, unreachable
from groundwire.streams.runtime.topics_admin import BrokerUnreachable, cluster_facts

# As aiokafka 0.14 writes them, against a Kafka 4.3 with TLS and SASL listeners.
SAID = {
    "Unable connect to \"k:1\": [Errno 111] Connect call failed ('127.0.0.1', 1)": "no broker answers at k:1",
    'Unable connect to "k:1": [Errno -2] Name or service not known': "no broker answers at k:1",
    'Unable connect to "k:1": [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed': "kafka.ssl_cafile",
    'Unable connect to "k:1": [Error 58] SaslAuthenticationFailed: Authentication failed during authentication due to '
    "invalid credentials with SASL mechanism SCRAM-SHA-512": "user name or the password",
    'Unable connect to "k:1": [Error 33] UnsupportedSaslMechanismError: <AIOKafkaConnection host=k port=1>': "sasl_mechanism",
    'Unable connect to "k:1": [Error 34] IllegalSaslStateError: <AIOKafkaConnection host=k port=1>': "sasl_mechanism",
    'Unable to request metadata from "k:1": KafkaConnectionError: Connection at k:1 closed': "does it want TLS or SASL",
    'Unable connect to "k:1": ': "does it want TLS or SASL",
}


@pytest.mark.parametrize(("said", "meaning"), SAID.items(), ids=list(SAID.values()))
def test_what_the_library_said_is_told_as_what_to_do(said: str, meaning: str) -> None:
    message = str(unreachable(Settings(brokers="k:1"), [said]))
    assert meaning in message
    assert "k:1" in message
    assert "AIOKafkaConnection" not in message


async def test_nothing_but_the_message_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BrokerUnreachable, match=r"no broker answers at 127\.0\.0\.1:1"):
        await cluster_facts(Settings(brokers="127.0.0.1:1"))
    assert caplog.records == []


def test_the_librarys_log_is_as_it_was_afterwards() -> None:
    library = logging.getLogger("aiokafka")
    before = (list(library.handlers), library.propagate)
    with reasons_kept() as reasons:
        logging.getLogger("aiokafka.client").error("Unable connect to %s", "k:1")
    assert reasons == ["Unable connect to k:1"]
    assert (list(library.handlers), library.propagate) == before


async def test_two_that_look_at_once_leave_the_librarys_log_as_it_was() -> None:
    library = logging.getLogger("aiokafka")
    before = (list(library.handlers), library.propagate)
    settings = Settings(brokers="127.0.0.1:1")
    errors = await asyncio.gather(*(cluster_facts(settings) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(error, BrokerUnreachable) for error in errors)
    assert (list(library.handlers), library.propagate) == before
