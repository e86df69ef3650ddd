"""``doctor --provider``: what a service really does, tried with twelve probes that cost something.

The probes go through our own client, so they tell what a run would meet: a parameter that is
refused and left out, thinking that is sent back, a window that is too small.
"""

from __future__ import annotations

import base64
import os
import re
import struct
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from cellwright.commands import COMPLETED, INTERRUPTED, NOT_COMPLETED, VerbContext
from cellwright.commands.doctor import PING
from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line, stopping
from cellwright.errors import (
    LMAccessError,
    LMConnectionError,
    LMContextError,
    LMError,
    LMNotFoundError,
    LMQuotaError,
    LMRequestError,
    RunCancelled,
    SetupError,
)
from cellwright.llm.capabilities import is_listed, list_models
from cellwright.llm.keys import load_settings
from cellwright.llm.openai import OpenAILM
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.llm.retries import WaitTimes
from cellwright.providers import (
    PROVIDERS,
    VARIABLE,
    Provider,
    fill_in,
    find_provider,
    provider_of_key,
    shown_url,
)
from cellwright.record.events import Notice, ReasoningDelta, TextDelta
from cellwright.record.messages import (
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Part,
    Prompt,
    Reply,
    TextPart,
    ToolMessage,
    Usage,
    UserMessage,
    cost_of,
    price_for,
)
from cellwright.record.values import json_or_none, to_dict
from cellwright.session.prices import known_prices
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.text.truncation import CHARACTERS_PER_TOKEN

Verdict = Literal["works", "does not", "could not tell"]
MARKS: Mapping[Verdict, str] = {"works": "yes", "does not": "no", "could not tell": "?"}
USUAL_TOKENS = 20_000
"""What all probes may take together unless it is said otherwise."""
OUTPUT_TOKENS = 512
THINKING_TOKENS = 1_024
LONG_TOKENS = 6_000
CACHED_TOKENS = 2_500
"""More than the 1,024 or 2,048 tokens from which on providers keep a prompt."""
PICTURE_TOKENS = 1_200
CANCEL_SECONDS = 1.0
AT_ONCE_SECONDS = 0.2
"""A reply that is over so soon may come in one piece, streamed or not."""
SHOWN_CHARACTERS = 60
CODE_WORD = "heron"
STOPPED = "It was stopped."
NO_MODEL = "cellwright-no-such-model"
FORCED = {"type": "function", "function": {"name": PING.name}}


@dataclass(frozen=True)
class ProbeResult:
    """What one probe found."""

    name: str
    verdict: Verdict
    text: str
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True)
class _Finding:
    verdict: Verdict
    text: str


@dataclass(frozen=True)
class _Heard:
    """A reply, and what was seen of it on its way."""

    reply: Reply
    pieces: int
    notices: tuple[Notice, ...]
    has_reasoning: bool

    @property
    def text(self) -> str:
        """What the model said, short enough to be quoted."""
        words = one_line(self.reply.message.text)
        if not words:
            return "nothing" + (" before its length limit" if self.reply.truncated else "")
        return repr(words[:SHOWN_CHARACTERS])

    def says(self, pattern: str) -> bool:
        """Whether the answer has it, in any case."""
        return re.search(pattern, self.reply.message.text, re.IGNORECASE | re.DOTALL) is not None


class _LimitError(Exception):
    """The next request could take more tokens than are allowed."""


class _Probing:
    """A service under test, and what was used of it.

    Args:
        settings: Where it is; its model is the one that is asked.
        limit_tokens: Nothing is sent that could take more than this together.
        stop: Ends it all.
    """

    def __init__(self, settings: Settings, limit_tokens: int, stop: Stop) -> None:
        self.settings = settings
        self.model = settings.service.model
        self.stop = stop
        self.used = Usage()
        self.lost = ""
        """Why nothing more can be tried; empty: it can."""
        self.lm = OpenAILM(
            settings.service, models=settings.models, pace=WaitTimes(delta_seconds=0.0)
        )
        self._limit_tokens = limit_tokens

    def ask(
        self,
        *messages: Message | str,
        tools: tuple[Manifest, ...] = (),
        max_output: int = OUTPUT_TOKENS,
        **extra: Any,
    ) -> _Heard:
        """Send one request and wait for the whole reply.

        Raises:
            LMError: There is none.
            RunCancelled: The stop was set.
            _LimitError: It could cost too much.
        """
        prompt = self.make_prompt(messages, tools, max_output, extra)
        stream = self.lm.stream(prompt, self.stop)
        notices: list[Notice] = []
        pieces, has_reasoning = 0, False
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                reply: Reply = finished.value
                self.used += reply.usage
                return _Heard(reply, pieces, tuple(notices), has_reasoning)
            pieces += isinstance(event, TextDelta)
            has_reasoning = has_reasoning or isinstance(event, ReasoningDelta)
            if isinstance(event, Notice):
                notices.append(event)

    def make_prompt(
        self,
        messages: tuple[Message | str, ...],
        tools: tuple[Manifest, ...] = (),
        max_output: int = OUTPUT_TOKENS,
        extra: Mapping[str, Any] | None = None,
    ) -> Prompt:
        """A request, if what it can take is still allowed.

        Raises:
            _LimitError: It is not.
        """
        said = tuple(_user(m) if isinstance(m, str) else m for m in messages)
        given = dict(extra or {})
        model = str(given.pop("model", self.model))
        prompt = Prompt(said, tools, Parameters(model, None, max_output, given))
        pictures = sum(isinstance(p, ImagePart) for m in said for p in getattr(m, "parts", ()))
        needed = estimated_prompt_tokens(prompt) + pictures * PICTURE_TOKENS + max_output
        if self.used.total_tokens + needed > self._limit_tokens:
            raise _LimitError
        return prompt


