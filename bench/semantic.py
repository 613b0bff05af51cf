"""The semantic tier at 10,000 and 100,000 entries (and a million, if asked), beside a flat scan of the same vectors.

    python bench/semantic.py [QUESTIONS] [--entries 10000 100000 1000000] [--questions N]

QUESTIONS is a text file with one question a line, or .csv, .tsv, .jsonl(.gz) with the questions in a column `a`, `problem`,
`question` or `query`; without it some are made up. They are embedded one by one (that is measured too); further entries are
made of them by augmenting: two questions joined, with the vector between theirs. A view is filled through the writer as the
log would fill it, then read by a reader that has just started, in a process of its own.

What the lines say: `lookup` is all that a request waits for once it has its vector: search, verifier, and the entry to serve,
read for the first time; `search` is the part up to the nearest live candidates; `recall@1` is against an exact search of all
vectors of the facet, for questions asked at cosine 0.97 and 0.90 of a stored one; `flat scan` is LanceDB without an index;
`NumPy` one matrix product.
"""

import argparse
import asyncio
import csv
import gzip
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil

from groundwire.lake.cache.calibration import Calibration
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.keys import hash64
from groundwire.lake.cache.layout import PUT, VECTOR_COLUMNS, unpacked
from groundwire.lake.cache.semantic import SemanticTier
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.view import CacheReader
from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.plan import ProviderStep
from groundwire.schemas.reply import Result
from groundwire.schemas.settings import Settings

Floats = npt.NDArray[np.float32]

MODEL, DIMENSIONS = "all-MiniLM-L6-v2-int8", 384
LOOKUPS = 400
BATCH = 500
COSINES = (0.97, 0.90)
# Six in ten entries are of one facet, as the first provider of the default route would have it.
FACETS = [f"facet-{number}" for number in range(11)]
COLUMNS = ("problem", "question", "query", "a")


def made_up() -> list[str]:
    """Questions for when no file is given."""
    subjects = [
        "tower",
        "river",
        "painter",
        "battery",
        "law",
        "recipe",
        "island",
        "film",
        "vaccine",
        "bridge",
        "planet",
    ]
    kinds = ["oldest", "longest", "most famous", "cheapest", "safest", "newest", "smallest", "second largest"]
    places = ["Norway", "Peru", "Korea", "Kenya", "Texas", "Bavaria", "Sicily", "Ontario", "Hokkaido", "Wales"]
    forms = ["what is the {} {} in {}", "who looks after the {} {} in {}", "how old is the {} {} of {}"]
    return [
        form.format(kind, subject, place)
        for form in forms
        for kind in kinds
        for subject in subjects
        for place in places
    ]


def read_questions(path: Path | None, limit: int) -> list[str]:
    texts: Iterator[str] = iter(made_up() if path is None else _lines(path))
    questions = list(dict.fromkeys(text.strip().lower() for text in texts if text.strip()))
    return random.Random(1).sample(questions, min(limit, len(questions)))


def _lines(path: Path) -> Iterator[str]:
    packed = path.suffix == ".gz"
    with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as file:
        kind = path.name.removesuffix(".gz").rsplit(".", 1)[-1]
        if kind == "jsonl":
            yield from (_question(json.loads(line)) for line in file)
        elif kind in ("csv", "tsv"):
            yield from map(_question, csv.DictReader(file, delimiter="\t" if kind == "tsv" else ","))
        else:
            yield from file


def _question(row: dict[str, Any]) -> str:
    for name in COLUMNS:
        if name in row:
            return str(row[name])
    raise SystemExit(f"none of the columns {', '.join(COLUMNS)} in {sorted(row)}")


def embed(questions: list[str]) -> Floats:
    """One text a call on one thread, as the pipeline does it; prints what that takes."""
    began = time.perf_counter()
    embedder = Embedder.load(Settings().cache.embedding)
    loaded_s = time.perf_counter() - began
    took = []
    rows = np.empty((len(questions), embedder.dimensions), np.float32)
    for at, question in enumerate(questions):
        began = time.perf_counter()
        rows[at] = embedder.embed_now(question)
        took.append(time.perf_counter() - began)
    p50, p99 = np.percentile(np.array(took) * 1000, [50, 99])
    print(
        f"embedding, one thread, one text a call: loaded in {loaded_s:.2f} s, "
        f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, {len(took) / sum(took):,.0f} questions/s over {len(took):,} questions\n"
    )
    return rows


