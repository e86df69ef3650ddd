"""From a prompt, typed or plain, and its options to a question, and the service that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from cellwright.agent.typed_answers import TypedAnswers
from cellwright.context.assemble import time_sent
from cellwright.context.few_shot import DemoSet
from cellwright.errors import SetupError
from cellwright.llm.signatures import Signature
from cellwright.record.events import Notice
from cellwright.record.messages import Message, Parameters
from cellwright.session.assistant_choice import Chosen, with_assistant
from cellwright.session.questions import Question
from cellwright.session.services import RequestWindow, Service, choose_model, unseen_pictures
from cellwright.settings import Settings
from cellwright_magics.arguments import Choices


@dataclass(frozen=True)
class AgentQuestion:
    """What the person asks for."""

    prompt: str
    """As they wrote it; an ``@name`` at its start is who answers."""
    choices: Choices
    files: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """What was said before."""


@dataclass(frozen=True)
class PreparedQuestion:
    """A question, and the service that answers it."""

    service: Service
    question: Question


def prepare(
    wanted: AgentQuestion,
    chosen: Chosen,
    settings: Settings,
    service_for: Callable[[str], Service],
    news: Callable[[Service], str],
) -> PreparedQuestion:
    """The question as it is asked of the assistant that was chosen.

    Args:
        wanted: What is asked for.
        chosen: Who answers.
        settings: Where the models are.
        service_for: The service of a model; empty: the set one.
        news: What is still to be said of a service.

    Raises:
        SetupError: There is no service for the model.
    """
    choices, files = wanted.choices, wanted.files
    named = choices.model if choices.is_model_named else chosen.assistant.model
    window = RequestWindow.of(chosen.prompt, files, wanted.messages)
    model = choose_model(named or choices.model, settings, window)
    service = service_for(model.model)
    sees = service.lm.capabilities(service.model).vision
    unseen = unseen_pictures(files, sees=sees, model=service.model)
    question = Question(
        prompt=wanted.prompt,
        parameters=Parameters(service.model, choices.temperature),
        base_url=service.base_url,
        files=files,
        mode=choices.mode,
        limits=choices.limits,
        notice=" ".join(filter(None, (news(service), model.notice, unseen))),
        given=choices.given,
        adapter=settings.adapter,
        sent_at=time_sent() if choices.tells_time else "",
    )
    return PreparedQuestion(service, with_assistant(question, chosen))


def did_you_mean(models: tuple[str, ...]) -> Notice:
    """What is said of a model that the service does not know."""
    if not models:
        return Notice("info", "The service does not list a model of such a name.")
    return Notice("info", f"Did you mean {' or '.join(models)}?", "Name it with -m.")


# ``%%agent df, question -> answer: str, best: DataFrame``: a first line that says types.


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
