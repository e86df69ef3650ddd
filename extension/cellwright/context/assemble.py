"""The messages of a turn: a stable head, and the volatile state last.

Nothing that changes between turns stands in the system message; what the notebook is like now
comes at the end of the newest user message and is never rewritten (experience.md, C4).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cellwright.llm.budget import NEARLY_OUT, OUT_OF_STEPS
from cellwright.record.attachments import Attachment, human_size
from cellwright.record.messages import ImagePart, Message, Part, TextPart, ToolMessage, UserMessage
from cellwright.record.outputs import Cell, ErrorOutput, VariableSummary, source_hash
from cellwright.text.truncation import shorten

# What came from tools, files and variables, told apart from words of the person and of ours.
#
# A result goes to the model in an envelope that says that it is data. Marks of ours that stand in
# data are made harmless by a sign that nobody sees, so that data neither leaves its envelope nor
# looks like a part of the prompt. The record keeps what was said; envelopes are made for each
# request, the same ones each time, so that a provider's cache of the prompt holds.
#
# What this does not protect against: a model may do what data says all the same.


TAG = "tool-result"
OPEN, CLOSE = TextPart(f"<{TAG}>"), TextPart(f"</{TAG}>")
TAGS = (
    *(TAG, "files", "context", "variables", "notebook-state", "earlier-in-this-chat"),
    *("examples", "person", "say"),
)
MARKS = re.compile(
    rf"(?i:<(?=\s*+/?\s*+(?:{'|'.join(TAGS)})(?![\w-])))"
    r"|\[(?=(?:pinned turn, run |System note\]|said by '))"
)
UNSEEN = "\u200b"
REPEATED = (
    "Notice: you have made this same call {count} times with the same result. "
    "Try something else or answer."
)
NOTICE = re.compile(
    "|".join(
        re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(text))
        for text in (REPEATED, NEARLY_OUT, OUT_OF_STEPS)
    )
)
"""What we say in a result ourselves: words behind it would be a turn that some templates refuse."""


def harmless(data: str) -> str:
    """The text with the marks of ours that stand in it changed so that they mark nothing."""
    return MARKS.sub(lambda found: found.group() + UNSEEN, data)


def envelop(data: str) -> str:
    """Data in an envelope of its own, for prompts that are not a conversation."""
    return f"{OPEN.text}\n{harmless(data)}\n{CLOSE.text}"


def envelop_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages, each result of a tool in an envelope.

    What a person said when they refused a call stays as it is, and so do our notices of a call that
    was made again and again and of the steps that are left: whoever forges one says nothing else.
    """
    return tuple(
        _enveloped(message)
        if isinstance(message, ToolMessage) and message.origin != "user"
        else message
        for message in messages
    )


def _enveloped(message: ToolMessage) -> ToolMessage:
    data, notices = list(message.parts), list[Part]()
    while data and _is_notice(data[-1]):
        notices.insert(0, data.pop())
    return replace(message, parts=(OPEN, *map(_harmless_part, data), CLOSE, *notices))


def _is_notice(part: Part) -> bool:
    return isinstance(part, TextPart) and NOTICE.fullmatch(part.text) is not None


def _harmless_part(part: Part) -> Part:
    if isinstance(part, ImagePart):
        caption = harmless(part.caption)
        return part if caption == part.caption else replace(part, caption=caption)
    text = harmless(part.text)
    return part if text == part.text else TextPart(text)


PINNED_MARK = "[pinned turn, run "
MENTION = re.compile(r"(?<![\w@.])@([^\W\d]\w*)")
STATE_LINES = 40
QUOTED_TOKENS = 1_500
"""What the model is given of one thing the person put beside the prompt."""
PROJECT_MARK = "what this project says, "
"""How the label of the project's instructions and skills begins."""


@dataclass(frozen=True)
class Quoted:
    """What the person put beside the prompt: a cell, a selection, an error."""

    label: str
    """What it is, such as ``cell 3f2a``."""
    text: str
    token_limit: int = QUOTED_TOKENS


