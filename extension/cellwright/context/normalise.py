"""Chat messages to what a provider accepts; pure and idempotent."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cellwright.errors import SetupError
from cellwright.llm import Capabilities
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.text.cleaning import ESCAPES

# What people paste, made plain: line ends, terminal colours, heaps of blank lines; never code.
#
# Filters have names, so that a chat can choose which are on and in which order. Any of them in any
# order change nothing more when they are applied again, and no line of code becomes words by them.


LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
LINE_END = re.compile(r"\r\n?")
BETWEEN_LINE_ENDS = re.compile(r"[^\r\n]+")
ESCAPE = "\x1b"
# Atomic, or half of a Windows line end would count as a line.
BLANK_LINES = re.compile(r"((?>\r\n|\r|\n){2})(?>\r\n|\r|\n)+")
REMEMBERED_TEXTS = 512
NAMED_AT_ONCE = 3
NAME_CHARACTERS = 40
"""Of a name that there is not, in what the person is told."""


@dataclass(frozen=True)
class TextFilter:
    """Something that is done to words outside of code."""

    name: str
    does: str
    """One sentence for people."""
    apply: Callable[[str], str]
    """Makes a text shorter or leaves it as it is; takes no line that says something away."""
    signs: tuple[str, ...]
    """A text without any of them is left as it is."""

    def concerns(self, text: str) -> bool:
        """Whether there may be something to do."""
        return any(sign in text for sign in self.signs)


def _line_ends(text: str) -> str:
    return LINE_END.sub("\n", text)


def _without_any_escapes(text: str) -> str:
    """The text without escapes; none takes a line end with it."""
    return BETWEEN_LINE_ENDS.sub(lambda found: _without_escapes(found[0]), text)


def _without_escapes(line: str) -> str:
    # What is left of a broken one goes too, for it could be whole with what follows.
    return ESCAPES.sub("", line).replace(ESCAPE, "") if ESCAPE in line else line


def _fewer_blank_lines(text: str) -> str:
    return BLANK_LINES.sub(r"\1", text)


TEXT_FILTERS: tuple[TextFilter, ...] = (
    TextFilter("line_ends", "Windows line ends become plain ones.", _line_ends, ("\r",)),
    TextFilter(
        "terminal_colours", "Colours of a terminal are taken out.", _without_any_escapes, (ESCAPE,)
    ),
    TextFilter(
        "blank_lines",
        "Of several blank lines in a row one is left.",
        _fewer_blank_lines,
        ("\n\n\n", "\r"),
    ),
)
"""All there are, in the order in which they are applied at first (requirements 002-47)."""
STANDARD_FILTERS = tuple(item.name for item in TEXT_FILTERS)
_BY_NAME = {item.name: item for item in TEXT_FILTERS}


def checked_filters(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        SetupError: There is no filter of a name.
    """
    chosen = tuple(dict.fromkeys(names))
    unknown = [repr(name[:NAME_CHARACTERS]) for name in chosen if name not in _BY_NAME]
    if unknown:
        raise SetupError(
            f"There is no text filter {', '.join(unknown[:NAMED_AT_ONCE])}.",
            hint=f"There are: {', '.join(STANDARD_FILTERS)}.",
        )
    return chosen


def known_filters(names: Iterable[str] | None) -> tuple[TextFilter, ...]:
    """The filters of these names, in their order; what has no filter here is left out.

    Args:
        names: None: all, in the standard order.
    """
    chosen = STANDARD_FILTERS if names is None else dict.fromkeys(names)
    return tuple(_BY_NAME[name] for name in chosen if name in _BY_NAME)


@dataclass
class _Fenced:
    """Tells lines of fenced code from words."""

    fence: str = ""

    def is_code(self, line: str) -> bool:
        """Whether a line stands in a fence or closes it; one that opens it is no code itself."""
        found = FENCE.match(line)
        if not self.fence:
            # a fence of backticks has none in its first line: that would be code in the line
            opens = found is not None and not (found["fence"][0] == "`" and "`" in found["info"])
            self.fence = found["fence"] if found is not None and opens else ""
            return False
        if found and found["fence"].startswith(self.fence) and not found["info"].strip():
            self.fence = ""
        return True


def filtered(text: str, filters: Iterable[TextFilter] = TEXT_FILTERS) -> str:
    """The text with the filters applied outside of fenced code; applying it twice is the same."""
    chosen = tuple(filters)
    if not any(item.concerns(text) for item in chosen):
        return text
    return _filtered(text, chosen)


