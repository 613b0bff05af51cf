"""What the three model vendors have in common: a question inside a prompt, searches of the model's own, a written answer."""

from dataclasses import dataclass
from typing import Any

from groundwire.adapters.sandbox.corpus import Document
from groundwire.adapters.sandbox.wire import RefusedError

FROM_MEMORY = "from-memory-xyzzy"
"""A question that contains this is answered without a search, as models do when they think they know."""

PAUSED = "pause-turn-xyzzy"
"""A question that contains this is answered in two turns, where a vendor has such turns."""

TWO_SEARCHES = (" vs ", " versus ", "compare", "비교")
SHOWN_SOURCES = 5
CITED = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the written answer, and the source it rests on."""

    text: str
    source: Document


def question(prompt: str) -> str:
    """What is searched for: the last paragraph of the prompt, after whatever instructions stand before it."""
    return prompt.strip().rsplit("\n\n", 1)[-1].strip()


def plain_text(content: Any) -> str:
    """The text of a message's content, whether it is a string or a list of parts. Raises TypeError on anything else."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    raise TypeError("content is neither text nor parts")


def searches(asked: str) -> list[str]:
    """The queries the model makes of a question: none, one or two."""
    if FROM_MEMORY in asked:
        return []
    if any(sign in asked.casefold() for sign in TWO_SEARCHES):
        return [asked, f"{asked} differences"]
    return [asked]


def written(found: tuple[Document, ...]) -> list[Sentence]:
    """An answer of a few sentences, each from one source; generated documents only when there is nothing better."""
    sources = [document for document in found if not document.generated] or list(found)
    return [Sentence(document.body.split(". ", 1)[0].rstrip(".") + ".", document) for document in sources[:CITED]]


def tokens(text: str) -> int:
    """A count in hundreds, so that every price comes out in whole micro-USD."""
    return 100 * max(1, -(-len(text) // 400))


def tool_named(tools: Any, kinds: tuple[str, ...]) -> dict[str, Any] | None:
    """The first tool whose type starts with one of `kinds`."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and str(tool.get("type", "")).startswith(kinds):
            return tool
    return None


def text_field(body: dict[str, Any], name: str, refusal: str, code: str | None = None) -> str:
    """A required string of the body. Raises RefusedError."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(400, refusal, code)
    return value
