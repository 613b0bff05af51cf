"""Events as Parquet: written so that a crash leaves nothing half, read so that each event counts once."""
