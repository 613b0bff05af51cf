"""Where the program begins: Ctrl-C is quiet from here on, also while the rest is being imported."""

import os
import signal
import sys

INTERRUPTED = 130


def run_command() -> None:
    """Import everything, then run the command and end with its exit code."""
    # Nothing is begun yet that would want an orderly end. Where Ctrl-C is ignored (a job in the background), it stays so.
    guarded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if guarded:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from groundwire.streams.faces.cli.main import main

    if guarded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except Exception as error:
        # What a command imports by itself may be hit as well, and then wraps the interruption into an error of its own.
        if not _was_interrupted(error):
            raise
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _was_interrupted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
