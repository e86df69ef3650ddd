"""``%agent context``, ``compact``, ``filters``, ``pin`` and so on: what the model is given."""

from __future__ import annotations

import base64
import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.commands.results import Result
from cellwright.commands.verbs import is_turn_number
from cellwright.context.assemble import Quoted
from cellwright.context.normalise import (
    STANDARD_FILTERS,
    TEXT_FILTERS,
    checked_filters,
    known_filters,
)
from cellwright.context.pins import PinnedTurn
from cellwright.context.turns import summary_in
from cellwright.context.window import ContextPart, context_parts, sent_at_most, summary_of
from cellwright.errors import SetupError
from cellwright.kernels.going_back import describe_held
from cellwright.record.attachments import attach, human_size
from cellwright.record.events import COMPACT_PROMPT, SUMMARY_PROMPT, HistoryCompacted
from cellwright.record.messages import Price, price_for
from cellwright.record.run_record import RunRecord
from cellwright.session.compacting import compaction_of, summary_changed
from cellwright.session.conversation import Conversation
from cellwright.store.chats import ChatStore
from cellwright.store.ids import find_id
from cellwright.text.cleaning import plain_text
from cellwright_magics.chats import ChatPrompt, ChatWords
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.wording import one_line

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


# ``%agent filters``: what is done to a person's words before they are sent, and in which order.


def tabulate_filters(names: Sequence[str] | None) -> Result:
    """Make one row a text filter: those that are on in their order, then the others.

    Args:
        names: Those that are on, in their order; None: all, in the standard order.
    """
    active = known_filters(names)
    rows = [(str(n), item.name, "on", item.does) for n, item in enumerate(active, start=1)]
    rows += [("–", item.name, "off", item.does) for item in TEXT_FILTERS if item not in active]
    return Result("", ("order", "filter", "", "what it does"), rows, active)


def filters_command(words: Sequence[str], own: ChatWords) -> Result:
    """Do what the words after ``filters`` say; how it is then.

    Args:
        words: The words.
        own: Where the conversation keeps its choice.

    Raises:
        SetupError: There is no filter of a name.
    """
    match list(words):
        case []:
            pass
        case ["reset"]:
            own.choose_filters(None)
        case ["off"]:
            own.choose_filters(())
        case [name, "on" | "off" as switch]:
            checked_filters((name,))
            others = [item.name for item in known_filters(own.text_filters) if item.name != name]
            own.choose_filters(_with(others, name) if switch == "on" else others)
        case names:
            own.choose_filters(names)
    return tabulate_filters(own.text_filters)


def _with(names: Sequence[str], name: str) -> list[str]:
    """The names with one more, after those that stand before it where all are on."""
    earlier = STANDARD_FILTERS[: STANDARD_FILTERS.index(name)]
    place = max((number for number, other in enumerate(names, 1) if other in earlier), default=0)
    return [*names[:place], name, *names[place:]]


NOTES = {"later": "user_later", "system": "system"}
NOTHING_SAID = "Nothing was said in this conversation yet."
NO_SUMMARY = "Everything that was said is still in the context; there is no summary."
NOTHING_TO_GAIN = "There is nothing to make shorter in this conversation."
NOTED = {
    "later": "Noted. The next question takes it along.",
    "system": "Noted. It counts from the next question on, for this conversation.",
}


