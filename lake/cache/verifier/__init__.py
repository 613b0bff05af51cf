"""May the stored answer of one question be served for another? Structural checks on the two texts.

Similarity of vectors cannot tell "flights from Oslo to Rome" from the way back, so every semantic candidate has to pass
here first. Pure functions of two query texts: no model, no I/O.
"""

from groundwire.lake.cache.verifier.verdict import Check, Verdict, verify

__all__ = ["Check", "Verdict", "verify"]