def _user(text: str, *parts: Part) -> UserMessage:
    return UserMessage((TextPart(text), *parts))


# The probes, each a function of the service.


def _models(probing: _Probing) -> _Finding:
    names = list_models(probing.settings.service)
    if not names:
        return _Finding("does not", "It keeps no list of models.")
    if is_listed(probing.model, names):
        return _Finding("works", f"{len(names):,} listed, {probing.model} among them.")
    shown = ", ".join(names[:3])
    return _Finding(
        "could not tell", f"{len(names):,} listed, such as {shown}, but not {probing.model}."
    )


def _stream(probing: _Probing) -> _Finding:
    heard = probing.ask("Count from one to thirty in words, separated by commas.")
    reply = heard.reply
    if not reply.message.text:
        return _Finding("could not tell", f"It said {heard.text}.")
    counted = "" if not reply.usage.estimated else " It does not count tokens."
    if heard.pieces > 1:
        first = f"{reply.first_delta_seconds or 0.0:.1f} of {reply.duration_seconds:.1f} s"
        return _Finding("works", f"{heard.pieces} pieces, the first after {first}.{counted}")
    if reply.duration_seconds < AT_ONCE_SECONDS:
        return _Finding("could not tell", f"It was over at once, in one piece.{counted}")
    return _Finding("does not", f"All came at once, after {reply.duration_seconds:.1f} s.{counted}")


def _tools(probing: _Probing) -> _Finding:
    question = _user("Call the tool ping with the word 'hello', then say what it answered.")
    heard = probing.ask(question, tools=(PING,))
    message = heard.reply.message
    if not message.tool_calls:
        return _Finding("does not", f"It called nothing and said {heard.text}.")
    call = message.tool_calls[0]
    arguments = json_or_none(call.arguments)
    if call.name != PING.name or not isinstance(arguments, dict) or "word" not in arguments:
        shown = one_line(f"{call.name} {call.arguments}")[:SHOWN_CHARACTERS]
        return _Finding("does not", f"Its call cannot be used: {shown!r}.")
    results = [ToolMessage(call.id, call.name, (TextPart("pong"),)) for call in message.tool_calls]
    try:
        probing.ask(question, message, *results, tools=(PING,))
    except LMRequestError as error:
        return _Finding("does not", f"It calls, and refuses the result: {error.message}")
    return _Finding("works", f"{call.name} was called, and its result taken.")


def _parallel_tools(probing: _Probing) -> _Finding:
    words = "Call the tool ping twice in this one reply: with 'left' and with 'right'."
    calls = probing.ask(words, tools=(PING,)).reply.message.tool_calls
    if len(calls) > 1:
        return _Finding("works", f"{len(calls)} calls in one reply.")
    count = "1 call" if calls else "no call"
    return _Finding("does not", f"{count} where two were asked for.")


def _forced_tool(probing: _Probing) -> _Finding:
    reply = probing.ask("Say good morning.", tools=(PING,), tool_choice=FORCED).reply
    if "tool_choice" in reply.dropped_parameters:
        return _Finding("does not", "tool_choice is refused; runs go on without it.")
    if any(call.name == PING.name for call in reply.message.tool_calls):
        return _Finding("works", "The tool that tool_choice names was called.")
    return _Finding("does not", "tool_choice is taken, and no tool called.")


