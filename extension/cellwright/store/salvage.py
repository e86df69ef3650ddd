"""Put into a record what can be read in a damaged one, and count what cannot.

Events and their parts carry hashes of what is in them, so a row of theirs is known wherever it
lies, and is either what was written or left out. What follows from them (the line of a run in the
list, which parts and files it uses) is made anew. Other rows are taken where the page that holds
them still belongs to its table.

Not put back: vectors, which are made anew when they are needed; the indexes of words, which the
record makes itself; libraries, where the record has some already.
"""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import struct
import time
from bisect import bisect
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from cellwright.errors import StoreError
from cellwright.record.events import Notice
from cellwright.store.database import (
    Database,
    OpenOptions,
    Statement,
    is_sound,
    open_database,
    open_memory,
    set_aside,
)
from cellwright.store.event_rows import (
    BLOB_KEY,
    INSERT_PART,
    INSERT_USE,
    INSERT_USED,
    UNREADABLE_CODE,
    BlobFolder,
    event_of,
    is_intact,
    loaded,
    names_in,
    names_in_part,
    sha_of,
)
from cellwright.store.runs import (
    INSERT_BLOB_USE,
    INSERT_EVENT,
    INSERT_RUN,
    RunSummary,
    incomplete,
    run_row,
    summary_of_row,
    summed,
)

# Rows of an SQLite file, read page by page without SQLite, so that one bad page hides no other.
#
# Read are the cells that a page lists, never what lies between them: what was deleted stays
# deleted.
# The format is that of https://www.sqlite.org/fileformat2.html.


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
        places = _cell_places(page, start, TABLE_INNER)
        children = [int.from_bytes(page[place : place + 4], "big") for place in places]
        return [*children, int.from_bytes(page[start + 8 : start + 12], "big")]

    def _cells(self, kind: int) -> Iterator[PageCell]:
        for number in range(1, self.count + 1):
            yield from self._cells_of(number, kind)

    def _cells_of(self, number: int, kind: int) -> Iterator[PageCell]:
        page, start = self._page(number), _start(number)
        if page[start : start + 1] != bytes([kind]):
            return
        for place in _cell_places(page, start, kind):
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


def _cell_places(page: bytes, start: int, kind: int) -> Iterator[int]:
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


RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
BLOB_NAME = re.compile(rf'"{BLOB_KEY}":"([0-9a-f]{{64}})"')
BATCH_ROWS = 500
LEFT_OUT = frozenset(
    {"migrations", "chat_claims", "block_vectors", "library_vectors", "part_uses", "run_parts"}
)
"""Of a moment that is over, or made anew."""
OWN_NUMBERS = ("parts", "blocks")
"""Their rows get the numbers of the record that they are put into."""
REPAIRED = ".repaired-"
CLOSE_SECONDS = 1.0


@dataclass(frozen=True)
class Salvage:
    """What was read back from a file."""

    source: Path
    """The file, as it is called now."""
    runs: int = 0
    """Runs of which there is a trace."""
    whole: int = 0
    """Those of which every event is in the record."""
    events: int = 0
    """Events of which there is a trace."""
    lost_events: int = 0
    """Those that are not in the record."""
    lacking: int = 0
    """Runs of which every event is there, but not some text that they shared with others."""
    missing_texts: int = 0
    """Large texts of those events whose files are gone."""

    def __str__(self) -> str:
        if not self.runs:
            return f"No run can be read in {self.source.name!r}."
        said = f"{self.whole} of {self.runs} runs in {self.source.name!r} are whole in the record."
        if self.lacking:
            said += f" {self.lacking} more lack a text that runs shared."
        if self.lost_events and not self.events:
            said += " All events are lost."
        elif self.lost_events:
            said += f" {self.lost_events} of {self.events} events are lost."
        return said + (f" {self.missing_texts} large texts are lost." if self.missing_texts else "")


def repair(path: Path, source: Path | None = None) -> tuple[Salvage, ...]:
    """Read back into a record what damaged ones hold; each of them is kept.

    Args:
        path: The record. Where it is damaged itself, it is set aside first.
        source: A file to read, which stays as it is; None: what was set aside here.

    Raises:
        OSError: A file cannot be read.
        StoreError: The record does not take what was read.
    """
    if source is not None and not (path.exists() and source.samefile(path)):
        return (_salvage_into(path, source),)
    if path.exists() and not is_sound(path):
        set_aside(path, "is damaged")
    found = []
    for aside in list_set_aside(path):
        done = _salvage_into(path, aside)
        found.append(replace(done, source=_rename(aside)))
    return tuple(found)


