"""A page as a test plays it: follows a chat, shows a notebook, answers what the server asks."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cellwright.record.outputs import source_hash
from cellwright.server.frames import PROTOCOL

__all__ = ["SOON_SECONDS", "Document", "TabClient", "code_cell", "has_errors"]

Frame = dict[str, Any]
SECONDS = 20.0
SOON_SECONDS = 3.0
"""Stop acts within a second; a machine on which all else is tested too may take a little longer."""


def code_cell(cell_id: str, source: str) -> Frame:
    return {
        "id": cell_id,
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }


class Document:
    """An open notebook: cells by id, changed by events and by the person."""

    def __init__(self, path: str, kernel_id: str, *cells: Frame, editable: bool = True) -> None:
        self.name = f"doc-{secrets.token_hex(4)}"
        self.path = path
        self.kernel_id = kernel_id
        self.editable = editable
        self.cells: dict[str, Frame] = {cell["id"]: cell for cell in cells}
        self.outputs: dict[str, list[Frame]] = {}
        self.finished: dict[str, Frame] = {}

    @property
    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.cells.values()]

    @property
    def attach(self) -> Frame:
        return {
            "type": "attach",
            "notebook": self.name,
            "path": self.path,
            "kernel_id": self.kernel_id,
            "editable": self.editable,
        }

    def apply(self, event: Frame) -> None:
        kind, cell_id = event["kind"], event.get("cell_id", "")
        if kind == "cell_added" and event["is_scratch"]:
            return
        if kind == "cell_added" and cell_id not in self.cells:
            self.insert(code_cell(cell_id, event["source"]), event["after"])
        elif kind == "cell_edited" and cell_id in self.cells:
            if source_hash(self.cells[cell_id]["source"]) == event["previous_hash"]:
                self.cells[cell_id]["source"] = event["source"]
        elif kind == "cell_removed":
            self.cells.pop(cell_id, None)
        elif kind == "cell_started":
            self.outputs[cell_id] = []
        elif kind == "cell_output":
            self.outputs.setdefault(cell_id, []).append(event["message"])
        elif kind == "cell_finished":
            self.finished[cell_id] = event["execution"]

    def insert(self, cell: Frame, after: str) -> None:
        entries: dict[str, Frame] = {}
        for cell_id, other in self.cells.items():
            entries[cell_id] = other
            if cell_id == after:
                entries[cell["id"]] = cell
        entries.setdefault(cell["id"], cell)
        self.cells = entries

    def answer(self, request: Frame) -> Frame:
        cells, reason = list(self.cells.values()), ""
        if request["operation"] == "confirm":
            cell = self.cells.get(request["cell_id"])
            cells = [cell] if cell is not None else []
            if cell is None:
                reason = "gone"
            elif source_hash(cell["source"]) != request["source_hash"]:
                reason = "changed"
        return {
            "type": "reply",
            "request": request["request"],
            "ok": not reason,
            "reason": reason,
            "cells": cells,
        }

    def text(self, cell_id: str) -> str:
        return "".join(output.get("text", "") for output in self.outputs.get(cell_id, ()))


class TabClient:
    """One page over one socket.

    Args:
        connection: tornado's.
        tab: What it calls itself.
        nonce: What only it knows.
    """

    def __init__(self, connection: Any, tab: str = "", nonce: str = "") -> None:
        self.tab = tab or f"tab-{secrets.token_hex(3)}"
        self.nonce = nonce or secrets.token_hex(8)
        self.frames: list[Frame] = []
        self.states: dict[str, Frame] = {}
        self.events: list[tuple[str, int, Frame]] = []
        """Run, sequence and event, as they came."""
        self.documents: dict[str, Document] = {}
        self.answers_requests = True
        self.on_event: Callable[[Frame], None] | None = None
        """Called before an event is applied: what a person does just then."""
        self.on_request: Callable[[Frame], None] | None = None
        self._connection = connection
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def hello(self) -> Frame:
        await self.send(
            type="hello", protocol=PROTOCOL, version="0", tab=self.tab, nonce=self.nonce
        )
        return await self.wait("welcome")

    async def send(self, **frame: Any) -> None:
        await self._connection.write_message(json.dumps(frame))

    async def open(self, document: Document) -> Document:
        self.documents[document.name] = document
        await self.send(**document.attach)
        return document

    async def follow(self, chat: str, after: Frame | None = None) -> None:
        await self.send(type="follow", chat=chat, after=after)
        await self.wait("caught_up")

    async def ask(self, chat: str, prompt: str, **more: Any) -> Frame:
        """Ask, and wait until that was accepted or refused."""
        request = secrets.token_hex(4)
        frame = {
            "type": "ask",
            "request": request,
            "chat": chat,
            "prompt": prompt,
            "mode": "auto",
            "model": "",
            "context": [],
            "notebook": next(iter(self.documents), ""),
            "instead": False,
            **more,
        }
        await self.send(**frame)
        return await self.until(
            lambda: next((f for f in self.frames if f.get("request") == request), None)
        )

    async def until(self, look: Callable[[], Any], seconds: float = SECONDS) -> Any:
        """What ``look`` finds, as soon as it finds something."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            left = deadline - time.monotonic()
            assert left > 0, f"it never came; the last frames: {self.frames[-5:]}"
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), min(left, 0.2))
        return found

    async def wait(self, kind: str, seconds: float = SECONDS) -> Frame:
        """The newest frame of a type, once there is one."""
        found: Frame = await self.until(lambda: self.last(kind), seconds)
        return found

    def last(self, kind: str) -> Frame | None:
        return next((f for f in reversed(self.frames) if f["type"] == kind), None)

    async def phase(self, chat: str, *phases: str) -> Frame:
        """The state, once the chat is in one of these phases."""
        found: Frame = await self.until(
            lambda: state if (state := self.states.get(chat)) and state["phase"] in phases else None
        )
        return found

    async def finished(self, count: int = 1, seconds: float = SECONDS) -> Frame:
        """The end of so many runs: the last one's event."""
        found = await self.until(
            lambda: ends if len(ends := self.of_kind("run_finished")) >= count else None, seconds
        )
        end: Frame = found[-1]
        return end

    async def event(self, kind: str, count: int = 1, seconds: float = SECONDS) -> Frame:
        found = await self.until(
            lambda: some if len(some := self.of_kind(kind)) >= count else None, seconds
        )
        event: Frame = found[-1]
        return event

    def of_kind(self, kind: str) -> list[Frame]:
        return [event for _, _, event in self.events if event["kind"] == kind]

    @property
    def numbers(self) -> list[tuple[str, int]]:
        """Run and sequence of every recorded event that came."""
        return [(run, sequence) for run, sequence, _ in self.events if sequence]

    def errors(self) -> list[str]:
        return [frame["code"] for frame in self.frames if frame["type"] == "error"]

    async def handled(self) -> None:
        """Wait until the server has handled all that was sent."""
        at = time.monotonic()
        await self.send(type="ping", at=at)
        await self.until(
            lambda: next((f for f in self.frames if f["type"] == "pong" and f["at"] == at), None)
        )

    async def close(self) -> None:
        self.answers_requests = False
        self._connection.close()
        await self._reading

    async def closed(self) -> None:
        """Wait until the server has closed the line."""
        await asyncio.wait_for(self._reading, SECONDS)
        self._connection.close()

    async def _read(self) -> None:
        while (text := await self._connection.read_message()) is not None:
            frame = json.loads(text)
            self.frames.append(frame)
            await self._take(frame)
            self._news.set()

    async def _take(self, frame: Frame) -> None:
        if frame["type"] == "chat":
            self.states[frame["state"]["id"]] = frame["state"]
        elif frame["type"] == "events":
            for item in frame["items"]:
                self._apply(frame["run"], item)
        elif frame["type"] == "request" and self.answers_requests:
            if self.on_request is not None:
                self.on_request(frame)
            document = self.documents.get(frame["notebook"])
            if document is not None:
                await self.send(**document.answer(frame))

    def _apply(self, run: str, item: Frame) -> None:
        event = item["event"]
        if self.on_event is not None:
            self.on_event(event)
        self.events.append((run, item["sequence"], event))
        for document in self.documents.values():
            document.apply(event)


def has_errors(tab: TabClient, count: int) -> bool:
    """Whether a tab was told of that many errors."""
    return len(tab.errors()) == count
