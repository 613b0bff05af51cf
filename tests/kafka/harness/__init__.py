"""Everything needed to prove a promise on a real Apache Kafka: brokers, roles, load, and ways to break them.

Nothing here imports groundwire: the pipeline is driven and judged from outside, by its commands, its topics, its Parquet
files, and the vendors' invoice.
"""
