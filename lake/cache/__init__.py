"""The answer cache: a LanceDB view of `search.cache-writes.v1`, its exact and semantic tiers, and how long answers live.

Import from the modules: this one stays empty, so that a worker which only needs to know how long an answer lives does not
carry LanceDB (two seconds and 100 MiB).
"""
