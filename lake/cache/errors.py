"""What can go wrong with the cache view, grouped by what can be done about it.

WriterBusy           another process writes this view: stand by and try again
ViewDamaged          files of the view can't be read: open the writer again, it sets them aside and the log refills it
EmbedderUnavailable  no model for vectors: the message says which settings would help
OSError              the disk is full, read-only or gone: make room or permit, then the same batch can be applied again
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# LanceDB hands the operating system's error on as text only.
_OS_ERROR = re.compile(r"os error (\d+)")
_ADVICE = {
    errno.ENOSPC: "the disk is full: make room, or move `cache.path`",
    errno.EDQUOT: "the disk quota is used up: make room, or move `cache.path`",
    errno.EROFS: "the folder is on a read-only file system: mount it writable, or move `cache.path`",
    errno.EACCES: "this user may not write there: fix the permissions, or move `cache.path`",
    errno.EPERM: "this user may not write there: fix the permissions, or move `cache.path`",
    errno.EMFILE: "too many open files: raise the limit (`ulimit -n`)",
}


class WriterBusy(Exception):  # noqa: N818 - names a state one can act on
    """Another process holds the writer lock of this view."""


class ViewDamaged(Exception):  # noqa: N818 - names a state one can act on
    """Files of the view can't be read. Nothing is lost: the log holds everything."""


class EmbedderUnavailable(Exception):  # noqa: N818 - names a state one can act on
    """No model to make vectors with. The message says what to do."""


def os_error(code: int, path: Path) -> OSError:
    """The operating system's error with what to do about it."""
    return OSError(code, f"cache view: {_ADVICE.get(code) or os.strerror(code)}", str(path))


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn LanceDB's errors into ours: OSError where the operating system said no, else ViewDamaged."""
    try:
        yield
    except (ViewDamaged, WriterBusy):
        raise
    except OSError as error:
        if error.errno is not None and error.errno != errno.ENOENT:
            raise os_error(error.errno, path) from error
        raise ViewDamaged(f"{path}: {_short(error)}") from error
    except (RuntimeError, ValueError) as error:  # LanceDB's own: RuntimeError from Rust, ValueError for a missing table
        code = _code(error)
        if code is not None and code != errno.ENOENT:
            raise os_error(code, path) from error
        raise ViewDamaged(f"{path}: {_short(error)}") from error


def _code(error: Exception) -> int | None:
    found = _OS_ERROR.search(str(error))
    return int(found.group(1)) if found else None


def _short(error: Exception) -> str:
    return str(error).split(", /", 1)[0][:300]
