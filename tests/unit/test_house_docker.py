"""The container files agree with the code and with each other."""

import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import yaml

from groundwire.schemas.topics import ROLES

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"


def _services() -> dict[str, dict[str, Any]]:
    document = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    services: dict[str, dict[str, Any]] = document["services"]
    return services


def _dockerfile() -> str:
    return (DOCKER / "Dockerfile").read_text(encoding="utf-8")


def test_compose_runs_every_role_and_makes_the_topics_first() -> None:
    services = _services()
    commands = {name: service.get("command") for name, service in services.items()}
    assert {name: command for name, command in commands.items() if name in ROLES} == {
        role: ["worker", role] for role in ROLES
    }
    assert commands["topics"] == ["topics", "create"]
    for role in ROLES:
        assert services[role]["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}


def test_services_wait_only_for_services_that_are_there_and_can_say_they_are_well() -> None:
    services = _services()
    for service in services.values():
        for other, asked in service.get("depends_on", {}).items():
            if asked["condition"] == "service_healthy":
                assert "test" in services[other]["healthcheck"]
            else:
                assert services[other]["restart"] == "no", f"{other} never completes"


def test_the_workers_of_one_node_share_one_home() -> None:
    services = _services()
    homes = {tuple(services[role]["volumes"]) for role in ROLES}
    assert homes == {("home:/var/lib/groundwire",)}
    assert {services[role]["environment"]["GROUNDWIRE_HOME"] for role in ROLES} == {"/var/lib/groundwire"}


def test_a_worker_is_given_the_time_it_may_take_to_drain() -> None:
    for role in ROLES:
        assert int(_services()[role]["stop_grace_period"].removesuffix("s")) > 10


def test_nothing_is_offered_to_the_network_outside_this_machine() -> None:
    ports = [port for service in _services().values() for port in service.get("ports", [])]
    assert ports, "nobody could reach Kafka"
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_compose_and_the_tests_run_the_same_kafka() -> None:
    pom = ElementTree.parse(DOCKER / "kafka" / "pom.xml")
    version = pom.findtext(".//{http://maven.apache.org/POM/4.0.0}kafka.version")
    assert _services()["kafka"]["image"] == f"apache/kafka:{version}"


def test_the_image_ends_as_a_user_of_no_power_and_can_be_asked_how_it_is() -> None:
    users = re.findall(r"^USER (\S+)$", _dockerfile(), re.MULTILINE)
    assert users and users[-1] not in {"root", "0"}
    assert re.search(r"^HEALTHCHECK .*CMD \[\"groundwire\", ", _dockerfile(), re.MULTILINE)


def test_the_image_is_made_of_all_rooms_and_pinned_packages() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    kept = (DOCKER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    for room in sorted({name.split(".")[1] for name in packages}):
        assert f"COPY {room} {room}\n" in _dockerfile()
        assert f"!{room}" in kept
    assert "-c constraints.txt" in _dockerfile()
    copied = re.findall(r"^COPY (?!--)(.+) \./?$", _dockerfile(), re.MULTILINE)
    assert [name for line in copied for name in line.split() if f"!{name}" not in kept] == []
