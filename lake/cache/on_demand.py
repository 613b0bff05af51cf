"""An embedder that loads its model when the first text comes.

A cache writer hardly ever needs one: entries bring their vectors, made when the question was looked up. Only after a change of
model must it make them anew. Until then it does without the model's 220 MiB.
"""

import threading

from groundwire.lake.cache.embedder import PACKAGED_DIMENSIONS, PACKAGED_MODEL, Embedder
from groundwire.schemas.settings import EmbeddingSettings


class OnDemandEmbedder:
    """Stands for the packaged model, whose name and dimensions are known without loading it."""

    model = PACKAGED_MODEL
    dimensions = PACKAGED_DIMENSIONS

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._loaded: Embedder | None = None
        self._lock = threading.Lock()

    def embed_now(self, text: str) -> list[float]:
        """The text's vector. Raises EmbedderUnavailable when the model can't be loaded."""
        with self._lock:
            if self._loaded is None:
                self._loaded = Embedder.load(self._settings)
        return self._loaded.embed_now(text)
