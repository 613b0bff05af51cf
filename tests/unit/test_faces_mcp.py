"""The MCP face leaves nothing open behind it, and says which version it is."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from groundwire.schemas.settings import Settings
from groundwire.streams.faces import mcp
from groundwire.streams.faces.client import ClientError


class SilentClient:
    """A client that reaches its broker and gets no reply."""

    made: list["SilentClient"]

    def __init__(self, settings: Settings) -> None:
        self.open = False
        self.made.append(self)

    async def start(self) -> None:
        self.open = True

    async def stop(self) -> None:
        self.open = False

    async def search(self, request: dict[str, Any]) -> None:
        assert self.open
        raise ClientError("no reply")


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[SilentClient]:
    SilentClient.made = []
    monkeypatch.setattr(mcp, "GroundwireClient", SilentClient)
    return SilentClient.made


async def test_the_connection_is_closed_when_the_agent_goes(clients: list[SilentClient], tmp_path: Path) -> None:
    async with Client(mcp.build_server(Settings(home=tmp_path, brokers="kafka:9092"))) as agent:
        assert clients == []
        for _ in range(2):
            assert (await agent.call_tool("web_search", {"query": "anybody there"})).is_error
        assert [client.open for client in clients] == [True]
    assert [client.open for client in clients] == [False]


async def test_an_agent_that_never_asked_ends_as_well(clients: list[SilentClient], tmp_path: Path) -> None:
    async with Client(mcp.build_server(Settings(home=tmp_path, brokers="kafka:9092"))) as agent:
        assert agent.server_info.version == version("groundwire")
    assert clients == []


async def test_arguments_nobody_knows_are_refused_by_name(clients: list[SilentClient], tmp_path: Path) -> None:
    """Dropped silently, a model would believe that they were obeyed."""
    async with Client(mcp.build_server(Settings(home=tmp_path, brokers="kafka:9092"))) as agent:
        refused = await agent.call_tool("web_search", {"query": "tides", "max_results": 3, "x" * 500: 1})
        assert refused.is_error
        assert refused.content[0].text == (  # type: ignore[union-attr]
            f"web_search has no argument `max_results`, `{'x' * 64}`; there are: query, depth, freshness, max_age_s, "
            "language, country, include_domains, exclude_domains, context_tokens"
        )
        [tool] = (await agent.list_tools()).tools
        assert tool.input_schema["additionalProperties"] is False
    assert clients == []
