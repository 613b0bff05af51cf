"""What a role says before it begins."""

from pathlib import Path

import pytest

from groundwire.schemas.settings import FreshnessSettings, Settings
from groundwire.streams.agents.roles import build_role
from groundwire.streams.runtime.configuration import ConfigurationError


def test_freshness_weights_that_cannot_be_used_are_a_matter_of_configuration(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text("{}")
    for path, message in ((mine, r"freshness\.weights: .*mine\.json: "), (tmp_path / "gone", r"gone can't be read")):
        settings = Settings(home=tmp_path, freshness=FreshnessSettings(weights=path))
        with pytest.raises(ConfigurationError, match=message):
            build_role("frontline", settings, {})


def test_a_role_that_does_not_weigh_needs_no_weights(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, freshness=FreshnessSettings(weights=tmp_path / "gone"))
    assert build_role("cache-writer", settings, {}) is not None
