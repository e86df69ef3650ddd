"""Assistants: instructions, a model and tools under a name, as files that a person writes.

``.cellwright/assistants/NAME.toml`` in the folder of the notebook or in the folder that the server
starts from, or ``assistants/NAME.toml`` in the person's own folder::

    description = "Looks for mistakes in data"
    instructions = "Check types, missing values and duplicates first."
    model = "gpt-5.6"
    temperature = 0.2
    effort = "low"
    tools = ["read_*", "list_variables", "run_cell"]
    adapter = "native"

    [parameters]
    verbosity = "low"

    [[scenes]]
    label = "plot"
    prompt = "Name the axes and their units."

Every key may be left out. A file can only narrow down what may be done: it allows no tool that is
not there and changes no mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cellwright.assistants.scenes import Scene
from cellwright.tools import Component
from cellwright.tools.registry import Registry

WEB_TOOLS = ("web_*", "browse*")
"""Tools that look something up in the web, whoever made them."""
PARAMETERS = ("verbosity", "max_output_tokens", "top_p", "seed", "service_tier")
"""Those that a file may set: none that leads a request elsewhere or has it kept."""
MEMORY_TOOLS = ("remember", "recall", "forget")


@dataclass(frozen=True)
class Assistant:
    """How the model is to work in a conversation."""

    name: str
    description: str = ""
    instructions: str = ""
    """Stand at the end of the system message."""
    model: str = ""
    """Empty: the set one; ``auto``: by what a question needs."""
    temperature: float | None = None
    """From 0.1 to 1; None: the provider's default. Left out for models that refuse it."""
    effort: str = ""
    """How much the model thinks, such as ``low``; empty: its own default."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What else the model is asked with, of ``PARAMETERS``."""
    tools: tuple[str, ...] | None = None
    """Names or patterns of the tools that may be used; None: all."""
    adapter: str = ""
    """How the model is talked with at first; empty: as it is set."""
    library: tuple[str, ...] | None = None
    """Names, places or patterns of the documents it may look into; None: all, empty: none."""
    is_public: bool = False
    """Guests may choose it."""
    is_default: bool = False
    """Answers where no other is chosen."""
    disable_memory: bool = False
    """Nothing that was remembered is looked up, nothing is remembered."""
    memory_for_guests: bool = False
    """Guests who choose it, where it is public, are told what the owner had remembered."""
    disable_default_prompt: bool = False
    """Our advice how to work is left out; what no run can do without stays."""
    disable_web_browsing: bool = False
    """The tools that look into the web are not offered."""
    scenes: tuple[Scene, ...] = ()
    """More instructions for one kind of situation each."""
    path: str = field(default="", compare=False)
    """The file it was read from."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What is done otherwise than the file says."""

    def allowed(self, registry: Registry) -> Registry:
        """Those of the tools that may be used, in their order."""
        names = [name for name in registry.names() if self._may_use(name, registry.find(name))]
        if len(names) == len(registry.names()):
            return registry
        # a component may offer several tools and is bound once
        return Registry(dict.fromkeys(filter(None, map(registry.find, names))))

    @property
    def file(self) -> Path:
        """The file it was read from."""
        return Path(self.path)

    def may_read(self, *names: str) -> bool:
        """Whether a document that has these names and places may be looked into."""
        if self.library is None:
            return True
        return any(_is_one_of(name, self.library) for name in names)

    def _may_use(self, name: str, component: Component | None) -> bool:
        if self.disable_web_browsing and (
            getattr(component, "reaches_web", False) or _is_one_of(name, WEB_TOOLS)
        ):
            return False
        if self.disable_memory and _is_one_of(name, MEMORY_TOOLS):
            return False
        return self.tools is None or _is_one_of(name, self.tools)


NO_ASSISTANT = Assistant("")
"""Nothing was chosen."""


@dataclass(frozen=True)
class Unusable:
    """An assistant whose file has a mistake: nobody answers in its place.

    What was misspelt may be the very key that was to keep it from something.
    """

    name: str
    problem: str
    is_public: bool = False
    is_default: bool = False
    path: str = ""
    """Its file; empty: who is asking may not know it."""


@dataclass(frozen=True)
class AssistantList:
    """The assistants of some folders, and what is wrong with the files of others."""

    assistants: tuple[Assistant, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done otherwise than a file says."""
    default: Assistant = NO_ASSISTANT
    """The one that answers where no other is chosen."""
    unusable: tuple[Unusable, ...] = ()
    """Those that would be here if it were not for a mistake in their file."""

    @property
    def unusable_default(self) -> Unusable | None:
        """The one that would answer where no other is chosen; None: its file is right."""
        return next((each for each in self.unusable if each.is_default), None)

    def find_unusable(self, name: str) -> Unusable | None:
        """The one of that name, in whatever case, whose file has a mistake."""
        folded = name.casefold()
        return next((u for u in self.unusable if u.name.casefold() == folded), None)

    def find(self, name: str) -> Assistant | None:
        """The one of that name, else the only one that has it in another case."""
        same = [a for a in self.assistants if a.name == name]
        folded = [a for a in self.assistants if a.name.casefold() == name.casefold()]
        found = same or (folded if len(folded) == 1 else [])
        return found[0] if found else None


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
