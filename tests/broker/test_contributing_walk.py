"""CONTRIBUTING's walk with a made-up vendor, run as it stands there: every command, and every line of output that it promises."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = "A vendor of your own, in five minutes"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def walk() -> list[tuple[str, str]]:
    """The section's blocks in order: (`sh`, commands) and (`text`, lines that they print)."""
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = document.partition(f"## {HEADING}\n")[2].partition("\n## ")[0]
    return BLOCK.findall(section)


def test_the_walk_in_contributing_works_as_it_is_written(tmp_path: Path) -> None:
    blocks = walk()
    assert [kind for kind, _ in blocks].count("sh") >= 6
    assert {kind for kind, _ in blocks} == {"sh", "text"}
    # What a block prints stands between marks, so that each promise is held against its own commands.
    script = "set -eu\n" + "\n".join(
        f"echo '=== {number}'\n{commands}" for number, (kind, commands) in enumerate(blocks) if kind == "sh"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWIRE_")}
    environ |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "200"}
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=110)
    finally:
        _end_all(process.pid)
    log = tmp_path / "up.log"
    assert process.returncode == 0, said + (log.read_text() if log.exists() else "")

    printed = dict(re.findall(r"^=== (\d+)\n(.*?)(?=^=== |\Z)", said, re.DOTALL | re.MULTILINE))
    for number, (kind, promised) in enumerate(blocks):
        if kind == "text":
            output = printed[str(number - 1)]
            missing = [line for line in promised.splitlines() if line.strip() not in output]
            assert missing == [], output


def _end_all(group: int) -> None:
    """Whatever the walk started and did not end."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
