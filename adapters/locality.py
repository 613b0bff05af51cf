"""A caller's language and country in a vendor's own codes."""

import re
from dataclasses import dataclass

from groundwire.adapters.spec import CountrySpec, LanguageSpec

# Scripts that one language (for a search engine's purposes) calls its own; Latin says nothing.
_SCRIPTS = (
    (re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]"), "ko"),
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\u4e00-\u9fff]"), "zh"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0370-\u03ff]{3}"), "el"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
)


@dataclass(frozen=True, slots=True)
class Code:
    """A vendor's code, or None; `unknown` says that the caller gave one which this vendor does not know."""

    value: str | None
    unknown: bool = False


def language_code(spec: LanguageSpec, language: str | None, query: str) -> Code:
    """The vendor's code for a BCP-47 tag; without one, the query's script where the file says so."""
    asked = language or (language_of_script(query) if spec.guess else None)
    if asked is None:
        return Code(spec.default)
    tag = asked.lower()
    while tag and tag not in spec.map:
        tag = tag.rpartition("-")[0]
    code = spec.map[tag] if tag else (asked if spec.send == "full" else asked.partition("-")[0])
    if not tag and spec.case != "keep":
        code = code.lower() if spec.case == "lower" else code.upper()
    if spec.only is not None and code not in spec.only:
        return Code(spec.default, unknown=language is not None)
    return Code(code)


def country_code(spec: CountrySpec, country: str | None) -> Code:
    """The vendor's code for an ISO-3166 alpha-2 country."""
    if country is None:
        return Code(spec.default)
    code = spec.map.get(country.lower())
    if code is None:
        code = country.lower() if spec.case == "lower" else country.upper()
    if spec.only is not None and code not in spec.only:
        return Code(spec.default, unknown=True)
    return Code(code)


def language_of_script(text: str) -> str | None:
    """The language whose script the text uses, or None for Latin and the like. Kana goes before Han: both occur in Japanese."""
    return next((language for pattern, language in _SCRIPTS if pattern.search(text)), None)
