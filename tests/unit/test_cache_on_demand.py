"""The writer's embedder: known without being loaded, the same vectors once it is."""

import pytest

from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.lake.cache.on_demand import OnDemandEmbedder
from groundwire.schemas.settings import EmbeddingSettings


def test_it_says_what_the_loaded_one_says_and_makes_the_same_vectors() -> None:
    settings = EmbeddingSettings()
    on_demand, loaded = OnDemandEmbedder(settings), Embedder.load(settings)
    assert (on_demand.model, on_demand.dimensions) == (loaded.model, loaded.dimensions)
    assert on_demand.embed_now("the same text") == loaded.embed_now("the same text")
    loaded.close()


def test_nothing_is_loaded_before_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Embedder:
        raise EmbedderUnavailable("no model here")

    monkeypatch.setattr(Embedder, "load", refuse)
    on_demand = OnDemandEmbedder(EmbeddingSettings())
    with pytest.raises(EmbedderUnavailable):
        on_demand.embed_now("now it is needed")