@functools.lru_cache(maxsize=REMEMBERED_TEXTS)
def _filtered(text: str, filters: tuple[TextFilter, ...]) -> str:
    pieces: list[str] = []
    words: list[str] = []
    fenced = _Fenced()
    for said, end in LINE.findall(text):
        # What a line is must not change with what is taken out of it.
        if not fenced.is_code(_without_escapes(said)):
            words.append(said + end)
        elif fenced.fence:
            pieces += [_through(filters, words), said + end]
            words = []
        else:
            # The end of the last line of code is no code: blank lines may follow.
            pieces += [_through(filters, words), said]
            words = [end]
    return "".join([*pieces, _through(filters, words)])


def _through(filters: tuple[TextFilter, ...], words: list[str]) -> str:
    """The words with all filters applied until none of them changes anything.

    What one leaves may be something for one that stood before it: colours between blank lines.
    """
    before, text = None, "".join(words)
    while text != before:
        before = text
        for item in filters:
            text = item.apply(text) if item.concerns(text) else text
    return text


# Every tool call answered exactly once, right after the message that made it.


INTERRUPTED = json.dumps(
    {
        "error": "tool call interrupted",
        "retryable": True,
        "note": "It is not known how far it came: look before you call it again.",
    }
)
"""The result of a call that has none (requirements 002-52)."""

Results = dict[int, dict[str, list[ToolMessage]]]


