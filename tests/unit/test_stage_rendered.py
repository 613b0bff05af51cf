"""A context that was rendered before is given again only where it is the same."""

import pytest

from groundwire.schemas.reply import Result
from groundwire.streams.stages import rendered
from groundwire.streams.stages.context import render_context
from groundwire.streams.stages.rendered import RenderedContexts


def results(body: str) -> list[Result]:
    return [Result(index=1, title="T", url="https://e.example", body=body, provider="alpha")]


def test_the_same_results_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(some: list[Result], budget_tokens: int) -> str:
        asked.append(budget_tokens)
        return render_context(some, budget_tokens)

    monkeypatch.setattr(rendered, "render_context", counted)
    contexts = RenderedContexts()
    texts = [contexts.of("key", results("word " * 99), budget) for budget in (100, 100, 60, 100)]
    assert asked == [100, 60]
    assert texts[0] == texts[1] == texts[3] != texts[2]


def test_other_results_under_the_same_key_are_rendered_anew() -> None:
    contexts = RenderedContexts()
    assert contexts.of("key", results("old"), 100) != contexts.of("key", results("new"), 100)
    assert "new" in contexts.of("key", results("new"), 100)


def test_the_oldest_go_first() -> None:
    contexts = RenderedContexts(most=2)
    for number in range(5):
        contexts.of(str(number), results("x"), 100)
    assert len(contexts._kept) == 2
