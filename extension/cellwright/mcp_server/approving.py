"""The person in front of the client is asked whether a call may run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cellwright.agent.policy import Answer
from cellwright.record.asked_calls import code_of, words_of
from cellwright.record.events import ToolStarted

ASK_METHOD = "elicitation/create"
SHOWN_CHARACTERS = 4_000
YES, ALL, NO = "yes", "all like this", "no"
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "string",
            "title": "Run it?",
            "description": "'all like this' does not ask about this tool again in this session.",
            "enum": [YES, ALL, NO],
        },
        "reason": {"type": "string", "title": "Why not", "description": "For the agent."},
    },
    "required": ["answer"],
}


class ElicitingApprover:
    """``policy.Approver`` over a client that can ask.

    Args:
        ask: Sends a request to the client and waits for its answer; None: there was none.
    """

    def __init__(self, ask: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]) -> None:
        self._ask = ask

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """What the person says.

        Raises:
            RunCancelled: The call was cancelled meanwhile.
        """
        said = self._ask(ASK_METHOD, {"message": _shown(call, reason), "requestedSchema": SCHEMA})
        if said is None:
            return Answer(False, "batch", "The client could not ask.")
        content = said.get("content")
        fields = content if isinstance(content, dict) else {}
        answer = fields.get("answer") if said.get("action") == "accept" else NO
        if answer in (YES, ALL):
            return Answer(True, for_session=answer == ALL)
        return Answer(False, reason=str(fields.get("reason") or ""))


def _shown(call: ToolStarted, reason: str) -> str:
    what = code_of(call)
    if len(what) > SHOWN_CHARACTERS:
        # Nobody allows what they have not seen whole without being told so.
        left_out = len(what) - SHOWN_CHARACTERS
        what = f"{what[:SHOWN_CHARACTERS]}\n… and {left_out} more characters that are not shown"
    return f"cellwright: {words_of(call)}\n{reason}\n\n{what}".rstrip()
