"""Rows of an SQLite file, read page by page without SQLite, so that one bad page hides no other.

Read are the cells that a page lists, never what lies between them: what was deleted stays deleted.
The format is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

Value = int | float | str | bytes | None
MAGIC = b"SQLite format 3\0"
USUAL_PAGE_BYTES = 4096
TABLE_LEAF, INDEX_LEAF, TABLE_INNER, INDEX_INNER = 13, 10, 5, 2
HEADER_BYTES = {TABLE_LEAF: 8, INDEX_LEAF: 8, TABLE_INNER: 12, INDEX_INNER: 12}
INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24


@dataclass(frozen=True)
class PageCell:
    """A row of a table, or an entry of an index."""

    page: int
    rowid: int
    """0 for an entry of an index."""
    values: tuple[Value, ...]


class PageFile:
    """A file that SQLite wrote, with what its log holds.

    Args:
        path: The file; its log has the same name with ``-wal`` behind it.
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("rb")
        head = self._file.read(100)
        self._page_bytes = _page_bytes(head)
        self._usable = self._page_bytes - (head[20] if head[:16] == MAGIC else 0)
        self._logged = _read_log(Path(f"{path}-wal"), self._page_bytes)
        size = self._file.seek(0, 2)
        self.count = max([-(-size // self._page_bytes), *self._logged])
        """How many pages there are, numbered from 1."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def rows(self) -> Iterator[PageCell]:
        """Every row of every table that can be read, whichever table it is of."""
        return self._cells(TABLE_LEAF)

    def rows_of(self, page: int) -> Iterator[PageCell]:
        """The rows of one page."""
        return self._cells_of(page, TABLE_LEAF)

    def index_entries(self) -> Iterator[PageCell]:
        """Every entry of every index that can be read."""
        yield from self._cells(INDEX_LEAF)
        yield from self._cells(INDEX_INNER)

    def owners(self, roots: Mapping[str, int]) -> dict[int, str]:
        """Which table each leaf belongs to that can be reached.

        Args:
            roots: The first page of each table.
        """
        found: dict[int, str] = {}
        for table, root in roots.items():
            waiting, seen = [root], set[int]()
            while waiting:
                number = waiting.pop()
                if number in seen:
                    continue
                seen.add(number)
                page = self._page(number)
                start = _start(number)
                if page[start : start + 1] == bytes([TABLE_LEAF]):
                    found.setdefault(number, table)
                elif page[start : start + 1] == bytes([TABLE_INNER]):
                    waiting += self._children(page, start)
        return found

    def _children(self, page: bytes, start: int) -> list[int]:
        places = _places(page, start, TABLE_INNER)
        children = [int.from_bytes(page[place : place + 4], "big") for place in places]
        return [*children, int.from_bytes(page[start + 8 : start + 12], "big")]

    def _cells(self, kind: int) -> Iterator[PageCell]:
        for number in range(1, self.count + 1):
            yield from self._cells_of(number, kind)

    def _cells_of(self, number: int, kind: int) -> Iterator[PageCell]:
        page, start = self._page(number), _start(number)
        if page[start : start + 1] != bytes([kind]):
            return
        for place in _places(page, start, kind):
            with suppress(ValueError, IndexError, struct.error):
                yield self._cell(number, page, place, kind)

    def _cell(self, number: int, page: bytes, place: int, kind: int) -> PageCell:
        if kind == INDEX_INNER:
            place += 4
        size, place = _varint(page, place)
        rowid = 0
        if kind == TABLE_LEAF:
            rowid, place = _varint(page, place)
            rowid -= (1 << 64) if rowid >= 1 << 63 else 0
        return PageCell(number, rowid, _values(self._payload(page, place, size, kind)))

    def _payload(self, page: bytes, place: int, size: int, kind: int) -> bytes:
        usable = self._usable
        most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return _exactly(page[place : place + size], size)
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= most else least
        found = [page[place : place + here]]
        following = int.from_bytes(page[place + here : place + here + 4], "big")
        left = size - here
        while left > 0:
            more = self._page(following)
            if not more or left > self.count * self._page_bytes:
                raise ValueError("the rest of a row is missing")
            found.append(more[4 : 4 + min(left, usable - 4)])
            left -= len(found[-1])
            following = int.from_bytes(more[:4], "big")
        return _exactly(b"".join(found), size)

    def _page(self, number: int) -> bytes:
        """A page; empty: there is none."""
        if number in self._logged:
            return self._logged[number]
        if not 1 <= number <= self.count:
            return b""
        self._file.seek((number - 1) * self._page_bytes)
        return self._file.read(self._page_bytes)


def _page_bytes(head: bytes) -> int:
    size = int.from_bytes(head[16:18], "big")
    size = 65_536 if size == 1 else size
    is_possible = 512 <= size <= 65_536 and size & (size - 1) == 0
    return size if head[:16] == MAGIC and is_possible else USUAL_PAGE_BYTES


def _read_log(path: Path, page_bytes: int) -> dict[int, bytes]:
    """The pages that were committed to a log, by number."""
    pages: dict[int, bytes] = {}
    with suppress(OSError), path.open("rb") as file:
        head, uncommitted = file.read(WAL_HEADER_BYTES), dict[int, bytes]()
        while len(frame := file.read(FRAME_HEADER_BYTES)) == FRAME_HEADER_BYTES:
            page = file.read(page_bytes)
            if frame[8:16] != head[16:24] or len(page) < page_bytes:
                break  # of an earlier round of the log, or torn
            number, size_after = struct.unpack(">II", frame[:8])
            uncommitted[number] = page
            if size_after:
                pages |= uncommitted
                uncommitted = {}
    return pages


def _start(number: int) -> int:
    """Where the tree's part of a page begins: the first page has the file's header."""
    return 100 if number == 1 else 0


def _places(page: bytes, start: int, kind: int) -> Iterator[int]:
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    first = start + HEADER_BYTES[kind]
    for at in range(first, min(first + 2 * count, len(page) - 1), 2):
        place = int.from_bytes(page[at : at + 2], "big")
        if first + 2 * count <= place < len(page):
            yield place


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError("a row is cut off")
    return data


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number, and where the next thing begins."""
    number = 0
    for length in range(1, 9):
        byte = data[place]
        place += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place
        if length == 8:
            break
    return number << 8 | data[place], place + 1


def _values(payload: bytes) -> tuple[Value, ...]:
    end, place = _varint(payload, 0)
    kinds = []
    while place < end:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    if place != end:
        raise ValueError("a row's header does not fit")
    values = []
    for kind in kinds:
        size = _size_of(kind)
        values.append(_value(kind, _exactly(payload[place : place + size], size)))
        place += size
    if place != len(payload):
        raise ValueError("a row does not fit its header")
    return tuple(values)


def _size_of(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return INTEGER_BYTES.get(kind, 8 if kind == 7 else 0)


def _value(kind: int, data: bytes) -> Value:
    if kind in INTEGER_BYTES:
        return int.from_bytes(data, "big", signed=True)
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        (number,) = struct.unpack(">d", data)
        return float(number)
    if kind >= 12:
        return data.decode("utf-8") if kind % 2 else data
    if kind == 0:
        return None
    raise ValueError("a row holds what no row can")
