"""Gemini: chunks are the sources, supports say which part of the answer each stands behind.

Titles are bare domains and addresses are the vendor's own forwarding ones. Indices may point past the chunks, chunks may be no
web pages. With `redirects: resolve` the forwarding addresses are looked up without going there; what was found is kept with the
answer, under `resolved`.
"""

import asyncio
import json
from typing import Any
from urllib.parse import urljoin, urlsplit

from groundwire.adapters.adapter import Adapter, Send
from groundwire.adapters.addresses import is_private_host, usable_url
from groundwire.adapters.citations import Sources, objects
from groundwire.adapters.errors import BadAnswer, Unsendable, WireError
from groundwire.adapters.http import HttpRequest
from groundwire.adapters.mapping import Row, check_recognised
from groundwire.adapters.reading import read_json

REDIRECT_PATH = "/grounding-api-redirect/"
_REFUSED = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII")


class GeminiAdapter(Adapter):
    """Joins chunks and supports into rows."""

    async def complete(self, request: HttpRequest, text: str, send: Send) -> str:
        if self.options.get("redirects") != "resolve":
            return text
        document = read_json(text)
        if not isinstance(document, dict):
            return text
        addresses = list(dict.fromkeys(url for url in _chunk_urls(document) if self._is_redirect(url, request.url)))
        targets = await asyncio.gather(*(_target(url, send) for url in addresses))
        resolved = {url: target for url, target in zip(addresses, targets, strict=True) if target is not None}
        return json.dumps({**document, "resolved": resolved}, ensure_ascii=False) if resolved else text

    def rows(self, document: Any) -> list[Row]:
        check_recognised(self.spec.answer, document)
        resolved = document.get("resolved") if isinstance(document.get("resolved"), dict) else {}
        candidates = objects(document.get("candidates"))
        sources, texts = Sources(), list[Any]()
        for candidate in candidates[:1]:
            texts.extend(_texts(candidate))
            metadata = candidate.get("groundingMetadata")
            if not isinstance(metadata, dict):
                continue
            pages = _web_pages(metadata)
            for support in objects(metadata.get("groundingSupports")):
                segment, indices = support.get("segment"), support.get("groundingChunkIndices")
                passage = segment.get("text") if isinstance(segment, dict) else None
                for index in indices if isinstance(indices, list) else []:
                    if isinstance(index, int) and not isinstance(index, bool) and index in pages:
                        url, title = pages[index]
                        sources.cited(resolved.get(url, url), passage, title)
            for url, title in pages.values():
                sources.found(resolved.get(url, url), title)
        rows = sources.rows(texts)
        if not rows:
            _raise_if_refused(document, candidates)
        return rows

    def _is_redirect(self, url: str, asked_url: str) -> bool:
        """Only the vendor's own forwarding addresses are asked, and only on the public internet or where the call went."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.path.startswith(REDIRECT_PATH) and (
            host == urlsplit(asked_url).hostname or not is_private_host(host)
        )


async def _target(url: str, send: Send) -> str | None:
    """Where an address forwards to, or None: then the forwarding address stays."""
    try:
        answer = await send(HttpRequest("GET", url, {}))
    except (WireError, Unsendable):
        return None
    location = answer.headers.get("location")
    return usable_url(urljoin(url, location)) if location and 300 <= answer.status < 400 else None


def _chunk_urls(document: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for candidate in objects(document.get("candidates"))[:1]:
        metadata = candidate.get("groundingMetadata")
        if isinstance(metadata, dict):
            found.extend(url for url, _ in _web_pages(metadata).values() if url is not None)
    return found


def _web_pages(metadata: dict[str, Any]) -> dict[int, tuple[str | None, Any]]:
    """Index of a chunk → (address, title), for chunks that are web pages."""
    chunks = metadata.get("groundingChunks")
    pages: dict[int, tuple[str | None, Any]] = {}
    for index, chunk in enumerate(chunks if isinstance(chunks, list) else []):
        web = chunk.get("web") if isinstance(chunk, dict) else None
        if isinstance(web, dict):
            url = web.get("uri")
            pages[index] = (url if isinstance(url, str) else None, web.get("title"))
    return pages


def _texts(candidate: dict[str, Any]) -> list[Any]:
    content = candidate.get("content")
    return [part.get("text") for part in objects(content.get("parts"))] if isinstance(content, dict) else []


def _raise_if_refused(document: dict[str, Any], candidates: list[dict[str, Any]]) -> None:
    feedback = document.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        raise BadAnswer(f"the model refused the prompt ({str(feedback['blockReason'])[:40]})")
    reason = candidates[0].get("finishReason") if candidates else None
    if reason in _REFUSED:
        raise BadAnswer(f"the model refused to answer ({reason})")
    if reason == "MAX_TOKENS" and not any(_texts(candidates[0])):
        raise BadAnswer("ended before it found anything (MAX_TOKENS)")


ADAPTER = GeminiAdapter
