"""The floor the view stands on: errors that say what to do, bounded memory, and files that go when nobody needs them."""

import errno
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from groundwire.lake.cache import recovery, segments, vector_table
from groundwire.lake.cache.errors import ViewDamaged, WriterBusy, store_errors
from groundwire.lake.cache.exact import RecentAnswers
from groundwire.lake.cache.layout import SEGMENT_SCHEMA, vector_of, vectors_name
from groundwire.lake.cache.store import Store
from groundwire.schemas.lookup import Embedding
from tests.unit.cache_views import DIMENSIONS, MODEL, batch, entry, opened, put, settings_in


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (
            RuntimeError("lance error: LanceError(IO): No space left on device (os error 28), /rustc/x.rs:1"),
            errno.ENOSPC,
        ),
        (RuntimeError("Read-only file system (os error 30)"), errno.EROFS),
        (OSError(errno.EACCES, "Permission denied"), errno.EACCES),
        (ValueError("Permission denied (os error 13)"), errno.EACCES),
        (OSError(errno.EIO, "Input/output error"), errno.EIO),
    ],
)
def test_what_the_system_refuses_is_an_os_error_with_advice(raised: Exception, code: int, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cache view") as caught, store_errors(tmp_path):
        raise raised
    assert caught.value.errno == code
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "raised",
    [
        RuntimeError("lance error: Invalid range 0..10 for object of size 5, /rustc/x.rs:1"),
        RuntimeError("Not found: data/1.lance (os error 2)"),
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        ValueError("Table 'entries_1' was not found"),
    ],
)
def test_what_is_missing_or_broken_is_damage(raised: Exception, tmp_path: Path) -> None:
    with pytest.raises(ViewDamaged) as caught, store_errors(tmp_path):
        raise raised
    assert "/rustc/" not in str(caught.value)


@pytest.mark.parametrize("ours", [ViewDamaged("known"), WriterBusy("known")])
def test_our_own_errors_pass_as_they_are(ours: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(ours), match=r"^known$"), store_errors(tmp_path):
        raise ours


def test_answers_in_memory_go_by_last_use_and_bytes() -> None:
    answers = RecentAnswers(1000)
    answers.put(1, "a" * 200)
    answers.put(2, "b" * 200)
    assert answers.get(1) == "a" * 200
    answers.put(3, "c" * 200)
    assert (answers.get(1), answers.get(2), answers.get(3)) == ("a" * 200, None, "c" * 200)
    answers.put(4, "d" * 2000)
    assert answers.get(4) is None
    assert len(answers) == 2
    # A wider alphabet takes twice the bytes; putting again replaces.
    answers.put(1, "가" * 100)
    assert answers.bytes == 400 + 400
    answers.drop(1)
    answers.drop(1)
    assert answers.bytes == 400


def test_answers_read_ahead_never_push_out_what_is_in_use() -> None:
    answers = RecentAnswers(1000)
    assert answers.put_last(9, "x" * 200)
    answers.put(1, "a" * 200)
    assert not answers.put_last(8, "y" * 200)
    assert answers.put_last(1, "not again")
    assert answers.get(1) == "a" * 200
    answers.put(2, "b" * 200)
    assert (answers.get(9), answers.get(1), answers.get(2)) == (None, "a" * 200, "b" * 200)
    assert answers.bytes == 800


def test_a_vector_that_is_not_what_it_says_is_none() -> None:
    assert vector_of(entry("a", embedding=None, with_vector=False)) is None
    assert vector_of(entry("a", embedding=Embedding(model="m", dimensions=2, float16="not base64!"))) is None
    assert vector_of(entry("a", embedding=Embedding(model="m", dimensions=3, float16="AAAAAA=="))) is None
    given = vector_of(entry("a", embedding=Embedding.of("m", [1.0, -0.5])))
    assert given is not None
    assert (given.model, len(given.packed)) == ("m", 4)


def test_table_names_carry_model_and_dimensions() -> None:
    assert (
        vectors_name("sentence-transformers/Some_Model v2", 384) == "vectors__sentence-transformers-some-model-v2__384"
    )


def test_files_that_a_compaction_replaced_go_when_nobody_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 301)
    monkeypatch.setattr(vector_table, "INDEX_ROWS", 256)
    writer = opened(settings)
    for at in range(40):
        writer.apply(batch(*(put(f"k{at}-{number}") for number in range(8)), begin=8 * at))
    writer.optimize(wait=True)
    store = Store(settings.cache_path)
    table = vectors_name(MODEL, DIMENSIONS)
    names = [store.segments()[0], table]
    assert all(store.versions(name) > 1 for name in names)
    at_once = timedelta(milliseconds=1)
    monkeypatch.setattr(segments, "KEPT_VERSIONS", at_once)
    monkeypatch.setattr(vector_table, "KEPT_VERSIONS", at_once)
    writer.optimize(wait=True)
    assert store.versions(names[0]) == 1
    assert store.versions(table) == 1
    writer.close()


@pytest.mark.parametrize("name", ["_set_aside", "_remove"])
def test_what_cannot_be_moved_out_of_the_way_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refused)
    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(OSError, match="read-only file system"):
        getattr(recovery, name)(tmp_path)


def test_a_store_that_is_not_there_has_no_tables(tmp_path: Path) -> None:
    store = Store(tmp_path / "nowhere")
    assert store.segments() == []
    with pytest.raises(ViewDamaged):
        store.table("entries_0000000000000001")


def test_reading_past_the_end_of_a_table_is_no_rows(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create("entries_0000000000000001", SEGMENT_SCHEMA)
    assert store.tail("entries_0000000000000001", ["seq"], 5).num_rows == 0
    store.close()


def test_ttl_rules_do_not_cost_a_worker_the_store() -> None:
    """fetch and unify ask how long an answer lives; LanceDB would be 100 MiB for nothing."""
    code = "import sys, groundwire.lake.cache.expiry; sys.exit('lancedb' in sys.modules or 'pyarrow' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