@dataclass(frozen=True)
class TurnState:
    """What the notebook is like when a turn begins, as far as it changed since the last one."""

    variables: tuple[VariableSummary, ...] = ()
    removed: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    """Cells the person ran since the last turn."""
    last_error: str = ""
    cwd: str = ""
    new_kernel: bool = False
    """The kernel is another one than in the last turn: earlier names are gone."""
    mode: str = ""
    """What the model has to know of the mode, where that changed since the last turn."""
    outline: tuple[str, ...] = ()
    """The notebook's cells, a line each, where the model does not know them yet."""
    cells: tuple[str, ...] = ()
    """What the person did to cells since the last turn."""
    sent_at: str = ""
    """When the question was sent, with its time zone; empty: the model is not told."""


def mentioned_names(prompt: str) -> tuple[str, ...]:
    """Names written as ``@name`` in a prompt, each once, in order."""
    return tuple(dict.fromkeys(MENTION.findall(prompt)))


def time_sent(moment: datetime | None = None) -> str:
    """When a question is sent, to the second and with its time zone; None: now."""
    return (moment or datetime.now()).astimezone().isoformat(" ", "seconds")


def user_message(
    prompt: str,
    attachments: tuple[Attachment, ...] = (),
    mentioned: tuple[VariableSummary, ...] = (),
    state: TurnState | None = None,
    context: tuple[Quoted, ...] = (),
) -> UserMessage:
    """What the person said, then files, quotes, named variables and the notebook's state."""
    asked = prompt.strip() or _default_prompt(attachments)
    # Only what stands for a pinned turn begins like one.
    blocks = [harmless(asked) if asked.startswith(PINNED_MARK) else asked]
    if attachments:
        blocks.append(_block("files", [_attachment(item) for item in attachments]))
    if context:
        blocks.append(_block("context", [_quoted(item) for item in context]))
    if mentioned:
        blocks.append(_block("variables", [f"@{v.name}: {v.type} {v.text}" for v in mentioned]))
    lines = _state_lines(state) if state is not None else []
    if lines:
        blocks.append(_block("notebook-state", lines))
    return UserMessage((TextPart("\n\n".join(blocks)),))


def _default_prompt(attachments: tuple[Attachment, ...]) -> str:
    return "Describe these files." if attachments else ""


def _attachment(item: Attachment) -> str:
    about = [human_size(item.size_bytes)]
    if item.encoding:
        about.append(f"encoding {item.encoding}")
    elif item.mime and not item.preview and not item.mime.startswith("text/"):
        about.append(item.mime)
    line = f"{_one_line(item.name)} ({', '.join(about)})"
    return f"{line}\n{_indented(item.preview)}" if item.preview else line


def _quoted(item: Quoted) -> str:
    label = " ".join(item.label.split())
    return f"{label}:\n{_indented(shorten(item.text, item.token_limit, '').text)}"


def _block(name: str, lines: list[str]) -> str:
    body = harmless("\n".join(lines))
    return f"<{name}>\n{body}\n</{name}>"


def _state_lines(state: TurnState) -> list[str]:
    lines = [f"question sent at {state.sent_at}"] if state.sent_at else []
    lines += [state.mode] if state.mode else []
    if state.new_kernel:
        lines.append("new kernel: names from earlier turns no longer exist")
    if state.cwd:
        lines.append(f"folder: {_one_line(state.cwd)}")
    shown = state.variables[:STATE_LINES]
    lines += [_one_line(f"{v.name}: {v.type} {v.text}".rstrip()) for v in shown]
    if len(state.variables) > len(shown):
        lines.append(f"… {len(state.variables) - len(shown)} more; list_variables shows them")
    if state.removed:
        lines.append(f"gone: {', '.join(state.removed)}")
    if state.outline:
        lines += ["cells in order, [n]: ran as the n-th:", *(f"  {line}" for line in state.outline)]
    lines += state.cells
    for source in state.executed[-5:]:
        lines.append(f"the person ran:\n{_indented(_short(source))}")
    if state.last_error:
        lines.append(f"their last cell failed:\n{_indented(state.last_error)}")
    return lines


def _one_line(text: str) -> str:
    """A name with no line of its own: it could be taken for something that we say."""
    return " ".join(text.splitlines())


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _short(source: str, limit: int = 600) -> str:
    return source if len(source) <= limit else f"{source[:limit]} …"


