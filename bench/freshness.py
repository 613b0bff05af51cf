"""How well the freshness class tells questions whose answer changes with time from settled ones; and how its weights are made.

    python bench/freshness.py DATA_DIR [--write streams/stages/freshness_weights.json]

DATA_DIR holds `en_query_time_dependent.jsonl.gz` (JSON lines: `a` the question, `depends` 1 when its answer depends on when it
is asked, `source_dataset` where it comes from). One half, by a hash of the question, is for fitting, the other for the table.
With --write the weights are fitted anew on the first half. Any file of that form will do: your own questions, for instance.
"""

import argparse
import gzip
import hashlib
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundwire.schemas.request import Filters, FreshnessClass
from groundwire.schemas.settings import FreshnessSettings
from groundwire.streams.stages.freshness import FRESHEST_FIRST, FreshnessRules
from groundwire.streams.stages.freshness_signs import asks_in_english, signs_of
from groundwire.streams.stages.freshness_weights import FreshnessWeights
from groundwire.streams.stages.query import normalize_query

NAME = "en_query_time_dependent.jsonl.gz"
# The day the questions are taken to be asked on, 2019-01-01: they are of 2018 and before, and years that are over are a rule's.
ASKED_AT_MS = 1_546_300_800_000
RIDGE = 3.0
LEAST_ROWS = 8
LEAST_WEIGHT = 0.05
FOLDS = 5
# On the fitting half by cross-validation: leaves room above the 0.75 asked for, and takes the recall that this allows.
WANTED_PRECISION = 0.80

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    query: str
    depends: bool
    source: str

    @property
    def half(self) -> int:
        return hashlib.sha256(self.query.lower().encode()).digest()[0] % 2

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.query.lower().encode()).digest()[1] % FOLDS


@dataclass(frozen=True, slots=True)
class Score:
    """Of "changes with time": every class but static counts as that."""

    rows: int
    precision: float
    recall: float

    @classmethod
    def of(cls, rows: Sequence[Row], kinds: Sequence[FreshnessClass]) -> "Score":
        said = [kind != "static" for kind in kinds]
        true = sum(row.depends and one for row, one in zip(rows, said, strict=True))
        return cls(len(rows), true / max(sum(said), 1), true / max(sum(row.depends for row in rows), 1))

    def line(self, name: str) -> str:
        f1 = 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)
        return f"{name:<44} {self.rows:>6} {self.precision:>10.3f} {self.recall:>8.3f} {f1:>7.3f}"


def read(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [Row(one["a"], one["depends"] == 1, one.get("source_dataset", "-")) for one in found]


def fit(rows: Sequence[Row]) -> tuple[float, dict[str, float]]:
    """Logistic regression with a ridge, by Newton's method, on the signs that at least LEAST_ROWS questions show."""
    signs = [signs_of(normalize_query(row.query).lower()) for row in rows]
    counts = Counter(sign for one in signs for sign in one)
    names = sorted(sign for sign, count in counts.items() if count >= LEAST_ROWS)
    place = {sign: number for number, sign in enumerate(names)}
    matrix = np.zeros((len(rows), len(names) + 1))
    matrix[:, -1] = 1
    for number, one in enumerate(signs):
        matrix[number, [place[sign] for sign in one if sign in place]] = 1
    wanted = np.array([float(row.depends) for row in rows])
    ridge = np.full(len(names) + 1, RIDGE)
    ridge[-1] = 0.01
    weights: Floats = np.zeros(len(names) + 1)
    for _ in range(12):
        chance = 1 / (1 + np.exp(-(matrix @ weights)))
        slope = matrix.T @ (chance - wanted) + ridge * weights
        curve = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + np.diag(ridge)
        weights -= np.linalg.solve(curve, slope)
    kept = {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=False)}
    return round(float(weights[-1]), 2), {name: w for name, w in kept.items() if abs(w) >= LEAST_WEIGHT}


def fitted(rows: Sequence[Row]) -> FreshnessWeights:
    """Weights, with the lowest threshold that kept the wanted precision in cross-validation, rules and all."""
    chances: dict[str, float] = {}
    for fold in range(FOLDS):
        model = weights_of(*fit([row for row in rows if row.fold != fold]), threshold=0.5)
        for row in rows:
            if row.fold == fold:
                chances[row.query] = model.probability(signs_of(normalize_query(row.query).lower()))
    settled = [row for row in rows if decided_by_weights(row.query)]
    others = [row for row in rows if not decided_by_weights(row.query)]
    kinds = classes(rules(), others)
    true = sum(row.depends for row, kind in zip(others, kinds, strict=True) if kind != "static")
    said = sum(kind != "static" for kind in kinds)
    threshold = 0.5
    for row in sorted(settled, key=lambda row: -chances[row.query]):
        said += 1
        true += row.depends
        if said > 50 and true / said >= WANTED_PRECISION:
            threshold = chances[row.query]
    return weights_of(*fit(rows), threshold=round(threshold, 2))


