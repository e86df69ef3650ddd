"""Which assistant answers a prompt: ``@name``, the chat's, the project's, or none.

``@reviewer check this`` chooses for one prompt. A leading ``@name`` that is no assistant stays what
it is elsewhere: the name of a variable.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList
from cellwright.errors import SetupError
from cellwright.record.messages import fill_parameters, with_variables
from cellwright.session.questions import RunRequest

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
    usual = {"temperature": assistant.temperature, "reasoning_effort": assistant.effort or None}
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
