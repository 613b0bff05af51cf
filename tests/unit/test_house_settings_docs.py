"""Settings that the documents name are settings there are, and the newer ones are named where an operator looks."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from groundwire.schemas.reply import CacheReceipt
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.configuration import _bare, _kind_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "topology.md", "CHANGELOG.md")),
    *(ROOT / "docs/guide").glob("*.md"),
]
GROUPS = sorted(
    name
    for name, field in Settings.model_fields.items()
    if isinstance(_bare(field.annotation), type) and issubclass(_bare(field.annotation), BaseModel)
)
NAMED = re.compile(rf"`((?:{'|'.join(GROUPS)})(?:\.[a-z_]+)+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_setting_that_is_named_is_there(document: Path) -> None:
    named = set(NAMED.findall(document.read_text(encoding="utf-8")))
    in_replies = {f"cache.{name}" for name in CacheReceipt.model_fields}
    assert {path for path in named - in_replies if _kind_of(tuple(path.split("."))) is None} == set()


@pytest.mark.parametrize(
    "setting",
    [
        "freshness.weights",
        "routes_by_freshness",
        "cache.negative_ttl_s",
        "cache.refresh_ahead",
        "cache.stale_if_error_s",
    ],
)
@pytest.mark.parametrize("document", ["README.md", "topology.md", "CHANGELOG.md"])
def test_what_an_operator_may_switch_on_is_named(document: str, setting: str) -> None:
    assert f"`{setting}`" in (ROOT / document).read_text(encoding="utf-8")