def list_set_aside(path: Path) -> tuple[Path, ...]:
    """The damaged files that once were this record, and were not read back yet."""
    found = sorted(path.parent.glob(f"{path.name}.corrupt-*"))
    return tuple(file for file in found if not file.name.endswith(("-wal", "-shm")))


def _salvage_into(path: Path, source: Path) -> Salvage:
    with closing(open_database(path)) as database:
        done = salvage(source, database)
        database.flush(OpenOptions().busy_seconds)
        if not database.is_durable:
            raise OSError(f"{str(path)!r} cannot be written: {database.problem}")
    return done


def _rename(aside: Path) -> Path:
    """Keep the file under a name that says that it need not be read again."""
    name = aside.name.replace(".corrupt-", REPAIRED, 1)
    for ending in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            Path(f"{aside}{ending}").rename(aside.with_name(name + ending))
    return aside.with_name(name)


def salvage(source: Path, database: Database) -> Salvage:
    """Put every row of a file that can be read into a database.

    Raises:
        OSError: The file cannot be read.
    """
    with PageFile(source) as file:
        found = _read(file)
    has_libraries = bool(database.read("SELECT 1 FROM libraries LIMIT 1"))
    statements = _statements(found, with_libraries=not has_libraries)
    while batch := tuple(islice(statements, BATCH_ROWS)):
        try:
            database.write(*batch)
        except StoreError:  # one row that cannot be a row costs no other
            for statement in batch:
                with suppress(StoreError):
                    database.write(statement)
    return _settle(found, source, database)


@dataclass
class _SalvagedRows:
    """The rows of a file."""

    events: dict[tuple[str, int], PageCell] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    others: list[tuple[str, _Table, PageCell]] = field(default_factory=list)
    known: dict[str, set[int]] = field(default_factory=dict)
    """By run, the numbers of events of which there is a trace."""


def _read(file: PageFile) -> _SalvagedRows:
    tables = _tables(file)
    owners = file.owners({name: table.root for name, table in tables.items() if table.root})
    found, rows = _SalvagedRows(), dict[int, PageCell]()
    for cell in file.rows():
        table = _table_of(cell, owners, tables)
        if table == "events":
            rows[cell.rowid] = cell
        elif table == "parts":
            found.parts[str(cell.values[1])] = str(cell.values[2])
        elif table and table not in LEFT_OUT:
            found.others.append((table, tables[table], cell))
            if table == "runs":
                found.known.setdefault(str(cell.values[0]), set())
    for rowid, (run_id, sequence) in _places(rows, _indexed(file)).items():
        found.known.setdefault(run_id, set()).add(sequence)
        if rowid in rows:
            cell = rows[rowid]
            _, _, at, _, data, sha = cell.values
            kind = json.loads(str(data))["kind"]  # the hash vouches for this one
            values = (run_id, sequence, at, kind, data, sha)
            found.events[run_id, sequence] = replace(cell, values=values)
    listed = {str(cell.values[0]) for name, _, cell in found.others if name == "runs"}
    for run_id in [
        run for run, known in found.known.items() if len(known) < 2 and run not in listed
    ]:
        # A run leaves more than one trace; this is the id of another one with a changed sign.
        del found.known[run_id]
    found.events = {key: cell for key, cell in found.events.items() if key[0] in found.known}
    return found


_Place = tuple[str, int]
"""The run of an event, and its number there."""


def _indexed(file: PageFile) -> dict[int, _Place]:
    """What the index of events says of each row of theirs, also of those that cannot be read."""
    entries = dict[int, _Place]()
    for cell in file.index_entries():
        match cell.values:
            case (str() as run_id, int() as sequence, int() as rowid) if RUN_ID.fullmatch(run_id):
                entries[rowid] = (run_id, sequence)
    return entries


