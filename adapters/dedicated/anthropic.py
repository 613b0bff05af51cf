"""Anthropic: results and citations stand in different blocks of one message, errors inside a 200, and a turn may pause.

A failed search is an object where a successful one is a list (`web_search_tool_result_error`). `stop_reason: "pause_turn"`
means that the rest comes when the content is sent back; each of these calls is billed.
"""

import json
from dataclasses import replace
from typing import Any

from groundwire.adapters.adapter import Adapter, Send
from groundwire.adapters.citations import Sources, check_kinds, objects
from groundwire.adapters.classify import outcome_of_status
from groundwire.adapters.errors import BadAnswer, Unsendable, VendorFailure, WireError
from groundwire.adapters.http import HttpRequest
from groundwire.adapters.mapping import Row, check_recognised
from groundwire.adapters.reading import decode_text, read_json
from groundwire.schemas.reply import AttemptOutcome

MAX_TURNS = 3
_KINDS = ("text", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result")

_TOOL_ERRORS: dict[str, AttemptOutcome] = {
    "too_many_requests": "rate_limited",
    "unavailable": "server_error",
    "max_uses_exceeded": "server_error",
    "query_too_long": "bad_answer",  # this vendor's own limit: another may take the query
    "request_too_large": "bad_answer",
    "invalid_tool_input": "bad_answer",
}


class AnthropicAdapter(Adapter):
    """Joins blocks into rows, and turns into one message."""

    async def complete(self, request: HttpRequest, text: str, send: Send) -> str:
        message = read_json(text)
        for _ in range(MAX_TURNS - 1):
            if not isinstance(message, dict) or message.get("stop_reason") != "pause_turn":
                break
            message = await self._next_turn(request, message, send)
        return (
            text if not isinstance(message, dict) or "turns" not in message else json.dumps(message, ensure_ascii=False)
        )

    async def _next_turn(self, request: HttpRequest, message: dict[str, Any], send: Send) -> dict[str, Any]:
        """The message with the next turn's content and usage added; usage is null when the turn's price can't be known."""
        turns = message.get("turns", 1)
        try:
            body = json.loads(request.body or b"{}")
            body["messages"] = [*body["messages"], {"role": "assistant", "content": message.get("content")}]
            answer = await send(replace(request, body=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")))
            more = read_json(decode_text(answer.body, answer.headers.get("content-type", "")))
        except (WireError, Unsendable, BadAnswer, KeyError, TypeError):
            return {**message, "usage": None, "turns": turns + 1, "stop_reason": "end_turn"}
        if outcome_of_status(answer.status) is not None or not isinstance(more, dict) or "content" not in more:
            # Refused: what there is stays, and its price too.
            return {**message, "turns": turns + 1, "stop_reason": "end_turn"}
        return {
            **more,
            "content": [*_blocks(message), *_blocks(more)],
            "usage": _sum(message.get("usage"), more.get("usage")),
            "turns": turns + 1,
        }

    def rows(self, document: Any) -> list[Row]:
        check_recognised(self.spec.answer, document)
        content = document["content"]
        if not isinstance(content, list):
            raise BadAnswer("`content` is not a list")
        sources, errors, texts = Sources(), list[str](), list[Any]()
        check_kinds("content", content, _KINDS)
        for block in objects(content):
            if block.get("type") == "web_search_tool_result":
                found = block.get("content")
                if isinstance(found, dict):
                    errors.append(str(found.get("error_code") or "unknown"))
                for result in objects(found):
                    sources.found(result.get("url"), result.get("title"), [result.get("page_age")])
            elif block.get("type") == "text":
                texts.append(block.get("text"))
                for citation in objects(block.get("citations")):
                    sources.cited(citation.get("url"), citation.get("cited_text"), citation.get("title"))
        rows = sources.rows(texts)
        if rows:
            return rows
        if errors:
            raise VendorFailure(_TOOL_ERRORS.get(errors[0], "server_error"), f"the search failed: {errors[0][:60]}")
        if document.get("stop_reason") == "refusal":
            raise BadAnswer("the model refused to answer")
        if content and document.get("stop_reason") in ("max_tokens", "pause_turn"):
            raise BadAnswer(f"ended before it found anything ({document['stop_reason']})")
        return []


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _sum(one: Any, other: Any) -> Any:
    """Usage of two turns, number by number; null as soon as one turn did not say."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return None
    total: dict[str, Any] = {}
    for name in {**one, **other}:
        first, second = one.get(name), other.get(name)
        if isinstance(first, dict) or isinstance(second, dict):
            total[name] = _sum(first or {}, second or {})
        elif _is_count(first) and _is_count(second):
            total[name] = int(first or 0) + int(second or 0)
        else:
            total[name] = first if second is None else second
    return total


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


ADAPTER = AnthropicAdapter
