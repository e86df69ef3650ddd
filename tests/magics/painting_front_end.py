"""A front end that paints cells, played over jupyter_client: what the labextension does."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_service import Answer
from magics.live_kernel import LiveKernel, Message, Shown

from cellwright_magics.easels import PROTOCOL, TARGET

OUTPUTS = ("stream", "display_data", "execute_result", "error", "clear_output")


@dataclass
class PaintedCell:
    """A cell that was painted, with the messages that came between its begin and its end."""

    told: dict[str, Any]
    messages: list[Message] = field(default_factory=list)
    execution: dict[str, Any] | None = None

    @property
    def stdout(self) -> str:
        """All it printed."""
        return "".join(m["content"]["text"] for m in self.messages if "text" in m["content"])


@dataclass
class Painted:
    """What one execution of a calling cell came to."""

    shown: Shown
    comm_id: str

    @property
    def operations(self) -> list[dict[str, Any]]:
        """What came over the comm, in order."""
        return [
            m["content"]["data"]
            for m in self.shown.messages
            if m["header"]["msg_type"] == "comm_msg" and m["content"]["comm_id"] == self.comm_id
        ]

    @property
    def kinds(self) -> list[str]:
        """Their names."""
        return [operation["op"] for operation in self.operations]

    @property
    def cells(self) -> list[PaintedCell]:
        """The cells, each with its outputs, put together as the labextension does it."""
        cells: dict[str, PaintedCell] = {}
        now: PaintedCell | None = None
        for message in self.shown.messages:
            kind, content = message["header"]["msg_type"], message["content"]
            if kind == "comm_msg" and content["comm_id"] == self.comm_id:
                told = content["data"]
                if told["op"] == "add":
                    cells[told["cell_id"]] = PaintedCell(told)
                elif told["op"] == "begin":
                    now = cells.setdefault(told["cell_id"], PaintedCell(told))
                    now.messages.clear()
                elif told["op"] == "clear" and now is not None:
                    now.messages.clear()
                elif told["op"] == "end" and now is not None:
                    now.execution, now = told["execution"], None
            elif kind in OUTPUTS and now is not None:
                now.messages.append(message)
        return list(cells.values())

    @property
    def in_calling_cell(self) -> list[Message]:
        """The outputs that stay in the calling cell."""
        kept: list[Message] = []
        is_open = False
        for message in self.shown.messages:
            kind, content = message["header"]["msg_type"], message["content"]
            if kind == "comm_msg" and content["comm_id"] == self.comm_id:
                is_open = {"begin": True, "end": False}.get(content["data"]["op"], is_open)
            elif not is_open:
                kept.append(message)
        return kept

    @property
    def prose(self) -> str:
        """The Markdown that stays there."""
        return Shown(self.in_calling_cell).markdown


class PaintingFrontEnd:
    """Announces a cell and has it executed."""

    def __init__(self, kernel: LiveKernel) -> None:
        self.kernel = kernel

    def announce(self, cell_id: str, *, protocol: int = PROTOCOL, **data: Any) -> str:
        """Open the comm; its id."""
        comm_id = uuid.uuid4().hex
        content = {
            "comm_id": comm_id,
            "target_name": TARGET,
            "data": {"protocol": protocol, "cell_id": cell_id, **data},
        }
        client = self.kernel.client
        client.shell_channel.send(client.session.msg("comm_open", content))
        return comm_id

    def run(
        self,
        code: str,
        script: Sequence[Answer] = (),
        *,
        cell_id: str = "calling",
        answers: Sequence[str] = (),
        **data: Any,
    ) -> Painted:
        """Announce a cell and run it."""
        comm_id = self.announce(cell_id, **data)
        shown = self.kernel.run(code, script, answers=answers, metadata={"cellId": cell_id})
        return Painted(shown, comm_id)
