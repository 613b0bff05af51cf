"""A real Apache Kafka in KRaft mode, one node or three, from the jars that `make test-kafka` brings."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from .ports import free_ports, listens
from .processes import Process
from .security import Certificate, broker_settings, make_certificate, scram_arguments

KAFKA = Path(__file__).resolve().parents[3] / "docker" / "kafka"
HEAP = {1: "512m", 3: "384m"}
PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")


def missing() -> str | None:
    """What is not there to run a broker with, as one sentence; None when all is."""
    if shutil.which("java") is None:
        return "no `java` on PATH: install a JDK 17 or newer"
    if not (KAFKA / "libs" / ".complete").exists():
        return "Kafka's jars are not in docker/kafka/libs: run `make test-kafka`"
    return None


class Node:
    """One broker with its own ports and data folder; both stay the same over restarts."""

    def __init__(self, node_id: int, folder: Path, properties: Mapping[str, str], port: int, heap: str) -> None:
        self.id = node_id
        self.port = port
        self.folder = folder
        self._heap = heap
        self._process: Process | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "server.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))

    def format(self, cluster_id: str, arguments: list[str]) -> None:
        done = subprocess.run(
            [
                *["java", "-cp", f"{KAFKA}/libs/*", "kafka.tools.StorageTool", "format", "-t", cluster_id],
                *["-c", str(self.folder / "server.properties"), *arguments],
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"format of node {self.id}: {done.stdout}{done.stderr}")

    def start(self) -> None:
        self._process = Process(
            f"kafka-{self.id}",
            [
                *["java", f"-Xmx{self._heap}", f"-Xms{self._heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
                f"-Dlog4j2.configurationFile={KAFKA}/log4j2.properties",
                *["-cp", f"{KAFKA}/libs/*", "kafka.Kafka", str(self.folder / "server.properties")],
            ],
            log=self.folder / "broker.log",
            environ=os.environ,
        )

    @property
    def process(self) -> Process:
        if self._process is None:
            raise RuntimeError(f"node {self.id} was never started")
        return self._process

    def running(self) -> bool:
        return self._process is not None and self._process.running()

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Until the broker says it has started and its port listens."""
        self.process.wait_for("Kafka Server started", timeout_s)
        end = time.monotonic() + timeout_s
        while not listens(self.port):
            if time.monotonic() > end:
                raise TimeoutError(f"node {self.id} does not listen:\n{self.process.tail()}")
            time.sleep(0.05)


class Cluster:
    """Brokers in `folder`. `security=True` adds listeners for TLS, SASL and both beside the plain one.

    Use as a context manager: everything started ends with it.
    """

    def __init__(self, folder: Path, *, nodes: int = 1, security: bool = False) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate: Certificate | None = make_certificate(folder) if security else None
        protocols = ("PLAINTEXT", "CONTROLLER", *(PROTOCOLS if security else ()))
        ports = free_ports(nodes * len(protocols))
        self._ports = [dict(zip(protocols, ports[n * len(protocols) :], strict=False)) for n in range(nodes)]
        self.nodes = [
            Node(n + 1, folder / f"node-{n + 1}", self._properties(n), self._ports[n]["PLAINTEXT"], HEAP[nodes])
            for n in range(nodes)
        ]

    def _properties(self, n: int) -> dict[str, str]:
        properties = dict(
            line.strip().split("=", 1)
            for line in (KAFKA / "server.properties").read_text().splitlines()
            if line.strip() and not line.startswith("#")
        )
        ports, replicas = self._ports[n], min(3, len(self._ports))
        listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in ports.items()}
        voters = ",".join(f"{i + 1}@127.0.0.1:{each['CONTROLLER']}" for i, each in enumerate(self._ports))
        properties |= {
            "node.id": str(n + 1),
            "controller.quorum.voters": voters,
            "listeners": ",".join(listeners.values()),
            "advertised.listeners": ",".join(text for name, text in listeners.items() if name != "CONTROLLER"),
            "log.dirs": str(self.folder / f"node-{n + 1}" / "data"),
            "offsets.topic.replication.factor": str(replicas),
            "transaction.state.log.replication.factor": str(replicas),
            "min.insync.replicas": str(max(1, replicas - 1)),
        }
        if self.certificate is not None:
            properties |= broker_settings(self.certificate)
        return properties

    @property
    def brokers(self) -> str:
        """The plain listeners, `host:port` comma-separated."""
        return self.brokers_of("PLAINTEXT")

    def brokers_of(self, protocol: str) -> str:
        return ",".join(f"127.0.0.1:{ports[protocol]}" for ports in self._ports)

    def start(self) -> "Cluster":
        done = subprocess.run(
            ["java", "-cp", f"{KAFKA}/libs/*", "kafka.tools.StorageTool", "random-uuid"],
            capture_output=True,
            text=True,
            check=True,
        )
        cluster_id = done.stdout.split()[-1]
        for node in self.nodes:
            node.format(cluster_id, scram_arguments() if self.certificate is not None else [])
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait_ready()
        return self

    def stop(self) -> None:
        """Ends every node at once: nobody needs the data any more, so nothing is flushed."""
        for node in self.nodes:
            if node.running():
                node.process.resume()
                node.process.kill()

    def __enter__(self) -> "Cluster":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
