"""How aiokafka is told to reach the broker: addresses, TLS and SASL from the settings, in one place for every client."""

import ssl
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.consumer.group_coordinator import OffsetCommitRequest

from groundwire.schemas.settings import KafkaSettings, Settings
from groundwire.streams.runtime.configuration import ConfigurationError

# The embedded broker says this of itself, so that any client can tell: its own tuning needs to know.
EMBEDDED_CLUSTER_ID = "groundwire-embedded"

# A first join of a group waits half the session timeout there; members on the same machine are not cut off from it.
SESSION_TIMEOUT_S_EMBEDDED = 6.0
HEARTBEATS_PER_SESSION = 6

NO_BROKERS = (
    "no brokers are given: start everything on this machine with `groundwire up`, or name a Kafka with "
    "`--brokers host:port` or GROUNDWIRE_BROKERS=host:port"
)


def bootstrap_servers(settings: Settings) -> list[str]:
    """The brokers' addresses. Raises ConfigurationError when there are none, or one is not host:port."""
    if not settings.brokers:
        raise ConfigurationError(NO_BROKERS)
    addresses = [address.strip() for address in settings.brokers.split(",") if address.strip()]
    for address in addresses:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65_536:
            raise ConfigurationError(f"brokers: `{address}` is not host:port")
    return addresses


def connection_kwargs(settings: Settings) -> dict[str, Any]:
    """Arguments that every aiokafka client takes alike. Raises ConfigurationError."""
    kafka = settings.kafka
    arguments: dict[str, Any] = {
        "bootstrap_servers": bootstrap_servers(settings),
        "security_protocol": kafka.security_protocol,
    }
    if kafka.security_protocol.startswith("SASL"):
        if kafka.sasl_username is None or kafka.sasl_password is None:
            raise ConfigurationError(
                f"kafka.security_protocol is {kafka.security_protocol}: it needs kafka.sasl_username and "
                "kafka.sasl_password (GROUNDWIRE_KAFKA__SASL_USERNAME, GROUNDWIRE_KAFKA__SASL_PASSWORD)"
            )
        arguments["sasl_mechanism"] = kafka.sasl_mechanism
        arguments["sasl_plain_username"] = kafka.sasl_username
        arguments["sasl_plain_password"] = kafka.sasl_password.get_secret_value()
    if kafka.security_protocol.endswith("SSL"):
        arguments["ssl_context"] = _ssl_context(kafka)
    return arguments


def membership_kwargs(settings: Settings, *, embedded: bool) -> dict[str, int]:
    """Arguments of a consumer that is a member of a group."""
    kafka = settings.kafka
    session_s = min(kafka.session_timeout_s, SESSION_TIMEOUT_S_EMBEDDED) if embedded else kafka.session_timeout_s
    return {
        "session_timeout_ms": int(session_s * 1000),
        "heartbeat_interval_ms": int(session_s * 1000 / HEARTBEATS_PER_SESSION),
        "rebalance_timeout_ms": int(kafka.rebalance_timeout_s * 1000),
    }


def is_member(consumer: AIOKafkaConsumer) -> bool:
    """Whether this consumer is in its group, as far as it knows.

    Thrown out, it would commit as nobody's member. A group without members takes that, also on a broker that was put in
    the place of the one these offsets are from. So a consumer that is to read as a member commits as one or not at all.
    """
    return bool(consumer._coordinator.generation != OffsetCommitRequest.DEFAULT_GENERATION_ID)


def _ssl_context(kafka: KafkaSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=kafka.ssl_cafile)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"kafka.ssl_cafile: {kafka.ssl_cafile}: {error}") from None
    context.check_hostname = kafka.ssl_check_hostname
    if kafka.ssl_certfile is not None:
        try:
            context.load_cert_chain(kafka.ssl_certfile, kafka.ssl_keyfile)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(f"kafka.ssl_certfile: {kafka.ssl_certfile}: {error}") from None
    return context
