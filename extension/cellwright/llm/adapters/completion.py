"""Our models as what a signature adapter calls: messages in OpenAI's shape in, replies out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.llm import LM, LMEvent
from cellwright.llm.openai_format import messages_from_openai
from cellwright.record.messages import Manifest, Parameters, Prompt, Reply
from cellwright.stopping import Stop

LENGTHS = ("max_tokens", "max_completion_tokens")


class Completion:
    """Calls a model once for each reply that is wanted.

    Args:
        lm: Who answers.
        parameters: What is sent where a call says nothing else.
        stop: Ends a call.
        on_event: Told of the pieces as they come.
    """

    def __init__(
        self,
        lm: LM,
        parameters: Parameters,
        stop: Stop | None = None,
        on_event: Callable[[LMEvent], None] = lambda event: None,
    ) -> None:
        self._lm = lm
        self._parameters = parameters
        self._stop = stop or Stop()
        self._on_event = on_event
        self.replies: list[Reply] = []
        """Every reply so far, with its usage."""

    @property
    def supports_function_calling(self) -> bool:
        """Whether the model takes tools."""
        return self._lm.capabilities(self._parameters.model).tools

    @property
    def supports_response_schema(self) -> bool:
        """Whether the model has not refused a schema of its reply yet."""
        known = self._lm.capabilities(self._parameters.model)
        return "response_format" not in known.refused_parameters

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], n: int = 1, **options: Any
    ) -> list[dict[str, Any]]:
        """The replies, each with ``text`` and ``tool_calls``; one that was cut says so.

        Raises:
            LMError: The service failed.
            RunCancelled: It was stopped.
        """
        return [self._called(messages, dict(options)) for _ in range(n)]

    def stream(
        self, messages: Sequence[Mapping[str, Any]], **options: Any
    ) -> Generator[LMEvent, None, dict[str, Any]]:
        """One reply, its pieces as they come.

        Raises:
            LMError: The service failed.
            RunCancelled: It was stopped.
        """
        tools = tuple(_manifest(tool) for tool in options.pop("tools", None) or ())
        prompt = Prompt(messages_from_openai(messages), tools, self._with(options))
        reply = yield from self._lm.stream(prompt, self._stop)
        self.replies.append(reply)
        made = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.message.tool_calls
        ]
        said = {"text": reply.message.text, "tool_calls": made}
        return {**said, "truncated": True} if reply.is_cut else said

    def _called(
        self, messages: Sequence[Mapping[str, Any]], options: dict[str, Any]
    ) -> dict[str, Any]:
        stream = self.stream(messages, **options)
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                reply: dict[str, Any] = finished.value
                return reply
            self._on_event(event)

    def _with(self, options: dict[str, Any]) -> Parameters:
        given = {name: value for name, value in options.items() if value is not None}
        limit = next((given.pop(name) for name in LENGTHS if name in given), None)
        parameters = self._parameters
        return replace(
            parameters,
            temperature=given.pop("temperature", parameters.temperature),
            max_output_tokens=limit or parameters.max_output_tokens,
            extra={**parameters.extra, **given},
        )


def _manifest(tool: Mapping[str, Any]) -> Manifest:
    function = tool.get("function", tool)
    return Manifest(
        str(function["name"]), str(function.get("description") or ""), function["parameters"]
    )
