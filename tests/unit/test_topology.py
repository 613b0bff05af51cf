"""topology.md is for people, and says what the code says."""

import ast
import re
from pathlib import Path

import pytest

from groundwire.schemas.topics import DAY_MS, MIB, ROLES, TOPICS, TopicSpec

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "topology.md").read_text(encoding="utf-8")
OUTSIDE = {"producer", "consumer", "operator"}


def _table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    section = TEXT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _drawing() -> str:
    return TEXT.split("```mermaid\n", 1)[1].split("```", 1)[0]


@pytest.mark.parametrize(
    ("row", "topic"), list(zip(_table("Topics"), TOPICS, strict=True)), ids=lambda value: str(value)[:30]
)
def test_the_table_of_topics_is_the_one_in_the_code(row: list[str], topic: TopicSpec) -> None:
    assert row == [
        f"`{topic.name}`",
        topic.key,
        str(topic.partitions),
        f"{topic.retention_ms // DAY_MS} d",
        f"{topic.max_bytes // MIB} MiB",
        ", ".join(model.__name__ for model in topic.models),
        ", ".join(topic.writers),
        ", ".join(topic.readers),
        topic.purpose,
    ]


def test_the_numbers_of_the_table_are_not_rounded() -> None:
    assert [topic.name for topic in TOPICS if topic.retention_ms % DAY_MS or topic.max_bytes % MIB] == []


def test_the_roles_are_the_ones_in_the_code() -> None:
    assert [row[0] for row in _table("Roles")] == [f"`{role}`" for role in ROLES]


@pytest.mark.parametrize("row", _table("Roles"), ids=lambda row: row[0])
def test_a_role_reads_and_writes_what_the_topics_say(row: list[str]) -> None:
    role, read, written = row[0].strip("`"), row[1], row[2]
    assert re.findall(r"`(search\.\S+)`", read) == [topic.name for topic in TOPICS if role in topic.readers]
    assert re.findall(r"`(search\.\S+)`", written) == [topic.name for topic in TOPICS if role in topic.writers]


def test_every_writer_and_reader_is_a_role_or_stands_outside() -> None:
    named = {name for topic in TOPICS for name in (*topic.writers, *topic.readers)}
    assert named - OUTSIDE == set(ROLES)


def test_every_topic_is_in_the_drawing_but_the_dead_letters() -> None:
    drawn = set(re.findall(r"search\.[a-z-]+\.v\d+", _drawing()))
    assert drawn == {topic.name for topic in TOPICS} - {"search.dead-letters.v1"}


def test_every_promise_names_a_test_that_is_there() -> None:
    written = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    rows = _table("What is promised")
    assert len(rows) >= 10
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row[2])
        assert named, f"no test is named for: {row[0]}"
        assert set(named) <= written, f"named and not there: {set(named) - written}"


def test_every_link_leads_to_a_file() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert target.startswith("http") or (ROOT / target).exists(), target
