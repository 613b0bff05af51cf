"""A file is looked at once as it stands, and the judgement says why."""

import os
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from groundwire.lake.events import files, soundness
from groundwire.lake.events.files import days, digest_of, file_name, stated_digest
from groundwire.lake.events.scan import TableReader
from groundwire.lake.events.soundness import UnreadableError, condemn, look_at, read_columns
from groundwire.lake.events.tables import ATTEMPTS, REQUESTS
from groundwire.lake.events.window import Window
from tests.unit.lake_events import DAY_MS, MORNING_MS, hit_event, land, parquet_files, records, request_event


@pytest.fixture
def file(tmp_path: Path) -> Path:
    land(tmp_path, records([request_event(number) for number in range(5)]))
    return parquet_files(tmp_path)[0]


def test_a_files_name_ends_in_the_digest_of_its_bytes(file: Path) -> None:
    assert stated_digest(file) == digest_of(file)
    assert file.name == file_name("search.events.v1-0-0-4", digest_of(file))


@pytest.mark.parametrize("name", ["data_0.parquet", "part-0.snappy.parquet", "a.0123456789abcde.parquet", "a.parquet"])
def test_other_tools_names_state_no_digest(name: str) -> None:
    assert stated_digest(Path(name)) is None


def test_a_file_as_written_may_be_read_with_many_others(file: Path) -> None:
    assert look_at(file, REQUESTS) == soundness.Verdict(None, exact=True)


def test_a_file_under_another_name_is_read_by_itself(file: Path) -> None:
    other = file.rename(file.with_name("other.parquet"))
    assert look_at(other, REQUESTS) == soundness.Verdict(None, exact=False)


def test_a_file_is_looked_at_once_as_long_as_it_stays_as_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    real = soundness._examine

    def noting(*arguments: object) -> bool:
        looked.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(soundness, "_examine", noting)
    for _ in range(3):
        look_at(file, REQUESTS)
    assert len(looked) == 1
    state = file.stat()
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    look_at(file, REQUESTS)
    assert len(looked) == 2


def test_the_tables_have_judgements_of_their_own(file: Path) -> None:
    assert look_at(file, REQUESTS).reason is None
    assert "attempts" in (look_at(file, ATTEMPTS).reason or "")


def test_a_condemned_file_stays_so_until_it_changes(file: Path) -> None:
    condemn(file, REQUESTS, "worn out")
    assert look_at(file, REQUESTS).reason == "worn out"
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content + b"")
    os.utime(file, ns=(1, 1))
    assert look_at(file, REQUESTS).reason is None


def test_a_file_that_is_gone_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        look_at(tmp_path / "gone.parquet", REQUESTS)
    with pytest.raises(FileNotFoundError):
        read_columns(tmp_path / "gone.parquet", REQUESTS, ["event_id"])
    with pytest.raises(FileNotFoundError):
        soundness._examine(tmp_path / "gone.parquet", REQUESTS)


def test_a_reason_is_one_line(file: Path) -> None:
    file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(UnreadableError) as failure:
        read_columns(file, REQUESTS, ["event_id"])
    assert 0 < len(str(failure.value)) <= 300
    assert "\n" not in str(failure.value)
    assert soundness._first_line(ValueError("")) == "ValueError"


def test_a_file_as_written_but_with_other_types_is_read_by_itself(file: Path) -> None:
    """As an older or newer version of ours might have written it."""
    table = pq.ParquetFile(file).read()
    other = file.with_name("other.parquet")
    pq.write_table(table.set_column(8, "depth", table["depth"].cast("int64")), other)
    other = other.rename(other.with_name(file_name("other", digest_of(other))))
    assert look_at(other, REQUESTS) == soundness.Verdict(None, exact=False)


@pytest.mark.parametrize(("name", "values"), [("depth", [2**40] * 5), ("depth", ["5"] * 5), ("tenant", [5] * 5)])
def test_values_of_another_kind_are_never_read_as_ours(file: Path, name: str, values: list[object]) -> None:
    table = pq.ParquetFile(file).read()
    other = file.with_name("other.parquet")
    pq.write_table(table.set_column(table.column_names.index(name), name, [values]), other)
    with pytest.raises(UnreadableError, match=f"`{name}`"):
        read_columns(other, REQUESTS, ["event_id", name])


def test_columns_of_kindred_types_are_cast_and_missing_ones_are_null(file: Path) -> None:
    table = pq.ParquetFile(file).read().drop_columns(["error_kind"])
    changed = table.set_column(0, "request_id", table["request_id"].dictionary_encode())
    other = file.with_name("other.parquet")
    pq.write_table(changed, other)
    found = read_columns(other, REQUESTS, ["request_id", "error_kind", "depth"])
    assert found.schema == REQUESTS.schema.empty_table().select(["request_id", "error_kind", "depth"]).schema
    assert found["request_id"].to_pylist() == [f"id-{number}" for number in range(5)]
    assert found["error_kind"].null_count == 5


def test_a_letter_changed_in_a_page_is_noticed_though_it_would_read_well(file: Path) -> None:
    other = file.with_name("other.parquet")
    table = pq.ParquetFile(file).read()
    pq.write_table(table, other, compression="none", use_dictionary=False, write_page_checksum=True)
    assert look_at(other, REQUESTS).reason is None
    content = other.read_bytes()
    other.unlink()
    place = content.index(b"How high is mountain 2?")
    other.write_bytes(content[:place] + b"Cow" + content[place + 3 :])
    assert "CRC" in (look_at(other, REQUESTS).reason or "")


def test_a_listing_taken_while_files_come_and_go_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compaction had removed the sources from behind the listing, and put the merged file before where it had got to."""
    merged, other = tmp_path / "merged.parquet", tmp_path / "other.parquet"
    listings = iter([[], [merged], [merged, other], [merged, other], [other]])
    monkeypatch.setattr(files, "_listing", lambda folder: next(listings))
    assert files.day_files(tmp_path, REQUESTS, date(2026, 12, 5)) == [merged, other]


def test_the_reader_gives_a_day_at_a_time_and_only_what_is_asked(tmp_path: Path) -> None:
    first = [request_event(1), request_event(2), hit_event(1)]
    second = [request_event(3, at_ms=MORNING_MS + DAY_MS), hit_event(2, at_ms=MORNING_MS + DAY_MS)]
    land(tmp_path, records([*first, *second]))
    other = parquet_files(tmp_path)[0]
    other.rename(other.with_name("other.parquet"))
    reader = TableReader(tmp_path, REQUESTS, Window.of("2026-12-05T10:00:00Z", "2026-12-08"))
    frames = list(reader.frames(["request_id", "date"], pl.col("cost_micro_usd") == 1000, None, None))
    assert [frame["request_id"].to_list() for frame in frames] == [["id-1", "id-2"], ["id-3"]]
    assert frames[0].columns == ["request_id", "date"]
    assert [frame.height for frame in reader.frames(None, None, 2, None)] == [2]
    assert [frame.height for frame in reader.frames(None, None, 3, None)] == [2, 1]


def test_the_reader_notes_what_it_leaves_out(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    [bad] = parquet_files(tmp_path)
    bad.write_bytes(b"")
    reader = TableReader(tmp_path, REQUESTS, Window())
    assert [frame.height for frame in reader.frames(None, None, None, None)] == [0]
    assert list(reader.left_out) == [str(bad.relative_to(tmp_path))]


def test_a_file_in_place_of_a_table_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "requests").write_text("a file")
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts" / "date=2026-12-05").write_text("a file")
    assert days(tmp_path, REQUESTS) == []
    assert days(tmp_path, ATTEMPTS) == []
