"""Whether a very long conversation stays as quick and as small as it began.

    python benchmarks/soak.py [--turns 2000] [--json]

One conversation in a real kernel, recorded in a database: memory of this process and of the
kernel, tokens of a request, seconds of a turn and growth of the database, a line for each tenth of
the turns. All but the database's size are to be flat after the first tenth: each turn adds to the
record what is new in it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from long_session import REPORT_SOURCE, ReadingLM, question_of

from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.stopping import Stop
from cellwright.store.blocks import BlockStore
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

PAGE_KILOBYTES = os.sysconf("SC_PAGE_SIZE") / 1_000 if hasattr(os, "sysconf") else 0.0
PARTS = 10


@dataclass(frozen=True)
class Stretch:
    """A tenth of the turns."""

    turns: int
    """Until its end."""
    seconds_a_turn: float
    tokens_a_request: int
    largest_tokens: int
    megabytes: float
    """Of this process."""
    database_megabytes: float
    kilobytes_a_turn: float
    """That the database grew by."""


def megabytes() -> float:
    """Memory that this process holds; 0 where the system does not tell."""
    path = Path("/proc/self/statm")
    pages = int(path.read_text("ascii").split()[1]) if path.exists() else 0
    return pages * PAGE_KILOBYTES / 1_000


def stored_megabytes(database: Database, folder: Path) -> float:
    """Megabytes of a database and of the files beside it."""
    database.read("PRAGMA wal_checkpoint(TRUNCATE)")  # else it grows in steps
    files = (file for file in (folder / "store").rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in files) / 1e6


def soak(turns: int, folder: Path) -> list[Stretch]:
    """Have the conversation; what each tenth of it cost."""
    (folder / "store").mkdir()
    database = open_database(folder / "store" / "runs.sqlite")
    kernel = start_kernel(cwd=str(folder))
    model, found = ReadingLM(), []
    try:
        conversation = Conversation(_place(kernel, RunStore(database), BlockStore(database)))
        for part in range(PARTS):
            size = stored_megabytes(database, folder)
            begun, before = time.perf_counter(), len(model.measured.tokens)
            first, last = turns * part // PARTS, turns * (part + 1) // PARTS
            for turn in range(first + 1, last + 1):
                words = question_of(turn, 2 * turns)
                question = RunRequest(words, Parameters("reading"), mode="auto")
                for _ in conversation.ask(question, model):
                    pass
            seconds, tokens = time.perf_counter() - begun, model.measured.tokens[before:]
            stored = stored_megabytes(database, folder)
            found.append(
                Stretch(
                    last,
                    round(seconds / (last - first), 4),
                    sum(tokens) // len(tokens),
                    max(tokens),
                    round(megabytes(), 1),
                    round(stored, 1),
                    round((stored - size) * 1_000 / (last - first), 1),
                )
            )
            print(f"{last} of {turns} turns", file=sys.stderr, flush=True)
    finally:
        kernel.close()
        database.close()
    return found


def _place(kernel: FreshKernel, runs: RunStore, blocks: BlockStore) -> RunContext:
    list(kernel.execute(CellRequest("prepare", REPORT_SOURCE), Stop(), lambda output: output))
    return RunContext(kernel, runs, Redactor({}), "bench", blocks=blocks)


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        found = soak(max(PARTS, options.turns), Path(folder))
    if options.json:
        print(json.dumps([asdict(stretch) for stretch in found]))
        return 0
    print("turns  s/turn  tokens/request  largest     MB  database MB  kB/turn")
    for row in found:
        print(
            f"{row.turns:>5}  {row.seconds_a_turn:>6.3f}  {row.tokens_a_request:>14,}"
            f"  {row.largest_tokens:>7,}  {row.megabytes:>5.0f}  {row.database_megabytes:>11.1f}"
            f"  {row.kilobytes_a_turn:>7.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
