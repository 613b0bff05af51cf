"""The `groundwire` command: one short file a command group."""
