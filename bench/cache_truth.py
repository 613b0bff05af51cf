"""How far the semantic tier can be trusted: every promise about its hits, measured on labelled pairs, in one table.

    python bench/cache_truth.py DATA_DIR [--vectors DIR] [--out DIR] [--only NAME …] [--fit FILE] [--read FILE]

DATA_DIR holds the labelled pairs (docs/guide/semantic-cache.md says where such data comes from; none of it is part of the
project). Vectors are kept under --vectors, so that a second run takes a fraction of the time. --out gets the table, the plots
(SVG), the false hits and the hits among unlabelled neighbours, to be read; --read takes such hits back with a column `same`, as
a person has read them. --only measures some sets, by name; `neighbours` is one. --fit writes coefficients fitted on the
labelled pairs, which is how the shipped ones were made. Exit 1 when a promise is not kept.
"""

import argparse
import csv
import gzip
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.lake.cache.calibration import Calibration, Decision
from groundwire.lake.cache.calibration_fit import LabelledPair, calibrate, fit, upper_bound
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.verifier import verify
from groundwire.schemas.settings import EmbeddingSettings
from groundwire.streams.stages.query import normalize_query

# The lowest cosine of each language group, and the lowest for pairs that passed softly.
LIMITS = {"en": (0.80, 0.92), "ko": (0.45, 0.70), "other": (0.90, 0.95)}
THRESHOLDS = {"en": 0.95, "ko": 0.90, "other": 0.95}
FOLDS = 5
SPLITS = 20
NEIGHBOURS = 6
# Sets whose labels mean "the same answer": what coefficients are fitted on.
FITTED_ON = (
    "adjudicated_pairs", "en_natural_variants", "en_natural_near_miss", "en_langcache_queries", "en_boolq_contrast",
    "en_situatedqa", "ko_natural_pairs", "ko_stylekqc",
)  # fmt: skip


@dataclass
class Row:
    """One labelled pair, with what the cache says to it."""

    a: str
    b: str
    same: bool
    kind: str = ""
    overlap: float = 0.0
    similarity: float = 0.0
    decision: Decision | None = None
    exact: bool = False

    @property
    def hit(self) -> bool:
        return self.exact or (self.decision is not None and self.decision.hit)

    def labelled(self) -> LabelledPair:
        return LabelledPair(self.b, self.a, self.same, self.similarity)


@dataclass
class Table:
    """Promises, as measured."""

    lines: list[tuple[str, str, str, bool | None]] = field(default_factory=list)

    def add(self, what: str, measured: str, wanted: str, kept: bool | None) -> None:
        self.lines.append((what, measured, wanted, kept))
        mark = {True: "ok", False: "NOT KEPT", None: ""}[kept]
        print(f"{what:<58} {measured:<44} {wanted:<24} {mark}", flush=True)

    @property
    def kept(self) -> bool:
        return all(kept is not False for *_, kept in self.lines)

    def markdown(self) -> str:
        marks = {True: "yes", False: "**no**", None: ""}
        rows = [f"| {what} | {measured} | {wanted} | {marks[kept]} |" for what, measured, wanted, kept in self.lines]
        return "\n".join(["| what | measured | wanted | kept |", "|---|---|---|---|", *rows, ""])


