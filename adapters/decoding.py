"""Decompression with a cap on what comes out, so that a small answer can't fill the memory."""

import zlib

ACCEPTED = "gzip, deflate"


class TooLarge(Exception):  # noqa: N818 - caught and named by http.py
    """More comes out than is allowed."""


class NotDecodable(Exception):  # noqa: N818 - caught and named by http.py
    """A content encoding that was not asked for, or bytes that do not follow it."""


class Decoder:
    """Fed with the bytes of the wire, gives the body. At most `limit` bytes ever exist of it."""

    def __init__(self, encoding: str, limit: int) -> None:
        names = [
            name.strip().lower() for name in encoding.split(",") if name.strip() and name.strip().lower() != "identity"
        ]
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            raise NotDecodable(f"content encoding `{encoding[:40]}`, which was not asked for")
        self._deflate = bool(names) and names[0] == "deflate"
        self._inflater = zlib.decompressobj(wbits=47) if names else None
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._begun = False

    def feed(self, chunk: bytes) -> None:
        """Raises TooLarge or NotDecodable."""
        if self._inflater is None:
            self._add(chunk)
            return
        while chunk:
            out = self._inflate(chunk)
            self._add(out)
            chunk = self._inflater.unconsumed_tail
            if self._inflater.eof and self._inflater.unused_data:  # gzip members one after the other
                chunk = self._inflater.unused_data
                self._inflater = zlib.decompressobj(wbits=47)

    def finish(self) -> bytes:
        """The whole body. Raises NotDecodable when the compressed data is cut off."""
        if self._inflater is not None and self._begun and not self._inflater.eof:
            raise NotDecodable("compressed data cut off")
        return b"".join(self._parts)

    def _inflate(self, chunk: bytes) -> bytes:
        assert self._inflater is not None  # noqa: S101 - `feed` looked
        room = self._limit - self._size + 1
        try:
            out = self._inflater.decompress(chunk, room)
        except zlib.error:
            if self._begun or not self._deflate:
                raise NotDecodable("not what its content encoding says") from None
            self._inflater = zlib.decompressobj(wbits=-15)  # servers that send deflate without its wrapper
            try:
                out = self._inflater.decompress(chunk, room)
            except zlib.error:
                raise NotDecodable("not what its content encoding says") from None
        self._begun = True
        return out

    def _add(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise TooLarge
        self._parts.append(data)
