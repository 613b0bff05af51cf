"""A replay counts what came back, says so while it runs, and ends when nobody is there."""

from collections.abc import Callable
from typing import Any

from groundwire.schemas.reply import SearchReply
from groundwire.streams.faces.client import NoReply
from groundwire.streams.faces.replay import ReplayResult, replay


class Answers:
    """A client whose questions `heard` decides about."""

    def __init__(self, heard: Callable[[str], bool]) -> None:
        self.heard = heard
        self.asked: list[str] = []

    async def search(self, request: dict[str, Any]) -> SearchReply:
        self.asked.append(request["query"])
        if not self.heard(request["query"]):
            raise NoReply("no reply within 35 s")
        return SearchReply.model_validate(
            {
                "request_id": request["request_id"],
                "reply_id": "p",
                "status": "ungrounded",
                "query": request["query"],
                "normalized_query": request["query"],
                "freshness": "static",
                "results": [],
                "context": "",
                "provider": None,
                "cache": {
                    "outcome": "miss",
                    "age_s": None,
                    "expires_at": None,
                    "matched_query": None,
                    "similarity": None,
                    "probability": None,
                    "reason": None,
                },
                "cost_micro_usd": 0,
                "saved_micro_usd": None,
                "latency_ms": {"total": 1.0},
                "attempts": [],
                "error": None,
                "warnings": [],
                "metadata": {},
                "completed_at": "2026-12-01T00:00:00Z",
            }
        )


async def ask(
    answers: Answers,
    questions: int,
    *,
    passes: int = 1,
    concurrency: int = 4,
    progress: Callable[[int, int, int], None] = lambda *_: None,
) -> ReplayResult:
    return await replay(
        answers,  # type: ignore[arg-type]
        [str(number) for number in range(questions)],
        passes=passes,
        concurrency=concurrency,
        rate_per_s=None,
        options={},
        progress=progress,
    )


async def test_a_question_without_a_reply_does_not_end_the_replay() -> None:
    answers = Answers(lambda question: question not in ("3", "4", "5", "9"))
    result = await ask(answers, 20)
    (only,) = result.passes
    assert (only.requests, only.answered, len(answers.asked)) == (20, 16, 20)
    assert only.errors == {"no reply within 35 s": 4}


async def test_when_nobody_is_there_the_rest_is_not_asked_and_that_is_said() -> None:
    answers = Answers(lambda question: int(question) < 10)
    result = await ask(answers, 1000, passes=3)
    (only,) = result.passes
    assert (only.requests, only.answered) == (1000, 10)
    assert len(answers.asked) < 30
    assert sum(only.errors.values()) == 990
    assert any(message.startswith("not asked, because the last") for message in only.errors)


async def test_progress_begins_with_none_done_and_ends_with_all() -> None:
    told: list[tuple[int, int, int]] = []
    await ask(Answers(lambda _: True), 3, passes=2, progress=lambda *told_now: told.append(told_now))
    assert told == [(number, done, 3) for number in (1, 2) for done in range(4)]


async def test_one_question_at_a_time_is_no_reason_to_give_up_after_the_first_without_a_reply() -> None:
    answers = Answers(lambda question: question not in ("3", "4"))
    result = await ask(answers, 10, concurrency=1)
    assert (result.passes[0].answered, len(answers.asked)) == (8, 10)