def _places(rows: Mapping[int, PageCell], entries: Mapping[int, _Place]) -> dict[int, _Place]:
    """Where each event belongs, by the number of its row.

    No hash vouches for a run's id and an event's number, but rows and index both tell them. Where
    they agree they are right. Where they do not, or where the index alone tells of an event, the
    rows before and after it in the same run decide: events are written in the order of their
    numbers, so between two of a run there lie at least as many rows as numbers.
    """
    told = {rowid: (str(cell.values[0]), int(cell.values[1] or 0)) for rowid, cell in rows.items()}
    sure: dict[str, list[tuple[int, int]]] = {}
    for rowid in sorted(told):
        run_id, sequence = told[rowid]
        if entries.get(rowid) == told[rowid]:
            sure.setdefault(run_id, []).append((rowid, sequence))

    def fits(rowid: int, place: _Place) -> bool:
        near = sure.get(place[0], [])
        at = bisect(near, (rowid, 0))
        before, after = near[max(at - 1, 0) : at], near[at : at + 1]
        return all(0 < place[1] - number <= rowid - row for row, number in before) and all(
            0 < number - place[1] <= row - rowid for row, number in after
        )

    placed = dict(told)
    for rowid, place in entries.items():
        if told.get(rowid) == place or not fits(rowid, place):
            continue
        if rowid not in told or not fits(rowid, told[rowid]):
            placed[rowid] = place
    return placed


@dataclass(frozen=True)
class _Table:
    """A table as the file's own schema has it, or as it is today."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    number: str = ""
    """The column that is the row's number; empty: none."""
    root: int = 0
    """Its first page; 0: not known."""

    def fits(self, values: tuple[Any, ...]) -> bool:
        """Whether these can be the values of a row; a column that was added later may lack."""
        fitting = {"INTEGER": (int,), "REAL": (int, float), "TEXT": (str,), "BLOB": (bytes,)}
        pairs = zip(values, self.types, strict=False)
        return 0 < len(values) <= len(self.columns) and all(
            value is None or isinstance(value, fitting.get(kind, (object,)))
            for value, kind in pairs
        )


def _tables(file: PageFile) -> dict[str, _Table]:
    """The tables that are known here, as the file's schema has them where that can be read."""
    known: dict[str, _Table] = {}
    with closing(open_memory(OpenOptions())) as today:
        sql = (
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        )
        for name, statement in today.execute(sql).fetchall():
            is_plain = "_words" not in name and "_trigram" not in name and "sqlite_" not in name
            if is_plain and "WITHOUT ROWID" not in statement:
                known[name] = _described(today, name, 0)
    for page in sorted(file.owners({"sqlite_master": 1})):
        for cell in file.rows_of(page):
            with suppress(sqlite3.Error, TypeError, ValueError):
                kind, name, _, root, statement = cell.values
                if kind == "table" and name in known:
                    with closing(sqlite3.connect(":memory:")) as then:
                        then.execute(str(statement))
                        known[str(name)] = _described(then, str(name), int(str(root)))
    return known


def _described(connection: sqlite3.Connection, name: str, root: int) -> _Table:
    rows = connection.execute(f"SELECT name, type, pk FROM pragma_table_info('{name}')").fetchall()
    keys = [(column, kind) for column, kind, pk in rows if pk]
    number = keys[0][0] if len(keys) == 1 and keys[0][1] == "INTEGER" else ""
    return _Table(tuple(row[0] for row in rows), tuple(row[1] for row in rows), number, root)


def _table_of(cell: PageCell, owners: Mapping[int, str], tables: Mapping[str, _Table]) -> str:
    """The table of a row; empty: it cannot be told, or the row is not what was written."""
    values = cell.values
    if len(values) == 6 and isinstance(values[4], str) and sha_of(values[4]) == values[5]:
        is_event = _is_run(values[0]) and isinstance(values[1], int)
        return "events" if is_event and isinstance(values[3], str) else ""
    match values:
        case (_, str() as named, str() as data) if is_intact(named, data):
            return "parts"
    name = owners.get(cell.page, "")
    if name in ("", "events", "parts") or name not in tables or not tables[name].fits(values):
        return ""
    return name if _can_be_read(name, values) else ""


def _can_be_read(table: str, values: tuple[Any, ...]) -> bool:
    """Whether a row that is in no index of hashes would at least break no list."""
    try:
        if table == "runs":
            summary_of_row(values, 0.0)
            return _is_run(values[0])
        return table != "chats" or isinstance(json.loads(values[7]), dict)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return False


def _is_run(value: object) -> bool:
    return isinstance(value, str) and bool(RUN_ID.fullmatch(value))


