from __future__ import annotations

from pathlib import Path

import pytest
from mcp_server.peers import FakeRoom

from cellwright.errors import SetupError
from cellwright.mcp_server.session import McpServerSession
from cellwright.server.mcp_routes import (
    PATIENCE_SECONDS,
    SESSION_LIMIT,
    SILENT_SECONDS,
    McpSessions,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path) -> FakeRoom:
    return FakeRoom(tmp_path)


def test_a_client_that_was_silent_for_long_is_forgotten(clock: Clock, room: FakeRoom) -> None:
    sessions = McpSessions(clock)
    silent, heard = "silent", "heard"
    for name in (silent, heard):
        sessions.open(name, McpServerSession(room), "ada")
    clock.now = SILENT_SECONDS
    assert sessions.find(heard, "ada") is not None
    clock.now += 1.0
    sessions.open("new", McpServerSession(room), "ada")
    assert sessions.find(silent, "ada") is None
    assert sessions.find(heard, "ada") is not None
    assert not sessions.is_busy
    room.store.database.close()


def test_the_most_silent_client_makes_room(clock: Clock, room: FakeRoom) -> None:
    sessions = McpSessions(clock)
    names = [f"client {number}" for number in range(SESSION_LIMIT)]
    for name in names:
        sessions.open(name, McpServerSession(room), "ada")
    with pytest.raises(SetupError, match="connected already"):
        sessions.open("new", McpServerSession(room), "ada")
    clock.now = PATIENCE_SECONDS + 1.0
    assert sessions.find(names[0], "ada") is not None
    sessions.open("new", McpServerSession(room), "ada")
    assert sessions.find(names[0], "ada") is not None
    assert sessions.find(names[1], "ada") is None
    room.store.database.close()


def test_a_session_is_its_persons_alone(clock: Clock, room: FakeRoom) -> None:
    sessions = McpSessions(clock)
    name = "one"
    sessions.open(name, McpServerSession(room), "ada")
    assert sessions.find(name, "eve") is None
    assert not sessions.end(name, "eve")
    sessions.close()
    assert sessions.find(name, "ada") is None
    assert room.is_closed
    with pytest.raises(SetupError):
        sessions.open("new", McpServerSession(room), "ada")
    room.store.database.close()
