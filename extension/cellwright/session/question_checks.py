"""A question as it can be asked."""

from __future__ import annotations

from dataclasses import replace

from cellwright.context.roles import NOTHING_TO_ANSWER
from cellwright.errors import SetupError
from cellwright.llm.sampling import usable_parameters
from cellwright.session.questions import Question
from cellwright.tools.system_names import settable_values


def usable(question: Question) -> Question:
    """The question as it can be asked; what had to be changed is said in its notice.

    Raises:
        SetupError: The person set what only the system sets, or nothing is asked.
    """
    is_said = question.prompt.strip() or question.files or question.context
    if not (is_said or question.message or question.typed):
        raise SetupError(NOTHING_TO_ANSWER)
    settable_values(question.given)
    wanted, parameters = question.parameters.temperature, usable_parameters(question.parameters)
    if parameters is question.parameters:
        return question
    said = f"The temperature {wanted} cannot be sent; {_in_its_place(parameters.temperature)}."
    notice = f"{question.notice} {said}".strip()
    return replace(question, parameters=parameters, notice=notice)


def _in_its_place(temperature: float | None) -> str:
    return f"{temperature:g} is sent" if temperature is not None else "the provider's own counts"
