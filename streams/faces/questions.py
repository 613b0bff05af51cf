"""Files of questions, with their answers where they are known: csv, tsv, jsonl and txt, gzipped or not, one question a row."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from groundwire.streams.faces.errors import CommandError

_NAMES = ("query", "question", "problem", "q", "text", "a")

# A question, and its answer or "".
_Row = tuple[str, str]


def read_questions(file: Path, column: str | None = None, limit: int | None = None) -> list[str]:
    """The questions of a file, empty rows left out.

    `column` names the csv column or JSON key; without it the usual names are tried. Raises CommandError when the file can't be
    read, has no such column, or holds no question.
    """
    return [question for question, _ in _read(file, column, None, limit)]


def read_answered(
    file: Path, column: str | None, answer_column: str, limit: int | None = None
) -> list[tuple[str, str]]:
    """Questions with their answers. Raises CommandError as `read_questions`, and where an answer is missing."""
    rows = _read(file, column, answer_column, limit)
    unanswered = next((question for question, answer in rows if not answer), None)
    if unanswered is not None:
        raise CommandError(f"{file}: nothing under `{answer_column}` for the question: {unanswered[:80]}")
    return rows


def _read(file: Path, column: str | None, answer_column: str | None, limit: int | None) -> list[_Row]:
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{file}: can't be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise CommandError(f"{file}: can't be read: {error}") from None
    suffix = (Path(file.stem).suffix if file.suffix == ".gz" else file.suffix).lower()
    if suffix in (".csv", ".tsv"):
        rows = _table(file, text, "\t" if suffix == ".tsv" else ",", column, answer_column)
    elif suffix in (".jsonl", ".ndjson"):
        rows = _json_lines(file, text, column, answer_column)
    elif suffix in (".txt", ""):
        if answer_column is not None:
            raise CommandError(f"{file}: a text file has no column `{answer_column}`; give .csv, .tsv or .jsonl")
        rows = ((line, "") for line in text.splitlines())
    else:
        raise CommandError(
            f"{file}: unknown kind of file `{suffix}`; give .csv, .tsv, .jsonl or .txt (or one of these as .gz)"
        )
    questions: list[_Row] = []
    for question, answer in rows:
        if question.strip():
            questions.append((question.strip(), answer.strip()))
        if limit is not None and len(questions) >= limit:
            break
    if not questions:
        raise CommandError(f"{file}: holds no question")
    return questions


def _table(file: Path, text: str, delimiter: str, column: str | None, answer_column: str | None) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    names = list(reader.fieldnames or [])
    chosen = _choose(file, names, column)
    answers = None if answer_column is None else _choose(file, names, answer_column)
    return ((row.get(chosen) or "", "" if answers is None else row.get(answers) or "") for row in reader)


def _json_lines(file: Path, text: str, column: str | None, answer_column: str | None) -> Iterator[_Row]:
    chosen = column
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise CommandError(f"{file}: line {number} is not JSON") from None
        if isinstance(row, str) and answer_column is None:
            yield row, ""
            continue
        if not isinstance(row, dict):
            raise CommandError(f"{file}: line {number} is neither an object nor a string")
        chosen = chosen or _choose(file, list(row), None)
        wanted = [chosen] if answer_column is None else [chosen, answer_column]
        for name in wanted:
            if not isinstance(row.get(name), str):
                raise CommandError(f"{file}: line {number} has no text under `{name}`")
        yield row[chosen], "" if answer_column is None else row[answer_column]


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
