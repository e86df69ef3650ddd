"""From a prompt and what was chosen for it to a question, and the service that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cellwright.context.assemble import time_sent
from cellwright.record.events import Notice
from cellwright.record.messages import Message
from cellwright.record.prompts import Parameters
from cellwright.session.assistant_choice import Chosen, with_assistant
from cellwright.session.model_choice import Window, choose_model, unseen_pictures
from cellwright.session.questions import Question
from cellwright.session.services import Service
from cellwright.settings import Settings
from cellwright_magics.choices import Choices


@dataclass(frozen=True)
class Wanted:
    """What the person asks for."""

    prompt: str
    """As they wrote it; an ``@name`` at its start is who answers."""
    choices: Choices
    files: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """What was said before."""


@dataclass(frozen=True)
class Prepared:
    """A question, and the service that answers it."""

    service: Service
    question: Question


def prepare(
    wanted: Wanted,
    chosen: Chosen,
    settings: Settings,
    service_for: Callable[[str], Service],
    news: Callable[[Service], str],
) -> Prepared:
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
    window = Window.of(chosen.prompt, files, wanted.messages)
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
    return Prepared(service, with_assistant(question, chosen))


def did_you_mean(models: tuple[str, ...]) -> Notice:
    """What is said of a model that the service does not know."""
    if not models:
        return Notice("info", "The service does not list a model of such a name.")
    return Notice("info", f"Did you mean {' or '.join(models)}?", "Name it with -m.")