def weights_of(bias: float, weights: dict[str, float], *, threshold: float) -> FreshnessWeights:
    return FreshnessWeights(
        about="What each sign of an English question weighs; docs/guide/freshness.md says how to read and to remake this.",
        made_of=f"logistic regression, ridge {RIDGE}, signs of at least {LEAST_ROWS} questions; bench/freshness.py",
        threshold=threshold,
        bias=bias,
        weights=weights,
    )


_SHIPPED = FreshnessRules(FreshnessSettings())


def decided_by_weights(query: str) -> bool:
    return _SHIPPED.explain(normalize_query(query), "auto", Filters(), ASKED_AT_MS).decided_by == "weights"


def rules(path: Path | None = None, *, weighing: bool = True) -> FreshnessRules:
    return FreshnessRules(FreshnessSettings(weights=path, weighing=weighing))


def classes(asked: FreshnessRules, rows: Sequence[Row]) -> list[FreshnessClass]:
    return [asked.classify(normalize_query(row.query), "auto", Filters(), ASKED_AT_MS).kind for row in rows]


def crossed(rows: Sequence[Row], folder: Path) -> Score:
    """Every row classed by weights that were made without it."""
    found: list[Row] = []
    kinds: list[FreshnessClass] = []
    for fold in range(FOLDS):
        file = folder / f"{fold}.json"
        file.write_text(fitted([row for row in rows if row.fold != fold]).model_dump_json())
        mine = [row for row in rows if row.fold == fold]
        found += mine
        kinds += classes(rules(file), mine)
    return Score.of(found, kinds)


def microseconds(rows: Sequence[Row]) -> tuple[float, float]:
    """Processor time of a question that was not asked before: p50 and p99."""
    asked = rules()
    texts = [normalize_query(row.query) for row in rows]
    took = []
    for text in texts:
        began = time.thread_time()
        asked.classify(text, "auto", Filters(), ASKED_AT_MS)
        took.append((time.thread_time() - began) * 1e6)
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", type=Path, help="fit anew and write the weights here")
    parser.add_argument(
        "--wrong", type=int, default=0, help="show so many wrong ones of the held-out half, of each kind"
    )
    arguments = parser.parse_args()
    rows = read(arguments.data / NAME)
    first, second = ([row for row in rows if row.half == half] for half in (0, 1))
    if arguments.write is not None:
        made = fitted(first)
        by_weight = dict(sorted(made.weights.items(), key=lambda pair: (-abs(pair[1]), pair[0])))
        made = made.model_copy(update={"weights": by_weight})
        arguments.write.write_text(json.dumps(made.model_dump(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{len(made.weights)} weights, threshold {made.threshold}, written to {arguments.write}\n")
    print(f"{'changes with time (any class but static)':<44} {'rows':>6} {'precision':>10} {'recall':>8} {'F1':>7}")
    shipped = rules(arguments.write)
    print(Score.of(second, classes(rules(weighing=False), second)).line("words alone, held-out half"))
    print(Score.of(first, classes(shipped, first)).line("with weights, the half they were fitted on"))
    kinds = classes(shipped, second)
    print(Score.of(second, kinds).line("with weights, held-out half"))
    for source in sorted({row.source for row in second}):
        mine = [(row, kind) for row, kind in zip(second, kinds, strict=True) if row.source == source]
        print(Score.of([row for row, _ in mine], [kind for _, kind in mine]).line(f"  questions from {source}"))
    with tempfile.TemporaryDirectory() as folder:
        print(crossed(rows, Path(folder)).line(f"cross-validated in {FOLDS} parts, all rows"))
    print(f"\n{'class, held-out half':<24} {'rows':>6} {'of them change with time':>26}")
    for kind in FRESHEST_FIRST:
        mine_ = [row for row, one in zip(second, kinds, strict=True) if one == kind]
        share = sum(row.depends for row in mine_) / max(len(mine_), 1)
        print(f"{kind:<24} {len(mine_):>6} {share:>26.3f}")
    weighed = sum(decided_by_weights(row.query) for row in second)
    print(
        f"\ndecided by weights: {weighed} of {len(second)}; asked in English: "
        f"{sum(asks_in_english(normalize_query(row.query).lower()) for row in second)}"
    )
    p50, p99 = microseconds(second)
    print(f"a question not asked before, processor time: p50 {p50:.0f} µs, p99 {p99:.0f} µs")
    for name, wrong in (("called static", True), ("called changing", False)):
        shown = [
            row for row, kind in zip(second, kinds, strict=True) if row.depends == wrong and (kind == "static") == wrong
        ]
        for row in shown[: arguments.wrong]:
            print(f"  wrongly {name}: {row.query}")


if __name__ == "__main__":
    main()
