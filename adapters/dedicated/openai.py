"""OpenAI Responses: citations are annotations on the answer's text, sources stand in the search calls.

`sources` may hold services without an address (`{"type": "api", "name": "oai-weather"}`), `action` may be null, one page is cited
many times, and the model may answer without searching.
"""

from typing import Any

from groundwire.adapters.adapter import Adapter
from groundwire.adapters.citations import Sources, check_kinds, objects, sentence_before
from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.mapping import Row, check_recognised


class OpenAIAdapter(Adapter):
    """Joins annotations and sources into rows."""

    def rows(self, document: Any) -> list[Row]:
        check_recognised(self.spec.answer, document)
        if not isinstance(document["output"], list):
            raise BadAnswer("`output` is not a list")
        check_kinds("output", document["output"], ("message", "reasoning", "web_search_call"))
        sources, texts = Sources(), list[Any]()
        refused = False
        for item in objects(document["output"]):
            if item.get("type") == "message":
                for part in objects(item.get("content")):
                    refused = refused or part.get("type") == "refusal"
                    texts.append(part.get("text"))
                    _cite(sources, part)
        for item in objects(document["output"]):
            action = item.get("action")
            if item.get("type") == "web_search_call" and isinstance(action, dict):
                for source in objects(action.get("sources")):
                    if source.get("type") == "api":  # a service, which has no address
                        continue
                    sources.found(source.get("url"), source.get("title"))
        rows = sources.rows(texts)
        if not rows and refused:
            raise BadAnswer("the model refused to answer")
        if not rows and document.get("status") == "incomplete":
            details = document.get("incomplete_details")
            why = details.get("reason") if isinstance(details, dict) else None
            raise BadAnswer(f"ended before it found anything ({why or 'incomplete'})")
        return rows


def _cite(sources: Sources, part: dict[str, Any]) -> None:
    text = part.get("text")
    for note in objects(part.get("annotations")):
        if note.get("type") not in (None, "url_citation"):
            continue
        start = note.get("start_index")
        passage = ""
        if isinstance(text, str) and isinstance(start, int) and not isinstance(start, bool) and 0 <= start <= len(text):
            passage = sentence_before(text, start)
        sources.cited(note.get("url"), passage, note.get("title"))


ADAPTER = OpenAIAdapter
