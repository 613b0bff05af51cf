"""The embedded broker: there when it says so, on loopback, gone with its parent, and one clear message when it can't be had."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from groundwire.schemas.settings import EmbeddedBrokerSettings, Settings
from groundwire.streams.runtime.broker import BrokerUnavailable, EmbeddedBroker, find_binary
from groundwire.streams.runtime.topics_admin import cluster_facts

STARTS_AND_SAYS_WHO = """
import sys, time
from pathlib import Path
from groundwire.schemas.settings import EmbeddedBrokerSettings
from groundwire.streams.runtime.broker import EmbeddedBroker
broker = EmbeddedBroker(Path(sys.argv[1]), EmbeddedBrokerSettings())
broker.start()
print(broker.pid, flush=True)
time.sleep(60)
"""


def gone(pid: int, patience_s: float = 10) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


async def test_it_answers_as_soon_as_start_returns_and_says_that_it_is_the_embedded_one(broker: str) -> None:
    facts = await cluster_facts(Settings(brokers=broker))
    assert facts.embedded
    assert facts.brokers == 1


def test_it_listens_on_loopback_only(own_broker: EmbeddedBroker) -> None:
    assert own_broker.pid is not None
    listening = [c.laddr.ip for c in psutil.Process(own_broker.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert listening == ["127.0.0.1"]


def test_it_tells_how_much_memory_it_has(own_broker: EmbeddedBroker) -> None:
    assert 1 < own_broker.memory_mib() < 500
    own_broker.stop()
    assert own_broker.memory_mib() == 0
    assert not own_broker.alive


def test_a_new_one_takes_the_place_of_the_old_on_the_same_port(own_broker: EmbeddedBroker) -> None:
    address, pid = own_broker.address, own_broker.pid
    own_broker.restart()
    assert own_broker.address == address
    assert own_broker.pid != pid
    assert own_broker.alive


def test_it_is_gone_when_it_is_stopped_and_stopping_twice_is_fine(own_broker: EmbeddedBroker) -> None:
    pid = own_broker.pid
    assert pid is not None
    own_broker.stop()
    own_broker.stop()
    assert gone(pid)


def test_it_ends_with_its_parent_even_when_that_one_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", STARTS_AND_SAYS_WHO, str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert gone(pid)


def test_it_sees_none_of_our_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "secret")
    broker = EmbeddedBroker(tmp_path, EmbeddedBrokerSettings())
    broker.start()
    try:
        assert broker.pid is not None
        assert "SERPER_API_KEY" not in psutil.Process(broker.pid).environ()
    finally:
        broker.stop()


def test_a_port_that_is_taken_is_one_clear_message(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BrokerUnavailable, match=f"port {port} on 127.0.0.1 is taken"):
            EmbeddedBroker(tmp_path, EmbeddedBrokerSettings()).start(port)


def test_a_state_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerUnavailable, match=str(tmp_path / "file")):
        EmbeddedBroker(tmp_path / "file", EmbeddedBrokerSettings()).start()


def test_a_binary_that_ends_at_once_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "tansu"
    fake.write_text("#!/bin/sh\necho this machine is too old >&2\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CALF_TANSU_BIN", str(fake))
    with pytest.raises(BrokerUnavailable, match=r"code 3.*this machine is too old"):
        EmbeddedBroker(tmp_path, EmbeddedBrokerSettings()).start()


def test_a_binary_that_never_answers_is_given_up_and_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "tansu"
    fake.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CALF_TANSU_BIN", str(fake))
    with pytest.raises(BrokerUnavailable, match=r"did not answer within 0\.3 s"):
        EmbeddedBroker(tmp_path, EmbeddedBrokerSettings(start_timeout_s=0.3)).start()
    if (tmp_path / "pid").exists():
        assert gone(int((tmp_path / "pid").read_text()))


def test_an_override_that_is_no_binary_is_named_with_the_way_to_a_real_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALF_TANSU_BIN", "/no/such/tansu")
    with pytest.raises(BrokerUnavailable, match=r"/no/such/tansu.*GROUNDWIRE_BROKERS"):
        find_binary()


def test_a_platform_without_a_binary_is_told_how_to_use_a_real_kafka(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CALF_TANSU_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BrokerUnavailable, match=r"no embedded broker for this platform.*GROUNDWIRE_BROKERS"):
        find_binary()


def test_tansu_on_the_path_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tansu").write_text("#!/bin/sh\n")
    (tmp_path / "tansu").chmod(0o755)
    monkeypatch.delenv("CALF_TANSU_BIN", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert find_binary() == str(tmp_path / "tansu")
