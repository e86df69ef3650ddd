"""``%%agent df, question -> answer: str, best: DataFrame``: a first line that says types."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from cellwright.agent.typed_answers import TypedAnswers
from cellwright.context.few_shot import DemoSet
from cellwright.errors import SetupError
from cellwright.llm.signatures import Signature
from cellwright.session.questions import Question

INPUTS = re.compile(r"\s*(?:[^\W\d]\w*\s*(?:[,:].*)?)?")
OUTPUTS = re.compile(r"\s*[^\W\d]\w*\s*(?:[,:].*)?")
"""A name, then a type or another name: how either side of the arrow begins."""


def typed_question(
    question: Question, demos: Callable[[], DemoSet] = lambda: DemoSet()
) -> Question:
    """The question with its types, where its first line has some; any other as it is.

    Args:
        question: As it was asked.
        demos: The examples there are; asked for where the question is a typed one.

    Raises:
        SetupError: The line has types, and one of them is not known.
    """
    typed = typed_answers_of(question.prompt)
    if typed is not None:
        typed = replace(typed, demos=demos())
    return replace(question, typed=typed)


def typed_answers_of(prompt: str) -> TypedAnswers | None:
    """What the first line says of types; None for a line that is a prompt.

    A line counts when it is a signature as a whole. ``convert a -> b`` is a prompt, and so is a
    single line without any type: people write arrows.

    Raises:
        SetupError: The line names types, and one of them is not known.
    """
    line, _, body = prompt.partition("\n")
    before, arrow, after = line.partition("->")
    if not (arrow and INPUTS.fullmatch(before) and OUTPUTS.fullmatch(after)):
        return None
    if not (body.strip() or ":" in line):
        return None
    try:
        return TypedAnswers(Signature.parse(line), body)
    except SetupError:
        if ":" not in after:
            return None
        raise
