"""The answer cache: a LanceDB view of `search.cache-writes.v1`, its exact and semantic tiers, and how long answers live.

Import from the modules: nothing is re-exported here, so that a worker which only needs to know how long an answer lives does
not carry LanceDB (two seconds and 100 MiB).
"""

import os

# LanceDB reads it when it is imported. Its warnings are about its own inner steps, on stderr past our log; what matters comes
# as an error.
os.environ.setdefault("LANCEDB_LOG", "error")
