"""The loop: ask the model, do what it asks for, until it is done, a limit is reached or Stop.

``run`` is a generator of events. Everything it yields has been redacted and recorded before.
"""

from __future__ import annotations

import collections
import contextlib
import traceback
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallOutcome, ToolCaller
from cellwright.context.assemble import envelop_results
from cellwright.context.normalise import normalise
from cellwright.context.turns import is_summary, total_tokens
from cellwright.context.window import Window, describe_shortening, when_refused
from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelRestartedError,
    LMContextError,
    LMError,
    LMRequestError,
    LMToolsUnsupportedError,
    RunCancelled,
)
from cellwright.llm import LM, Capabilities, LMEvent
from cellwright.llm.adapters import Adapter, ParsedReply
from cellwright.llm.budget import OUT_OF_STEPS, LimitReached, RunBudget
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.llm.replay import RecordedLimitError
from cellwright.record.events import (
    Event,
    ModelAsked,
    ModelReplied,
    ModelRetrying,
    Notice,
    RunFinished,
    RunStatus,
    TextDelta,
)
from cellwright.record.messages import (
    PAUSED,
    WITHHELD,
    Manifest,
    Message,
    Parameters,
    Prompt,
    Reply,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from cellwright.stopping import Stop

CONTINUE = (
    "Your answer was cut off at the length limit. Go on exactly where it stopped; repeat nothing."
)
FILTERED = "The service's filter ended the reply, so nothing that it asked for was run."
REPEATED = "The model said the same over and over, so its reply was stopped."
CUT_WINDOW = (
    "The model's window of {tokens} tokens is full, so its reply was cut. Begin a new "
    "conversation, or give the model a larger window."
)
CUT_THINKING = (
    "The model was still thinking when its reply was cut at the limit of {tokens} tokens. Raise it "
    "with --max-output, or let it think less with --effort."
)
CUT_ANSWER = "{what} was cut at the limit of {tokens} tokens. Raise it with --max-output."
CUT_EARLY = (
    "{what} was cut after {tokens} tokens, before the limit that was set: the model's window may "
    "be full. Begin a new conversation, or give the model a larger window."
)
WINDOW_FULL_SHARE = 0.99
"""Services count a few tokens of their own templates that they do not tell of."""
EARLY_SHARE = 0.95
EMPTY_NUDGE = "Your reply was empty. Call a tool or answer the question."
SHORTENED_AT_MOST = 4
"""Each time a request that was too long is made shorter by almost a third."""
ROOM = "Beside the instructions and tools there is room for about {tokens} tokens{left_out}."
LEFT_OUT = "; your question was left out of the conversation"
INVALID_LIMIT = 3
CUT_CALLS_LIMIT = 2
"""A call that was cut is as long as a reply can be, so a second one is the last."""


class Owed(Protocol):
    """Results that the model has to hand in before the run may end."""

    @property
    def failure(self) -> str:
        """Why no further try is left; empty while one is."""
        ...

    def reminder(self) -> str:
        """For the model: what is missing; empty when all is there."""
        ...


@dataclass(frozen=True)
class AgentParts:
    """What the loop works with."""

    lm: LM
    adapter: Adapter
    parameters: Parameters
    tools: ToolCaller
    publisher: Publisher
    budget: RunBudget
    stop: Stop
    owed: Owed | None = None
    """Set where words alone are no answer."""
    author: str = ""
    """The assistant that answers; empty: none was chosen."""
    window: Window | None = None
    """How much is sent at most; None: all there is."""
    text_filters: tuple[str, ...] | None = None
    """What is done to the person's words, by name; None: all there is."""


@dataclass
class History:
    """The conversation so far; it only grows, so that the provider's prompt cache keeps hitting."""

    messages: list[Message] = field(default_factory=list)
    asked: int = 0
    """How many of them the record of this run has."""
    rewritten: bool = False
    """Set by compaction: the next request carries the whole history anew."""
    counted_per_estimated: float = 1.0
    """How many tokens the service counts for one that is estimated here."""


@dataclass(frozen=True)
class Ending:
    """How a run ends."""

    status: RunStatus
    answer: str = ""
    reason: str = ""
    cause: str = ""


def run(parts: AgentParts, history: History) -> Iterator[Event]:
    """Answer the last message of ``history``; append to it what is said.

    Yields:
        Events, the last one ``RunFinished``. The run ends with a status, never an exception,
        except that ``KeyboardInterrupt`` ends it as ``cancelled``.
    """
    ending = Ending("unknown", reason="The run ended without a reason.", cause="unknown")

    def let_go(reason: str, cause: str) -> None:
        status: RunStatus = "cancelled" if cause == "stopped" else "task error"
        words = f"Run {reason}" if cause == "stopped" else reason
        parts.publisher.end(_finished(Ending(status, "", words, cause), parts.budget))

    parts.stop.on_let_go = let_go
    try:
        ending = yield from _Loop(parts, history).until_done()
        yield from parts.tools.end_cells()
    except (RunCancelled, KeyboardInterrupt) as error:
        reason = getattr(error, "reason", "") or "stopped by the user"
        ending = Ending("cancelled", reason=f"Run {reason}.", cause="stopped")
    except KernelRestartedError as error:
        ending = Ending("task error", reason=error.message, cause="kernel_restarted")
    except KernelDiedError as error:
        ending = Ending("task error", reason=str(error), cause="kernel_died")
    except LMContextError as error:
        ending = Ending("agent context limit", reason=str(error), cause="context")
        _leave_out_question(history)
    except LMError as error:
        ending = Ending("task error", reason=str(error), cause=type(error).__name__)
        yield from parts.publisher.publish(Notice("error", error.message, error.hint, ending.cause))
    except Exception as error:  # recorded as our own failure, with its traceback
        trace = "".join(traceback.format_exception(error))
        reason = f"cellwright failed: {error!r}\n{trace}"
        ending = Ending("task error", reason=reason, cause="internal")
    except GeneratorExit:
        # Nobody pulls any more: the record is ended and nothing is shown.
        ending = Ending("cancelled", reason="Run abandoned.", cause="abandoned")
        collections.deque(_closing(parts, history, ending), maxlen=0)
        raise
    yield from _closing(parts, history, ending)


def _closing(parts: AgentParts, history: History, ending: Ending) -> Iterator[Event]:
    """The last cell ends, every open call gets its result, then the run its end."""
    with contextlib.suppress(RunCancelled, KernelError):
        yield from parts.tools.end_cells(at_once=ending.cause in ("stopped", "abandoned"))
    yield from parts.tools.close_open_calls(ending.cause)
    history.messages.extend(parts.tools.take_results())
    yield from parts.publisher.publish(_finished(ending, parts.budget))


def _leave_out_question(history: History) -> None:
    """Forget a question that no answer followed, or no later one would fit either.

    One that calls followed stays with them; it is summed up when a later one needs its room.
    """
    count = len(_unanswered(history.messages))
    del history.messages[len(history.messages) - count :]


def _unanswered(messages: Sequence[Message]) -> list[UserMessage]:
    """The words at the end that the model has not replied to."""
    said: list[UserMessage] = []
    for message in reversed(messages):
        if not isinstance(message, UserMessage) or is_summary(message):
            break
        said.append(message)
    return said


def _finished(ending: Ending, budget: RunBudget) -> RunFinished:
    return RunFinished(
        ending.status,
        ending.answer,
        ending.reason,
        ending.cause,
        budget.usage,
        budget.cost_dollars,
        budget.elapsed_seconds(),
    )


class _OutOfTimeError(Exception):
    """The run's time was over in the middle of a reply."""


class _Loop:
    """The state of one run, step by step."""

    def __init__(self, parts: AgentParts, history: History) -> None:
        self._parts = parts
        self._history = history
        self._nudged = False
        self._reminded = False
        self._invalid_in_a_row = 0
        self._last_text = ""
        self._cut_text = ""
        """What came of an answer that the model was asked to go on with."""
        self._has_asked = False

    def until_done(self) -> Generator[Event, None, Ending]:
        try:
            return (yield from self._all_steps())
        except _OutOfTimeError:
            limit = self._parts.budget.out_of_time()
            return Ending("task limit reached", self._last_text, limit.reason, limit.cause)
        except RecordedLimitError as error:
            return Ending("task limit reached", self._last_text, error.message, error.cause)

    def _all_steps(self) -> Generator[Event, None, Ending]:
        while True:
            limit = self._parts.budget.exceeded()
            if limit is not None:
                return (yield from self._summarise(limit))
            reply = yield from self._ask_with_tools()
            parsed = self._parts.adapter.parse_reply(reply, self._parts.tools.manifests)
            ending = yield from self._act(reply, parsed)
            if ending is not None:
                return ending

    def _act(self, reply: Reply, parsed: ParsedReply) -> Generator[Event, None, Ending | None]:
        self._last_text = parsed.text or self._last_text
        if reply.finish_reason == PAUSED and not parsed.calls:
            self._cut_text += parsed.text
            return None
        if parsed.problem:
            return (yield from self._useless(reply, parsed))
        if not parsed.calls and self._parts.owed is not None:
            return self._without_results(parsed.text, self._parts.owed)
        if not parsed.calls and reply.is_cut:
            return self._cut_off(reply, parsed.text)
        if not parsed.calls:
            return Ending("completed", self._cut_text + parsed.text)
        self._cut_text = ""
        calls = self._parts.tools.call_all(parsed.calls)
        outcome = yield from self._parts.budget.counted(calls)
        self._history.messages.extend(self._parts.tools.take_results())
        ending = self._after_calls(reply, outcome)
        note = self._parts.budget.note()
        if note and ending is None:
            self._add_note(note)
        if parsed.is_unreadable and (yield from self._recovered(parsed)):
            return None
        return ending

    def _add_note(self, note: str) -> None:
        """Say something to the model in the last result: words behind it some templates refuse."""
        messages = self._history.messages
        last = messages[-1]
        if isinstance(last, ToolMessage):
            messages[-1] = replace(last, parts=(*last.parts, TextPart(note)))
        else:
            messages.append(_hidden(note))

    def _without_results(self, text: str, owed: Owed) -> Ending | None:
        """Words where results are owed: the model is reminded once."""
        reminder = owed.reminder()
        if self._reminded:
            reason = "The model ended without handing in the results."
            return Ending("agent validation failed", text, reason, "results_missing")
        self._reminded = True
        self._history.messages.append(_hidden(reminder))
        return None

    def _cut_off(self, reply: Reply, text: str) -> Ending | None:
        """The end of a run whose reply was cut; None: the model goes on with it, once.

        Where somebody set the limit, or the window is full, going on would only be cut again.
        """
        is_open = reply.finish_reason == "length" and reply.limit_tokens is None
        goes_on = (
            is_open
            and text.strip()
            and not self._cut_text
            and not fills_window(reply, self._able.context_tokens)
        )
        self._cut_text += text
        if not goes_on:
            return self._cut_ending(reply, self._cut_text)
        self._history.messages.append(_hidden(CONTINUE))
        return None

    def _cut_ending(self, reply: Reply, text: str) -> Ending:
        if reply.finish_reason == "repetition":
            return Ending("task limit reached", text, REPEATED, "repetition")
        reason = describe_cut(reply, self._able.context_tokens)
        return Ending("task limit reached", text, reason, "truncated")

    def _after_calls(self, reply: Reply, outcome: CallOutcome) -> Ending | None:
        if reply.finish_reason == WITHHELD:
            said = reply.message.refusal or self._last_text
            return Ending("completed", said, FILTERED, "refused")
        owed = self._parts.owed
        if owed is not None and owed.failure:
            return Ending("agent validation failed", self._last_text, owed.failure, "wrong_results")
        if outcome.final_answer is not None:
            return Ending("completed", outcome.final_answer or self._last_text)
        if outcome.repeated:
            return Ending("task limit reached", self._last_text, outcome.repeated, "repeated_calls")
        self._invalid_in_a_row = self._invalid_in_a_row + 1 if outcome.invalid else 0
        if reply.is_cut and self._invalid_in_a_row >= CUT_CALLS_LIMIT:
            return self._cut_ending(reply, self._last_text)
        if self._invalid_in_a_row >= INVALID_LIMIT:
            return Ending(outcome.invalid_status, self._last_text, outcome.invalid, "invalid_calls")
        return None

    def _useless(self, reply: Reply, parsed: ParsedReply) -> Generator[Event, None, Ending | None]:
        if parsed.problem == "refused":
            text = reply.message.refusal or parsed.text
            return Ending("completed", text, "The model refused to answer.", "refused")
        if reply.is_cut and parsed.problem == "unreadable":
            # Half of what is to be read cannot be gone on with.
            return self._cut_ending(reply, self._cut_text + parsed.text)
        if reply.is_cut:
            return self._cut_off(reply, parsed.text)
        if parsed.is_unreadable and (yield from self._recovered(parsed)):
            return None
        if parsed.problem == "unreadable":
            reason = f"The model's reply could not be read: {parsed.error}"
            return Ending("agent validation failed", parsed.text, reason, "unreadable_reply")
        if parsed.problem == "tool call as text":
            notice = Notice(
                "error",
                "The model wrote a tool call as plain text; nothing was run.",
                "Use a model or server that supports tool calling.",
                "tool_call_as_text",
            )
            yield from self._parts.publisher.publish(notice)
            return Ending("agent validation failed", parsed.text, notice.text, notice.code)
        if self._nudged:
            reason = "The model sent an empty reply twice."
            return Ending("agent validation failed", "", reason, "empty_reply")
        self._nudged = True
        self._history.messages.append(_hidden(EMPTY_NUDGE))
        return None

    def _recovered(self, parsed: ParsedReply) -> Generator[Event, None, bool]:
        """Whether something is left to try with a reply that could not be read."""
        recovery = self._parts.adapter.recover(parsed)
        if recovery is None:
            return False
        yield from self._parts.publisher.publish(recovery.notice)
        if recovery.changes_adapter or not parsed.calls:
            # Results of calls say themselves what was wrong with them.
            self._history.messages.append(_hidden(recovery.text))
        if recovery.changes_adapter:
            self._invalid_in_a_row = 0
        return True

    def _ask_with_tools(self) -> Generator[Event, None, Reply]:
        try:
            return (yield from self._ask())
        except LMToolsUnsupportedError:
            recovery = self._parts.adapter.without_functions()
            if recovery is None:
                raise
        yield from self._parts.publisher.publish(recovery.notice)
        return (yield from self._ask())

    def _ask(self, *, with_tools: bool = True) -> Generator[Event, None, Reply]:
        messages = self._history.messages
        window = self._window()
        fitted = window.in_a_run(messages) if window is not None else None
        if fitted is not None:
            yield from self._replace_history(fitted)
        wanted_turns, shortened = self._able.alternates, 0
        while True:
            try:
                return (yield from self._request(with_tools))
            except LMContextError as error:
                window = self._window()
                fitted = when_refused(messages, window)
                if fitted is None or shortened == SHORTENED_AT_MOST:
                    error.hint = self._room(window)
                    raise
                shortened += 1
                yield from self._replace_history(fitted)
            except LMRequestError:
                # A template that wants words in turn is known from now on, and gets them.
                if self._able.alternates == wanted_turns:
                    raise
                wanted_turns = self._able.alternates

    def _window(self) -> Window | None:
        """How much is sent at most, by what the service has said so far."""
        window = self._parts.window
        factor = self._history.counted_per_estimated
        return window and window.narrowed(self._able.context_tokens, factor)

    def _room(self, window: Window | None) -> str:
        """What the person can do about a question that does not fit."""
        head = [m for m in self._history.messages if isinstance(m, SystemMessage)]
        room = window.limit_tokens - total_tokens(head) if window is not None else 0
        unanswered = _unanswered(self._history.messages)
        is_left_out = any(m.sent_as != "user_hide" for m in unanswered)
        left_out = LEFT_OUT if is_left_out else ""
        asked = ROOM.format(tokens=f"{room:,}", left_out=left_out) if room > 0 else ""
        advice = "Ask for less at once, or use a model with a larger context window."
        return f"{asked} {advice}".strip()

    @property
    def _able(self) -> Capabilities:
        parts = self._parts
        return parts.lm.capabilities(parts.parameters.model)

    def _replace_history(self, fitted: Sequence[Message]) -> Iterator[Event]:
        told = describe_shortening(self._history.messages, fitted)
        self._history.messages[:] = fitted
        self._history.rewritten = True
        yield from self._parts.publisher.publish(Notice("warning", told, "", "compacted"))

    def _request(self, with_tools: bool) -> Generator[Event, None, Reply]:
        parts, history = self._parts, self._history
        parts.stop.check()
        tools = parts.tools.manifests if with_tools else ()
        messages = normalise(
            history.messages, self._able, answering=parts.author, text_filters=parts.text_filters
        )
        prompt = parts.adapter.format_prompt(envelop_results(messages), tools, parts.parameters)
        yield from parts.publisher.publish(self._asked(tools))
        reply = yield from self._stream(prompt, tools)
        history.counted_per_estimated = counted_per_estimated(prompt, reply)
        reply = said_by(parts.author, parts.adapter.read(reply, tools))
        cost = parts.budget.add(reply)
        published = parts.publisher.publish(replied_event(reply, cost))
        replied = next(event for event in published if isinstance(event, ModelReplied))
        # What goes back to the model is what was recorded, secrets taken out.
        history.messages.append(replied.message)
        yield from published
        return replace(reply, message=replied.message)

    def _stream(self, prompt: Prompt, tools: tuple[Manifest, ...]) -> Generator[Event, None, Reply]:
        """The reply, as it comes; what came until the run's time was over is in the record.

        Raises:
            _OutOfTimeError: The reply took longer than the run may.
        """
        parts = self._parts
        with parts.stop.within(parts.budget.left_seconds()) as stop:
            try:
                return (yield from self._replied(parts.lm.stream(prompt, stop), tools))
            except RunCancelled:
                if stop.is_set() and not parts.stop.is_set():
                    raise _OutOfTimeError from None
                raise

    def _replied(
        self, stream: Generator[LMEvent, None, Reply], tools: tuple[Manifest, ...]
    ) -> Generator[Event, None, Reply]:
        shown = self._parts.adapter.shown(tools)
        while True:
            try:
                event: Event = next(stream)
            except StopIteration as finished:
                reply: Reply = finished.value
                if shown is not None:
                    yield from self._parts.publisher.publish(TextDelta(shown.finish()))
                return reply
            if shown is not None and isinstance(event, ModelRetrying):
                shown = self._parts.adapter.shown(tools)  # what came so far is void
            if shown is not None and isinstance(event, TextDelta):
                event = TextDelta(shown.feed(event.text))
            yield from self._parts.publisher.publish(event)

    def _asked(self, tools: tuple[Manifest, ...]) -> ModelAsked:
        history = self._history
        start = 0 if history.rewritten else history.asked
        event = ModelAsked(
            self._parts.budget.steps + 1,
            tuple(history.messages[start:]),
            () if self._has_asked else tools,
            replaces_history=history.rewritten,
        )
        history.asked, history.rewritten = len(history.messages), False
        self._has_asked = True
        return event

    def _summarise(self, limit: LimitReached) -> Generator[Event, None, Ending]:
        """One last turn without tools (fault M21), only where the step limit leaves room."""
        answer = self._last_text
        if limit.cause == "step_limit":
            self._add_note(OUT_OF_STEPS)
            try:
                reply = yield from self._ask(with_tools=False)
                answer = reply.message.text or answer
            except LMError as error:
                yield from self._parts.publisher.publish(Notice("warning", str(error)))
        return Ending("task limit reached", answer, limit.reason, limit.cause)


def _hidden(text: str) -> UserMessage:
    """What the loop itself has to say; nobody is shown it."""
    return UserMessage((TextPart(text),), "user_hide")


# What a reply of the model tells beside its words.


def counted_per_estimated(prompt: Prompt, reply: Reply) -> float:
    """How many tokens the service counted for one that is estimated here; 1 where it is silent."""
    if reply.usage.estimated or not reply.usage.prompt_tokens:
        return 1.0
    return reply.usage.prompt_tokens / max(1, estimated_prompt_tokens(prompt))


def fills_window(reply: Reply, context_tokens: int | None) -> bool:
    """Whether a reply ended because the model's window was full, as far as it is known."""
    used = reply.usage.prompt_tokens + reply.usage.completion_tokens
    return context_tokens is not None and used >= WINDOW_FULL_SHARE * context_tokens


def describe_cut(reply: Reply, context_tokens: int | None) -> str:
    """Why a reply was cut and what to do about it, for people.

    Args:
        reply: One that reached a limit.
        context_tokens: The model's window; None: it is not known.
    """
    usage, message = reply.usage, reply.message
    written, limit = usage.completion_tokens, reply.limit_tokens
    if fills_window(reply, context_tokens):
        return CUT_WINDOW.format(tokens=f"{context_tokens:,}")
    what = "A call of a tool" if message.tool_calls else "The answer"
    is_thinking = bool(message.reasoning or usage.reasoning_tokens)
    words = CUT_ANSWER if message.text or message.tool_calls or not is_thinking else CUT_THINKING
    if limit is not None and not usage.estimated and written < EARLY_SHARE * limit:
        words = CUT_EARLY
    elif limit is not None:
        written = limit
    about = "about " if usage.estimated and limit is None else ""
    return words.format(what=what, tokens=f"{about}{written:,}")


def said_by(author: str, reply: Reply) -> Reply:
    """The reply with the name of the assistant that gave it."""
    return replace(reply, message=replace(reply.message, author=author)) if author else reply


def replied_event(reply: Reply, cost: float | None) -> ModelReplied:
    """The reply as the record has it."""
    return ModelReplied(
        reply.message,
        reply.finish_reason,
        reply.usage,
        reply.model,
        reply.duration_seconds,
        reply.first_delta_seconds,
        reply.attempts,
        cost,
        reply.truncated,
        reply.dropped_parameters,
    )
