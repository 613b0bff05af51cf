"""One embedded broker for a test session; each test brings its own topics, or takes all of Groundwire's."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from groundwire.schemas.settings import EmbeddedBrokerSettings, KafkaSettings, Settings
from groundwire.streams.runtime.broker import EmbeddedBroker

# A first join waits half the session timeout there, and nothing under test is slow enough to be cut off.
QUICK_GROUPS = KafkaSettings(session_timeout_s=2.0, rebalance_timeout_s=2.0)


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """Address of a running embedded broker, `127.0.0.1:port`."""
    with tempfile.TemporaryDirectory() as home:
        running = EmbeddedBroker(Path(home), EmbeddedBrokerSettings())
        address = running.start()
        yield address
        running.stop()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """A started broker that the test may stop, restart or kill."""
    running = EmbeddedBroker(tmp_path / "broker-home", EmbeddedBrokerSettings())
    running.start()
    yield running
    running.stop()


@pytest.fixture
def settings_for(tmp_path: Path) -> Callable[[str], Settings]:
    """Settings with a state folder of the test's own, for a broker's address."""

    def settings(brokers: str) -> Settings:
        return Settings(brokers=brokers, home=tmp_path / "home", kafka=QUICK_GROUPS)

    return settings
