"""Keys taken out of everything that a vendor says, in whatever form it echoes them."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
_SHORTEST = 6  # a shorter "key" is a word, and taking it out would take words out


class Redactor:
    """Replaces secrets in text: as they are, percent-encoded, inside JSON strings, in HTML and in base64."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for form in self._forms:  # a plain search each: a pattern of them all is far slower on a large answer
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def __repr__(self) -> str:
        return "Redactor(…)"


def known_secrets(environ: Mapping[str, str], names: Iterable[str], configured: Iterable[str]) -> list[str]:
    """Every key value there is, in order: the configured ones, then the environment's. Blank ones do not count."""
    found = [*configured, *(environ.get(name, "") for name in names)]
    return list(dict.fromkeys(value.strip() for value in found if value.strip()))


def _forms(secret: str) -> Iterable[str]:
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield quote(secret, safe="").replace("%", "%25")
    yield re.sub(r"%[0-9A-F]{2}", lambda match: match.group(0).lower(), quote(secret, safe=""))
    in_json = json.dumps(secret)[1:-1]
    for escaped in (in_json, in_json.replace("/", "\\/")):
        yield escaped
        inside = json.dumps(escaped)[1:-1]  # JSON that a vendor hands on as a text inside JSON
        yield inside
        yield inside.replace("/", "\\/")
    yield secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    yield secret[::-1]
    yield secret.encode().hex()
    yield from _in_base64(secret.encode())


def _in_base64(secret: bytes) -> Iterable[str]:
    """The part of a base64 text that only the secret decides, for each of the three ways it can lie in it."""
    for offset in range(3):
        padded = bytes(offset) + secret
        whole = len(padded) // 3 * 4
        text = base64.b64encode(padded).decode()[(0, 2, 3)[offset] : whole]
        if len(text) >= _SHORTEST:
            yield text
            yield text.replace("+", "-").replace("/", "_")