# Cells that ask the agent, to tell them from the person's own.
OWN_CELL = re.compile(r"\s*%%agent\b")
OWN_LINE = re.compile(
    r"^[ \t]*(?:[^\n#'\"=]*=[ \t]*)?%(?:agent\b|(?:re)?load_ext[ \t]+cellwright).*\n?", re.MULTILINE
)
OWN_CALL = re.compile(r"^cell line \d+: get_ipython\(\)\.run_(?:line|cell)_magic\('agent'")


def is_own_error(text: str) -> bool:
    """Whether what a cell failed with is what the agent's magic said to the person."""
    return bool(OWN_CALL.match(text))


def without_own_magics(sources: Iterable[str]) -> list[str]:
    """The sources without what asks the agent or loads its magics; the rest of a cell stays.

    What the agent ran for a question is recorded by itself; run again, the question would be
    asked again.
    """
    kept = (OWN_LINE.sub("", source) for source in sources if not OWN_CELL.match(source))
    return [source for source in kept if source.strip()]


def seen_before(executed: list[str], log: list[str]) -> int:
    """How many of the person's first cells are in the log already, in the same order."""
    logged = iter(log)

    def is_logged(source: str) -> bool:
        return not without_own_magics([source]) or source in logged

    return sum(1 for _ in itertools.takewhile(is_logged, executed))


FIRST_CELLS, LAST_CELLS = 10, 30
LINE_CHARACTERS = 80
SOURCE_CHARACTERS = 400
CHANGES_TOLD = 5

Marks = Mapping[str, str]
"""The hash of each cell's source, by cell id, in the order of the notebook."""


def outline(cells: Sequence[Cell]) -> tuple[str, ...]:
    """One line a cell: its id, when it ran and how it begins; cells for the agent left out."""
    shown = [cell for cell in cells if _is_theirs(cell)]
    lines = [_line(cell) for cell in shown]
    if len(lines) <= FIRST_CELLS + LAST_CELLS:
        return tuple(lines)
    gone = f"… {len(lines) - FIRST_CELLS - LAST_CELLS} more; read_notebook shows them"
    return (*lines[:FIRST_CELLS], gone, *lines[-LAST_CELLS:])


def marks_of(cells: Sequence[Cell]) -> Marks:
    """What the cells are like now, to tell later what became of them."""
    return {cell.id: source_hash(cell.source) for cell in cells}


def cell_changes(
    before: Marks, cells: Sequence[Cell], executed: Collection[str]
) -> tuple[str, ...]:
    """What a person did to the cells, a few lines each.

    Args:
        before: What they were like.
        cells: What they are like now.
        executed: Sources that the person ran, which are told elsewhere.
    """
    told: list[str] = []
    others = 0
    for cell in cells:
        known = before.get(cell.id)
        if known == source_hash(cell.source) or not _is_theirs(cell):
            continue
        if len(told) == CHANGES_TOLD:
            others += 1
            continue
        what = "edited" if known else "added"
        ran = cell.source in executed
        body = " and ran it" if ran else f":\n{_indented(cell.source[:SOURCE_CHARACTERS])}"
        told.append(f"the person {what} cell {cell.id}{body}")
    if others:
        told.append(f"and {others} more cells; read_notebook shows them")
    gone = [cell_id for cell_id in before if cell_id not in {cell.id for cell in cells}]
    if gone:
        told.append(f"cells that are gone: {', '.join(gone)}")
    return tuple(told)


def _is_theirs(cell: Cell) -> bool:
    return bool(cell.cell_type != "code" or without_own_magics([cell.source]))


def _line(cell: Cell) -> str:
    first = next((line for line in cell.source.splitlines() if line.strip()), "").strip()
    cut = first if len(first) <= LINE_CHARACTERS else f"{first[: LINE_CHARACTERS - 1]}…"
    if cell.cell_type != "code":
        return f"{cell.id} {cell.cell_type}: {cut}"
    ran = f"[{cell.execution_count}]" if cell.execution_count is not None else "[ ]"
    failed = next((o.ename for o in cell.outputs if isinstance(o, ErrorOutput)), "")
    return f"{cell.id} {ran} {cut}" + (f"  -> {failed}" if failed else "")