class Vectors:
    """Vectors of texts, kept in a folder between runs."""

    def __init__(self, folder: Path) -> None:
        self._embedder = Embedder.load(EmbeddingSettings())
        self._file = folder / f"{self._embedder.model}.npz"
        self._known: dict[str, np.ndarray] = {}
        if self._file.is_file():
            with np.load(self._file, allow_pickle=False) as stored:
                self._known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
        self._new = 0

    def of(self, text: str) -> np.ndarray:
        found = self._known.get(text)
        if found is None:
            found = np.asarray(self._embedder.embed_now(text), dtype=np.float16)
            self._known[text] = found
            self._new += 1
            if self._new % 5000 == 0:
                print(f"  {self._new} new vectors", file=sys.stderr, flush=True)
                self.save()
        return found

    def similarity(self, a: str, b: str) -> float:
        return float(self.of(a).astype(np.float32) @ self.of(b).astype(np.float32))

    def save(self) -> None:
        if self._new:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            staged = self._file.with_suffix(".new.npz")
            np.savez(staged, texts=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
            staged.replace(self._file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--vectors", type=Path, default=Path(".groundwire/bench-vectors"))
    parser.add_argument("--out", type=Path, default=Path(".groundwire/cache-truth"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--read", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    vectors = Vectors(asked.vectors)
    sets = read_sets(asked.data, asked.only)
    for rows in sets.values():
        score(rows, vectors)
    vectors.save()
    calibration = Calibration.shipped()
    if asked.fit:
        calibration = fitted(sets)
        asked.fit.write_text(json.dumps(calibration.to_json(), indent=1) + "\n", encoding="utf-8")
        print(f"coefficients written to {asked.fit}")
    for rows in sets.values():
        decide(rows, calibration)
    table = Table()
    if "adjudicated_pairs" in sets:
        adjudicated(sets, table, asked.out)
        bound("adjudicated pairs", sets["adjudicated_pairs"], table)
    if not asked.only:
        bound("all sets fitted on", [row for name in FITTED_ON for row in sets.get(name, ())], table)
    false_hits(sets, table, asked.out)
    found(sets, table)
    if not asked.only or "neighbours" in asked.only:
        neighbours(asked.data, vectors, calibration, table, asked.out, asked.read)
        vectors.save()
    pace(sets, table)
    (asked.out / "table.md").write_text(table.markdown(), encoding="utf-8")
    print(f"table, plots and lists: {asked.out}")
    return 0 if table.kept else 1


def read_sets(data: Path, only: Sequence[str]) -> dict[str, list[Row]]:
    """Every labelled set there is in the folder, by name."""
    sets: dict[str, list[Row]] = {}
    adjudicated_file = data / "adjudicated_pairs.tsv"
    if adjudicated_file.is_file():
        with adjudicated_file.open(encoding="utf-8", newline="") as handle:
            sets["adjudicated_pairs"] = [
                Row(row["a"], row["b"], row["same"] == "1", row["kind"])
                for row in csv.DictReader(handle, delimiter="\t")
            ]
    for file in sorted((data / "pairs").glob("*.jsonl.gz")):
        name = file.name.removesuffix(".jsonl.gz")
        if name.startswith(("log_", "xx_", "en_query_", "en_uqv", "ko_pawsx")):
            continue
        rows = [
            Row(row["a"], row["b"], row["same"] == 1, row.get("kind", ""), float(row.get("overlap", 0)))
            for row in read_json_lines(file)
        ]
        sets[name] = [row for row in rows if "noisy" not in row.kind]
    return {name: rows for name, rows in sets.items() if not only or name in only}


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def score(rows: Iterable[Row], vectors: Vectors) -> None:
    """Normalize as the pipeline does and take the cosine."""
    for row in rows:
        row.a, row.b = normalize_query(row.a), normalize_query(row.b)
        row.exact = row.a == row.b
        row.similarity = 1.0 if row.exact else vectors.similarity(row.a, row.b)


def decide(rows: Iterable[Row], calibration: Calibration) -> None:
    for row in rows:
        row.decision = calibration.decide(row.b, row.a, row.similarity, min_similarity=0.0)


def fitted(sets: dict[str, list[Row]], without: frozenset[int] = frozenset()) -> Calibration:
    """Coefficients fitted on the sets whose labels mean the same answer. `without`: rows of a fold, by identity."""
    pairs = [
        row.labelled()
        for name in FITTED_ON
        for row in sets.get(name, ())
        if not row.exact and id(row) not in without and (name != "ko_stylekqc" or "question" in row.kind)
    ]
    calibration = fit(
        pairs, LIMITS, f"{len(pairs)} open labelled pairs: {', '.join(n for n in FITTED_ON if n in sets)}"
    )
    return with_thresholds(calibration)


def with_thresholds(calibration: Calibration) -> Calibration:
    document = calibration.to_json()
    for group, curve in document["curves"].items():
        curve["threshold"] = THRESHOLDS[group]
    # Without rules and without data, a language is served by similarity alone behind an all but literal match.
    document["curves"]["other"].update(intercept=4.0, weights={"similarity": 0.5, "margin": 0.3})
    return Calibration.from_json(document)


def adjudicated(sets: dict[str, list[Row]], table: Table, out: Path) -> None:
    """Precision and recall on pairs that were read one by one, by cross-validation; plain cosine beside it."""
    rows = [row for row in sets["adjudicated_pairs"] if row.a and row.b]
    shuffled = rows[:]
    random.Random(0).shuffle(shuffled)
    decisions: dict[int, Decision] = {}
    for number in range(FOLDS):
        fold = shuffled[number::FOLDS]
        calibration = fitted(sets, frozenset(id(row) for row in fold))
        for row in fold:
            decisions[id(row)] = calibration.decide(row.b, row.a, row.similarity, min_similarity=0.0)
    hits = [row for row in rows if row.exact or decisions[id(row)].hit]
    same = sum(row.same for row in rows)
    right = sum(row.same for row in hits)
    precision, recall = right / len(hits), right / same
    table.add(f"adjudicated pairs, {FOLDS}-fold: precision", f"{precision:.4f} ({len(hits) - right} wrong of {len(hits)})",
              "≥ 0.98", precision >= 0.98)  # fmt: skip
    table.add(f"adjudicated pairs, {FOLDS}-fold: recall", f"{recall:.3f} ({right} of {same})", "≥ 0.60", recall >= 0.60)
    for least in (0.95, 0.97, 0.98):
        plain = [row for row in rows if row.similarity >= least]
        table.add(f"  plain cosine ≥ {least}", f"precision {sum(r.same for r in plain) / len(plain):.3f}, "
                  f"recall {sum(r.same for r in plain) / same:.3f}", "", None)  # fmt: skip
    cosine = curve(((row.similarity, row.same) for row in rows), same)
    ours = curve(((1.0 if row.exact else decisions[id(row)].probability, row.same) for row in rows), same)
    (out / "precision_recall.svg").write_text(
        plot("Adjudicated pairs: precision against recall", "recall", "precision", {"plain cosine": cosine, "verified": ours},
             (0.0, 0.7), (0.85, 1.0)), encoding="utf-8")  # fmt: skip
    with (out / "adjudicated_wrong.tsv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        for row in hits:
            if not row.same:
                writer.writerow([f"{row.similarity:.3f}", row.kind, row.a, row.b, decisions[id(row)].reason])


def curve(scored: Iterable[tuple[float, bool]], same: int) -> list[tuple[float, float]]:
    """(recall, precision) from the strictest threshold to the loosest that serves anything."""
    points, right = [], 0
    for served, (score_, is_same) in enumerate(sorted(scored, key=lambda one: -one[0]), start=1):
        if score_ <= 0:
            break
        right += is_same
        if served >= 20:
            points.append((right / same, right / served))
    return points


def bound(name: str, rows: Sequence[Row], table: Table) -> None:
    """The stated bound against held-out rows: calibrate on one half, look at the other, twenty times."""
    violated = proven = 0
    bounds = []
    for seed in range(SPLITS):
        shuffled = [row for row in rows if not row.exact]
        random.Random(seed).shuffle(shuffled)
        half = len(shuffled) // 2
        outcome = calibrate([row.labelled() for row in shuffled[:half]], max_false_hit_rate=0.01)
        held_out = [
            row.same
            for row in shuffled[half:]
            if outcome.calibration.decide(row.b, row.a, row.similarity, min_similarity=0.0).hit
        ]
        wrong = len(held_out) - sum(held_out)
        violated += wrong / max(1, len(held_out)) > outcome.upper_bound
        proven += outcome.certified
        bounds.append(outcome.upper_bound)
    measured = f"{violated} broken; {min(bounds):.1%} to {max(bounds):.1%}, {proven} proven ≤ 1 %"
    table.add(f"bound on held-out halves, {SPLITS} splits, {name}", measured, "≤ 1 broken at 95 %", violated <= 1)


def _every(row: Row) -> bool:  # noqa: ARG001  # the shape of a choice of rows
    return True


def false_hits(sets: dict[str, list[Row]], table: Table, out: Path) -> None:
    """Pairs that differ: what is served all the same is written out to be read."""
    wanted: dict[str, tuple[float, Callable[[Row], bool]]] = {
        "en_natural_near_miss": (0.0, _every),
        "en_situatedqa": (0.0, _every),
        "ko_natural_pairs": (0.0, _every),
        "en_boolq_contrast": (0.0, _every),
        "en_nq_answer_pairs": (0.003, lambda row: row.overlap >= 0.7),
        "en_langcache_queries": (-1.0, _every),
        "en_paws_qqp": (-1.0, _every),
        "ko_stylekqc": (-1.0, _every),
        "ko_parakqc": (-1.0, _every),
    }
    with (out / "false_hits.tsv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(["set", "kind", "similarity", "a", "b", "reason"])
        for name, (most, counts) in wanted.items():
            differ = [row for row in sets.get(name, ()) if not row.same and counts(row)]
            if not differ:
                continue
            served = [row for row in differ if row.hit]
            for row in served:
                reason = row.decision.reason if row.decision else ""
                writer.writerow([name, row.kind, f"{row.similarity:.3f}", row.a, row.b, reason])
            part = " (overlap ≥ 0.7)" if name == "en_nq_answer_pairs" else ""
            rate = len(served) / len(differ)
            promise = "" if most < 0 else "0" if most == 0 else f"≤ {most:.1%}"
            exact = sum(row.exact for row in served)
            measured = f"{len(served)} of {len(differ)} ({rate:.2%}{f', {exact} exact' if exact else ''})"
            table.add(f"false hits, {name}{part}", measured, promise, None if most < 0 else rate <= most)
            if name == "en_natural_near_miss":
                kinds = Counter(row.kind.split(":")[0] for row in differ)
                table.add("  by kind", ", ".join(f"{kind} {number}" for kind, number in kinds.most_common()), "", None)


def found(sets: dict[str, list[Row]], table: Table) -> None:
    """Pairs that are the same: what the cache finds of them."""
    wanted: dict[str, tuple[float, Callable[[Row], bool]]] = {
        "en_natural_variants": (0.60, _every),
        "ko_natural_pairs": (0.60, _every),
        "ko_stylekqc": (0.50, lambda row: "question" in row.kind),
        "en_langcache_queries": (0.40, _every),
        "en_nq_answer_pairs": (-1.0, _every),
        "en_paws_qqp": (-1.0, _every),
        "ko_parakqc": (-1.0, lambda row: "question" in row.kind),
    }
    for name, (least, counts) in wanted.items():
        same = [row for row in sets.get(name, ()) if row.same and counts(row)]
        if not same:
            continue
        hits = sum(row.hit for row in same)
        exact = sum(row.exact for row in same)
        table.add(f"found, {name}", f"{hits} of {len(same)} ({hits / len(same):.1%}; {exact} exact)",
                  "" if least < 0 else f"≥ {least:.0%}", None if least < 0 else hits / len(same) >= least)  # fmt: skip


def neighbours(
    data: Path, vectors: Vectors, calibration: Calibration, table: Table, out: Path, read: Path | None
) -> None:
    """Unlabelled questions: the nearest others of each are the candidates a cache would look at; hits are listed to be read."""
    texts: dict[str, None] = {}
    for name in ("log_nq_open", "log_msmarco_dev", "log_ko_tydi_miracl", "en_uqv100_queries"):
        file = data / "pairs" / f"{name}.jsonl.gz"
        if file.is_file():
            texts.update((normalize_query(row["a"]), None) for row in read_json_lines(file))
    stream = data / "pairs" / "workload_tb05_eff.txt.gz"
    if stream.is_file():
        with gzip.open(stream, "rt", encoding="utf-8") as handle:
            texts.update((normalize_query(line), None) for line in handle if line.strip())
    names = [text for text in texts if text]
    matrix = np.stack([vectors.of(text) for text in names]).astype(np.float32)
    candidates = 0
    hits: set[tuple[str, str]] = set()
    by_similarity: Counter[int] = Counter()
    with (out / "neighbour_hits.tsv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(["similarity", "probability", "asked", "stored", "reason"])
        for start in range(0, len(names), 512):
            block = matrix[start : start + 512] @ matrix.T
            nearest = np.argpartition(-block, NEIGHBOURS + 1, axis=1)[:, : NEIGHBOURS + 1]
            for row, others in enumerate(nearest):
                at = start + row
                for other in others:
                    if other == at:
                        continue
                    similarity = float(block[row, other])
                    candidates += 1
                    decision = calibration.decide(names[at], names[other], similarity, min_similarity=0.0)
                    if decision.hit:
                        hits.add((names[at], names[other]))
                        by_similarity[int(similarity * 50)] += 1
                        writer.writerow(
                            [
                                f"{similarity:.3f}",
                                f"{decision.probability:.3f}",
                                names[at],
                                names[other],
                                decision.reason,
                            ]
                        )
    measured = f"{len(hits)} of {candidates} ({len(hits) / candidates:.2%})"
    table.add(f"nearest neighbours of {len(names)} questions: hits", measured, "", None)
    if read is not None:
        of, wrong = verdicts(read, hits)
        most = upper_bound(wrong, of) * len(hits) / candidates
        measured = f"{wrong} of {of} read; at most {most:.2%} of candidates"
        table.add("  of these false, by reading", measured, "≤ 0.3%", most <= 0.003)
    (out / "neighbour_hits.svg").write_text(
        plot("Hits among nearest neighbours, by similarity", "similarity", "hits",
             {"hits": [(key / 50, float(number)) for key, number in sorted(by_similarity.items())]},
             (0.5, 1.0), (0.0, float(max(by_similarity.values(), default=1)))), encoding="utf-8")  # fmt: skip


def verdicts(read: Path, hits: set[tuple[str, str]]) -> tuple[int, int]:
    """How many of the hits a person has read, and how many of those were wrong."""
    with read.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    labels = [row["same"] for row in rows if (row["asked"], row["stored"]) in hits and row["same"] in ("0", "1")]
    return len(labels), labels.count("0")


def pace(sets: dict[str, list[Row]], table: Table) -> None:
    """Microseconds for a candidate: one question read before, the other met for the first time."""
    pairs = [(row.b, row.a) for rows in sets.values() for row in rows]
    random.Random(1).shuffle(pairs)
    took = []
    for number, (asked, stored) in enumerate(pairs[:4000]):
        verify(asked, asked)  # the question at hand is read once for all its candidates
        fresh = f"{stored} {number}"  # never seen, so that nothing kept from before helps
        started = time.perf_counter()
        verify(asked, fresh)
        took.append((time.perf_counter() - started) * 1e6)
    took.sort()
    p50, p95 = took[len(took) // 2], took[int(len(took) * 0.95)]
    table.add("verifier, a candidate", f"p50 {p50:.0f} µs, p95 {p95:.0f} µs", "p50 ≤ 500 µs", p50 <= 500)


def plot(
    title: str,
    x_name: str,
    y_name: str,
    lines: dict[str, list[tuple[float, float]]],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
) -> str:
    """A line chart as SVG."""
    width, height, left, bottom = 640, 400, 60, 50
    colours = ("#888888", "#0b6e4f", "#b5541c")

    def place(point: tuple[float, float]) -> str:
        x = left + (point[0] - x_range[0]) / (x_range[1] - x_range[0]) * (width - left - 20)
        y = height - bottom - (point[1] - y_range[0]) / (y_range[1] - y_range[0]) * (height - bottom - 40)
        return f"{x:.1f},{y:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="24" font-size="15">{title}</text>',
    ]
    for step in range(6):
        for (low, high), vertical in ((x_range, False), (y_range, True)):
            value = low + (high - low) * step / 5
            x, y = place((x_range[0], value) if vertical else (value, y_range[0])).split(",")
            label = f"{value:.2f}" if high <= 1 else f"{value:.0f}"
            if vertical:
                parts.append(f'<line x1="{x}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="#eeeeee"/>')
                parts.append(f'<text x="{float(x) - 8}" y="{float(y) + 4}" text-anchor="end">{label}</text>')
            else:
                parts.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">{x_name}</text>')
    parts.append(
        f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" text-anchor="middle">{y_name}</text>'
    )
    for number, (name, points) in enumerate(lines.items()):
        inside = [p for p in points if x_range[0] <= p[0] <= x_range[1] and y_range[0] <= p[1] <= y_range[1]]
        colour = colours[number % len(colours)]
        path = " ".join(place(point) for point in inside)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        parts.append(f'<text x="{width - 150}" y="{60 + 18 * number}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    sys.exit(main())
