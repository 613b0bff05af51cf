"""Adding a vendor touches one YAML file and its fixtures, and nothing else: the whole walk, on a made-up vendor with a server."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.check import check_file
from groundwire.adapters.registry import Registry
from groundwire.adapters.scaffold import NewProvider, write_provider
from groundwire.adapters.trial import try_provider
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings

KEY = "lighthouse-key-1"


async def lighthouse(request: web.Request) -> web.Response:
    """A vendor that takes its key in a header of its own, says `hits` for results, and hides an empty purse in a 200."""
    if request.headers.get("X-Lamp") != KEY:
        return web.json_response({"error": f"the key {request.headers.get('X-Lamp')} is unknown"}, status=403)
    asked = await request.json()
    if asked["words"] == "too expensive":
        return web.json_response({"error": "insufficient oil", "hits": None})
    rows = [
        {"address": f"https://coast.example/{n}", "name": f"<b>Light</b> {n}", "seen": "2 days ago"}
        for n in range(asked["many"])
    ]
    return web.json_response({"hits": {"list": rows}, "oil": 3})


@pytest.fixture
async def address() -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_post("/gate/v2/find", lighthouse)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/gate"
    await runner.cleanup()


async def test_a_vendor_is_added_with_one_file_and_its_fixtures(tmp_path: Path, address: str) -> None:
    # 1. A file to start from.
    new = NewProvider(
        "lighthouse",
        "https://api.lighthouse.example/v2/find",
        key_env="LIGHTHOUSE_KEY",
        key_header="X-Lamp",
        query_field="words",
        depth_field="many",
        results="hits.list",
        url_field="address",
        title_field="name",
        body_field="text",
    )
    file, *fixtures = write_provider(new, tmp_path)

    # 2. What this vendor does in its own way.
    text = file.read_text()
    text = text.replace('  body: "text"\n', '  body: "text"\n  published: seen\n')
    text = text.replace('published: "no"', "published: local")
    text = text.replace("outcomes:\n", "outcomes:\n  - {status: [200], text: insufficient oil, outcome: quota}\n", 1)
    text = text.replace("price:\n", 'price:\n  stated: {path: oil, unit_usd: "0.001"}\n')
    file.write_text(text)

    # 3. A fixture for each of them.
    no_oil = fixtures[0].with_name("no_oil.yaml")
    no_oil.write_text(
        "about: no oil\nanswer: {json: {error: insufficient oil, hits: null}}\nexpect: {outcome: quota}\n"
    )

    # 4. The check.
    check = await check_file(file)
    assert (check.problems, check.fixtures) == ([], 4)

    # 5. Used, by nothing but the folder's name.
    settings = Settings.model_validate(
        {"provider_path": [tmp_path], "providers": {"lighthouse": {"base_url": address}}}
    )
    registry = Registry.load(settings, {"LIGHTHOUSE_KEY": KEY})
    assert registry.problems == []
    provider = registry.get("lighthouse")
    call = ProviderCall("where is the light", 3, None, None, "slow", Filters())
    trial = await try_provider(provider, call)
    assert (trial.outcome.outcome, trial.outcome.results, trial.outcome.cost.micro_usd) == ("ok", 3, 3000)
    assert trial.results[0].title == "Light 0"
    assert trial.results[0].published_at is not None
    assert KEY not in json.dumps(trial.as_dict())
    dear = await provider.call(ProviderCall("too expensive", 3, None, None, "slow", Filters()), 5.0)
    assert (dear.outcome, dear.cost.micro_usd) == ("quota", 0)
    await registry.aclose()


async def test_a_wrong_key_is_said_without_the_key(tmp_path: Path, address: str) -> None:
    new = NewProvider("lighthouse", "https://x.example/v2/find", key_env="LIGHTHOUSE_KEY", key_header="X-Lamp")
    write_provider(new, tmp_path)
    settings = Settings.model_validate(
        {"provider_path": [tmp_path], "providers": {"lighthouse": {"base_url": address}}}
    )
    registry = Registry.load(settings, {"LIGHTHOUSE_KEY": "a-wrong-key"})
    outcome = await registry.get("lighthouse").call(ProviderCall("q", 3, None, None, "slow", Filters()), 5.0)
    assert (outcome.outcome, outcome.reason) == ("auth", "403: refused the key: the key [redacted] is unknown")
    await registry.aclose()
