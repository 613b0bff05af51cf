"""A provider file maps answers wrongly, is corrected, and what was paid is read again: nobody is called, nothing is booked."""

import asyncio
import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from groundwire.adapters.registry import shipped_folder
from tests.broker.system import RawClient, Up

WRONG = {
    "serper": ("  title: title\n", "  title: snippet\n"),
    "tavily": ("  recognise: [results]\n", "  recognise: [result]\n"),
}


def write(folder: Path, *, wrong: bool) -> None:
    for name, (right, slip) in WRONG.items():
        text = (shipped_folder() / f"{name}.yaml").read_text()
        assert right in text
        (folder / f"{name}.yaml").write_text(text.replace(right, slip) if wrong else text)


def restart(up: Up, *roles: str) -> None:
    """End these roles' processes; their supervisor starts them again."""
    assert up.process is not None
    seen = up.output().count(" ready ")
    for child in psutil.Process(up.process.pid).children(recursive=True):
        if child.cmdline()[-1:] == ["--supervised"] and child.cmdline()[-2] in roles:
            child.send_signal(signal.SIGTERM)
    eventually(lambda: up.output().count(" ready ") == seen + len(roles), up.output)


def eventually(holds: Callable[[], object], say: Callable[[], object], patience_s: float = 40) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, say()
        time.sleep(0.1)


def ledger(up: Up) -> dict[str, Any]:
    report = json.loads(up.command("report", "--json").stdout)
    return {
        "requests": report["requests"],
        "cost": report["cost_micro_usd"],
        "attempts": {name: one["attempts"] for name, one in report["providers"].items()},
    }


def billed(up: Up) -> int:
    return int(up.sandbox("/_control/invoice")["total_micro_usd"])


async def test_a_wrong_mapping_is_corrected_and_paid_answers_are_read_again_without_a_call(tmp_path: Path) -> None:
    folder = tmp_path / "providers"
    folder.mkdir()
    write(folder, wrong=True)
    environ = {"GROUNDWIRE_PROVIDER_PATH": str(folder), "GROUNDWIRE_LAKE__FLUSH_INTERVAL_S": "0.3"}
    up = Up(tmp_path / "home", environ=environ).start()
    try:
        async with RawClient(up.brokers) as client:
            askew = await client.ask("how does photosynthesis work", providers=["serper"], request_id="askew")
            unread = await client.ask("how do vector databases work", providers=["tavily"], request_id="unread")
            assert askew["results"][0]["title"] == askew["results"][0]["body"], "mapped wrongly"
            assert (unread["status"], unread["attempts"][0]["outcome"]) == ("ungrounded", "bad_answer")
            bill = billed(up)
            assert bill > 0
            await asyncio.to_thread(eventually, lambda: ledger(up)["cost"] == bill, lambda: ledger(up))
            before = ledger(up)

            write(folder, wrong=False)
            await asyncio.to_thread(restart, up, "frontline", "fetch", "unify")
            listed = await asyncio.to_thread(up.command, "payloads", "replay", "--all", "--json")
            assert listed.returncode == 0, listed.stderr
            found = {one["request_id"]: one["results"] for one in json.loads(listed.stdout)["answers"]}
            assert set(found) == {"askew", "unread"} and min(found.values()) > 0
            assert json.loads(listed.stdout)["sent"] == 0
            sent = await asyncio.to_thread(up.command, "payloads", "replay", "askew", "unread", "--yes")
            assert (sent.returncode, sent.stderr.strip()) == (0, "2 sent again")

            for was in (askew, unread):
                again, _, _ = await client.reply(
                    lambda body, _, was=was: (
                        body["request_id"] == was["request_id"] and body["results"] != was["results"]
                    )
                )
                assert (again["status"], again["reply_id"]) == ("grounded", was["reply_id"])
                assert again["cost_micro_usd"] == was["cost_micro_usd"]
                assert again["results"][0]["title"] != again["results"][0]["body"]

                hit = None
                for _ in range(100):  # until the cache shows it; `only` asks no vendor meanwhile
                    hit = await client.ask(was["query"], providers=[was["attempts"][0]["provider"]], cache="only")
                    if hit["results"] == again["results"]:
                        break
                    await asyncio.sleep(0.1)
                assert (hit["cache"]["outcome"], hit["results"]) == ("exact", again["results"])
        await asyncio.to_thread(
            eventually, lambda: ledger(up)["requests"] >= before["requests"] + 2, lambda: ledger(up)
        )
        after = ledger(up)
        assert billed(up) == bill
        assert (after["cost"], after["attempts"]) == (before["cost"], before["attempts"])
    finally:
        code = up.stop()
    assert code == 0, up.output()[-3000:]