def augmented(questions: list[str], vectors: Floats, count: int) -> Iterator[tuple[str, Floats]]:
    """The questions themselves, then pairs of them."""
    source = random.Random(2)
    yield from itertools.islice(zip(questions, vectors, strict=True), count)
    for number in range(count - len(questions)):
        one, other = source.randrange(len(questions)), source.randrange(len(questions))
        vector = vectors[one] + source.uniform(0.3, 0.8) * vectors[other]
        yield f"{questions[one]} and {questions[other]} {number}", vector / np.linalg.norm(vector)


def entry(number: int, question: str, vector: Floats, now_ms: int) -> CacheEntry:
    facet = FACETS[0] if number % 10 < 6 else FACETS[1 + number % 10]
    results = [
        Result(
            index=at,
            title=f"{question} {at}",
            url=f"https://site{at}.example.org/{number}",
            body=question * 6,
            provider="p",
        )
        for at in range(1, 6)
    ]
    return CacheEntry(
        cache_key=f"key-{number}",
        facet=facet,
        provider="p",
        tenant="default",
        normalized_query=question,
        freshness="static",
        depth=5,
        results=results,
        cost_micro_usd=1000,
        stored_at_ms=now_ms,
        expires_at_ms=now_ms + 30 * 86_400_000,
        payload_id=str(number),
        semantic=True,
        embedding=Embedding.of(MODEL, vector.tolist()),
    )


class NamedModel:
    """Every entry comes with its vector, so the writer only needs to know the model's name."""

    model = MODEL
    dimensions = DIMENSIONS


def build(home: Path, questions: list[str], vectors: Floats, count: int) -> dict[str, float]:
    """Fill a view through the writer, tidying as the role does."""
    writer = CacheWriter(Settings(home=home), NamedModel())  # type: ignore[arg-type]
    writer.open()
    now_ms = time.time_ns() // 1_000_000
    spent = {"apply": 0.0, "optimize": 0.0}
    texts = augmented(questions, vectors, count)
    for begin in range(0, count, BATCH):
        rows = [
            (0, begin + at + 1, CacheWrite(kind="put", entry=entry(begin + at, *row, now_ms)))
            for at, row in enumerate(itertools.islice(texts, BATCH))
        ]
        began = time.perf_counter()
        writer.apply(rows)
        spent["apply"] += time.perf_counter() - began
        if begin % (50 * BATCH) == 0 or begin + BATCH >= count:
            began = time.perf_counter()
            writer.optimize(wait=begin + BATCH >= count)
            spent["optimize"] += time.perf_counter() - began
    writer.close()
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
    rss = psutil.Process().memory_info().rss
    return {**spent, "disk": size, "writer_rss": rss}


def percentiles(took: list[float]) -> dict[str, float]:
    p50, p99 = np.percentile(np.array(took) * 1000, [50, 99])
    return {"p50": float(p50), "p99": float(p99)}


