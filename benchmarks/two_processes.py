"""Two processes on one record at once, as a kernel and a server are: no error, no lost row.

    python benchmarks/two_processes.py [--minutes 0.2] [--folder FOLDER] [--json]

Each process begins chats, records runs in them, asks again, branches, renames, searches and
deletes, as fast as it can, and notes what it wrote. In one chat that both have they take turns: a
chat is answered by one program at a time. Afterwards the record is read again and held against the
notes: every event of every run that was not deleted, every title, what counts and what does not.

Goals: no notice of the store, no error, nothing missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.record.events import Event, ModelReplied, RunFinished, RunStarted
from cellwright.record.messages import AssistantMessage, Parameters, Usage
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, open_database
from cellwright.store.process_claims import ChatBusyError
from cellwright.store.runs import RunStore

WORKERS = ("kernel", "server")
STEPS = 8
"""Replies of a run."""
KEPT_CHATS = 40
SEARCH_EVERY = 10
SHARED = "Worked on by both"


@dataclass
class Notes:
    """What one process wrote and must be there afterwards."""

    runs: dict[str, int] = field(default_factory=dict)
    """Events of each run that was not deleted."""
    chats: dict[str, list[str]] = field(default_factory=dict)
    """The runs that count in each chat."""
    titles: dict[str, str] = field(default_factory=dict)
    shared_runs: list[str] = field(default_factory=list)
    turns_waited: int = 0
    """How often the other process was answering in the chat of both."""
    notices: list[str] = field(default_factory=list)
    slowest_write_seconds: float = 0.0


class Worker:
    """One process at work.

    Args:
        name: Which of the two.
        database: The record.
    """

    def __init__(self, name: str, database: Database) -> None:
        self._name = name
        self._database = database
        self._runs = RunStore(database)
        self._chats = ChatStore(database)
        self._count = 0
        self.notes = Notes()

    def work(self, seconds: float) -> None:
        """Do all kinds of things for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._one_chat()
            self._take_a_turn()
            if len(self.notes.chats) > KEPT_CHATS:
                self._delete(next(iter(self.notes.chats)))
        self.notes.notices = [notice.text for notice in self._database.take_notices()]

    def _one_chat(self) -> None:
        chat = self._chats.create(f"{self._name}.ipynb").chat_id
        first, second = self._run(chat), self._run(chat)
        third = self._run(chat, supersedes=second)
        self._keep(chat, f"{self._name} {self._count}", [first, third])
        branch = self._chats.branch(chat, second).chat_id
        self._keep(branch, f"branch of {self._name} {self._count}", [first, second])
        if self._count % SEARCH_EVERY < 3:
            word = f"{self._name}-{self._count}"
            found = {chat.chat_id for chat in self._chats.list(query=word)}
            if chat not in found:
                self.notes.notices.append(f"{word!r} was not found")

    def _keep(self, chat: str, title: str, runs: list[str]) -> None:
        self._chats.rename(chat, title)
        self.notes.titles[chat] = title
        self.notes.chats[chat] = runs

    def _run(self, chat: str, supersedes: str = "") -> str:
        self._count += 1
        words = f"{self._name}-{self._count}"
        journal = self._runs.start()
        replies = [_reply(f"{words}, reply {step}") for step in range(STEPS)]
        begin = RunStarted(words, "bench", "auto", Parameters("m"))
        events: tuple[Event, ...] = (begin, *replies, RunFinished("completed", words))
        for event in events:
            began = time.perf_counter()
            journal.record(event)
            took = time.perf_counter() - began
            self.notes.slowest_write_seconds = max(self.notes.slowest_write_seconds, took)
        self._chats.add_run(chat, journal.run_id, supersedes)
        self.notes.runs[journal.run_id] = STEPS + 2
        return journal.run_id

    def _take_a_turn(self) -> None:
        """Answer in the chat of both, unless the other one does."""
        shared = next(chat for chat in self._chats.list() if chat.title == SHARED)
        try:
            with self._chats.claims.held(shared.chat_id):
                self.notes.shared_runs.append(self._run(shared.chat_id))
        except ChatBusyError:
            self.notes.turns_waited += 1

    def _delete(self, chat: str) -> None:
        for run in {run.run_id for run in self._chats.runs(chat)}:
            others = [name for name in self.notes.chats if name != chat]
            if not any(run in self._chats.run_ids(other) for other in others):
                del self.notes.runs[run]
        self._chats.delete(chat)
        del self.notes.chats[chat], self.notes.titles[chat]


