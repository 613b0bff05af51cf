"""What `providers new` does: a commented provider file and fixtures, which pass `providers check` as they are written."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from groundwire.adapters.errors import AdapterError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ENV = re.compile(r"[A-Z][A-Z0-9_]{0,127}")


class ScaffoldError(AdapterError):
    """Nothing was written; the text says why."""


@dataclass(frozen=True, slots=True)
class NewProvider:
    """The answers to a few questions. Field names are those of the vendor's answer; `results` is a JMESPath to its rows."""

    name: str
    url: str
    method: str = "POST"
    key_env: str | None = None
    key_header: str = "Authorization"
    query_field: str = "query"
    depth_field: str = "limit"
    results: str = "results"
    url_field: str = "url"
    title_field: str = "title"
    body_field: str = "snippet"
    usd_per_1000: str = "5.00"
    max_depth: int = 20


def write_provider(new: NewProvider, folder: Path, *, schema: Path | None = None) -> list[Path]:
    """Write `NAME.yaml` and `fixtures/NAME/*.yaml` into a folder.

    Raises ScaffoldError when a name can't be used or a file is already there; nothing is ever overwritten.
    """
    _check(new)
    files = {
        folder / f"{new.name}.yaml": _provider_file(new, schema),
        folder / "fixtures" / new.name / "happy.yaml": _happy(new),
        folder / "fixtures" / new.name / "empty.yaml": _empty(new),
        folder / "fixtures" / new.name / "no_credit.yaml": _no_credit(),
    }
    for path in files:
        if path.exists():
            raise ScaffoldError(f"{path} is already there; remove it or choose another name")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def _check(new: NewProvider) -> None:
    if not _NAME.fullmatch(new.name):
        raise ScaffoldError(
            f"`{new.name}` can't be a provider's name: small letters, digits and _, beginning with a letter"
        )
    parts = urlsplit(new.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ScaffoldError(f"`{new.url}` is no address; give one like https://api.vendor.example/v1/search")
    if new.method not in ("GET", "POST"):
        raise ScaffoldError(f"`{new.method}` is not a method that providers use; GET or POST")
    if new.key_env is not None and not _ENV.fullmatch(new.key_env):
        raise ScaffoldError(f"`{new.key_env}` can't be an environment variable's name: capitals, digits and _")


def _provider_file(new: NewProvider, schema: Path | None) -> str:
    parts = urlsplit(new.url)
    key = ""
    headers = ""
    if new.key_env is not None:
        value = "Bearer {key}" if new.key_header.lower() == "authorization" else "{key}"
        key = f"\nkeys:\n  env: [{new.key_env}]\n"
        headers = f"\n  headers:\n    {new.key_header}: {_quoted(value)}"
    place = "body" if new.method == "POST" else "params"
    first = new.results.split(".", 1)[0].split("[", 1)[0]
    comment = f"# yaml-language-server: $schema={schema}\n" if schema is not None else ""
    return f"""{comment}# Every key there is: docs/guide/providers-file.md
# To check this file: groundwire providers check {new.name}.yaml
name: {new.name}
title: {new.name.replace("_", " ").capitalize()}
about: What this vendor is good at, in one line
{key}
request:
  method: {new.method}
  base_url: {parts.scheme}://{parts.netloc}
  path: {_quoted(parts.path or "/")}{headers}
  # {{query}} {{depth}} {{language}} {{country}} {{include_domains}} {{after}} … A value whose placeholder is missing is left out.
  {place}:
    {new.query_field}: "{{query}}"
    {new.depth_field}: "{{depth}}"

limits:
  max_depth: {new.max_depth}

# What the vendor can do. `native`: its own option (put the placeholder into the request); `operator`: site: in the query;
# `local`: done here, on the results; `no`: a call that needs it goes to another provider.
capabilities:
  include_domains: local
  exclude_domains: local
  published: "no"
  news: "no"

answer:
  # A genuine answer has at least one of these keys; anything else is a bad answer, never "nothing found".
  recognise: [{_quoted(first)}]
  results: {_quoted(new.results)}
  url: {_quoted(new.url_field)}
  title: {_quoted(new.title_field)}
  body: {_quoted(new.body_field)}

# Where this vendor's errors differ from what their status says, and where they hide in a 200.
outcomes:
  - {{status: [400, 403, 429], text: 'insufficient|credit|quota', outcome: quota}}
  - {{status: [200], when: 'error && !({new.results})', outcome: server_error}}

price:
  rates:
    - {{usd_per_1000: "{new.usd_per_1000}"}}

rate: {{requests_per_s: 5, max_concurrency: 10}}
timeout_s: 8

# Read the vendor's terms before allowing anything to be kept.
storage:
  allowed: false
"""


def _happy(new: NewProvider) -> str:
    row = {
        new.url_field: "https://example.org/page?utm_source=vendor",
        new.title_field: "A <b>page</b>",
        new.body_field: "What it says &amp; more",
    }
    expected = {"title": "A page", "url": "https://example.org/page", "body": "What it says & more"}
    return f"""about: an ordinary answer
answer:
  json: {json.dumps(_around(new.results, [row]))}
expect:
  outcome: ok
  results:
    - {json.dumps(expected)}
"""


def _empty(new: NewProvider) -> str:
    return f"""about: the vendor found nothing
answer:
  json: {json.dumps(_around(new.results, []))}
expect:
  outcome: empty
  count: 0
"""


def _no_credit() -> str:
    return """about: the credit is used up
answer:
  status: 429
  json: {"error": "insufficient credit"}
expect:
  outcome: quota
  cost_micro_usd: 0
"""


def _around(path: str, rows: list[dict[str, str]]) -> object:
    """`data.web` → {"data": {"web": rows}}."""
    value: object = rows
    for part in reversed(path.split(".")):
        value = {part.split("[", 1)[0]: value}
    return value


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
