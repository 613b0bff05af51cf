"""Files of questions: csv, tsv, jsonl and txt, gzipped or not, one question a row."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from groundwire.streams.faces.errors import CommandError

_NAMES = ("query", "question", "problem", "q", "text", "a")


def read_questions(file: Path, column: str | None = None, limit: int | None = None) -> list[str]:
    """The questions of a file, empty rows left out.

    `column` names the csv column or JSON key; without it the usual names are tried. Raises CommandError when the file can't be
    read, has no such column, or holds no question.
    """
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{file}: can't be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise CommandError(f"{file}: can't be read: {error}") from None
    suffix = (Path(file.stem).suffix if file.suffix == ".gz" else file.suffix).lower()
    if suffix in (".csv", ".tsv"):
        rows = _table(file, text, "\t" if suffix == ".tsv" else ",", column)
    elif suffix in (".jsonl", ".ndjson"):
        rows = _json_lines(file, text, column)
    elif suffix in (".txt", ""):
        rows = iter(text.splitlines())
    else:
        raise CommandError(
            f"{file}: unknown kind of file `{suffix}`; give .csv, .tsv, .jsonl or .txt (or one of these as .gz)"
        )
    questions: list[str] = []
    for row in rows:
        if row.strip():
            questions.append(row.strip())
        if limit is not None and len(questions) >= limit:
            break
    if not questions:
        raise CommandError(f"{file}: holds no question")
    return questions


def _table(file: Path, text: str, delimiter: str, column: str | None) -> Iterator[str]:
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    names = list(reader.fieldnames or [])
    chosen = _choose(file, names, column)
    return ((row.get(chosen) or "") for row in reader)


def _json_lines(file: Path, text: str, column: str | None) -> Iterator[str]:
    chosen = column
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise CommandError(f"{file}: line {number} is not JSON") from None
        if isinstance(row, str):
            yield row
            continue
        if not isinstance(row, dict):
            raise CommandError(f"{file}: line {number} is neither an object nor a string")
        chosen = chosen or _choose(file, list(row), None)
        value = row.get(chosen)
        if not isinstance(value, str):
            raise CommandError(f"{file}: line {number} has no text under `{chosen}`")
        yield value


def _choose(file: Path, names: list[str], column: str | None) -> str:
    if column is not None:
        if column not in names:
            raise CommandError(f"{file}: no column `{column}`; there are: {', '.join(names) or 'none'}")
        return column
    for name in _NAMES:
        if name in names:
            return name
    raise CommandError(
        f"{file}: which column holds the questions? Name it with --column; there are: {', '.join(names)}"
    )
