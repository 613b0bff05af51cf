"""What the commands `providers new`, `check`, `try` and the generated documents stand on."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from groundwire.adapters import capability_table as table_module
from groundwire.adapters.call import ProviderCall
from groundwire.adapters.capability_table import BEGIN, END, capability_table, with_table
from groundwire.adapters.check import check_file, fixtures_of
from groundwire.adapters.fixtures import PLANTED_KEY, fixture_provider, load_fixture, run_fixture
from groundwire.adapters.http import HttpAnswer
from groundwire.adapters.registry import load_specs, shipped_folder
from groundwire.adapters.scaffold import NewProvider, ScaffoldError, write_provider
from groundwire.adapters.schema_file import schema_path, schema_text
from groundwire.adapters.specfile import load_spec_file
from groundwire.adapters.trial import shown_request, try_provider
from groundwire.schemas.request import Filters

CALL = ProviderCall("q", 5, None, None, "slow", Filters())
GUIDE = shipped_folder().resolve().parents[1] / "docs" / "guide" / "providers.md"
ACME = NewProvider("acme", "https://api.acme.example/v1/search", key_env="ACME_API_KEY")


@pytest.mark.parametrize(
    "new",
    [
        ACME,
        NewProvider(
            "open_one", "http://open.example", method="GET", results="data.web", title_field="name", body_field="text"
        ),
        NewProvider(
            "headed", "https://h.example/s?x", key_env="H_KEY", key_header="X-Key", depth_field="n", query_field="q"
        ),
    ],
)
async def test_a_new_provider_passes_its_own_check_as_it_is_written(tmp_path: Path, new: NewProvider) -> None:
    written = write_provider(new, tmp_path, schema=Path("schema.json"))
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        f"{new.name}.yaml",
        f"fixtures/{new.name}/happy.yaml",
        f"fixtures/{new.name}/empty.yaml",
        f"fixtures/{new.name}/no_credit.yaml",
    ]
    check = await check_file(written[0])
    assert (check.ok, check.fixtures, check.problems) == (True, 3, [])
    assert written[0].read_text().startswith("# yaml-language-server: $schema=schema.json\n")


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    write_provider(ACME, tmp_path)
    before = (tmp_path / "acme.yaml").read_text()
    with pytest.raises(ScaffoldError, match="is already there"):
        write_provider(NewProvider("acme", "https://other.example/"), tmp_path)
    assert (tmp_path / "acme.yaml").read_text() == before


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewProvider("Acme", "https://a.example/"), "can't be a provider's name"),
        (NewProvider("../x", "https://a.example/"), "can't be a provider's name"),
        (NewProvider("acme", "a.example"), "is no address"),
        (NewProvider("acme", "https://a.example/", method="PUT"), "GET or POST"),
        (NewProvider("acme", "https://a.example/", key_env="acme key"), "can't be an environment variable's name"),
    ],
)
def test_what_can_not_be_scaffolded_is_said_and_nothing_is_written(
    tmp_path: Path, new: NewProvider, message: str
) -> None:
    with pytest.raises(ScaffoldError, match=message):
        write_provider(new, tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_check_names_what_a_fixture_finds(tmp_path: Path) -> None:
    file = write_provider(ACME, tmp_path)[0]
    file.write_text(file.read_text().replace('title: "title"', 'title: "name"'))
    (tmp_path / "fixtures" / "acme" / "broken.yaml").write_text("about: x\nexpect: {outcome: fine}\n")
    check = await check_file(file)
    assert not check.ok
    said = [str(problem) for problem in check.problems]
    assert any("broken.yaml:2: expect.outcome" in problem for problem in said)
    assert any("happy.yaml: result 1: title is '' instead of 'A page'" in problem for problem in said)


async def test_check_names_a_bad_file_and_runs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text("name: acme\n")
    check = await check_file(file)
    assert (check.ok, check.fixtures) == (False, 0)
    assert (await check_file(tmp_path / "none.yaml")).ok is False
    good = write_provider(NewProvider("ghost", "https://g.example/"), tmp_path)[0]
    good.write_text(good.read_text() + "\nadapter: nobody\n")
    assert "no such module" in str((await check_file(good)).problems[0])


def test_fixtures_are_found_beside_the_file_and_in_folders_given(tmp_path: Path) -> None:
    file = write_provider(ACME, tmp_path / "a")[0]
    write_provider(ACME, tmp_path / "b")
    found = fixtures_of(file, [tmp_path / "b" / "fixtures"])
    assert len(found) == 6


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{outcome: empty}", "outcome is `ok` (None) instead of `empty`"),
        ("{outcome: ok, reason: because}", "reason is `None`, without `because`"),
        ("{outcome: ok, count: 2}", "count is 1 instead of 2"),
        ("{outcome: ok, cost_micro_usd: 1, cost_source: answer}", "cost_micro_usd is 5000 instead of 1"),
        ("{outcome: ok, results: [{title: A}, {title: B}]}", "result 2 is missing"),
        ("{outcome: ok, status_code: 201}", "status_code is 200 instead of 201"),
    ],
)
async def test_a_fixture_that_does_not_hold_says_how(tmp_path: Path, expect: str, said: str) -> None:
    spec = load_spec_file(write_provider(ACME, tmp_path)[0])
    case = tmp_path / "case.yaml"
    case.write_text(
        f'about: x\nanswer: {{json: {{results: [{{url: "https://a.example/", title: A}}]}}}}\nexpect: {expect}\n'
    )
    assert said in await run_fixture(spec, load_fixture(case))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("{method: GET}", "method is POST instead of GET"),
        ('{url: "https://x.example/"}', "address is https://api.acme.example/v1/search instead of https://x.example/"),
        ("{headers: {X-Other: y}}", "header X-Other differs"),
        ("{json: {}}", 'body is {"query": "groundwire fixture", "limit": 5}'),
    ],
)
async def test_a_request_that_is_not_as_written_says_how(tmp_path: Path, request_: str, said: str) -> None:
    spec = load_spec_file(write_provider(ACME, tmp_path)[0])
    case = tmp_path / "case.yaml"
    case.write_text(f"about: x\nanswer: {{json: {{results: []}}}}\nrequest: {request_}\nexpect: {{outcome: empty}}\n")
    assert await run_fixture(spec, load_fixture(case)) == [said]


async def test_a_fixture_without_a_request_or_with_bad_base64_says_so(tmp_path: Path) -> None:
    spec = load_spec_file(write_provider(ACME, tmp_path)[0])
    case = tmp_path / "case.yaml"
    case.write_text("about: x\ncall: {filters: {topic: news}}\nrequest: {method: POST}\nexpect: {outcome: skipped}\n")
    assert await run_fixture(spec, load_fixture(case)) == ["nothing was sent"]
    case.write_text("about: x\nanswer: {base64: '!'}\nexpect: {outcome: ok}\n")
    assert await run_fixture(spec, load_fixture(case)) == ["`answer.base64` is no base64"]
    case.write_text("about: x\nanswer: {base64: eyJyZXN1bHRzIjpbXX0=}\nexpect: {outcome: empty}\n")
    assert await run_fixture(spec, load_fixture(case)) == []


async def test_a_trial_shows_everything_but_the_key(tmp_path: Path) -> None:
    spec = load_spec_file(write_provider(ACME, tmp_path)[0])
    body = b'{"results": [{"url": "https://a.example/", "title": "A", "snippet": "s"}]}'
    trial = await try_provider(fixture_provider(spec, HttpAnswer(200, {}, body), []), CALL)
    shown = json.dumps(trial.as_dict())
    assert trial.request is not None
    assert trial.request.headers["Authorization"] == "Bearer <key>"
    assert (trial.request.method, trial.request.body) == ("POST", {"query": "q", "limit": 5})
    assert trial.outcome.outcome == "ok"
    assert trial.results[0].title == "A"
    assert PLANTED_KEY not in shown


async def test_a_trial_of_a_call_that_can_not_be_made(tmp_path: Path) -> None:
    spec = load_spec_file(write_provider(NewProvider("acme", "https://a.example/", method="GET"), tmp_path)[0])
    provider = fixture_provider(spec, HttpAnswer(500, {}, b""), [])
    trial = await try_provider(provider, CALL, 1.0)
    assert (trial.outcome.outcome, trial.results) == ("server_error", [])
    assert trial.request is not None
    assert trial.request.body is None
    far = ProviderCall("q", 5, None, None, "slow", Filters(topic="news"))
    assert (await try_provider(provider, far)).outcome.outcome == "skipped"


def test_a_request_that_can_not_be_made_is_shown_as_none() -> None:
    specs, _ = load_specs([])
    provider = fixture_provider(specs["brightdata"], HttpAnswer(200, {}, b""), [])
    assert shown_request(provider, ProviderCall("한" * 1900, 5, None, None, "slow", Filters())) is None
    assert "8,000" in (provider.unfit(ProviderCall("한" * 1900, 5, None, None, "slow", Filters())) or "")


# ---- generated documents -------------------------------------------------------------------------------------------------------


def test_the_table_in_the_guide_is_the_files_truth() -> None:
    """To renew it: python -m groundwire.adapters.capability_table docs/guide/providers.md"""
    specs, _ = load_specs([])
    document = GUIDE.read_text(encoding="utf-8")
    assert with_table(document, specs.values()) == document


def test_the_table_has_every_provider_twice() -> None:
    specs, _ = load_specs([])
    lines = capability_table(specs.values()).splitlines()
    for name in specs:
        assert sum(line.startswith(f"| `{name}` |") for line in lines) == 2


def test_a_document_without_marks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the document needs the lines"):
        with_table("# Providers", [])
    path = tmp_path / "p.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert table_module.main([str(path)]) == 0
    assert "`serper`" in path.read_text()
    assert path.read_text().startswith("before\n")
    assert path.read_text().endswith("\nafter\n")


def test_the_schema_for_editors_is_up_to_date() -> None:
    """To renew it: python -m groundwire.adapters.schema_file"""
    assert schema_path().read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize("file", sorted(shipped_folder().glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_files_are_valid_by_the_schema_that_editors_use(file: Path) -> None:
    jsonschema.validate(yaml.safe_load(file.read_text()), json.loads(schema_text()))