def answer_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with results behind their calls, ids unique, and nothing without its call."""
    results = _results_by_turn(messages)
    seen: set[str] = set()
    answered: list[Message] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AssistantMessage):
            answered.append(message)
            continue
        # A turn that the provider paused may hold nothing but what its own tools did.
        is_paused = message.provider_items is not None and index == len(messages) - 1
        if not (message.text.strip() or message.tool_calls or message.refusal or is_paused):
            continue
        own = results.get(index, {})
        calls = tuple(_unique(call, seen) for call in message.tool_calls)
        same = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
        answered.append(message if same else replace(message, tool_calls=calls))
        for old, new in zip(message.tool_calls, calls, strict=True):
            answered.append(_result_for(old, new, own))
    return answered


def orphans(messages: Sequence[Message]) -> tuple[str, ...]:
    """Ids of results that answer no call, or one that has its result: they are left out."""
    waiting: list[str] = []
    found: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            waiting = [call.id for call in message.tool_calls]
        elif isinstance(message, ToolMessage):
            if message.call_id in waiting:
                waiting.remove(message.call_id)
            else:
                found.append(message.call_id)
    return tuple(found)


def _results_by_turn(messages: Sequence[Message]) -> Results:
    """Tool results under the index of the assistant message that made their call, by call id."""
    found: Results = {}
    made_by: dict[str, int] = {}
    turn = -1
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            turn = index
            made_by.update({call.id: index for call in message.tool_calls})
        elif isinstance(message, ToolMessage):
            # A late result belongs to its own call, whatever was said meanwhile.
            owner = made_by.get(message.call_id, turn)
            found.setdefault(owner, {}).setdefault(message.call_id, []).append(message)
    return found


def _unique(call: ToolCall, seen: set[str]) -> ToolCall:
    base, number, call_id = call.id or "call", 2, call.id or "call"
    while call_id in seen:
        call_id, number = f"{base}_{number}", number + 1
    seen.add(call_id)
    return call if call_id == call.id else replace(call, id=call_id)


def _result_for(old: ToolCall, new: ToolCall, own: dict[str, list[ToolMessage]]) -> ToolMessage:
    waiting = own.get(old.id) or []
    if not waiting:
        return ToolMessage(new.id, new.name, (TextPart(INTERRUPTED),), is_error=True)
    # Two calls of one message may share an id; each takes the next result.
    result = waiting.pop(0)
    return result if result.call_id == new.id else replace(result, call_id=new.id)


FOUND = "Based on the conversation, the following content was found in the knowledge base."
NOTHING_FOUND = "According to the user conversation, no results were found in the knowledge base."
GOES_ON = "(The conversation goes on here.)"
BROKEN_OFF = "(This answer was broken off.)"
STANDARD = Capabilities()


def normalise(
    messages: Iterable[Message],
    capabilities: Capabilities = STANDARD,
    *,
    answering: str | None = None,
    text_filters: Iterable[str] | None = None,
) -> tuple[Message, ...]:
    """Messages a strict provider accepts.

    One system message, first; files with the words of the person that follow them; neighbouring
    messages of the person merged, and of the model; every tool call answered exactly once, right
    after the message that made it; call ids unique; results without a call dropped; empty
    messages of the model dropped. Applying it twice changes nothing more.

    Args:
        messages: What was said, in order.
        capabilities: What the model takes.
        answering: Name of the assistant that answers now; what others said is marked as theirs.
            None: nothing is marked.
        text_filters: Names of what is done to the person's words outside of code, in order;
            unknown ones are left out. None: all, in the standard order.

    Source: requirements 002-40 to 002-56, faults M10, M47, M48.
    """
    pending, filters = _placed(messages, capabilities), known_filters(text_filters)
    head = _head(pending)
    said = [message for message in pending if not _is_head(message)]
    body = _merged(_plain(message, filters, answering) for message in _with_files(said))
    if capabilities.alternates:
        body = _alternating(body)
    return tuple(body + head if capabilities.system_position == "last" else head + body)


def _placed(messages: Iterable[Message], capabilities: Capabilities) -> list[Message]:
    """The messages with late instructions in the words of the person, where the model wants that.

    They go to the head otherwise, which changes the start of the prompt once.
    """
    placed: list[Message] = []
    for message in messages:
        in_place = capabilities.system_notes == "in_place" and bool(placed)
        if in_place and isinstance(message, SystemMessage) and message.origin == "user":
            note = f"[System note]\n{message.text.strip()}"
            message = UserMessage((TextPart(note),), "user_later")
        placed.append(message)
    return placed


def _is_head(message: Message) -> bool:
    if isinstance(message, UserMessage):
        return message.sent_as == "knowledge"
    return isinstance(message, SystemMessage)


def _head(messages: Sequence[Message]) -> list[Message]:
    """The one system message: instructions in their order, then what was found last."""
    texts = [m.text for m in messages if isinstance(m, SystemMessage) and m.text.strip()]
    known = [m for m in messages if isinstance(m, UserMessage) and m.sent_as == "knowledge"]
    if known:
        found = text_of(known[-1]).strip()
        texts.append(f"{FOUND}\n{found}" if found else NOTHING_FOUND)
    return [SystemMessage("\n\n".join(texts))] if texts else []


def _with_files(messages: Sequence[Message]) -> list[Message]:
    """Calls answered, and files where the words stand that follow them; the last ones wait."""
    ordered: list[Message] = []
    files: list[Message] = []
    for message in answer_calls(messages):
        if isinstance(message, UserMessage) and message.sent_as == "file":
            files.append(message)
        elif isinstance(message, UserMessage):
            ordered += [*files, message]
            files = []
        else:
            ordered.append(message)
    return ordered


def _plain(message: Message, filters: tuple[TextFilter, ...], answering: str | None) -> Message:
    """The message as it is sent, without what is only for the record."""
    if isinstance(message, UserMessage):
        parts = tuple(_plain_part(part, filters) for part in message.parts)
        same = all(new is old for new, old in zip(parts, message.parts, strict=True))
        return message if same and message.sent_as == "user" else UserMessage(parts)
    if isinstance(message, AssistantMessage) and (message.author or message.origin):
        is_other = answering is not None and message.author not in ("", answering)
        mark = f"[said by {message.author!r}]\n" if is_other and message.text else ""
        return replace(message, text=mark + message.text, author="", origin="")
    return message


def _plain_part(part: Part, filters: tuple[TextFilter, ...]) -> Part:
    if not isinstance(part, TextPart):
        return part
    text = filtered(part.text, filters)
    return part if text == part.text else TextPart(text)


def _merged(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        joined = _joined(merged[-1], message) if merged else None
        if joined is None:
            merged.append(message)
        else:
            merged[-1] = joined
    return merged


def _joined(last: Message, message: Message) -> Message | None:
    """Two neighbours as one; None where they stay two."""
    if isinstance(last, UserMessage) and isinstance(message, UserMessage):
        return UserMessage(last.parts + message.parts)
    if not (isinstance(last, AssistantMessage) and isinstance(message, AssistantMessage)):
        return None
    if last.provider_items is not None:
        return None  # a paused turn goes back as it came, and so does what followed
    texts = [text for said in (last, message) if (text := said.text or said.refusal)]
    return replace(message, text="\n\n".join(texts), refusal="")


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """The person first, and the model's words between results and the person's next ones."""
    alternating: list[Message] = []
    for message in messages:
        last = alternating[-1] if alternating else None
        if last is None and not isinstance(message, UserMessage):
            alternating.append(UserMessage((TextPart(GOES_ON),)))
        if isinstance(last, ToolMessage) and isinstance(message, UserMessage):
            alternating.append(AssistantMessage(BROKEN_OFF))
        alternating.append(message)
    return alternating
