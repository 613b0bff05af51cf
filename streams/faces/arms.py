"""One arm of an experiment: a replay, and what its replies hold. The commands under `experiment` share it."""

import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import urlsplit

from groundwire.lake.reports.arms import Arm
from groundwire.schemas.reply import SearchReply
from groundwire.streams.faces.replay import PassSummary
from groundwire.streams.stages.tokens import estimate_tokens

_WORD = re.compile(r"\w+")


class Gathered:
    """Counts what the replies of one arm hold; `observe` takes each. `answers`: the expected ones, by question number."""

    def __init__(self, answers: Sequence[str] | None = None) -> None:
        self._answers = answers
        self._grounded = self._results = self._tokens = self._sites = self._found = 0

    def observe(self, index: int, reply: SearchReply) -> None:
        if reply.status != "grounded":
            return
        self._grounded += 1
        self._results += len(reply.results)
        self._tokens += estimate_tokens(reply.context)
        self._sites += len({urlsplit(result.url).hostname for result in reply.results})
        if self._answers is not None:
            self._found += holds(reply.context, self._answers[index])

    def arm(self, name: str, summary: PassSummary) -> Arm:
        return Arm(
            name=name,
            requests=summary.requests,
            answered=summary.answered,
            status=summary.status,
            cache=summary.cache,
            cost_micro_usd=summary.cost_micro_usd,
            cost_unknown=summary.cost_unknown,
            latency_ms=summary.latency_ms.model_dump(),
            results_mean=self._mean(self._results),
            context_tokens_mean=self._mean(self._tokens),
            context_tokens_total=self._tokens,
            sites_mean=self._mean(self._sites),
            answers_found=None if self._answers is None else self._found,
        )

    def _mean(self, total: int) -> float | None:
        return round(total / self._grounded, 2) if self._grounded else None


def holds(context: str, answer: str) -> bool:
    """Whether the words of the answer stand in the text, in a row. Korean words end in particles: there a beginning will do."""
    wanted, text = _words(answer), _words(context)
    return bool(wanted) and f" {wanted}{' ' if wanted[-1].isascii() else ''}" in f" {text} "


def _words(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
