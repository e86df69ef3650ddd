"""Good recorded runs as examples: what was asked, what ran, what came out.

They are written in the same order and the same words each time, and before the question, so that
a provider's prompt cache keeps what it has of them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.context.assemble import harmless
from cellwright.installation import missing_extra
from cellwright.llm.signatures import Code, Field, Signature
from cellwright.record.messages import Message, TextPart, text_of
from cellwright.text.truncation import estimate_tokens

TOKEN_LIMIT = 2_000
INTRODUCTION = "Recorded runs of such tasks that were scored as good. Their variables are gone."


@dataclass(frozen=True)
class Demo:
    """One good run."""

    source: str
    """Names the sample."""
    question: str
    answer: str = ""
    code: tuple[str, ...] = ()
    """The cells that ran without an error and were kept."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """What was handed in, by name, where the question was a typed one."""
    score: float = 1.0
    suite: str = ""

    @property
    def tokens(self) -> int:
        """About what it costs."""
        return estimate_tokens(_text(self, self.results or {"answer": self.answer}))


@dataclass(frozen=True)
class DemoSet:
    """Examples and how much of a request they may take."""

    demos: tuple[Demo, ...] = ()
    token_limit: int = TOKEN_LIMIT

    def text_for(self, signature: Signature) -> str:
        """What the model is told before a question of this signature; empty: nothing fits it."""
        filled = ((demo, fields_of(demo, signature)) for demo in self.demos)
        return self._within_limit(
            _text(demo, {part.name: values.get(part.name) for part in signature.outputs})
            for demo, values in filled
            if any(part.name in values for part in signature.outputs)
        )

    def text(self) -> str:
        """What the model is told before a question in plain words; empty: there are none."""
        return self._within_limit(_plain_text(demo) for demo in self.demos)

    def before(
        self, history: Iterable[Message], signature: Signature | None = None
    ) -> tuple[TextPart, ...]:
        """The examples as the model is shown them; nothing where it has seen them already.

        Args:
            history: What was said so far.
            signature: The question's; None: it is one in plain words.
        """
        text = self.text_for(signature) if signature is not None else self.text()
        is_known = any(text in text_of(message) for message in history)
        return (TextPart(text),) if text and not is_known else ()

    def _within_limit(self, texts: Iterable[str]) -> str:
        blocks: list[str] = []
        left = self.token_limit - estimate_tokens(INTRODUCTION)
        for block in texts:
            left -= estimate_tokens(block)
            if left < 0:
                break  # a shorter one further on would change the order when the limit changes
            blocks.append(block)
        if not blocks:
            return ""
        return (
            "\n\n".join([f"<examples>\n{INTRODUCTION}", *map(harmless, blocks)]) + "\n</examples>"
        )


def fields_of(demo: Demo, signature: Signature) -> dict[str, Any]:
    """The demo in the fields of a signature; those it cannot fill are left out.

    What was asked is the first input that is text. An output has the result of its name; where
    nothing was handed in, the only text output has the answer, and program text the code.
    """
    values: dict[str, Any] = {}
    texts = [part.name for part in signature.inputs if part.annotation is str]
    if texts:
        values[texts[0]] = demo.question
    if demo.results:
        named = {part.name for part in signature.outputs}
        return values | {name: value for name, value in demo.results.items() if name in named}
    return values | _untyped(demo, signature.outputs)


def _untyped(demo: Demo, outputs: Sequence[Field]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    texts = [part.name for part in outputs if part.annotation is str]
    if len(texts) == 1 and demo.answer:
        values[texts[0]] = demo.answer
    for part in outputs:
        if part.annotation is Code and demo.code:
            values[part.name] = _written(demo.code)
    return values


def _written(code: Iterable[str]) -> str:
    """Several cells as one program text."""
    return "\n\n".join(code)


def dspy_examples(
    demos: Iterable[Demo], signature: Signature, make: Callable[..., Any] | None = None
) -> list[Any]:
    """The demos as ``dspy.Example``, for dspy's optimisers; those that fill no output left out.

    Args:
        demos: Good runs.
        signature: Whose fields they are put into.
        make: Makes an example of fields; None: ``dspy.Example``.

    Raises:
        SetupError: dspy is not installed.
    """
    make = make or _dspy_example()
    made = []
    inputs = [part.name for part in signature.inputs]
    for demo in demos:
        values = fields_of(demo, signature)
        if any(part.name in values for part in signature.outputs):
            given = [name for name in inputs if name in values]
            made.append(make(**values).with_inputs(*given))
    return made


def _dspy_example() -> Callable[..., Any]:
    try:
        example: Callable[..., Any] = importlib.import_module("dspy").Example
    except ImportError as error:
        raise missing_extra("dspy is not installed.", "dspy") from error
    return example


def _text(demo: Demo, outputs: Mapping[str, Any]) -> str:
    lines = [f"Asked: {demo.question.strip()}"]
    if demo.code and _written(demo.code) not in outputs.values():
        lines += _ran(demo)
    given = {name: value for name, value in outputs.items() if value is not None}
    return "\n".join([*lines, f"Results: {json.dumps(given, ensure_ascii=False, default=str)}"])


def _plain_text(demo: Demo) -> str:
    """A run for a question that wants no typed results."""
    if demo.results:
        return _text(demo, demo.results)
    answered = [f"Answered: {demo.answer.strip()}"] if demo.answer.strip() else []
    return "\n".join(
        [f"Asked: {demo.question.strip()}", *(_ran(demo) if demo.code else ()), *answered]
    )


def _ran(demo: Demo) -> list[str]:
    return ["Ran:", *(f"    {line}" for line in _written(demo.code).splitlines())]
