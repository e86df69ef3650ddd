"""From what a face asks for to a run: the one place where its parts are chosen.

Magic, panel, command line, MCP server, benchmark and replay fill in a request and say what there
is to choose from. Assistant, model, adapter, budget and notices are chosen here, in one order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cellwright.agent.typed_answers import typed_answers_of
from cellwright.context.assemble import time_sent
from cellwright.context.few_shot import DemoSet
from cellwright.record.events import Event
from cellwright.record.messages import Message
from cellwright.session.assistant_choice import (
    AssistantChoice,
    Chosen,
    choose_assistant,
    with_assistant,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunRequest
from cellwright.session.services import (
    ModelService,
    RequestWindow,
    check_budget,
    choose_model,
    unseen_pictures,
)
from cellwright.settings import Settings
from cellwright.stopping import Stop


class ExampleSource(Protocol):
    """The examples that a user chose, for typed questions and for assistants in plain words."""

    def chosen(self) -> DemoSet: ...

    def of(self, assistant: str) -> DemoSet: ...


@dataclass(frozen=True)
class ComposedRun:
    """A request in which everything is chosen, and the model that answers it."""

    request: RunRequest
    service: ModelService


@dataclass(frozen=True)
class RunEnvironment:
    """What a face has for its runs, from which the parts of each are chosen."""

    open_service: Callable[[str], ModelService]
    """The service of a model; empty: of the set one.

    Raises:
        SetupError: There is none, or it may not be used here.
    """
    open_conversation: Callable[[ComposedRun], AbstractContextManager[Conversation]]
    """Where it is asked; opened once nothing speaks against the run, since a kernel costs time."""
    settings: Settings = field(default_factory=Settings)
    assistants: AssistantChoice | None = None
    """Those that may be asked; None: the request brings its own."""
    messages: tuple[Message, ...] = ()
    """What was said before, as far as it counts for the model that is chosen."""
    folder: Path = Path()
    """Where named files are looked for."""
    examples: ExampleSource | None = None
    told: set[str] = field(default_factory=set)
    """Notices that are given once, and have been; added to."""


def start_run(
    request: RunRequest, environment: RunEnvironment, stop: Stop | None = None
) -> Generator[Event, None, None]:
    """Compose a run and answer its question; what is yielded has been recorded before.

    Raises:
        SetupError: Something it needs is not there; nothing was recorded then.
        KernelError: The kernel does not answer.
    """
    composed = compose(request, environment)
    with environment.open_conversation(composed) as conversation:
        yield from conversation.ask(composed.request, composed.service.lm, stop)


def compose(request: RunRequest, environment: RunEnvironment) -> ComposedRun:
    """Choose who answers a request, and how.

    Raises:
        SetupError: Something it names is not there, or its budget cannot be kept.
    """
    settings, assistants = environment.settings, environment.assistants
    chosen = Chosen(request.assistant, request.prompt)
    if assistants is not None:
        chosen = choose_assistant(request, assistants)
    names = request.file_names or request.files
    paths = [str(environment.folder / Path(file).expanduser()) for file in request.files]
    wanted = request.parameters.model or chosen.assistant.model or request.usual_model
    window = RequestWindow.of(chosen.prompt, paths, environment.messages)
    model = choose_model(wanted, settings, window)
    service = environment.open_service(model.model)
    check_budget(service, request.limits, settings.prices)
    news = "" if service.notice in environment.told else service.notice
    environment.told.add(service.notice)
    notices = [request.notice, news, model.notice]
    if request.message is None:
        sees = service.lm.capabilities(service.model).vision
        files = dict(zip(names, paths, strict=False))
        notices.append(unseen_pictures(files, sees=sees, model=service.model))
    request = replace(
        request,
        parameters=replace(request.parameters, model=service.model),
        base_url=service.base_url,
        adapter=request.adapter or settings.adapter,
        sent_at=time_sent() if request.tells_time else request.sent_at,
        notice=" ".join(filter(None, notices)),
    )
    if assistants is not None:
        request = with_assistant(request, chosen)
    return ComposedRun(_with_examples(request, environment.examples), service)


def _with_examples(request: RunRequest, examples: ExampleSource | None) -> RunRequest:
    """The request with the types of its first line, where it has some, and with its examples."""
    typed = typed_answers_of(request.prompt) if request.reads_types else request.typed
    if examples is None:
        return replace(request, typed=typed)
    if typed is not None:
        typed = replace(typed, demos=examples.chosen())
    return replace(request, typed=typed, demos=examples.of(request.assistant.name))