def tabulate_context(
    parts: Sequence[ContextPart],
    factor: float,
    price: Price | None,
    context_tokens: int | None = None,
) -> Result:
    """Make one row a part of the context, with about what it costs, then all of them.

    Args:
        parts: The parts as they are estimated.
        factor: How many tokens of the service one of the estimate is.
        price: What a million tokens cost; None: that is not known.
        context_tokens: The model's window; None: that is not known.
    """
    counted = [replace(part, tokens=round(part.tokens * factor)) for part in parts]
    tokens = sum(part.tokens for part in counted)
    rows = [
        (part.name, f"{part.pieces:,}", f"{part.tokens:,}", f"{part.tokens / max(1, tokens):.0%}")
        for part in counted
    ]
    most = f"of {sent_at_most(context_tokens):,} at most"
    if context_tokens is not None:
        most += f", the model's window is {context_tokens:,}"
    cost = most if price is None else _price_tokens(tokens, price)
    rows += [("all", "", f"{tokens:,}", cost)] if rows else []
    text = "" if rows else NOTHING_SAID
    return Result(text, ("part", "<pieces>", "<tokens>", "share"), rows, counted)


def _price_tokens(tokens: int, price: Price) -> str:
    """What a request costs before the question."""
    full = tokens * price.prompt / 1_000_000
    cached = price.prompt if price.cached is None else price.cached
    return f"${full:.4f} a request, ${tokens * cached / 1_000_000:.4f} when cached"


def changes_history(line: CommandLine) -> bool:
    """Whether a command changes what was said, so that it is recorded with the chat."""
    is_summary = line.name.startswith("context summary")
    says_more = line.name.endswith("clear") or bool(line.text) or line.body is not None
    return line.name == "compact" or (is_summary and says_more)


def context_command(line: CommandLine, conversation: Conversation, own: ChatWords) -> object:
    """Do what a line says.

    Args:
        line: The command; what stands below it in a cell may be the whole summary as it is to be.
        conversation: Whose context.
        own: The notes, instructions and text filters of the conversation.

    Raises:
        SetupError: It cannot be done.
    """
    match line.name:
        case "later" | "system":
            own.note(NOTES[line.name], _whole_text(line))
            return Result(NOTED[line.name])
        case "prompt" | "prompt clear":
            return _prompt(line, own)
        case "compact":
            return _compact(conversation)
        case "context":
            return _table(conversation)
    if line.command.words[0] == "filters":
        return filters_command(line.words[1:], own)
    words = "clear" if line.name.endswith("clear") else line.text
    return _summary(words, line.body, conversation)


def _whole_text(line: CommandLine) -> str:
    """What stands on the line and below it."""
    return "\n".join(filter(None, (line.text, line.body)))


def _table(conversation: Conversation) -> Result:
    parts = context_parts(conversation.messages, conversation.tools.manifests)
    if not conversation.messages:
        return tabulate_context((), 1.0, None)
    price = price_for(_last(conversation).parameters.model, conversation.place.prices)
    factor = conversation.earlier.counted_per_estimated
    table = tabulate_context(parts, factor, price, conversation.able.context_tokens)
    return replace(table, text=describe_held(conversation.place.kernel))


def _summary(words: str, body: str | None, conversation: Conversation) -> Result:
    now = summary_of(conversation.messages)
    if not words and body is None:
        return Result(now.text.strip() or NO_SUMMARY)
    clean = conversation.place.redactor.text
    if body is not None:
        changed = summary_in(clean(body))
    else:
        changed = replace(now, words="" if words == "clear" else clean(words))
    last, messages = _last(conversation), conversation.messages
    conversation.take(summary_changed(last, messages, changed))
    return Result(changed.text.strip() or "The summary is empty now.")


def _last(conversation: Conversation) -> RunRecord:
    if not conversation.last_run_id:
        raise SetupError(NOTHING_SAID, hint="Ask something first.")
    return conversation.place.store.record(conversation.last_run_id)


def _prompt(line: CommandLine, own: ChatWords) -> Result:
    if line.name == "prompt clear":
        own.instruct(ChatPrompt())
        return Result("This conversation has no words of its own any more.")
    text = _whole_text(line).strip()
    if not text:
        return Result(own.prompt.text or "This conversation has no words of its own.")
    own.instruct(ChatPrompt(text, line.arguments.append))
    return Result("Noted. It counts from the next question on, for this conversation.")


