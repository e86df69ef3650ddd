"""Any OpenAI-compatible service, of those in ``providers`` and of the many others.

Retries, deadlines and the checks that a reply is whole are ours, so that they can be seen; the
SDK gives the client, the key, proxies and certificates. One ``OpenAILM`` may serve many threads.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import (
    LMAccessError,
    LMError,
    LMNotFoundError,
    LMRequestError,
    LMStreamError,
    LMToolsUnsupportedError,
)
from cellwright.llm import Capabilities, LMEvent, anthropic, gemini, responses
from cellwright.llm.capabilities import (
    ITEM_WORDS,
    LENGTH_PARAMETERS,
    LIMIT_NAMES,
    NOTHING_KNOWN,
    REFUSED_ITEMS,
    SILENT_SERVERS,
    TEMPLATES,
    Learned,
)
from cellwright.llm.connection import Arrived, ConnectionPool, Exchange, renewed
from cellwright.llm.deltas import ReplyAssembler
from cellwright.llm.faults import Endpoint
from cellwright.llm.openai_format import JSON, ChatForm, body_bytes, parameters_of
from cellwright.llm.prompt_size import (
    estimated_prompt_tokens,
    looks_cut,
    tools_look_dropped,
    window_advice,
)
from cellwright.llm.provider_items import FieldRules, ItemReader, key_of
from cellwright.llm.retries import Joiner, RepetitionWatch, WaitTimes, Watch, next_delay
from cellwright.providers import GEMINI_PATH, MESSAGES_PATH, find_provider, own_path
from cellwright.record.events import ModelRetrying, Notice
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Prompt,
    Reply,
    ToolMessage,
    Usage,
    UserMessage,
    fill_parameters,
)
from cellwright.settings import (
    ModelSettings,
    ServiceSettings,
    settings_of,
)
from cellwright.stopping import Stop
from cellwright.text.truncation import CHARACTERS_PER_TOKEN

CHAT_PATH = "/chat/completions"
NOT_OPTIONAL = ("model", "messages", "input", "contents", "tools", "stream", "store")


@dataclass(frozen=True)
class _Wire:
    """How an API is spoken."""

    path: str
    """Where; ``{model}`` stands for the model where the path has it, at the root of that API."""
    assembler: type[ReplyAssembler]
    parameter_names: Callable[[Mapping[str, Any]], tuple[str, ...]] = tuple
    """The names of what a body holds."""
    name_of: Callable[[str], str] = str
    """What a parameter of chat completions is called there."""
    refused_name: Callable[[str, tuple[str, ...]], str] = lambda detail, names: ""
    """The parameter that a refusal is about, where its form tells."""
    absent: frozenset[str] = frozenset()
    """Parameters of chat completions that it has not."""


WIRES: Mapping[str, _Wire] = {
    "chat": _Wire(CHAT_PATH, ReplyAssembler),
    "responses": _Wire(
        responses.PATH,
        responses.ResponsesAssembler,
        responses.parameter_names,
        responses.name_of,
        absent=responses.ABSENT,
    ),
    "messages": _Wire(
        MESSAGES_PATH,
        anthropic.MessagesAssembler,
        anthropic.parameter_names,
        anthropic.name_of,
        anthropic.refused_name,
    ),
    "gemini": _Wire(
        GEMINI_PATH,
        gemini.GeminiAssembler,
        gemini.parameter_names,
        gemini.name_of,
        gemini.refused_name,
    ),
}
FORMS = {
    "responses": responses.responses_parameters,
    "messages": anthropic.messages_parameters,
    "gemini": gemini.gemini_parameters,
}
"""What makes a request; that of chat completions knows more of the model."""
PARTIAL_CHARACTERS = 20_000
REPEATS = "The model says the same over and over; its reply was stopped."
TOOLS_LOST = "The chat template of {!r} has no tools: its server drops them without a word."
TOOLS_LOST_HINT = "Load a model or a template that calls tools."
USUAL_LIMIT_TOKENS = 16_384
"""Of one reply, where nobody set a limit and the server has none of its own."""
SMALLEST_LIMIT_TOKENS = 256
ROOM_FACTOR = 1.3
"""Services count more tokens than we estimate: their templates write tools at length."""


@dataclass(frozen=True)
class _Request:
    """One request as it goes out."""

    wire: _Wire
    path: str
    body: bytes
    optional: tuple[str, ...]
    """The parameters in it that can be left out."""
    pictures: bool
    used_ids: frozenset[str]
    reader: ItemReader
    """Found what the provider wanted back."""
    is_whole: bool = False
    """The reply comes in one piece, and nothing before."""


class OpenAILM:
    """A model behind an OpenAI-compatible service.

    Args:
        service: Address, key and waits.
        models: What the person knows of models, by name or pattern.
        pace: Waits that tests shorten.
    """

    def __init__(
        self,
        service: ServiceSettings,
        *,
        models: Mapping[str, ModelSettings] = NOTHING_KNOWN,
        pace: WaitTimes | None = None,
    ) -> None:
        self._service = service
        self._models = models
        self._pace = pace or WaitTimes()
        self._learned = Learned(service, models=models)
        self._cut_models: set[str] = set()
        self._lines = ConnectionPool(service)
        # Sockets that nobody closes are a warning when they are collected.
        self._closing = weakref.finalize(self, self._lines.close)

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        return self._learned.capabilities(model)

    def learn_window(self, model: str) -> None:
        """Ask a server of one's own how much the model holds, where that is not known."""
        self._learned.learn_window(model)

    def warm_up(self) -> None:
        """Import the SDK and make a client, so that the first request need not."""
        line = self._lines.take()
        try:
            line.connect()
        finally:
            self._lines.give_back(line)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._lines.close()

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield pieces of the reply as they come and return the whole.

        A request that fails in a way that may pass is sent again, each time told of by a
        ``ModelRetrying``; what was shown of the reply before is void then. An error of the last
        try has what came of the reply in its ``detail`` if the connection broke.

        Raises:
            LMError: The service failed and no retry helped.
            RunCancelled: ``stop`` was set.
        """
        failures: list[LMError] = []
        prompt, is_renewed, is_empty = self._with_settings(prompt), False, False
        if lost := self._lost_tools(prompt):
            raise lost
        while True:
            stop.check()
            request = yield from self._usable_request(prompt, in_one_piece=is_empty)
            is_empty = False
            try:
                reply = yield from self._attempt(prompt, request, stop)
            except (LMRequestError, LMNotFoundError) as error:
                yield self._leave_out(prompt, request, error)
            except LMAccessError as error:
                if is_renewed:
                    raise
                yield self._renew_key(error)
                is_renewed = True
            except LMError as error:
                failures.append(error)
                is_empty = isinstance(error, LMStreamError) and error.is_empty
                delay = next_delay(failures, self._service, self._pace.backoff_seconds)
                if delay is None:
                    raise
                yield ModelRetrying(len(failures) + 1, delay, error.message)
                stop.wait(delay)
            else:
                yield from self._warnings(prompt, reply)
                return replace(reply, attempts=len(failures) + 1)

    def _usable_request(
        self, prompt: Prompt, *, in_one_piece: bool
    ) -> Generator[LMEvent, None, _Request]:
        """The request, without what its API has not; what is left out is told of."""
        request = self._request(prompt)
        for name in request.wire.absent.intersection(request.optional):
            yield self._learned.leave_out(prompt.parameters.model, name)
            request = self._request(prompt)
        if not self.capabilities(prompt.parameters.model).streams:
            return replace(request, body=_in_one_piece(request.body), is_whole=True)
        is_own = not find_provider(self._service.base_url).hosts
        if in_one_piece and is_own and request.wire is WIRES["chat"]:
            # llama-cpp-python's server says 200 before it reads a request, and closes a stream
            # that it cannot write. Asked for all at once it says why.
            return replace(request, body=_in_one_piece(request.body))
        return request

    def _renew_key(self, error: LMAccessError) -> Notice:
        """Ask what gave the key for another one: short-lived ones end within a run.

        Raises:
            LMAccessError: Neither a command nor a file gave the key, or it gives no other one.
        """
        giver = "command" if self._service.key_command else "file"
        self._service = renewed(self._service, error)
        self._lines.renew(self._service)
        text = f"The key was no longer taken, and its {giver} gave another one."
        return Notice("info", text, code="key_renewed")

    def _with_settings(self, prompt: Prompt) -> Prompt:
        """The prompt with what the person set for the model; what was asked for now wins."""
        parameters = prompt.parameters
        own = settings_of(parameters.model, self._models).parameters
        usual = {**self._service.parameters, **own}
        if not find_provider(self._service.base_url).hosts:
            # Companies have limits of their own, which differ; a server of one's own writes for
            # ever.
            limit = _usual_limit(prompt, self.capabilities(parameters.model).context_tokens)
            usual = {"max_output_tokens": limit, **usual}
        return replace(prompt, parameters=fill_parameters(parameters, usual)) if usual else prompt

    def _request(self, prompt: Prompt) -> _Request:
        model = prompt.parameters.model
        known = self.capabilities(model)
        place = Endpoint(self._service.base_url, model).place
        refused = frozenset(key for url, key in REFUSED_ITEMS if url == self._service.base_url)
        reader = ItemReader(place, known.api, model, refused)
        wire = WIRES[known.api]
        parameters = self._parameters(prompt, reader)
        names = wire.parameter_names(parameters)
        path = wire.path.replace("{model}", gemini.model_in_path(model))
        return _Request(
            wire,
            path if path == wire.path else own_path(self._service.base_url, path),
            body_bytes(parameters),
            tuple(name for name in names if name not in NOT_OPTIONAL),
            known.vision and _has_pictures(prompt),
            _call_ids(prompt),
            reader,
        )

    def _parameters(self, prompt: Prompt, reader: ItemReader) -> JSON:
        known = self.capabilities(prompt.parameters.model)
        if known.api == "chat":
            return self._chat_parameters(prompt, reader)
        form, without = FORMS[known.api], self._without(prompt.parameters.model)
        return form(prompt, vision=known.vision, reader=reader, without=without)

    def _without(self, model: str) -> frozenset[str]:
        """Parameters that are not sent: the provider does not know them, or the model refused."""
        unknown = find_provider(self._service.base_url).unknown_parameters
        return unknown | self.capabilities(model).refused_parameters

    def _chat_parameters(self, prompt: Prompt, reader: ItemReader) -> JSON:
        model = prompt.parameters.model
        known = self.capabilities(model)
        rules = FieldRules(known.refused_fields, known.required_fields)
        form = ChatForm(known.vision, reader, rules, known.alternates, known.shapes)
        length = self._learned.length_parameter(model)
        without = self._without(model)
        return parameters_of(prompt, form, length_parameter=length, without=without)

    def _leave_out(
        self, prompt: Prompt, request: _Request, error: LMRequestError | LMNotFoundError
    ) -> Notice:
        """Learn what the model refuses; raises the error again where leaving out is no help."""
        own = {
            key_of(message.provider_items): request.reader.items_of(message)
            for message in prompt.messages
            if isinstance(message, AssistantMessage) and message.provider_items is not None
        }
        sent = {key: items for key, items in own.items() if items}
        if sent and ITEM_WORDS.search(error.detail.lower()):
            for key in sent:
                REFUSED_ITEMS[self._service.base_url, key] = error.detail
            text = f"{error.detail} The request goes on without the model's earlier thinking."
            return Notice("info", text, code="items_refused")
        if isinstance(error, LMRequestError) and not error.parameter:
            error.parameter = request.wire.refused_name(error.detail, request.optional)
        fields = {str(item.get("field", "")) for items in sent.values() for item in items} - {""}
        notice = self._learned.from_refusal(
            prompt.parameters.model,
            error,
            request.optional,
            pictures=request.pictures,
            fields=fields,
        )
        if notice is None:
            raise error
        return notice

    def _attempt(
        self, prompt: Prompt, request: _Request, stop: Stop
    ) -> Generator[LMEvent, None, Reply]:
        endpoint = self._endpoint(prompt)
        line = self._lines.take()
        whole = failed = False
        try:
            exchange = line.start(request.path, request.body, endpoint)
            service = self._service
            if request.is_whole:
                service = replace(service, idle_timeout_seconds=service.deadline_seconds)
            reading = _StreamReading(
                exchange,
                Watch(service, self._pace, endpoint.place, time.monotonic()),
                request.wire.assembler(),
            )
            yield from reading.follow(self._pace, stop)
            whole = not reading.repeats
            if reading.repeats:
                yield Notice(
                    "warning", REPEATS, "Ask again, or choose another model.", "repetition"
                )
            if self._is_mute(prompt, reading.assembler):
                usage = reading.assembler.usage
                counted = usage and usage.prompt_tokens
                counted = counted or self._count_alone(request, endpoint, stop)
                without = counted and self._count_alone(request, endpoint, stop, tools=None)
                key = (self._service.base_url, prompt.parameters.model)
                TEMPLATES[key] = counted is not None and counted == without
            if lost := self._lost_tools(prompt, reading):
                # What was shown of the reply is void.
                yield ModelRetrying(2, 0.0, lost.message)
                raise lost
            return self._reply(prompt, request, reading)
        except LMError:
            failed = True
            raise
        finally:
            # After a whole reply nothing is waited for: its connection may still be closing it.
            if whole or (failed and line.is_free()):
                self._lines.give_back(line)
            else:
                line.abandon()

    def _lost_tools(
        self, prompt: Prompt, reading: _StreamReading | None = None
    ) -> LMToolsUnsupportedError | None:
        """What is wrong where a server drops the tools of a question in silence; None: nothing.

        llama.cpp gives itself away by the times that it sends, and what stands behind a proxy by
        how few tokens it counts; where calls come neither is looked at.
        """
        model = prompt.parameters.model
        if not prompt.tools:
            return None
        wordy = (
            reading.assembler if reading and not reading.assembler.message().tool_calls else None
        )
        if wordy and wordy.usage and self._counts_no_tools(prompt, wordy.usage):
            TEMPLATES[self._service.base_url, model] = True
        is_suspect = wordy is not None and wordy.has_timings
        if not self._learned.template_drops_tools(model, ask=is_suspect):
            return None
        return LMToolsUnsupportedError(TOOLS_LOST.format(model), hint=TOOLS_LOST_HINT)

    def _is_mute(self, prompt: Prompt, assembler: ReplyAssembler) -> bool:
        """Whether tools may be lost, unseen, in a reply in words, at a server known for it."""
        key = (self._service.base_url, prompt.parameters.model)
        is_known = self._service.base_url in SILENT_SERVERS
        if not (prompt.tools and is_known) or key in TEMPLATES:
            return False
        if assembler.has_timings or assembler.message().tool_calls:
            return False
        # Counts of a short prompt tell nothing of the tools.
        return assembler.usage is None or not tools_look_dropped(prompt, 0)

    def _count_alone(
        self, request: _Request, endpoint: Endpoint, stop: Stop, **changes: Any
    ) -> int | None:
        """How many tokens a server counts for a prompt where it is asked for one token more."""
        limits = [name for name in LENGTH_PARAMETERS if name in request.optional]
        limit = dict.fromkeys(limits or LENGTH_PARAMETERS[:1], 1)
        body = _in_one_piece(request.body, **limit, **changes)
        line = self._lines.take()
        try:
            exchange = line.start(request.wire.path, body, endpoint)
            watch = Watch(self._service, self._pace, endpoint.place, time.monotonic())
            reading = _StreamReading(exchange, watch, request.wire.assembler())
            for _ in reading.follow(self._pace, stop):
                pass
            counted = reading.assembler.usage
            return counted.prompt_tokens if counted is not None else None
        except LMError:
            return None  # the reply is there, whatever this was
        finally:
            line.abandon()

    def _counts_no_tools(self, prompt: Prompt, usage: Usage) -> bool:
        is_company = bool(find_provider(self._service.base_url).hosts)
        return not is_company and tools_look_dropped(prompt, usage.prompt_tokens)

    def _endpoint(self, prompt: Prompt) -> Endpoint:
        key = self._service.api_key
        if not key.isascii() or key != "".join(key.split()):
            raise LMAccessError(
                "The key holds blanks or characters that no key has.", hint="Copy it again."
            )
        return Endpoint(self._service.base_url, prompt.parameters.model, key)

    def _reply(self, prompt: Prompt, request: _Request, reading: _StreamReading) -> Reply:
        assembler, model = reading.assembler, prompt.parameters.model
        items = request.reader.keep(assembler.provider_items())
        message = replace(assembler.message(request.used_ids), provider_items=items)
        usual = "tool_calls" if message.tool_calls else "stop"
        return Reply(
            message,
            "repetition" if reading.repeats else assembler.finish_reason or usual,
            _usage(prompt, assembler),
            assembler.model or model,
            reading.duration_seconds,
            reading.first_delta_seconds,
            request_id=reading.request_id or assembler.response_id,
            dropped_parameters=_dropped(prompt, request),
            truncated=reading.repeats or assembler.finish_reason == "length",
            limit_tokens=prompt.parameters.max_output_tokens if _sends_limit(request) else None,
        )

    def _warnings(self, prompt: Prompt, reply: Reply) -> Generator[LMEvent, None, None]:
        """A service that cuts a long prompt in silence is told of, once until it stops."""
        model = prompt.parameters.model
        counted = 0 if reply.usage.estimated else reply.usage.prompt_tokens
        expected = looks_cut(prompt, counted) if counted else 0
        if not expected:
            self._cut_models.discard(model)
        elif model not in self._cut_models:
            self._cut_models.add(model)
            yield Notice(
                "warning",
                f"{model!r} read {counted} tokens of a prompt of about {expected}: the service "
                "seems to cut it off.",
                window_advice(self._endpoint(prompt)),
                "context_truncated",
            )


class _StreamReading:
    """One response as it is read."""

    def __init__(self, exchange: Exchange, watch: Watch, assembler: ReplyAssembler) -> None:
        self.assembler = assembler
        self.request_id = ""
        self.first_delta_seconds: float | None = None
        self.duration_seconds = 0.0
        self.repeats = False
        """The reply was given up: it says the same over and over."""
        self._repetitions = {n: RepetitionWatch() for n in ("text", "reasoning", "arguments")}
        self._exchange = exchange
        self._watch = watch
        self._started = time.monotonic()

    def follow(self, pace: WaitTimes, stop: Stop) -> Generator[LMEvent, None, None]:
        """Yield what comes until the reply is whole.

        Raises:
            LMError: It never will be.
            RunCancelled: ``stop`` was set.
        """
        joiner = Joiner(pace)
        while True:
            stop.check()
            now = time.monotonic()
            arrived = self._exchange.next(joiner.wait_seconds(now, pace.poll_seconds))
            now = time.monotonic()
            if arrived is not None and self._take(arrived, joiner, now):
                break
            if self.repeats or (self.assembler.finished and self._watch.is_over(now)):
                break
            yield from joiner.due(now)
            if silence := self._look(now):
                yield silence
        joiner.add(self.assembler.end())
        self.duration_seconds = time.monotonic() - self._started
        yield from joiner.rest()

    def _look(self, now: float) -> LMEvent | None:
        try:
            return self._watch.look(now)
        except LMError as error:
            raise self._with_partial(error) from None

    def _take(self, arrived: Arrived, joiner: Joiner, now: float) -> bool:
        """Take what came; True when the reply is whole."""
        self.request_id = arrived.request_id or self.request_id
        for chunk in arrived.chunks:
            try:
                said = self.assembler.add(chunk)
            except LMError as error:
                raise self._with_partial(error) from None
            joiner.add(said)
            found = [watch.feed(getattr(said, n)) for n, watch in self._repetitions.items()]
            self.repeats = self.repeats or any(found)
        self._watch.arrived(now, content=bool(arrived.chunks))
        if self.first_delta_seconds is None and self.assembler.started:
            self.first_delta_seconds = now - self._started
        if arrived.failure is not None and not self.assembler.finished:
            raise self._with_partial(arrived.failure)
        if arrived.ended and not (arrived.done or self.assembler.finished):
            raise self._with_partial(_ended_early(is_empty=not self.assembler.started))
        is_whole = self.assembler.finished and self.assembler.ends_with_reason
        return is_whole or arrived.ended or arrived.failure is not None

    def _with_partial(self, error: Exception) -> Exception:
        if isinstance(error, LMError) and not error.detail:
            error.detail = self.assembler.text[:PARTIAL_CHARACTERS]
        return error


def _in_one_piece(body: bytes, **changes: Any) -> bytes:
    """The body of a request for a whole reply; what is changed to None is left out."""
    whole = {**json.loads(body), "stream": False, "stream_options": None, **changes}
    return body_bytes({name: value for name, value in whole.items() if value is not None})


def _ended_early(*, is_empty: bool) -> LMStreamError:
    error = LMStreamError(
        "The stream ended early: the service closed it without saying that the reply is whole.",
        hint="Try again; if it happens often, the service or a proxy before it breaks streams.",
    )
    error.is_empty = is_empty
    return error


def _usage(prompt: Prompt, assembler: ReplyAssembler) -> Usage:
    """What the service counted; estimated where it did not, or cannot have (fault M46)."""
    counted, written = assembler.usage, assembler.written_characters
    if counted is not None and (counted.completion_tokens or not written):
        return counted
    prompt_tokens = counted.prompt_tokens if counted else estimated_prompt_tokens(prompt)
    return replace(
        counted or Usage(),
        prompt_tokens=prompt_tokens,
        completion_tokens=-(-written // CHARACTERS_PER_TOKEN),
        estimated=True,
    )


def _usual_limit(prompt: Prompt, context_tokens: int | None) -> int:
    """Tokens of a reply where nobody set a limit: what the window has room for."""
    if context_tokens is None:
        return USUAL_LIMIT_TOKENS
    room = context_tokens - int(ROOM_FACTOR * estimated_prompt_tokens(prompt))
    return min(USUAL_LIMIT_TOKENS, max(SMALLEST_LIMIT_TOKENS, room))


def _call_ids(prompt: Prompt) -> frozenset[str]:
    return frozenset(
        call.id
        for message in prompt.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    )


def _has_pictures(prompt: Prompt) -> bool:
    return any(
        isinstance(part, ImagePart)
        for message in prompt.messages
        if isinstance(message, (UserMessage, ToolMessage))
        for part in message.parts
    )


def _sends_limit(request: _Request) -> bool:
    return not LIMIT_NAMES.isdisjoint(request.optional)


def _dropped(prompt: Prompt, request: _Request) -> tuple[str, ...]:
    """The parameters that the prompt asks for and that were left out."""
    parameters, sent = prompt.parameters, request.optional
    wanted: dict[str, Any] = {**parameters.extra, "temperature": parameters.temperature}
    if parameters.max_output_tokens is not None and not _sends_limit(request):
        wanted["max_tokens"] = parameters.max_output_tokens
    sent = (*sent, *(name for name in wanted if request.wire.name_of(name) in sent))
    sent = (*sent, *(name.partition(".")[0] for name in sent))
    return tuple(sorted(n for n, value in wanted.items() if value is not None and n not in sent))
