"""Wiring: which topic goes through which stage in which role. Short enough to read at a glance."""