def _pictures(probing: _Probing) -> _Finding:
    if not probing.lm.capabilities(probing.model).vision:
        return _Finding("does not", "It refused pictures before, or CELLWRIGHT_MODELS says so.")
    picture = ImagePart("image/png", _yellow_and_blue(), "two colours")
    words = "This picture has a left and a right half. Which colour has each? Answer in two words."
    heard = probing.ask(_user(words, picture))
    for notice in heard.notices:
        if notice.code == "pictures_refused":
            return _Finding("does not", notice.text)
    if heard.says("yellow.*blue"):
        return _Finding("works", f"It saw the colours: {heard.text}.")
    return _Finding("could not tell", f"It took the picture and said {heard.text}.")


def _yellow_and_blue(side: int = 128) -> str:
    """A PNG whose left half is yellow and whose right half is blue."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    line = b"\0" + b"\xff\xff\0" * (side // 2) + b"\0\0\xff" * (side // 2)
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(line * side)), chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _long_context(probing: _Probing) -> _Finding:
    prompt = f"The code word is {CODE_WORD}.\n{_lines(LONG_TOKENS)}\nWhat is the code word?"
    try:
        heard = probing.ask(prompt)
    except LMContextError as error:
        window = probing.lm.capabilities(probing.model).context_tokens
        holds = f"The window is {window:,} tokens" if window else "It is too long"
        return _Finding("does not", f"{holds}: {error.detail}")
    tokens = f"{heard.reply.usage.prompt_tokens:,} tokens"
    if any(notice.code == "context_truncated" for notice in heard.notices):
        return _Finding("does not", f"It was cut without a word; {tokens} were read.")
    if heard.says(CODE_WORD):
        return _Finding("works", f"It found a word at the start of {tokens}.")
    return _Finding("could not tell", f"It read {tokens} and said {heard.text}.")


def _lines(tokens: int) -> str:
    line = "Line {:04}: the lamp in this room is off and the door is closed."
    count = tokens * CHARACTERS_PER_TOKEN // len(line)
    return "\n".join(line.format(number) for number in range(1, count + 1))


def _thinking(probing: _Probing) -> _Finding:
    words = "A bat and a ball cost 1.10 together; the bat costs 1.00 more. What costs the ball?"
    heard = probing.ask(words, max_output=THINKING_TOKENS)
    message, counted = heard.reply.message, heard.reply.usage.reasoning_tokens
    kept = " It is sent back with the next request." if message.provider_items else ""
    if heard.has_reasoning or message.reasoning:
        return _Finding("works", f"{len(message.reasoning):,} characters of thinking came.{kept}")
    if counted or kept:
        return _Finding("does not", f"It thinks ({counted:,} tokens) and does not show it.{kept}")
    return _Finding("does not", "No thinking came, and none was counted.")


def _refusal(probing: _Probing) -> _Finding:
    try:
        probing.ask("Say yes.", max_output=16, model=NO_MODEL)
    except (LMRequestError, LMNotFoundError, LMAccessError) as error:
        return _Finding("works", f"A model that is not there is refused: {error.message}")
    except LMError as error:
        return _Finding(
            "does not", f"A model that is not there is called an outage: {error.message}"
        )
    return _Finding("does not", "It answers under the name of a model that is not there.")


def _cancel(probing: _Probing) -> _Finding:
    prompt = probing.make_prompt(("Write the numbers from 1 to 300 in words, one a line.",))
    own, said, set_at = Stop(), "", 0.0
    stream = probing.lm.stream(prompt, own)
    try:
        for event in stream:
            if isinstance(event, (TextDelta, ReasoningDelta)):
                said += event.text
            if not own.is_set() and (said or probing.stop.is_set()):
                set_at = time.monotonic()
                own.set()
    except RunCancelled:
        probing.stop.check()
        seconds = time.monotonic() - set_at
        verdict: Verdict = "works" if seconds < CANCEL_SECONDS else "does not"
        return _Finding(verdict, f"Its connection was closed {seconds:.2f} s after Stop.")
    finally:
        # The counts come at the end of a reply, which this one does not have.
        written = -(-len(said) // CHARACTERS_PER_TOKEN)
        probing.used += Usage(estimated_prompt_tokens(prompt), written, estimated=True)
    return _Finding("could not tell", "The reply was over before it could be stopped.")


def _cache(probing: _Probing) -> _Finding:
    prefix, limit = _lines(CACHED_TOKENS), OUTPUT_TOKENS // 2
    probing.ask(f"{prefix}\nHow many lines are there?", max_output=limit)
    usage = probing.ask(f"{prefix}\nWhich is the last line?", max_output=limit).reply.usage
    cached = usage.cached_tokens
    if cached:
        share = f"{cached:,} of {usage.prompt_tokens:,} tokens"
        return _Finding("works", f"{share} of the second request came from the cache.")
    if usage.estimated:
        return _Finding("could not tell", "It does not count tokens.")
    return _Finding("does not", "The second of two requests with one beginning was read anew.")


def _price(probing: _Probing) -> _Finding:
    price = price_for(probing.model, known_prices(probing.settings))
    if price is None:
        text = f"No price of {probing.model} is known. CELLWRIGHT_PRICES can tell it."
        return _Finding("could not tell", text)
    return _Finding("works", f"These probes cost about ${cost_of(probing.used, price):.4f}.")


@dataclass(frozen=True)
class _Probe:
    name: str
    run: Callable[[_Probing], _Finding]
    requests: int = 1
    tokens: int = 200
    """About what it takes, for the announcement."""


PROBES = (
    _Probe("models", _models, tokens=0),
    _Probe("stream", _stream),
    _Probe("tools", _tools, 2, 300),
    _Probe("parallel tools", _parallel_tools),
    _Probe("forced tool", _forced_tool),
    _Probe("pictures", _pictures, tokens=300),
    _Probe("long context", _long_context, tokens=LONG_TOKENS),
    _Probe("thinking returned", _thinking, tokens=400),
    _Probe("refusal", _refusal, tokens=50),
    _Probe("cancel", _cancel),
    _Probe("cache", _cache, 2, 2 * CACHED_TOKENS),
    _Probe("price", _price, 0, 0),
)


# All of them, on the service that is meant.


def probe_provider(context: VerbContext) -> Result:
    """Try all probes on the service that is named, and say what each found.

    Raises:
        SetupError: It is not known which service or model is meant, or its key is missing.
    """
    options = context.options
    settings = _with_model(_find_settings(options.provider, context.settings), options.model)
    limit, stop = options.max_tokens or USUAL_TOKENS, Stop()
    context.note(_announce(settings, limit))
    probing = _Probing(settings, limit, stop)
    found: list[ProbeResult] = []
    with stopping(stop), closing(probing.lm):
        for probe in PROBES:
            context.show_progress(len(found), len(PROBES), probe.name)
            found.append(_try(probe, probing))
    return _report(probing, tuple(found))


def _try(probe: _Probe, probing: _Probing) -> ProbeResult:
    if probing.lost:
        return ProbeResult(probe.name, "could not tell", probing.lost)
    before, started = probing.used, time.monotonic()
    try:
        finding = probe.run(probing)
    except _LimitError:
        finding = _Finding("could not tell", "It could take more tokens than --max-tokens allows.")
    except RunCancelled:
        probing.lost = STOPPED
        finding = _Finding("could not tell", STOPPED)
    except LMError as error:
        finding = _judge(error)
        # A service may keep its list of models from a key that is good for questions.
        is_lost = isinstance(error, (LMAccessError, LMQuotaError)) and probe.tokens
        if is_lost or (isinstance(error, LMConnectionError) and not error.retryable):
            probing.lost = str(error)
    seconds = time.monotonic() - started
    return ProbeResult(
        probe.name, finding.verdict, finding.text, _subtract(probing.used, before), seconds
    )


def _judge(error: LMError) -> _Finding:
    """What it means that a request of a probe failed."""
    is_refusal = isinstance(error, (LMRequestError, LMNotFoundError))
    return _Finding("does not" if is_refusal else "could not tell", str(error))


def _subtract(used: Usage, before: Usage) -> Usage:
    return Usage(
        used.prompt_tokens - before.prompt_tokens,
        used.completion_tokens - before.completion_tokens,
        used.cached_tokens - before.cached_tokens,
        used.cache_write_tokens - before.cache_write_tokens,
        used.reasoning_tokens - before.reasoning_tokens,
    )


def _find_settings(name: str, settings: Settings) -> Settings:
    """The settings with which a provider is asked; no other one's key is sent to it.

    Args:
        name: Of the table of providers, or enough of it; empty: the service that is set.
        settings: What is set.

    Raises:
        SetupError: There is no such provider, or something of it is not set.
    """
    url = settings.service.base_url
    if not name:
        if url:
            return settings
        raise SetupError("No service is set.", hint="Name one: doctor --provider NAME.")
    provider = _find_by_name(name)
    is_known = find_provider(url).hosts
    if url and (find_provider(url) is provider or not (provider.hosts or is_known)):
        return settings  # a program of one's own may listen anywhere
    address = fill_in(provider.base_url, os.environ)
    if not address:
        missing = " and ".join(VARIABLE.findall(provider.base_url))
        raise SetupError(f"The address of {provider.name} is not known.", hint=f"Set {missing}.")
    found = load_settings(_own_environment(provider, address))
    if provider.hosts and not found.service.api_key:
        where = provider.key_variable or "CELLWRIGHT_BASE_URL and CELLWRIGHT_API_KEY"
        raise SetupError(f"There is no key of {provider.name}.", hint=f"Set {where}.")
    model = fill_in(provider.model, os.environ)
    return replace(found, service=replace(found.service, model=model))


def _find_by_name(name: str) -> Provider:
    wanted = name.casefold()
    exact = [p for p in PROVIDERS if p.name.casefold() == wanted]
    found = exact or [p for p in PROVIDERS if wanted in p.name.casefold().split()]
    found = found or [p for p in PROVIDERS if wanted in p.name.casefold()]
    if len(found) == 1:
        return found[0]
    known = ", ".join(p.name for p in found or PROVIDERS)
    raise SetupError(f"Which provider is {name!r}?", hint=f"Choose one of: {known}.")


def _own_environment(provider: Provider, address: str) -> dict[str, str]:
    """The environment as though this provider alone were set."""
    others = {"OPENAI_BASE_URL", "CELLWRIGHT_MODEL"}
    others |= {"CELLWRIGHT_KEY_COMMAND", "CELLWRIGHT_KEY_FILE"}
    others |= {other.key_variable for other in PROVIDERS if other is not provider}
    if provider_of_key(os.environ.get("CELLWRIGHT_API_KEY", "")) is not provider:
        others.add("CELLWRIGHT_API_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in others}
    return {**kept, "CELLWRIGHT_BASE_URL": address}


def _with_model(settings: Settings, model: str) -> Settings:
    """The settings with the model that is asked: the one named, the usual or the first listed."""
    service = settings.service
    chosen = model or service.model
    if not chosen:
        try:
            chosen = next(iter(list_models(service)), "")
        except LMError as error:
            raise SetupError(error.message, hint=error.hint) from error
    if not chosen:
        raise SetupError(
            f"No model is named for {shown_url(service.base_url)!r}.", hint="Name one: -m MODEL."
        )
    return replace(settings, service=replace(service, model=chosen))


def _announce(settings: Settings, limit_tokens: int) -> str:
    model, requests = settings.service.model, sum(probe.requests for probe in PROBES)
    address = shown_url(settings.service.base_url)
    tokens = sum(probe.tokens for probe in PROBES)
    price = price_for(model, known_prices(settings))
    cost = (
        f"at most ${limit_tokens * max(price.prompt, price.completion) / 1e6:.2f}"
        if price
        else ("and cost what the service asks for them")
    )
    return (
        f"{len(PROBES)} probes send {requests} requests to {address} ({model}): "
        f"about {tokens:,} tokens, no more than {limit_tokens:,} (--max-tokens), {cost}. "
        "Nothing of yours is sent. Ctrl-C stops."
    )


def _report(probing: _Probing, found: tuple[ProbeResult, ...]) -> Result:
    service, price = (
        probing.settings.service,
        price_for(probing.model, known_prices(probing.settings)),
    )
    name = find_provider(service.base_url).name or shown_url(service.base_url)
    date = datetime.now(UTC).date().isoformat()
    marks = " | ".join(MARKS[result.verdict] for result in found)
    row = f"| {name} | `{probing.model}` | {date} | {marks} |"
    about = "about " if probing.used.estimated else ""
    total = f"{name}, {probing.model}: {about}{probing.used.total_tokens:,} tokens."
    return Result(
        f"{total} As a row of docs/reference/models.md:\n{row}",
        ("probe", "verdict", "found", "<tokens>", "<seconds>"),
        [_row(result) for result in found],
        found,
        {
            "provider": name,
            "base_url": shown_url(service.base_url),
            "model": probing.model,
            "api": probing.lm.capabilities(probing.model).api,
            "date": date,
            "probes": [to_dict(result) for result in found],
            "usage": to_dict(probing.used),
            "cost_dollars": cost_of(probing.used, price) if price else None,
            "row": row,
        },
        exit_code=_exit_code(probing.lost),
    )


def _row(result: ProbeResult) -> tuple[str, ...]:
    tokens, seconds = f"{result.usage.total_tokens:,}", f"{result.seconds:.1f}"
    return result.name, result.verdict, one_line(result.text), tokens, seconds


def _exit_code(lost: str) -> int:
    if not lost:
        return COMPLETED
    return INTERRUPTED if lost == STOPPED else NOT_COMPLETED