def _compact(conversation: Conversation) -> Result:
    messages = conversation.messages
    last = _last(conversation)
    found = compaction_of(last, messages, pinned=conversation.earlier.pinned)
    if found is None:
        raise SetupError(NOTHING_TO_GAIN)
    conversation.take(found)
    told = next(event for event in found.events if isinstance(event, HistoryCompacted))
    sizes = f"about {told.tokens_before:,} tokens before, {told.tokens_after:,} now"
    return Result(f"The conversation is shorter: {sizes}. %agent context summary shows the rest.")


# ``%agent pin``, ``%agent unpin``: turns whose words stay in the context.


QUESTION_CHARACTERS = 60
NO_CHAT = "There is no chat here yet."


def tabulate_pins(turns: Sequence[PinnedTurn], asked: Sequence[str]) -> Result:
    """Make one row a pinned turn, in the order of the chat.

    Args:
        turns: The turns.
        asked: Ids of the chat's runs.
    """
    rows = [
        (
            str(asked.index(turn.run_id) + 1) if turn.run_id in asked else "",
            turn.run_id,
            f"{turn.tokens:,}",
            one_line(turn.asked, QUESTION_CHARACTERS),
        )
        for turn in turns
    ]
    none = "Nothing is pinned. %agent pin keeps the last turn, %agent pin N the N-th."
    return Result("" if rows else none, ("turn", "run", "<tokens>", "question"), rows, turns)


def pin_command(words: Sequence[str], chats: ChatStore, chat_id: str) -> object:
    """Do what a line about pins asks for.

    Args:
        words: The line.
        chats: Where the chat is.
        chat_id: The chat that goes on here; empty: there is none.

    Raises:
        SetupError: There is no such turn, or more cannot be pinned.
    """
    if not chat_id or chats.find(chat_id) is None:
        raise SetupError(NO_CHAT, hint="Ask something, or go on with one: %agent resume.")
    action, name = words[0], words[1] if len(words) > 1 else "last"
    asked = _asked(chats, chat_id)
    pins = chats.pins
    if name == "list":
        last = chats.active_run_ids(chat_id)[-1:]
        return tabulate_pins(pins.turns(chat_id, last[0]) if last else (), asked)
    if name == "all":
        count = len(pins.of(chat_id))
        for run_id in pins.of(chat_id):
            pins.unpin(chat_id, run_id)
        return Result(f"{count} turn{' is' if count == 1 else 's are'} not pinned any more.")
    run_id = _named(name, asked)
    number = asked.index(run_id) + 1
    if action == "unpin":
        pins.unpin(chat_id, run_id)
        return Result(
            f"Turn {number} is not pinned. It goes with the next turns that are left out."
        )
    pins.pin(chat_id, run_id)
    return Result(f"Turn {number} is pinned: its question and answer stay in the context.")


def _asked(chats: ChatStore, chat_id: str) -> tuple[str, ...]:
    """The turns of a chat that count, in order; what only made it shorter is none."""
    prompts = chats.prompts(chat_id)
    return tuple(
        run for run, prompt in prompts.items() if prompt not in (COMPACT_PROMPT, SUMMARY_PROMPT)
    )


def _named(name: str, asked: Sequence[str]) -> str:
    """The turn that a name means: ``last``, a number, or a part of a run's id.

    Raises:
        SetupError: There is none, or there are several.
    """
    if not asked:
        raise SetupError("Nothing was asked in this chat yet.", hint="Ask something first.")
    if is_turn_number(name):
        found = asked[int(name) - 1 : int(name)] if int(name) else ()
        if not found:
            raise SetupError(f"There is no turn {name} in this chat.", hint=f"It has {len(asked)}.")
        return found[0]
    return find_id(name, asked[::-1], "turn")


# ``%agent attach``: files and outputs that wait for the next question (requirements 002-27).


NOTHING = "Nothing is attached. %agent attach FILE… or %agent attach output N attaches something."
PICTURES = {"image/png": ".png", "image/jpeg": ".jpg"}


