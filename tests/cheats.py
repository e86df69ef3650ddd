"""Runs an agent that cheats, and says what this system can keep from one."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import replace
from typing import Any

from scripted_model import ScriptedLM, calls, says

from cellwright.bench.agents import model_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import Job, Laboratory, attempt, rescored
from cellwright.bench.suites import Item, Suite
from cellwright.exports.sample import SampleCell, SampleRecord
from cellwright.kernels.warmed import ASK_VERSION, CREATE_RULESET
from cellwright.stopping import Stop


def run_cheat(
    item: Item, *cells: str, rooms: Rooms | None = None, suite: Suite | None = None
) -> SampleRecord:
    """The real runner, with a model whose answer is these cells."""
    script: list[Any] = [
        calls(("run_cell", {"code": code}), start=number) for number, code in enumerate(cells)
    ]
    agent = model_agent(ScriptedLM([*script, says("Done.")]), "cheat")
    rooms = rooms or Rooms({})
    found = attempt(Job(suite or Suite("s", (item,)), item, agent), Laboratory(rooms), Stop())
    if len(found.cells) == len(cells):
        return found
    # The policy refused some of it. What it would do is tried all the same: nobody relies on that.
    ran = tuple(SampleCell(f"c{n}", "agent", code) for n, code in enumerate(cells))
    return rescored(replace(found, cells=ran), item, rooms, Stop())


def landlock_version() -> int:
    """What this Linux can keep from a program; 0 or less: nothing."""
    if sys.platform != "linux":
        return 0
    library = ctypes.CDLL(None)
    return int(library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION))


def can_limit_files() -> bool:
    """Whether this system keeps files from kernels."""
    return landlock_version() >= 3
