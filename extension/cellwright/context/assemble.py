"""The messages of a turn: a stable head, and the volatile state last.

Nothing that changes between turns stands in the system message; what the notebook is like now
comes at the end of the newest user message and is never rewritten (experience.md, C4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from cellwright.record.attachments import Attachment, human_size
from cellwright.record.messages import ImagePart, Message, Part, TextPart, ToolMessage, UserMessage
from cellwright.record.outputs import VariableSummary
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
    "Notice: this is the {count}th time you made this same call with the same result. "
    "Try something else or answer."
)
NOTICE = re.compile(re.escape(REPEATED).replace(re.escape("{count}"), r"\d+"))


def harmless(data: str) -> str:
    """The text with the marks of ours that stand in it changed so that they mark nothing."""
    return MARKS.sub(lambda found: found.group() + UNSEEN, data)


def envelop(data: str) -> str:
    """Data in an envelope of its own, for prompts that are not a conversation."""
    return f"{OPEN.text}\n{harmless(data)}\n{CLOSE.text}"


def envelop_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages, each result of a tool in an envelope.

    What a person said when they refused a call stays as it is, and so does our notice of a call
    that was made again and again: whoever forges that one says nothing else with it.
    """
    return tuple(
        _enveloped(message)
        if isinstance(message, ToolMessage) and message.origin != "user"
        else message
        for message in messages
    )


def _enveloped(message: ToolMessage) -> ToolMessage:
    parts = message.parts
    notice = tuple(parts[-1:]) if _is_notice(parts[-1:]) else ()
    data = parts[: len(parts) - len(notice)]
    return replace(message, parts=(OPEN, *map(_harmless_part, data), CLOSE, *notice))


def _is_notice(parts: tuple[Part, ...]) -> bool:
    return any(isinstance(p, TextPart) and NOTICE.fullmatch(p.text) is not None for p in parts)


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


@dataclass(frozen=True)
class Quoted:
    """What the person put beside the prompt: a cell, a selection, an error."""

    label: str
    """What it is, such as ``cell 3f2a``."""
    text: str


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
    return f"{label}:\n{_indented(shorten(item.text, QUOTED_TOKENS, '').text)}"


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
