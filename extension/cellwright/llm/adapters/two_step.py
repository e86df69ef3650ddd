"""Two steps: a model answers in its own words, and another one takes the fields out of them.

For reasoning models that answer best without a form. Each reply costs a second call, of the small
model; both are seen by whoever counts the calls of the two.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.llm.adapters.asking import await_reply
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.field_values import format_value
from cellwright.llm.adapters.signature_adapter import (
    AdapterParseError,
    FieldAdapter,
    SignatureAdapter,
    described,
)
from cellwright.llm.signatures import Field

REPLY = "text"
EXTRACT = """\
The reply below answers a task. Take these outputs out of it as they stand there: copy, do not \
improve, and add nothing that it does not say. The task was:
{task}"""


@dataclass(frozen=True)
class _Extraction:
    """What the second model is asked for: the first one's outputs, out of its words."""

    instructions: str
    output_fields: Mapping[str, Any]
    input_fields: Mapping[str, Any] = field(
        default_factory=lambda: {REPLY: Field(REPLY, "input").to_field_info()}
    )


class TwoStepAdapter(FieldAdapter):
    """Asks for words, and has a second model read them.

    Args:
        extraction_model: Called like the first one; a small model will do.
        extraction: How it is talked with.
        callbacks: As of every signature adapter.
    """

    def __init__(
        self,
        extraction_model: Any,
        extraction: SignatureAdapter | None = None,
        callbacks: Sequence[Any] = (),
    ) -> None:
        super().__init__(callbacks, use_native_function_calling=False)
        self._model = extraction_model
        self._extraction = extraction or ChatAdapter(callbacks)

    async def acall(
        self,
        lm: Any,
        lm_kwargs: Mapping[str, Any],
        signature: Any,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """The same for code that awaits: it awaits both models."""
        import asyncio

        loop, model = asyncio.get_running_loop(), self._model

        def ask(**arguments: Any) -> Any:
            return asyncio.run_coroutine_threadsafe(await_reply(model, arguments), loop).result()

        request = self._request(lm, lm_kwargs, signature, demos, inputs)
        replies = await await_reply(lm, request.arguments)
        asking = copy.copy(self)
        asking._model = ask  # the thread that reads asks, and the loop awaits
        return await asyncio.to_thread(
            asking._call_postprocess, request.signature, signature, replies, lm, lm_kwargs
        )

    def format_field_description(self, signature: Any) -> str:
        """What is given, and what the answer has to say."""
        given, wanted = described(signature.input_fields), described(signature.output_fields)
        return f"You are given:\n{given}\nYour answer has to say:\n{wanted}"

    def format_field_structure(self, signature: Any) -> str:
        """No form."""
        return "Answer in your own words, in any order; no form is needed."

    def format_task_description(self, signature: Any) -> str:
        """The instructions."""
        return str(signature.instructions or "").strip()

    def write_field(self, name: str, value: str, *, code: bool = False) -> str:
        """The value after its name."""
        return f"{name}: {value}"

    def write_outputs(self, outputs: Mapping[str, Any], signature: Any) -> str:
        """The outputs in words, each after its name."""
        return "\n\n".join(f"{name}: {format_value(value)}" for name, value in outputs.items())

    def user_message_output_requirements(self, signature: Any) -> str:
        """No form, so there is nothing to be reminded of."""
        return ""

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """What the second model finds in the first one's words, as it read it."""
        return dict(self.read_fields(signature, completion))

    def read_fields(self, signature: Any, completion: str) -> Mapping[str, Any]:
        """What the second model finds in the first one's words.

        Raises:
            AdapterParseError: Its reply does not hold the outputs.
        """
        asked = _Extraction(
            EXTRACT.format(task=self.format_task_description(signature)),
            dict(signature.output_fields),
        )
        try:
            (found,) = self._extraction(self._model, {}, asked, [], {REPLY: completion})
        except AdapterParseError as error:
            told = f"Failed to parse response: {error.message}"
            raise AdapterParseError(type(self).__name__, signature, completion, told) from error
        return {name: found[name] for name in signature.output_fields}