async def measure(home: Path) -> dict[str, Any]:
    """All reading figures of one view. Runs in a process that has done nothing else."""
    settings = Settings(home=home)
    before = psutil.Process().memory_info().rss
    began = time.perf_counter()
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.start()
    figures: dict[str, Any] = {"start_s": time.perf_counter() - began}
    figures["reader_rss"] = psutil.Process().memory_info().rss - before
    now_ms = time.time_ns() // 1_000_000
    store = Store(settings.cache_path)
    asked = list(sampled(store))
    random.Random(5).shuffle(asked)
    tier = SemanticTier(reader, settings, Calibration.shipped())
    source = np.random.default_rng(3)

    search, lookup, recalled = [], [], {}
    for cosine in COSINES:
        vectors = np.stack([near(vector, cosine, source) for _, _, vector, _ in asked])
        found = []
        for (facet, *_), vector in zip(asked, vectors, strict=True):
            asking = vector.tolist()
            began = time.perf_counter()
            candidates = await reader.candidates(facet, asking, settings.cache.semantic.candidates, now_ms)
            search.append(time.perf_counter() - began)
            found.append(candidates[0].seq if candidates else -1)
        recalled[cosine] = float(np.mean(np.array(found) == exact(store, [facet for facet, *_ in asked], vectors)))
    for facet, query, vector, _ in asked[: LOOKUPS // 2]:
        step = ProviderStep(provider="p", depth=5, cache_key="asked", facet=facet, storable=True)
        asking = near(vector, 0.97, source).tolist()
        began = time.perf_counter()
        await tier.match(query, None, step, asking, None, now_ms)
        lookup.append(time.perf_counter() - began)
    keys = [key for *_, key in asked[LOOKUPS // 2 :]]
    figures |= {
        "lookup": percentiles(lookup),
        "search": percentiles(search),
        "recall": recalled,
        "exact_miss": percentiles(await timed(reader, [f"missing-{key}" for key in keys], now_ms)),
    }
    await timed(reader, keys, now_ms)
    figures["exact_warm"] = percentiles(await timed(reader, keys, now_ms))
    figures["rss_after"] = psutil.Process().memory_info().rss - before
    # A reader brings the newest answers into memory by itself; this one has no room for them.
    small = settings.cache.model_copy(update={"memory_mib": 1})
    cold = CacheReader(settings.model_copy(update={"cache": small}))
    await cold.start()
    figures["exact_cold"] = percentiles(await timed(cold, keys, now_ms))
    await cold.stop()
    figures |= flat_scans(store, asked[:30])
    tier.close()
    await reader.stop()
    return figures


async def timed(reader: CacheReader, keys: list[str], now_ms: int) -> list[float]:
    took = []
    for key in keys:
        began = time.perf_counter()
        await reader.exact(key, now_ms)
        took.append(time.perf_counter() - began)
    return took


def sampled(store: Store) -> Iterator[tuple[str, str, Floats, str]]:
    """Facet, question, vector and key of entries from all over the view."""
    by_hash = {hash64(facet): facet for facet in FACETS}
    segments = store.segments()
    each = -(-LOOKUPS // len(segments))
    left = LOOKUPS
    for name in segments:
        rows = store.read(name, [*VECTOR_COLUMNS, "body"], f"kind = {PUT}")
        for at in random.Random(4).sample(range(rows.num_rows), min(each, left, rows.num_rows)):
            row = rows.slice(at, 1).to_pylist()[0]
            left -= 1
            vector = np.frombuffer(row["vector"], "<f2").astype(np.float32)
            yield by_hash[row["facet_hash"]], row["normalized_query"], vector, json.loads(row["body"])["cache_key"]


def near(vector: Floats, cosine: float, source: np.random.Generator) -> Floats:
    """A vector at exactly that cosine, in a random direction."""
    noise = source.normal(size=DIMENSIONS).astype(np.float32)
    noise -= (noise @ vector) * vector
    noise /= np.linalg.norm(noise)
    return (cosine * vector + np.sqrt(1 - cosine**2) * noise).astype(np.float32)


def exact(store: Store, facets: list[str], vectors: Floats) -> npt.NDArray[np.int64]:
    """The true nearest of each, segment by segment."""
    wanted = np.array([hash64(facet) for facet in facets])
    best = np.full(len(vectors), -2.0, np.float32)
    seqs = np.full(len(vectors), -1, np.int64)
    for name in store.segments():
        rows = store.read(name, VECTOR_COLUMNS, f"kind = {PUT}")
        if not rows.num_rows:
            continue
        similarities = vectors @ unpacked(rows["vector"], DIMENSIONS).T
        similarities[wanted[:, None] != rows["facet_hash"].to_numpy()[None, :]] = -2
        top = similarities.argmax(axis=1)
        value = similarities[np.arange(len(top)), top]
        better = value > best
        best[better], seqs[better] = value[better], rows["seq"].to_numpy()[top[better]]
    return seqs


def flat_scans(store: Store, asked: list[tuple[str, str, Floats, str]]) -> dict[str, Any]:
    """The baselines: LanceDB's own scan of the table, and NumPy over a matrix of everything."""
    tables = [name for name in store.table_names() if name.startswith("vectors__")]
    scans: dict[str, Any] = {}
    if tables:
        table = store.table(tables[0])
        took = []
        for facet, _, vector, _ in asked:
            began = time.perf_counter()
            table.search(vector, vector_column_name="vector").distance_type("cosine").where(
                f"facet_hash = {hash64(facet)}"
            ).bypass_vector_index().select(["seq", "_distance"]).limit(8).to_arrow()
            took.append(time.perf_counter() - began)
        scans["flat"] = percentiles(took)
    parts = [store.read(name, VECTOR_COLUMNS, f"kind = {PUT}") for name in store.segments()]
    matrix = np.concatenate([unpacked(rows["vector"], DIMENSIONS) for rows in parts if rows.num_rows])
    took = []
    for _, _, vector, _ in asked:
        began = time.perf_counter()
        np.argpartition(-(matrix @ vector), 8)
        took.append(time.perf_counter() - began)
    return {**scans, "numpy": percentiles(took)}


def in_child(command: str, *arguments: str) -> dict[str, Any]:
    # As in a worker: a matrix product on several threads pays only where nothing else wants the cores.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, "--child", command, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def child(command: str, arguments: list[str]) -> dict[str, Any]:
    if command == "build":
        home, questions, vectors, count = arguments
        return build(Path(home), json.loads(Path(questions).read_text()), np.load(vectors), int(count))
    return asyncio.run(measure(Path(arguments[0])))


def report(count: int, built: dict[str, float], found: dict[str, Any]) -> None:
    mib = 1024 * 1024
    print(f"{count:,} entries")
    print(
        f"  build    {built['apply']:.1f} s applying ({count / built['apply']:,.0f} entries/s), "
        f"{built['optimize']:.1f} s tidying and indexing; writer {built['writer_rss'] / mib:.0f} MiB resident"
    )
    print(f"  disk     {built['disk'] / mib:,.0f} MiB, {built['disk'] / count:,.0f} bytes an entry")
    print(
        f"  memory   reader {found['reader_rss'] / mib:.0f} MiB after its start in {found['start_s']:.2f} s, "
        f"{found['rss_after'] / mib:.0f} MiB after the lookups, {found['reader_rss'] / count:,.0f} bytes an entry"
    )
    for name, label in (
        ("lookup", "lookup"),
        ("search", "search alone"),
        ("flat", "flat scan"),
        ("numpy", "NumPy"),
        ("exact_cold", "exact hit, from disk"),
        ("exact_warm", "exact hit, from memory"),
        ("exact_miss", "exact miss"),
    ):
        if name in found:
            print(f"  {label:<24} p50 {found[name]['p50']:8.3f} ms   p99 {found[name]['p99']:8.3f} ms")
    print(
        "  recall@1 " + ", ".join(f"{value:.4f} at cosine {cosine}" for cosine, value in found["recall"].items()) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--entries", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=2_000, help="how many questions are embedded")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child[0], options.child[1:])))
        return
    questions = read_questions(options.file, options.questions)
    vectors = embed(questions)
    results: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        texts, rows = Path(folder) / "questions.json", Path(folder) / "vectors.npy"
        texts.write_text(json.dumps(questions))
        np.save(rows, vectors)
        for count in sorted(options.entries):
            home = Path(folder) / str(count)
            built = in_child("build", str(home), str(texts), str(rows), str(count))
            results[count] = in_child("measure", str(home))
            report(count, built, results[count])
    smallest, largest = min(results), max(results)
    if smallest != largest:
        for name in ("search", "lookup"):
            ratio = results[largest][name]["p50"] / results[smallest][name]["p50"]
            print(f"{name}, {largest:,} against {smallest:,} entries: {ratio:.2f} times the p50")
    found = results[largest]
    baseline = "flat" if "flat" in found else "numpy"
    ratio = found["search"]["p50"] / found[baseline]["p50"]
    print(f"search against a flat scan of {largest:,} entries: {ratio:.3f} of its p50")


if __name__ == "__main__":
    main()
