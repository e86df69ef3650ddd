"""Asking a model service in tests: one call that collects the events and the reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from fake_service import MODEL, Answer, FakeService, Script

from cellwright.llm import LM, LMEvent
from cellwright.llm.openai import OpenAILM
from cellwright.llm.retries import WaitTimes
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Prompt,
    Reply,
    TextPart,
    ToolMessage,
    UserMessage,
)
from cellwright.stopping import Stop

QUICK = WaitTimes(backoff_seconds=0.01)
RUN_CELL = Manifest(
    "run_cell",
    "Run code.",
    {
        "type": "object",
        "properties": {"code": {"type": "string"}, "timeout": {"type": "number"}},
        "required": ["code"],
    },
)


@dataclass
class Asked:
    """What came of one request."""

    events: list[LMEvent] = field(default_factory=list)
    reply: Reply | None = None

    def all(self, kind: type) -> list[Any]:
        """The events of one class."""
        return [event for event in self.events if isinstance(event, kind)]


@contextmanager
def serving(
    script: Script,
    *,
    pace: WaitTimes = QUICK,
    models: Sequence[str] | Answer = (MODEL,),
    **settings: Any,
) -> Iterator[tuple[FakeService, OpenAILM]]:
    """A fake service and a client of it; both are closed at the end."""
    with (
        FakeService(script, models=models) as service,
        closing(OpenAILM(service.settings(**settings), pace=pace)) as lm,
    ):
        yield service, lm


def prompt_of(
    *messages: Message | str, tools: tuple[Manifest, ...] = (), **parameters: Any
) -> Prompt:
    """A prompt of these messages; text is a message of the user."""
    said = tuple(UserMessage((TextPart(m),)) if isinstance(m, str) else m for m in messages)
    return Prompt(said or prompt_of("hi").messages, tools, Parameters(MODEL, **parameters))


def ask(
    lm: LM, prompt: Prompt | None = None, *, stop: Stop | None = None, into: Asked | None = None
) -> Asked:
    """Send a prompt and read the answer to its end; ``into`` keeps the events if that fails."""
    asked = Asked() if into is None else into
    stream = lm.stream(prompt or prompt_of(), stop or Stop())
    while True:
        try:
            asked.events.append(next(stream))
        except StopIteration as finished:
            asked.reply = finished.value
            return asked


def answer_to(script: Script, prompt: Prompt | None = None, **settings: Any) -> Reply:
    """The reply of a service with this script."""
    with serving(script, **settings) as (_, lm):
        reply = ask(lm, prompt).reply
    assert reply is not None
    return reply


def reply_of(asked: Asked) -> Reply:
    """The reply of a request that went well."""
    assert asked.reply is not None
    return asked.reply


def with_results(message: AssistantMessage, *parts: TextPart | ImagePart) -> list[Message]:
    """A reply and the results of its calls."""
    results = parts or (TextPart("1"),)
    return [message, *(ToolMessage(call.id, call.name, results) for call in message.tool_calls)]
