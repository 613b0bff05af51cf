"""How the broker is reached: the same arguments for every client, and one clear message when they can't be made."""

import ssl
from pathlib import Path

import pytest
from pydantic import SecretStr

from groundwire.schemas.settings import KafkaSettings, Settings
from groundwire.streams.runtime.configuration import ConfigurationError
from groundwire.streams.runtime.connection import bootstrap_servers, connection_kwargs, membership_kwargs


def test_several_brokers_are_separated_by_commas() -> None:
    assert bootstrap_servers(Settings(brokers="a:1, b:2,")) == ["a:1", "b:2"]


@pytest.mark.parametrize("address", ["broker", "broker:", ":9092", "broker:kafka", "broker:0", "broker:99999"])
def test_an_address_that_is_not_host_and_port_is_named(address: str) -> None:
    with pytest.raises(ConfigurationError, match=f"`{address}` is not host:port"):
        bootstrap_servers(Settings(brokers=address))


def test_no_brokers_says_what_to_start_or_to_set() -> None:
    with pytest.raises(ConfigurationError, match=r"groundwire up.*GROUNDWIRE_BROKERS"):
        connection_kwargs(Settings())


def test_plaintext_needs_nothing_more() -> None:
    assert connection_kwargs(Settings(brokers="a:1")) == {
        "bootstrap_servers": ["a:1"],
        "security_protocol": "PLAINTEXT",
    }


def test_passwords_go_to_the_client_and_nowhere_else() -> None:
    kafka = KafkaSettings(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="us",
        sasl_password=SecretStr("pw"),
    )
    arguments = connection_kwargs(Settings(brokers="a:1", kafka=kafka))
    assert arguments["sasl_mechanism"] == "SCRAM-SHA-512"
    assert (arguments["sasl_plain_username"], arguments["sasl_plain_password"]) == ("us", "pw")
    assert "ssl_context" not in arguments


def test_sasl_without_a_password_names_the_settings() -> None:
    kafka = KafkaSettings(security_protocol="SASL_SSL", sasl_username="us")
    with pytest.raises(ConfigurationError, match="GROUNDWIRE_KAFKA__SASL_PASSWORD"):
        connection_kwargs(Settings(brokers="a:1", kafka=kafka))


def test_tls_checks_names_unless_told_not_to() -> None:
    strict = connection_kwargs(Settings(brokers="a:1", kafka=KafkaSettings(security_protocol="SSL")))
    lax = KafkaSettings(security_protocol="SSL", ssl_check_hostname=False)
    assert strict["ssl_context"].check_hostname
    assert strict["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    assert not connection_kwargs(Settings(brokers="a:1", kafka=lax))["ssl_context"].check_hostname


@pytest.mark.parametrize("setting", ["ssl_cafile", "ssl_certfile"])
def test_a_certificate_that_can_not_be_read_is_named(setting: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    kafka = KafkaSettings.model_validate({"security_protocol": "SSL", setting: missing})
    with pytest.raises(ConfigurationError, match=f"kafka.{setting}: {missing}"):
        connection_kwargs(Settings(brokers="a:1", kafka=kafka))


def test_the_embedded_broker_gets_short_sessions_because_a_first_join_waits_half_of_one() -> None:
    settings = Settings(kafka=KafkaSettings(session_timeout_s=20))
    assert membership_kwargs(settings, embedded=True)["session_timeout_ms"] == 6_000
    assert membership_kwargs(settings, embedded=False)["session_timeout_ms"] == 20_000


def test_heartbeats_are_well_inside_the_session() -> None:
    arguments = membership_kwargs(Settings(), embedded=False)
    assert arguments["heartbeat_interval_ms"] * 3 < arguments["session_timeout_ms"]
