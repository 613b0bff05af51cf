"""Provider files: every problem with its file, its line, its key, and what would be right."""

from pathlib import Path

import pytest

from groundwire.adapters.errors import BadProviderFile
from groundwire.adapters.specfile import load_spec_file

GOOD = """name: acme
title: Acme
about: a made-up vendor
keys:
  env: [ACME_KEY]
options:
  mode: {about: how, default: plain}
request:
  base_url: https://api.acme.example
  headers: {X-Key: "{key}"}
  body: {q: "{query}"}
answer:
  recognise: [rows]
  results: rows
  url: url
  title: title
  body: text
price:
  rates: [{usd_per_1000: "1"}]
"""


def problems(tmp_path: Path, text: str | bytes, name: str = "acme") -> list[tuple[int | None, str, str]]:
    file = tmp_path / f"{name}.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadProviderFile) as caught:
        load_spec_file(file)
    assert str(file) in str(caught.value)
    return [(problem.line, problem.key, problem.message) for problem in caught.value.problems]


def test_a_good_file_loads(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(GOOD)
    assert load_spec_file(tmp_path / "acme.yaml").name == "acme"


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "message"),
    [
        ("about: a made", "abuot: a made", 3, "abuot", "no such key; there are about, adapter, answer"),
        ("  results: rows", "  reslts: rows", 14, "answer.reslts", "no such key; there are body, date_prefix"),
        ("about: a made-up vendor\n", "", 1, "about", "is required"),
        ("  results: rows", "  results: 'rows[?'", 14, "answer.results[0]", "not a JMESPath expression"),
        ('"{query}"', '"{qurey}"', 11, "request.body.q", "no placeholder `{qurey}`; there are after"),
        (
            "  base_url: https",
            "  method: PUT\n  base_url: https",
            9,
            "request.method",
            "Input should be 'GET' or 'POST'",
        ),
        ("name: acme", "name: other", 1, "name", "must be the file's name, `acme`, not `other`"),
        ("name: acme", "name: Acme!", 1, "name", "String should match pattern"),
        ('"{key}"', '"x"', 10, "request.headers", "keys are declared, and no header holds `{key}`"),
        ("  env: [ACME_KEY]", "  required: false", 4, "keys.env", "no environment variable is named for it"),
        ('{q: "{query}"}', '{q: "fixed"}', 8, "request", "no value holds `{query}`"),
        (
            '{q: "{query}"}',
            '{q: "{query}", m: "{option.speed}"}',
            8,
            "request",
            "`{option.speed}` is not among the options",
        ),
        (
            "price:",
            "capabilities: {include_domains: native}\nprice:",
            18,
            "capabilities.include_domains",
            "the request holds no `{include_domains}`",
        ),
        (
            "price:",
            "capabilities: {published: local}\nprice:",
            18,
            "capabilities.published",
            "`answer.published` names no date",
        ),
        (
            "price:",
            "capabilities: {published: 'yes'}\nprice:",
            18,
            "capabilities.published",
            "Input should be 'native', 'local' or 'no'",
        ),
        (
            "price:",
            "outcomes:\n  - {outcome: quota}\nprice:",
            19,
            "outcomes[0]",
            "say what to look at: status, when, text or header",
        ),
        (
            "price:",
            "outcomes:\n  - {status: [400]}\nprice:",
            19,
            "outcomes[0]",
            "say the outcome, or where its status code stands",
        ),
        (
            "price:",
            "outcomes:\n  - {text: '(', outcome: quota}\nprice:",
            19,
            "outcomes[0].text",
            "not a regular expression",
        ),
        (
            "price:",
            "outcomes:\n  - {status: [400], outcome: fine}\nprice:",
            19,
            "outcomes[0].outcome",
            "Input should be",
        ),
        (
            "rates: [{usd",
            "rates: [{when: {speed: x}, usd",
            19,
            "price.rates[0].when.speed",
            "`speed` is not an option of this file",
        ),
        ('usd_per_1000: "1"', "usd_per_1000: -1", 19, "price.rates[0].usd_per_1000", "greater than or equal to 0"),
        ("price:", "price:\n  meters: [{name: x, path: y}]", 19, "price.meters[0]", "give one price"),
        (
            "price:",
            "price:\n  meters: [{name: x, path: y, token: z}]",
            18,
            "price.model_option",
            "say which option names the model",
        ),
        ("price:", "price:\n  model_option: model", 19, "price.model_option", "`model` is not an option of this file"),
        (
            "default: plain",
            "default: plain, choices: [rich]",
            7,
            "options.mode",
            "default `plain` is not one of the choices",
        ),
        ("title: Acme", "title: Acme\ntitle: Twice", 3, "title", "stands twice in one object"),
        ("title: Acme", "title: [", None, "", "not YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line_its_key_and_what_would_be_right(
    tmp_path: Path, old: str, new: str, line: int | None, key: str, message: str
) -> None:
    assert old in GOOD
    found = problems(tmp_path, GOOD.replace(old, new, 1))
    assert any((line is None or line == at) and key == where and message in said for at, where, said in found), found


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("title: Acme", "titel: Acme").replace("  url: url\n", "").replace("body: text", "bdoy: text")
    assert len(problems(tmp_path, text)) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"- a\n- b\n", "must be an object"),
        (b"just text", "must be an object"),
        (b"\xff\xfe\xfa", "not UTF-8"),
        (b"a: !!python/object:os.system x", "not YAML"),
        (b"a: &x [*x]\n" + b"b" * 300_000, "300,011 bytes; a provider file has at most"),
        (b"a: " + b"[" * 100_000, "not YAML"),
    ],
)
def test_what_is_no_provider_file_at_all(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in problems(tmp_path, content)[0][2]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadProviderFile, match="can't be read: No such file"):
        load_spec_file(tmp_path / "none.yaml")


def test_norway_is_no_boolean_and_a_day_is_a_text(tmp_path: Path) -> None:
    text = GOOD + "locale: {country: {map: {no: norway, off: x}}}\nstorage: {as_of: 2026-11-01}\n"
    (tmp_path / "acme.yaml").write_text(text)
    spec = load_spec_file(tmp_path / "acme.yaml")
    assert spec.locale.country.map == {"no": "norway", "off": "x"}
    assert spec.storage.as_of == "2026-11-01"
