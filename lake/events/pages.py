"""The checksums of a Parquet file's pages, looked at without decoding anything.

Decoding a file to check it takes as long as reading it; walking its page headers and taking a CRC-32 of what lies between
them takes a fraction. The headers are Thrift structs in the compact protocol, defined by the Parquet format
(github.com/apache/parquet-format: parquet.thrift, PageHeader; Thrift's thrift-compact-protocol.md).
"""

import zlib
from pathlib import Path

import pyarrow.parquet as pq

# PageHeader's fields that matter here.
_COMPRESSED_PAGE_SIZE = 3
_CRC = 4

# Types of the compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)


class DoubtfulPagesError(Exception):
    """A page's checksum does not fit, or what should be a page header can't be read as one."""


def check_pages(file: Path, metadata: pq.FileMetaData) -> None:
    """Compare every page with its checksum; pages without one pass.

    Raises DoubtfulPagesError at the first doubt (a reader that decodes must then decide), or OSError.
    """
    with file.open("rb") as content:
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for index in range(row_group.num_columns):
                column = row_group.column(index)
                start = column.dictionary_page_offset or column.data_page_offset
                content.seek(start)
                chunk = content.read(column.total_compressed_size)
                if len(chunk) != column.total_compressed_size:
                    raise DoubtfulPagesError("the file ends inside a column")
                _check_chunk(chunk)


def _check_chunk(chunk: bytes) -> None:
    view = memoryview(chunk)
    position = 0
    while position < len(chunk):
        try:
            position, size, crc = _page_header(chunk, position)
        except (IndexError, RecursionError):
            raise DoubtfulPagesError("a page header is cut off") from None
        if size < 0 or position + size > len(chunk):
            raise DoubtfulPagesError("a page reaches over the end of its column")
        if crc is not None and zlib.crc32(view[position : position + size]) != crc & 0xFFFFFFFF:
            raise DoubtfulPagesError("a page does not fit its checksum")
        position += size


def _page_header(chunk: bytes, position: int) -> tuple[int, int, int | None]:
    """Where the page's bytes begin, how many they are, and their CRC-32 when it is there."""
    size, crc = -1, None
    field = 0
    while True:
        position, field, kind = _field(chunk, position, field)
        if kind == _STOP:
            return position, size, crc
        if kind == _I32 and field in (_COMPRESSED_PAGE_SIZE, _CRC):
            position, value = _zigzag(chunk, position)
            if field == _CRC:
                crc = value
            else:
                size = value
        else:
            position = _skip(chunk, position, kind)


def _field(chunk: bytes, position: int, before: int) -> tuple[int, int, int]:
    """The next field of a struct: position after its header, id, type."""
    head = chunk[position]
    position += 1
    kind = head & 0x0F
    if head == _STOP:
        return position, before, _STOP
    if head >> 4:
        return position, before + (head >> 4), kind
    position, field = _zigzag(chunk, position)
    return position, field, kind


def _skip(chunk: bytes, position: int, kind: int) -> int:
    if kind in (_TRUE, _FALSE):
        return position
    if kind == _BYTE:
        return position + 1
    if kind in (_I16, _I32, _I64):
        return _varint(chunk, position)[0]
    if kind == _DOUBLE:
        return position + 8
    if kind == _BINARY:
        position, length = _varint(chunk, position)
        return position + length
    if kind == _STRUCT:
        field = 0
        while True:
            position, field, inner = _field(chunk, position, field)
            if inner == _STOP:
                return position
            position = _skip(chunk, position, inner)
    # Lists, sets and maps: no page header of today has one.
    raise DoubtfulPagesError("a page header holds a field of an unexpected type")


def _varint(chunk: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = chunk[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return position, value
        shift += 7
        if shift > 63:
            raise DoubtfulPagesError("a page header holds a number of more than 64 bits")


def _zigzag(chunk: bytes, position: int) -> tuple[int, int]:
    position, value = _varint(chunk, position)
    return position, (value >> 1) ^ -(value & 1)
