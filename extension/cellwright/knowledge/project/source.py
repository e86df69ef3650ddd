"""What a question gets of its project: instructions, a list of skills, and the tool that reads one.

Each text stands once in a conversation, where it was first asked with. What counts no longer, as
it changed, is refused or is not for the assistant that answers, is taken back in words.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cellwright.context.assemble import PROJECT_MARK, Quoted
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import SetupError, ToolError
from cellwright.knowledge.project import ID_CHARACTERS, OfferedTexts, ProjectText
from cellwright.knowledge.project.files import ProjectFiles
from cellwright.record.attachments import human_size
from cellwright.record.content import text as said
from cellwright.record.events import Notice
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.store.tools import ToolStore
from cellwright.text.truncation import estimate_tokens, shorten
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.registry import Registry, ToolSource

SOURCE = "project"
READ_SKILL = "read_skill"
TOKEN_LIMIT = 8_000
"""Of all instructions together, as other agents have it (32 KiB); the nearest are cut last."""
CATALOGUE_TOKENS = 2_000
LEAST_CHARACTERS = 80
"""Of a description, however many skills there are."""
SHOWN_NAMES = 4
RUNS_REMEMBERED = 256
"""More than go on at once."""
NO_LONGER = "What was said under this mark counts no longer."
FOLLOW = (
    "the person agreed to these instructions: follow them where they fit, their words count more"
)
SKILLS = "skills, instructions for some tasks: call read_skill before you begin one that fits"
MARKED = re.compile(rf"^{re.escape(PROJECT_MARK)}(no longer )?([0-9a-f]{{8}})\b", re.MULTILINE)


@dataclass(frozen=True)
class _Block:
    """Something that stands in a conversation once."""

    mark: str
    name: str
    quoted: Quoted


class ReadSkill(Component):
    """Reads a skill that the person agreed to, or a file of it."""

    name: ClassVar[str] = READ_SKILL
    risk: ClassVar[Risk] = "read"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._runs: OrderedDict[str, Sequence[ProjectText]] = OrderedDict()

    def allow(self, run_id: str, skills: Sequence[ProjectText]) -> None:
        """Let a run read these."""
        self._runs[run_id] = skills
        while len(self._runs) > RUNS_REMEMBERED:
            self._runs.popitem(last=False)

    def label(self, **arguments: object) -> str:
        """For people."""
        file = arguments.get("file")
        return f"read {f'{file} of ' if file else ''}the skill {arguments.get('name')}"

    def tool_eval(self, context: ToolContext, name: str, file: str = "") -> Iterator[ToolYield]:
        """Read a skill. The person agreed to what it says: follow it where it fits the task.

        Args:
            name: As the list of skills has it.
            file: A file that the skill mentions, by its path from the skill's folder.
        """
        skills = {skill.name: skill for skill in self._runs.get(context.run_id, ())}
        skill = skills.get(name)
        if skill is None:
            hint = f"There are: {', '.join(skills)}." if skills else "Go on without it."
            raise ToolError(f"There is no skill {name!r} in this run.", hint=hint)
        try:
            # its file is looked at even where its text is known: it may have changed meanwhile
            content = skill.read(file or skill.path.name)
        except SetupError as error:
            raise ToolError(error.message, hint=error.hint) from error
        if not file:
            content = f"{skill.text}\n\n[The skill's folder is {skill.folder}. {skill.listing}]"
        key = f"{name}/{file}" if file else name
        short = shorten(content, context.limits.step_tokens, key)
        if short.was_cut:
            context.shelf.keep(key, content)
        yield said(short.text, scope="llm")


class ProjectSource:
    """The instructions and skills of a project beside a conversation.

    Args:
        files: Where they are.
        is_on: Whether they are used at all.
    """

    name = SOURCE

    def __init__(self, files: ProjectFiles, *, is_on: bool = True) -> None:
        self._files = files
        self._is_on = is_on
        self._tool = ReadSkill()
        self._told: set[str] = set()
        self._last: OfferedTexts | None = None

    @classmethod
    def of(cls, database: Database, settings: Settings, folders: tuple[Path, ...]) -> ProjectSource:
        """Make the one of some folders, the nearest first."""
        files = ProjectFiles(ToolStore(database, settings.user), settings.home, folders)
        return cls(files, is_on=settings.project_files)

    def components(self) -> tuple[Component, ...]:
        """The tool that reads skills, where there are some."""
        offered = self._last if self._last is not None else self._offered()
        return (self._tool,) if _chosen_from(offered) else ()

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """The same; a guest gets none."""
        return () if is_guest else (ToolSource(self.name, self.components()),)

    def begin(self, turn: SourceQuestion) -> None:
        """Note which skills a run may read."""
        self._tool.allow(turn.run_id, self._skills(turn, self._offered()))

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """What the model was not told yet, and what the person has to be asked about."""
        if turn.is_guest:
            return RetrievalResult()
        offered = self._offered()
        used = [t for t in offered.used("instructions") if _may_read(turn, t)]
        skills = self._skills(turn, offered)
        self._tool.allow(turn.run_id, skills)
        blocks = list(_blocks(used, skills))
        marks = dict((mark, not ended) for ended, mark in MARKED.findall(turn.said()))
        new = [block for block in blocks if not marks.get(block.mark)]
        counting = {block.mark for block in blocks}
        ended = [mark for mark, counts in marks.items() if counts and mark not in counting]
        gone = [Quoted(f"{PROJECT_MARK}no longer {mark}", NO_LONGER) for mark in ended]
        told = (*gone, *(block.quoted for block in new))
        return RetrievalResult(told, (*_describe(new), *self._asked(offered)))

    def _offered(self) -> OfferedTexts:
        self._last = self._files.offered() if self._is_on else OfferedTexts()
        return self._last

    def _skills(self, turn: SourceQuestion, offered: OfferedTexts) -> list[ProjectText]:
        """Those that the assistant may use, nobody's but the owner's."""
        may_call = turn.assistant.allowed(Registry((self._tool,))).names()
        if turn.is_guest or not may_call:
            return []
        return [skill for skill in _chosen_from(offered) if _may_read(turn, skill)]

    def _asked(self, offered: OfferedTexts) -> list[Notice]:
        """What was not agreed to: told once, and again when it changes."""
        asked = [t.item for t in offered.texts if t.state == "asked" and t.item.place == "project"]
        new = [item for item in asked if item.fingerprint not in self._told]
        self._told.update(item.fingerprint for item in new)
        if not new:
            return []
        names = [f"{item.path} ({human_size(len(item.text.encode()))})" for item in new]
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        told = f"Not sent to the model before you agree: {', '.join(names[:SHOWN_NAMES])}{more}."
        action = (
            "Read them, and allow or refuse them: %agent instructions, or cellwright instructions."
        )
        return [Notice("info", told, action, "project_asked")]


def _chosen_from(offered: OfferedTexts) -> list[ProjectText]:
    return [skill for skill in offered.used("skill") if not skill.is_hidden]


def _may_read(turn: SourceQuestion, item: ProjectText) -> bool:
    return turn.assistant.may_read(item.name, item.path.name, str(item.path))


def _blocks(used: Sequence[ProjectText], skills: Sequence[ProjectText]) -> Iterator[_Block]:
    """A block for each file, the furthest first, so that the nearest has the last word."""
    room, found = TOKEN_LIMIT, []
    for item in used:
        size = estimate_tokens(item.text)
        limit, room = min(room, size), max(0, room - size)
        label = f"{PROJECT_MARK}{item.text_id} {item.path}; {FOLLOW}"
        found.append(_Block(item.text_id, str(item.path), Quoted(label, item.text, limit)))
    yield from reversed(found)
    if skills:
        text = _list_skills(skills)
        mark = hashlib.sha256(text.encode()).hexdigest()[:ID_CHARACTERS]
        quoted = Quoted(f"{PROJECT_MARK}{mark} {SKILLS}", text, estimate_tokens(text))
        yield _Block(mark, "skills", quoted)


def _list_skills(skills: Sequence[ProjectText]) -> str:
    room = max(LEAST_CHARACTERS, CATALOGUE_TOKENS * 4 // len(skills))
    return "\n".join(
        f"{skill.name}: {skill.description[:room]}{'…' if len(skill.description) > room else ''}"
        for skill in skills
    )


def _describe(blocks: Sequence[_Block]) -> list[Notice]:
    """Tell the person what goes with the question, and what was too much."""
    told = []
    for block in blocks:
        size = estimate_tokens(block.quoted.text)
        over = size - block.quoted.token_limit
        cut = f", of which {over:,} are left out" if over > 0 else ""
        told.append(f"{block.name} ({size:,} tokens{cut})")
    words = f"The model is told what this project says: {', '.join(told)}."
    return [Notice("info", words, code="looked_up")] if told else []
