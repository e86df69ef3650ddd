"""What is kept for later conversations, and what was proposed to be kept.

Nothing is kept that the person has not agreed to: a proposal waits until they accept it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Scope = Literal["user", "project"]
"""``user``: everywhere; ``project``: in notebooks of one folder."""
Action = Literal["add", "update", "delete"]


@dataclass(frozen=True)
class Whose:
    """Whose memory it is, and in which folder they work."""

    owner: str = ""
    """Empty: the person whose store this is."""
    project: str = ""
    """The folder of the notebook; empty: none, so that nothing is kept for a project."""


@dataclass(frozen=True)
class Memory:
    """One fact or wish that the person agreed to keep."""

    memory_id: str
    text: str
    project: str
    """The folder it is kept for; empty: everywhere."""
    source_run: str
    """The run in which it was said; empty: it was written by hand."""
    created_at: float
    """Seconds since the epoch."""
    updated_at: float

    @property
    def scope(self) -> Scope:
        """Where it counts."""
        return "project" if self.project else "user"


@dataclass(frozen=True)
class Proposal:
    """A change of the memory that waits for the person's word."""

    proposal_id: str
    action: Action
    text: str
    """What would be kept; of a deletion what would go."""
    project: str
    """The folder it would be kept for; empty: everywhere."""
    memory_id: str
    """The memory that would change or go; empty: none."""
    reason: str
    """Why it is proposed, in words for people."""
    source_run: str
    created_at: float
    """Seconds since the epoch."""

    @property
    def scope(self) -> Scope:
        """Where it would count."""
        return "project" if self.project else "user"


def memory_owner(user: str, store_owner: str) -> str:
    """The name that a person's memories are kept under.

    Args:
        user: Who asks, as the lane knows them; empty: nobody said.
        store_owner: Whose store it is, as the system calls them.
    """
    return "" if user == store_owner else user


def project_of(folder: str) -> str:
    """The stable key of a folder: its real path; empty stays empty."""
    return Path(os.path.normcase(os.path.realpath(folder))).as_posix() if folder else ""