def _statements(found: _SalvagedRows, *, with_libraries: bool) -> Iterator[Statement]:
    for name, data in found.parts.items():
        yield Statement(INSERT_PART, (name, data))
    for name, data in found.parts.items():
        for inner in names_in_part(name, data):
            yield Statement(INSERT_USE, (inner, name))
    for (run_id, _), cell in found.events.items():
        yield Statement(INSERT_EVENT, cell.values)
        data = str(cell.values[4])
        for name in names_in(json.loads(data)):
            yield Statement(INSERT_USED, (run_id, name))
        for sha in BLOB_NAME.findall(data):
            yield Statement(INSERT_BLOB_USE, (sha, run_id))
    for name, table, cell in found.others:
        if with_libraries or "librar" not in name:
            yield _inserted(name, table, cell)


def _inserted(name: str, table: _Table, cell: PageCell) -> Statement:
    row: dict[str, Any] = dict(zip(table.columns, cell.values, strict=False))
    if table.number:
        row[table.number] = cell.rowid
    if name in OWN_NUMBERS:
        del row[table.number]
    marks = ", ".join("?" * len(row))
    sql = f"INSERT OR IGNORE INTO {name} ({', '.join(row)}) VALUES ({marks})"
    return Statement(sql, tuple(row.values()))


def _settle(found: _SalvagedRows, source: Path, database: Database) -> Salvage:
    """Make lines of the list for runs that lost theirs, and say of each what is missing."""
    listed = {str(row[0]): row[1] for row in database.read("SELECT run_id, status FROM runs")}
    done = Salvage(source, runs=len(found.known))
    for run_id, known in sorted(found.known.items()):
        rows = database.read(
            "SELECT sequence, time, data, sha, kind FROM events WHERE run_id = ? ORDER BY sequence",
            (run_id,),
        )
        there = {int(row[0]): row for row in rows}
        last = max([*known, *there], default=0)
        missing = last - len(there) if last else 0
        has_end = any(row[4] == "run_finished" for row in there.values())
        if not has_end and listed.get(run_id, "") not in ("running", "unknown"):
            # Its line was written with an end that is not there, or its line is gone as well.
            missing = max(missing, 1)
        unreadable = 0
        if listed.get(run_id, "") != "running":  # its own process writes that line
            unreadable = _list_anew(run_id, there, max(missing, int(not there)), database)
        done = replace(
            done,
            whole=done.whole + (bool(there) and not missing + unreadable),
            lacking=done.lacking + (unreadable > 0 and not missing),
            events=done.events + max(last, len(there)),
            lost_events=done.lost_events + missing,
        )
    return replace(done, missing_texts=_missing_texts(found, database))


def _list_anew(
    run_id: str, there: Mapping[int, tuple[Any, ...]], missing: int, database: Database
) -> int:
    """Write a run's line of the list from its events; how many of these cannot be read."""
    began = min((float(row[1]) for row in there.values()), default=_moment_of(run_id))
    old = database.read(
        "SELECT status, prompt, model, started_at FROM runs WHERE run_id = ?", (run_id,)
    )
    for *_, started_at in old:
        # The line was begun a moment before the first event; the event vouches for it.
        began = started_at if not there or 0 < began - started_at < CLOSE_SECONDS else began
    summary = RunSummary(run_id, "running", "", "", "", began, 0.0)
    parts = loaded(database, run_id)
    unreadable = 0
    for _, at, data, sha, _ in there.values():
        event = event_of(data, sha, {}, parts)
        unreadable += isinstance(event, Notice) and event.code == UNREADABLE_CODE
        summary = summed(summary, event, float(at))
    if missing:
        for status, prompt, model, _ in old:
            ended = summary.status if summary.status != "running" else status
            summary = replace(
                summary,
                status=ended if ended != "unknown" else "running",
                prompt=summary.prompt or prompt,
                model=summary.model or model,
            )
        summary = incomplete(summary, missing, len(there) + missing)
    owner = json.dumps({"host": socket.gethostname()})  # of no process that is still there
    ended_at = began + summary.duration_seconds
    database.write(Statement(INSERT_RUN, run_row(summary, owner, ended_at)))
    return unreadable


def _moment_of(run_id: str) -> float:
    with suppress(ValueError):
        return time.mktime(time.strptime(run_id[:15], "%Y%m%d-%H%M%S")) - time.timezone
    return 0.0


def _missing_texts(found: _SalvagedRows, database: Database) -> int:
    if database.path is None:
        return 0
    blobs = BlobFolder(database.path.parent / "blobs")
    names = {n for cell in found.events.values() for n in BLOB_NAME.findall(str(cell.values[4]))}
    return sum(blobs.get(name) is None for name in names)