def _reply(text: str) -> ModelReplied:
    return ModelReplied(AssistantMessage(text), "stop", Usage(10, 5), "m", 0.1)


def measure(folder: Path, seconds: float) -> dict[str, Any]:
    """Let two processes work on one record, and hold it against what they noted."""
    path = folder / "runs.sqlite"
    database = open_database(path)
    shared = ChatStore(database).create().chat_id
    ChatStore(database).rename(shared, SHARED)
    notes = _work_of_both(path, seconds)
    missing = _missing(database, notes, shared)
    problems = [text for note in notes for text in note.notices]
    problems += [notice.text for notice in database.take_notices()]
    database.close()
    return {
        "seconds": seconds,
        "runs": sum(len(note.runs) for note in notes),
        "events": sum(sum(note.runs.values()) for note in notes),
        "chats": sum(len(note.chats) for note in notes),
        "turns_in_the_shared_chat": sum(len(note.shared_runs) for note in notes),
        "turns_that_waited": sum(note.turns_waited for note in notes),
        "slowest_write_seconds": max(note.slowest_write_seconds for note in notes),
        "size_bytes": path.stat().st_size,
        "problems": problems,
        "missing": missing,
    }


def _work_of_both(path: Path, seconds: float) -> list[Notes]:
    command = [sys.executable, __file__, "--path", str(path), "--seconds", str(seconds)]
    processes = [
        subprocess.Popen(
            [*command, "--worker", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in WORKERS
    ]
    notes = []
    for name, process in zip(WORKERS, processes, strict=True):
        output, errors = process.communicate(timeout=seconds + 120)
        if process.returncode:
            notes.append(Notes(notices=[f"{name} ended: {errors[-2_000:]}"]))
        else:
            notes.append(Notes(**json.loads(output)))
    return notes


def _missing(database: Database, notes: Sequence[Notes], shared: str) -> list[str]:
    """What the notes say and the record does not."""
    runs, chats = RunStore(database), ChatStore(database)
    found = []
    for note in notes:
        for run, count in note.runs.items():
            numbers = [event.sequence for event in runs.events(run)]
            if numbers != list(range(1, count + 1)):
                found.append(f"run {run} has the events {numbers}, not {count}")
        for chat, active in note.chats.items():
            if list(chats.active_run_ids(chat)) != active:
                found.append(f"chat {chat} has {chats.active_run_ids(chat)}, not {active}")
            if chats.get(chat).title != note.titles[chat]:
                found.append(f"chat {chat} is called {chats.get(chat).title!r}")
    said = chats.active_run_ids(shared)
    if sorted(said) != sorted(run for note in notes for run in note.shared_runs):
        found.append(f"the chat of both has {len(said)} runs")
    places = [run.position for run in chats.runs(shared)]
    if len(set(places)) != len(places):
        found.append("two runs of the chat of both have one place")
    return found


def main() -> int:
    """Measure and print; 1 where anything was lost or went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=0.2)
    parser.add_argument("--folder", type=Path, help="Where the record is written; else a new one.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        database = open_database(options.path)
        worker = Worker(options.worker, database)
        worker.work(options.seconds)
        database.close()
        sys.stdout.write(json.dumps(vars(worker.notes)))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        found = measure(options.folder or Path(temporary), options.minutes * 60)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name.replace('_', ' '):<28}{value}")
    return int(bool(found["problems"] or found["missing"]))


if __name__ == "__main__":
    sys.exit(main())
