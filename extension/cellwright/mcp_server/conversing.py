"""Runs of an outside agent as a conversation of ours, where no chat keeps one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cellwright.context.turn_sources import TurnSource
from cellwright.mcp_server import INSTRUCTIONS, OutsideRun
from cellwright.record.messages import SystemMessage
from cellwright.session.conversation import Conversation
from cellwright.session.questions import Place

SERVICES = "outside"


class OutsideConversation:
    """What was said and done in the runs so far; each run goes on from there."""

    def __init__(self) -> None:
        self._conversation: Conversation | None = None

    def run(self, place: Place, run: OutsideRun) -> None:
        """Do a run at a place.

        Raises:
            CellwrightError: It could not begin.
            RunCancelled: It was stopped before it began.
        """
        place = replace(place, approver=run.approver, on_progress=run.on_progress)
        if self._conversation is None:
            self._conversation = Conversation(place)
            _introduce(self._conversation)
        else:
            self._conversation.move(place)
        for event in self._conversation.ask(run.question, run.agent, run.stop):
            run.heard(event)


def own_sources(sources: Iterable[TurnSource]) -> tuple[TurnSource, ...]:
    """Those that go to an outside agent: not what other servers offer, which it has itself.

    One of those servers may well be this one.
    """
    return tuple(source for source in sources if source.name != SERVICES)


def _introduce(conversation: Conversation) -> None:
    """Let a conversation in which nothing was said begin with what clients are told."""
    if not conversation.messages:
        conversation.resume((SystemMessage(INSTRUCTIONS),))