class Attached:
    """What waits for the next question of one shell."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.quotes: list[Quoted] = []
        self._labels: list[str] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add_files(self, names: Sequence[str]) -> None:
        """Let files wait.

        Raises:
            SetupError: Some cannot be read; none of them waits.
        """
        for found in attach(tuple(names), Path.cwd()):
            self.files.append(str(Path.cwd() / found.name))
            self._labels.append(f"{found.name} ({human_size(found.size_bytes)})")

    def add_output(self, count: int, text: str, pictures: Sequence[tuple[str, bytes]]) -> None:
        """Let what a cell showed wait.

        Args:
            count: The cell's number.
            text: What it showed in words.
            pictures: Its pictures, each with how its file's name ends.
        """
        for place, (ending, data) in enumerate(pictures, start=1):
            path = self._own_folder() / f"output-{count}-{place}{ending}"
            path.write_bytes(data)
            self.files.append(str(path))
        if text.strip():
            self.quotes.append(Quoted(f"output of cell [{count}]", text))
        number = len(pictures)
        shown = f" and {number} picture{'' if number == 1 else 's'}" if number else ""
        self._labels.append(f"output of [{count}]: {len(text):,} characters{shown}")

    def clear(self) -> None:
        """Let nothing wait; pictures stay as long as the shell, for what was asked about them."""
        for waiting in (self.files, self.quotes, self._labels):
            waiting.clear()

    def close(self) -> None:
        """Remove the pictures."""
        self.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def told(self) -> str:
        """What waits, in words."""
        if not self._labels:
            return NOTHING
        return "The next question takes along: " + "; ".join(self._labels) + "."

    def _own_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cellwright-")
        return Path(self._folder.name)


def attach_command(
    words: Sequence[str], attached: Attached, shell: InteractiveShell, notebook: Path | None
) -> Result:
    """Do what ``%agent attach …`` says.

    Args:
        words: What stands after ``%agent``.
        attached: What waits; changed.
        shell: Whose outputs there are.
        notebook: The notebook's file, which has the pictures; None: not known.

    Raises:
        SetupError: A file cannot be read, or the cell showed nothing.
    """
    match list(words):
        case ["attach", "clear"]:
            attached.clear()
        case ["attach", "output", number]:
            count = int(number.strip("[]"))
            text = "\n".join(filter(None, _texts(shell, count)))
            pictures = list(_pictures(notebook, count))
            if not text.strip() and not pictures:
                raise SetupError(
                    f"Cell [{count}] showed nothing that is known here.",
                    hint="Pictures are taken from the notebook's file: save it first.",
                )
            attached.add_output(count, text, pictures)
        case ["attach", *names]:
            attached.add_files([name.rstrip(",") for name in names])
    return Result(attached.told)


def _texts(shell: InteractiveShell, count: int) -> Iterator[str]:
    """What a cell of this kernel printed, gave and failed with."""
    history: Any = shell.history_manager
    for output in getattr(history, "outputs", {}).get(count, ()):
        bundle = output.bundle
        stream = bundle.get("stream")
        yield plain_text("".join(stream) if stream else str(bundle.get("text/plain", "")))
    failed = getattr(history, "exceptions", {}).get(count)
    if failed:
        yield plain_text("\n".join(failed["traceback"]))


def _pictures(notebook: Path | None, count: int) -> Iterator[tuple[str, bytes]]:
    """The pictures that a cell showed, as the notebook's file has them."""
    if notebook is None:
        return
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return  # it is being saved just now, or is no notebook yet
    shown = [cell.get("outputs", ()) for cell in cells if cell.get("execution_count") == count]
    for output in itertools.chain.from_iterable(shown):
        data = output.get("data", {})
        mime = next((kind for kind in PICTURES if kind in data), "")
        if mime:
            yield PICTURES[mime], base64.b64decode("".join(data[mime]))
