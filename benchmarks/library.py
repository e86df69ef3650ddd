"""What a library costs: reading documents, updating, answering, and the file it makes.

    python benchmarks/library.py [--documents 10000] [--questions 60] [--vectors] [--json]
        [--memory-mb 256 0] [--numbers 384]

Documents are made up from a vocabulary with the frequencies of natural text, about three thousand
characters each: Markdown, code, notebooks and tables. ``--vectors`` adds vectors from something
here that only counts words, so it measures our part alone: with each ``--memory-mb`` in a
process of its own. Goals of the issue: 10,000 documents are read in minutes, and a question is
answered in less than 50 ms.
CPU times beside the others tell how busy the machine was with something else.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from library_vectors import Questions, compared

from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.searching import Scope, Searcher
from cellwright.knowledge.library.store_vectors import keep_vectors, unembedded
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database

SYLLABLES = (
    "lu re ti mo ca den ver log sta tion ing pre con dat fra me col umn ra ge net work pol icy sol "
    "vice qu al ity por ta ble"
)
WORDS = 20_000
GOAL_MILLISECONDS = 50.0
GOAL_SECONDS = 600.0


def vocabulary(chance: random.Random) -> list[str]:
    """Made-up words."""
    parts = SYLLABLES.split()
    return [
        "".join(chance.choices(parts, k=chance.choice((1, 2, 2, 3, 3, 4)))) for _ in range(WORDS)
    ]


class Author:
    """Writes documents with the frequencies of natural text."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        self.words = vocabulary(self._chance)
        self._weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def prose(self, count: int) -> str:
        """So many words."""
        return " ".join(self._chance.choices(self.words, cum_weights=self._weights, k=count))

    def document(self, number: int) -> tuple[str, str]:
        """The ending and the text of a document."""
        kind = number % 10
        if kind < 6:
            parts = [f"## {self.prose(3)}\n\n{self.prose(130)}\n" for _ in range(3)]
            return "md", f"# {self.prose(3)}\n\n" + "\n".join(parts)
        if kind < 8:
            lines = [
                f"def {self.prose(1)}_{n}(x):\n    return '{self.prose(60)}'\n" for n in range(6)
            ]
            return "py", "\n\n".join(lines)
        if kind < 9:
            cells = [
                {"cell_type": "code", "id": f"c{n}", "source": f"x = '{self.prose(60)}'"}
                for n in range(6)
            ]
            return "ipynb", json.dumps({"cells": cells})
        if number % 50 == 9:
            return "md", "# 清洗\n\n" + "数据清洗的步骤：删除空值，合并表格。" * 20
        rows = [",".join(self.prose(4).split()) for _ in range(100)]
        return "csv", "\n".join(rows)

    def question(self) -> str:
        """As people ask: common words, and some that are rarer."""
        rare = self._chance.sample(self.words[200:], 3)
        return f"What is the {self.prose(2)} of {rare[0]} in {rare[1]} and {rare[2]}?"


@dataclass(frozen=True)
class CountingEmbedder:
    """Vectors of word counts, made here."""

    dimension: int
    model = "counts"

    def embed(self, texts: tuple[str, ...], timeout_seconds: float) -> tuple[bytes, ...]:
        """A vector of each text."""
        return tuple(map(self._vector, texts))

    def _vector(self, text: str) -> bytes:
        import numpy

        numbers = numpy.zeros(self.dimension, dtype="float32")
        for word in text.split():
            digest = hashlib.blake2s(word.encode(), digest_size=2).digest()
            numbers[int.from_bytes(digest, "big") % self.dimension] += 1
        length = float(numpy.linalg.norm(numbers)) or 1.0
        return bytes((numbers / length).astype("float32").tobytes())


def measured(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """All figures."""
    author, project = Author(), folder / "project"
    (project / "docs").mkdir(parents=True)
    for number in range(options.documents):
        ending, text = author.document(number)
        shelf = project / "docs" / f"{number // 500}"
        shelf.mkdir(exist_ok=True)
        (shelf / f"{number}.{ending}").write_text(text)
    database = open_database(folder / "runs.sqlite")
    libraries = Libraries(database, Settings())
    figures = {"documents": float(options.documents)}
    began = time.perf_counter()
    _drain(libraries.adding(["docs"], str(project))(Stop()))
    figures["read_seconds"] = time.perf_counter() - began
    began = time.perf_counter()
    _drain(libraries.updating(str(project))(Stop()))
    figures["update_seconds"] = time.perf_counter() - began
    scope = Scope(libraries.above(str(project)))
    began = time.perf_counter()
    libraries.documents(scope.libraries)
    figures["list_milliseconds"] = (time.perf_counter() - began) * 1e3
    figures["pieces"] = float(database.read("SELECT COUNT(*) FROM library_chunks")[0][0])
    questions = [author.question() for _ in range(options.questions)]
    figures |= _answering(libraries.searcher, scope, questions, "answer")
    chinese = ["数据清洗怎么做", "空值 合并"]
    figures |= _answering(libraries.searcher, scope, chinese, "chinese")
    if options.vectors:
        embedder = CountingEmbedder(options.numbers)
        _give_vectors(database, scope, embedder)
        asked = Questions(folder / "runs.sqlite", scope.libraries[0], embedder, questions)
        figures |= compared(asked, options.memory_mb)
    database.close()
    figures["file_megabytes"] = (folder / "runs.sqlite").stat().st_size / 1e6
    figures["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return figures


def _give_vectors(database: Database, scope: Scope, embedder: CountingEmbedder) -> None:
    number = scope.libraries[0].number
    while missing := unembedded(database, number, embedder.model, 500):
        vectors = embedder.embed(tuple(item.text for item in missing), 1.0)
        pairs = zip((item.sha256 for item in missing), vectors, strict=True)
        keep_vectors(database, embedder.model, pairs)


def _answering(
    searcher: Searcher, scope: Scope, questions: Sequence[str], name: str
) -> dict[str, float]:
    times, worked = [], []
    for question in questions:
        began, worked_before = time.perf_counter(), time.process_time()
        searcher.search(scope, question)
        times.append((time.perf_counter() - began) * 1e3)
        worked.append((time.process_time() - worked_before) * 1e3)
    return {
        f"{name}_median_cpu_milliseconds": statistics.median(worked),
        f"{name}_slowest_cpu_milliseconds": max(worked),
        f"{name}_median_milliseconds": statistics.median(times),
        f"{name}_slowest_milliseconds": max(times),
    }


def _drain(steps: Iterator[object]) -> None:
    for _ in steps:
        pass


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--memory-mb", type=int, nargs="+", default=[256, 0])
    parser.add_argument("--numbers", type=int, default=384, help="of each vector")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(options, Path(folder))
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<42}{value:>12,.1f}")
    ways = ("answer", f"vectors_{options.memory_mb[0]}mb")
    slowest = [figures.get(f"{name}_slowest_milliseconds", 0.0) for name in ways]
    fits = max(slowest) < GOAL_MILLISECONDS
    soon = figures["read_seconds"] < GOAL_SECONDS
    print(f"goals: read in minutes: {soon}; answer in 50 ms: {fits}")


if __name__ == "__main__":
    main()
