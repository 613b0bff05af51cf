"""Errors that end a command with one message and exit code 2."""


class CommandError(Exception):
    """Misuse, or something the command needs is not there. The message says what, where, and what to do."""
