"""What the lake says: cost, savings against a named baseline, hit rates, latency, verbosity; as data and as one HTML page."""
