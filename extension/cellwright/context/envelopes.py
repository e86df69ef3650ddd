"""What came from tools, files and variables, told apart from words of the person and of ours.

A result goes to the model in an envelope that says that it is data. Marks of ours that stand in
data are made harmless by a sign that nobody sees, so that data neither leaves its envelope nor
looks like a part of the prompt. The record keeps what was said; envelopes are made for each
request, the same ones each time, so that a provider's cache of the prompt holds.

What this does not protect against: a model may do what data says all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from cellwright.record.messages import ImagePart, Message, Part, TextPart, ToolMessage

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
