"""From what a face asks for to a run: the one place where its parts are chosen.

Magic, panel, command line, MCP server, benchmark and replay fill in a request and say what there
is to choose from. Assistant, model, adapter, budget and notices are chosen here, in one order.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cellwright.agent.typed_answers import typed_answers_of
from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList
from cellwright.context.assemble import time_sent
from cellwright.context.few_shot import DemoSet
from cellwright.errors import SetupError
from cellwright.record.events import Event
from cellwright.record.messages import Message, fill_parameters, with_variables
from cellwright.session.conversation import Conversation
from cellwright.session.prices import known_prices
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

# Which assistant answers a prompt: ``@name``, the chat's, the project's, or none.
#
# ``@reviewer check this`` chooses for one prompt. A leading ``@name`` that is no assistant stays
# what it is elsewhere: the name of a variable.


BUILT_IN = "cellwright"
"""Names the agent without any assistant, where a chat or a project has one."""
LEADING = re.compile(r"@([^\W\d][\w-]*)")
ENDS = re.compile(r"(?=[\s,:;，：；、]|$)")
WITHOUT = "@cellwright at the start of a prompt asks without it."
SEPARATORS = " \t\r\n,:;，：；、"


@dataclass(frozen=True)
class AssistantChoice:
    """The assistants that may be asked, and what a name in a prompt may mean besides."""

    listed: AssistantList
    of_chat: str = ""
    """The one that usually answers in this conversation; empty: the project's."""
    variables: Collection[str] | None = None
    """The kernel's; None: they are not known here."""
    is_guest: bool = False
    """Only public ones may be chosen."""


@dataclass(frozen=True)
class Chosen:
    """Who answers, and what is asked of them."""

    assistant: Assistant
    prompt: str
    """Without the name at its start."""
    notice: str = ""
    """For the person; empty: nothing is to be said."""


def choose_assistant(request: RunRequest, among: AssistantChoice) -> Chosen:
    """Who answers a prompt.

    Raises:
        SetupError: The one that was named is not there, has a mistake in its file, or is asked
            nothing.
    """
    listed = keep_public(among.listed) if among.is_guest else among.listed
    prompt, named, of_chat = request.prompt, request.assistant_name, among.of_chat
    leading = _leading(prompt, listed)
    if leading is not None:
        return leading
    notice = _misspelt(prompt, listed, among.variables)
    if named:
        return Chosen(_named(named, listed), prompt, notice)
    if of_chat:
        _check_usable(of_chat, listed)
        try:
            return Chosen(_named(of_chat, listed), prompt, notice)
        except SetupError as error:
            notice = f"{notice} {error.message}".strip()
    if listed.unusable_default is not None:
        raise SetupError(listed.unusable_default.problem, hint=WITHOUT)
    return Chosen(listed.default, prompt, notice)


def with_assistant(question: RunRequest, chosen: Chosen) -> RunRequest:
    """The question as it is asked of the one who was chosen, names in ``{{…}}`` put in.

    The model is that of the question: who opens the service has chosen it.
    """
    assistant, values = chosen.assistant, question.given
    scenes = tuple(
        replace(scene, prompt=with_variables(scene.prompt, values)) for scene in assistant.scenes
    )
    instructions = with_variables(assistant.instructions, values)
    thought = {"temperature": assistant.temperature, "reasoning_effort": assistant.effort or None}
    usual = {**assistant.parameters, **thought}
    return replace(
        question,
        prompt=with_variables(chosen.prompt, values),
        parameters=fill_parameters(question.parameters, usual),
        adapter=assistant.adapter or question.adapter,
        assistant=replace(assistant, instructions=instructions, scenes=scenes),
        notice=" ".join(filter(None, (question.notice, chosen.notice))),
    )


def keep_public(listed: AssistantList) -> AssistantList:
    """What a guest may know of the assistants that are there."""
    default = listed.default if listed.default.is_public else NO_ASSISTANT
    public = tuple(assistant for assistant in listed.assistants if assistant.is_public)
    # a guest learns that it does not work, not what is written in the file
    unusable = tuple(
        replace(each, problem=f"The file of the assistant {each.name!r} has a mistake.", path="")
        for each in listed.unusable
        if each.is_public
    )
    return AssistantList(public, default=default, unusable=unusable)


def _leading(prompt: str, listed: AssistantList) -> Chosen | None:
    """Who is named at the very start; the longest name that fits."""
    text = prompt.lstrip()
    if not text.startswith("@"):
        return None
    names = [each.name for each in listed.assistants] + [each.name for each in listed.unusable]
    for name in sorted([*names, BUILT_IN], key=len, reverse=True):
        end = 1 + len(name)
        if text[1:end].casefold() == name.casefold() and ENDS.match(text, end):
            rest = text[end:].lstrip(SEPARATORS)
            if not rest.strip():
                raise SetupError(f"@{name} is asked nothing.", hint="Write the question after it.")
            return Chosen(_named(name, listed), rest)
    return None


def _check_usable(name: str, listed: AssistantList) -> None:
    """Raise what is wrong with the file of an assistant.

    Raises:
        SetupError: Something is.
    """
    unusable = listed.find_unusable(name)
    if unusable is not None and listed.find(name) is None:
        raise SetupError(unusable.problem)


def _named(name: str, listed: AssistantList) -> Assistant:
    assistant = listed.find(name)
    if assistant is not None:
        return assistant
    _check_usable(name, listed)
    if name == BUILT_IN:
        return NO_ASSISTANT
    raise SetupError(f"There is no assistant {name!r}.", hint=_hint(name, listed))


def _hint(name: str, listed: AssistantList) -> str:
    names = [assistant.name for assistant in listed.assistants]
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    known = f"There are: {', '.join(names)}." if names else ""
    return " ".join([*listed.problems, known or f"Write .cellwright/assistants/{name}.toml."])


def _misspelt(prompt: str, listed: AssistantList, variables: Collection[str] | None) -> str:
    """What is to be said of a leading name that is nearly an assistant's.

    Raises:
        SetupError: It is no variable's name.
    """
    found = LEADING.match(prompt.lstrip())
    if found is None or (variables is not None and found[1] in variables):
        return ""
    names = [assistant.name for assistant in listed.assistants]
    near = difflib.get_close_matches(found[1], names, n=1, cutoff=0.75)
    if not near:
        return ""
    text, meant = f"There is no assistant {found[1]!r}.", f"Did you mean @{near[0]}?"
    if variables is None:
        return f"{text} It was taken for a variable. {meant}"
    raise SetupError(text, hint=meant)


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
    check_budget(service, request.limits, known_prices(settings))
    is_news = service.notice not in environment.told
    environment.told.add(service.notice)
    service.learn_window()
    notices = [request.notice, service.notice if is_news else "", model.notice]
    actions = [request.notice_action, service.notice_action if is_news else "", model.action]
    if request.message is None:
        sees = service.lm.capabilities(service.model).vision
        files = dict(zip(names, paths, strict=False))
        notices.append(unseen_pictures(files, sees=sees, model=service.model))
    request = replace(
        request,
        parameters=replace(request.parameters, model=service.model),
        base_url=service.base_url,
        adapter=request.adapter or settings.adapter,
        installable=(*request.installable, *settings.installable),
        sent_at=time_sent() if request.tells_time else request.sent_at,
        notice=" ".join(filter(None, notices)),
        notice_action=" ".join(filter(None, actions)),
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
