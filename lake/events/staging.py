"""How a file gets into the lake whole or not at all: staged outside the tables, synced, renamed, the folder synced.

Every process stages in a folder of its own, `<lake>/.staging/<name>`, which it holds by a lock. What a crash left behind
is known by its free lock and is removed by the next process that opens the lake; the work in a living one is not touched.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from groundwire.lake.events.files import digest_of, file_name

STAGING_FOLDER = ".staging"
_LOCK_SUFFIX = ".lock"
_DOOR = "door"  # the lock that is held while staging folders come and go

_ADVICE = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space or raise the quota",
    errno.EROFS: "mount it writable, or set lake.path to another folder",
    errno.EACCES: "allow this user to write there, or set lake.path to another folder",
    errno.EPERM: "allow this user to write there, or set lake.path to another folder",
    errno.ENOTDIR: "a file stands where a folder is needed: move it away, or set lake.path to another folder",
    errno.EEXIST: "a file stands where a folder is needed: move it away, or set lake.path to another folder",
}


class LakeUnwritableError(OSError):
    """The lake can't be written now. Nothing half was left; the same call may simply be made again later."""

    def __init__(self, lake: Path, cause: OSError) -> None:
        why = cause.strerror or str(cause)
        advice = _ADVICE.get(cause.errno or 0, "see to the disk")
        super().__init__(f"the lake at {lake} can't be written: {why}. What to do: {advice}.")
        self.errno = cause.errno


@dataclass(slots=True)
class StagedFile:
    """A file on its way. `target` is where it went: known when the block has ended, for the name follows the content."""

    content: BinaryIO
    target: Path | None = None


class Staging:
    """One process's way into the lake. Opens itself at first use, so that a lake that can't be written yet is no
    obstacle to starting."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake
        self._root = lake / STAGING_FOLDER
        self._own: Path | None = None
        self._lock: FileLock | None = None

    @contextmanager
    def file(self, folder: Path, stem: str) -> Iterator[StagedFile]:
        """A file that stands in `folder`, durable, when the block ends well; its name is `stem` and its digest.

        When the block or the disk fails, nothing of it is left. Raises LakeUnwritableError for everything the disk refuses.
        """
        staged: Path | None = None
        try:
            staged = self._folder() / f"{secrets.token_hex(8)}.parquet"
            with staged.open("wb") as content:
                file = StagedFile(content)
                yield file
                content.flush()
                os.fsync(content.fileno())
            self._make_folder(folder)
            file.target = folder / file_name(stem, digest_of(staged))
            staged.replace(file.target)
            sync_folder(folder)
        except OSError as error:
            raise LakeUnwritableError(self.lake, error) from error
        finally:
            if staged is not None:
                _remove(staged)

    def close(self) -> None:
        """Give the staging folder back. The object may be used again; it then opens a new one."""
        if self._own is not None and self._lock is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._lock.release()
            _remove(Path(self._lock.lock_file))
        self._own = self._lock = None

    def _folder(self) -> Path:
        if self._own is None or not self._own.is_dir():
            self._own = self._open()
        return self._own

    def _open(self) -> Path:
        self.close()
        self._root.mkdir(parents=True, exist_ok=True)
        # Held while folders are made and removed, so that nobody takes a folder for abandoned before its owner locked it.
        with FileLock(self._root / _DOOR):
            self._remove_abandoned()
            own = self._root / f"{os.getpid()}-{secrets.token_hex(4)}"
            lock = FileLock(own.with_name(own.name + _LOCK_SUFFIX), thread_local=False)
            lock.acquire(blocking=False)
            own.mkdir()
        self._lock = lock
        return own

    def _remove_abandoned(self) -> None:
        for lock_file in self._root.glob(f"*{_LOCK_SUFFIX}"):
            lock = FileLock(lock_file, thread_local=False)
            try:
                lock.acquire(blocking=False)
            except Timeout:
                continue  # somebody is working there
            shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
            _remove(lock_file)
            lock.release()

    def _make_folder(self, folder: Path) -> None:
        missing = [parent for parent in (folder, *folder.parents) if not parent.is_dir()]
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing:
            sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):  # a read-only disk keeps it; the next process to open the lake removes it
        path.unlink(missing_ok=True)
