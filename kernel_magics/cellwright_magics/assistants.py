"""``%agent assistant`` and ``%agent scene``: who answers in this kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cellwright.assistants import Assistant, AssistantList
from cellwright.assistants.editing import (
    add_scene,
    bind_tool,
    change_assistant,
    delete_assistant,
    new_assistant,
    remove_scene,
    unbind_tool,
)
from cellwright.assistants.fields import read_field
from cellwright.assistants.files import list_assistants, project_folders, read_text
from cellwright.commands.results import Result
from cellwright.errors import SetupError
from cellwright.session.composer import BUILT_IN
from cellwright.settings import Settings
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.wording import one_line

CHARACTERS = 60


def tabulate_assistants(listed: AssistantList, of_chat: str) -> Result:
    """Make one row an assistant that can be chosen here, then what is wrong with others' files.

    Args:
        listed: The assistants.
        of_chat: The one that usually answers in this kernel; empty: the project's.
    """
    usual = of_chat or listed.default.name
    rows = [
        (
            "→" if assistant.name == usual else "",
            assistant.name,
            one_line(assistant.description, CHARACTERS),
            assistant.model,
            ", ".join(scene.label for scene in assistant.scenes),
            assistant.path,
        )
        for assistant in listed.assistants
    ]
    rows += [("⚠", "", text, "", "", "") for text in (*listed.problems, *listed.notes)]
    text = "" if rows else "No assistants. %agent assistant new NAME writes one."
    headings = ("", "assistant", "what it does", "model", "scenes", "file")
    return Result(text, headings, rows, listed.assistants)


def tabulate_scenes(assistants: Sequence[Assistant]) -> Result:
    """Make one row a scene."""
    rows = [
        (assistant.name, scene.label, scene.when_words, one_line(scene.prompt, CHARACTERS))
        for assistant in assistants
        for scene in assistant.scenes
    ]
    none = 'No scenes. %agent scene add LABEL "what is told" @ASSISTANT adds one.'
    return Result("" if rows else none, ("assistant", "scene", "chosen when", "what is told"), rows)


class Assistants:
    """Who answers in one shell."""

    def __init__(self) -> None:
        self.of_chat = ""
        """The one that usually answers in this kernel; empty: the project's."""

    def listed(self, settings: Settings) -> AssistantList:
        """Those of the kernel's folder, of the project it is in, and the person's own."""
        return list_assistants(project_folders(Path.cwd()), settings.home)

    def run(self, line: CommandLine, settings: Settings) -> object:
        """Do what ``%agent assistant …``, ``%agent scene …`` or ``%agent tool bind …`` says.

        Args:
            line: The command; in a cell, the text below it is its last word.
            settings: Where the person's own assistants are.

        Raises:
            SetupError: An assistant is not there, or its file cannot be changed so.
        """
        first, second, *words = (*line.words, "list") if len(line.words) == 1 else line.words
        words += [line.body] if line.body is not None else []
        return ACTIONS[first, second](self, self.listed(settings), words)

    def _list(self, listed: AssistantList, _: list[str]) -> object:
        return tabulate_assistants(listed, self.of_chat)

    def _show(self, listed: AssistantList, words: list[str]) -> object:
        assistant = _found(words[0], listed)
        return Result(read_text(assistant.file).strip() or "The file is empty.")

    def _use(self, listed: AssistantList, words: list[str]) -> object:
        name = words[0].removeprefix("@")
        if name == BUILT_IN and listed.find(name) is None:
            self.of_chat = BUILT_IN
            return Result("No assistant answers in this kernel from now on.")
        self.of_chat = _found(name, listed).name
        return Result(f"{self.of_chat} answers in this kernel from now on.")

    def _new(self, _: AssistantList, words: list[str]) -> object:
        name = words[0].removeprefix("@")
        path = new_assistant(Path.cwd(), name, *words[1:])
        return Result(f"The assistant is in {path}. Ask it: %agent @{name} …")

    def _rename(self, listed: AssistantList, words: list[str]) -> object:
        there, name = _found(words[0], listed), words[1].removeprefix("@")
        changed = change_assistant(there.file, {}, name=name)
        if self.of_chat == there.name:
            self.of_chat = name
        return Result(f"{there.name} is called {name} now, in {changed.path}.")

    def _delete(self, listed: AssistantList, words: list[str]) -> object:
        there = _found(words[0], listed)
        delete_assistant(there.file)
        told = [f"{there.name} is deleted: {there.path}."]
        if self.of_chat == there.name:
            self.of_chat = ""
            told.append("It does not answer in this kernel any more.")
        return Result(" ".join(told))

    def _set(self, listed: AssistantList, words: list[str]) -> object:
        there, key = _found(words[0], listed), words[1]
        if len(words) == 2:
            raise SetupError(f"It is not said what {key} is to be.", hint='"" takes it out.')
        value = read_field(key, " ".join(words[2:]))
        changed = change_assistant(there.file, {key: value})
        done = "changed" if key in changed.keys else "taken out"
        return Result(f"{there.name}: {key} is {done}.")

    def _scenes(self, listed: AssistantList, words: list[str]) -> object:
        return tabulate_scenes([_found(words[0], listed)] if words else listed.assistants)

    def _add_scene(self, listed: AssistantList, words: list[str]) -> object:
        label, prompt, *named = words
        assistant = _found(named[0], listed) if named else self._usual(listed)
        add_scene(assistant, label, prompt)
        return Result(f"{assistant.name} has the scene {label!r} now.")

    def _remove_scene(self, listed: AssistantList, words: list[str]) -> object:
        label, *named = words
        assistant = _found(named[0], listed) if named else self._usual(listed)
        remove_scene(assistant, label)
        return Result(f"{assistant.name} has no scene {label!r} now.")

    def _bind(self, listed: AssistantList, words: list[str]) -> object:
        assistant = _found(words[1], listed)
        bind_tool(assistant, words[0])
        return Result(f"{assistant.name} may use {words[0]} now.")

    def _unbind(self, listed: AssistantList, words: list[str]) -> object:
        assistant = _found(words[1], listed)
        unbind_tool(assistant, words[0])
        return Result(f"{assistant.name} no longer has {words[0]}.")

    def _usual(self, listed: AssistantList) -> Assistant:
        assistant = listed.find(self.of_chat) or listed.default
        if not assistant.name:
            raise SetupError("It is not said whose scene it is.", hint="Name one: … @ASSISTANT.")
        return assistant


def _found(name: str, listed: AssistantList) -> Assistant:
    assistant = listed.find(name.removeprefix("@"))
    unusable = listed.find_unusable(name.removeprefix("@"))
    if assistant is None and unusable is not None:
        raise SetupError(unusable.problem)
    if assistant is None:
        known = ", ".join(each.name for each in listed.assistants) or "none"
        raise SetupError(f"There is no assistant {name!r}.", hint=f"There are: {known}.")
    return assistant


Action = Callable[[Assistants, AssistantList, list[str]], object]
ACTIONS: Mapping[tuple[str, str], Action] = {
    ("assistant", "list"): Assistants._list,
    ("assistant", "show"): Assistants._show,
    ("assistant", "use"): Assistants._use,
    ("assistant", "new"): Assistants._new,
    ("assistant", "rename"): Assistants._rename,
    ("assistant", "delete"): Assistants._delete,
    ("assistant", "set"): Assistants._set,
    ("scene", "list"): Assistants._scenes,
    ("scene", "add"): Assistants._add_scene,
    ("scene", "remove"): Assistants._remove_scene,
    ("tool", "bind"): Assistants._bind,
    ("tool", "unbind"): Assistants._unbind,
}
