"""What is said between the person, the model and the tools, and the prompts made of it.

Frozen values that know nothing of a provider's wire shape; ``llm.openai_format`` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

# Tokens and money, as values that add up.


UsageGroup = Literal["month", "model", "assistant", "chat", "run"]
USAGE_GROUPS: tuple[UsageGroup, ...] = get_args(UsageGroup)
"""What usage is added up by."""
NO_LIMIT = ("off", "none", "no")


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, or of many added up."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """The part of ``prompt_tokens`` the provider had in its cache."""
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    """The part of ``completion_tokens`` that was thinking."""
    estimated: bool = False
    """True where the service sent no usage; shown with a ``~``."""

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cached_words(self) -> str:
        """``3,900 cached, 84%``: how much of the prompt the cache had; empty: nothing."""
        if not (self.cached_tokens and self.prompt_tokens):
            return ""
        return f"{self.cached_tokens:,} cached, {self.cached_tokens / self.prompt_tokens:.0%}"

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class ModelUsage:
    """Tokens that one model took."""

    model: str
    usage: Usage = field(default_factory=Usage)


def model_usages(given: Any) -> tuple[ModelUsage, ...]:
    """Usage as tools write it, a dict or a list of them, with what is missing filled in.

    Source: requirements 000-28 and X-03. A total without its parts counts as prompt tokens and is
    marked as estimated.
    """
    items = given if isinstance(given, (list, tuple)) else [given]
    return tuple(_model_usage(item) for item in items if item)


def sum_by_model(usages: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    """The tokens of each model added up, in the order in which the models were first seen."""
    total: dict[str, Usage] = {}
    for item in usages:
        total[item.model] = total.get(item.model, Usage()) + item.usage
    return tuple(ModelUsage(model, usage) for model, usage in total.items())


def _model_usage(item: Any) -> ModelUsage:
    if isinstance(item, ModelUsage):
        return item
    prompt, completion = item.get("prompt_tokens"), item.get("completion_tokens")
    known = prompt is not None and completion is not None
    rest = max(0, int(item.get("total_tokens") or 0) - int(prompt or 0) - int(completion or 0))
    usage = Usage(
        int(prompt or 0) + (0 if known else rest),
        int(completion or 0),
        int(item.get("cached_tokens") or 0),
        estimated=not known,
    )
    return ModelUsage(str(item.get("model") or item.get("name") or ""), usage)


@dataclass(frozen=True)
class Price:
    """What a model costs, in US dollars per million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """None: cached tokens cost what the others cost."""
    cache_write: float | None = None
    long_from: int | None = None
    """A request with a prompt of more tokens than this costs more, all of it."""
    long_prompt: float = 1.0
    """So many times as much, the cache included."""
    long_completion: float = 1.0
    is_listed: bool = False
    """Of a provider's list: holds for the name and its dated versions alone, and a price that the
    person set counts more."""


def cost_of(usage: Usage, price: Price) -> float:
    """US dollars for the ``usage`` of a request at ``price``."""
    cached = price.prompt if price.cached is None else price.cached
    written = price.prompt if price.cache_write is None else price.cache_write
    fresh = max(0, usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens)
    read = fresh * price.prompt + usage.cached_tokens * cached + usage.cache_write_tokens * written
    made = usage.completion_tokens * price.completion
    if price.long_from is not None and usage.prompt_tokens > price.long_from:
        read, made = read * price.long_prompt, made * price.long_completion
    return (read + made) / 1_000_000


def price_for(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of ``model``, by the longest matching name start; the person's own first."""
    names = [name for name, price in prices.items() if _is_priced(model, name, price)]
    best = max(names, key=lambda name: (not prices[name].is_listed, len(name)), default=None)
    return None if best is None else prices[best]


DATE_OF_VERSION = re.compile(r"\d{8}|\d{4}-\d\d-\d\d")


def _is_priced(model: str, name: str, price: Price) -> bool:
    if model == name or not model.startswith(f"{name}-"):
        return model == name
    # Of a list, what only begins so may be another model.
    return not price.is_listed or bool(DATE_OF_VERSION.fullmatch(model[len(name) + 1 :]))


def budget_amount(text: str) -> float:
    """An amount above zero as a person writes it, or 0 for ``off``.

    Raises:
        ValueError: It is neither.
    """
    if text.casefold() in NO_LIMIT:
        return 0.0
    amount = float(text)
    if not 0 < amount < float("inf"):
        raise ValueError(text)
    return amount


Origin = Literal["", "user"]
"""Who a message is from where that is not plain: ``user`` put it there in another's place."""
SystemRole = Literal["system", "system_hide"]
UserRole = Literal["user", "user_later", "user_hide", "file", "knowledge"]
"""What stands on the person's side; ``context.roles`` tells what each is for."""


@dataclass(frozen=True)
class TextPart:
    """Plain text."""

    text: str
    kind: Literal["text"] = field(default="text", init=False)


@dataclass(frozen=True)
class ImagePart:
    """A picture for a model that sees."""

    mime: str
    """Such as ``image/png``."""
    data: str = field(metadata={"is_binary": True})
    """Base64, without line breaks."""
    caption: str = ""
    """What a model that does not see is told instead."""
    kind: Literal["image"] = field(default="image", init=False)


Part = TextPart | ImagePart


@dataclass(frozen=True)
class ToolCall:
    """One call the model asks for."""

    id: str
    name: str
    arguments: str
    """The JSON text as the model wrote it; it may be broken."""


@dataclass(frozen=True)
class SystemMessage:
    """Instructions that stay the same for the whole conversation."""

    text: str
    sent_as: SystemRole = "system"
    origin: Origin = ""
    role: Literal["system"] = field(default="system", init=False)


@dataclass(frozen=True)
class UserMessage:
    """What the person said, with what was attached for them."""

    parts: tuple[Part, ...]
    sent_as: UserRole = "user"
    role: Literal["user"] = field(default="user", init=False)


@dataclass(frozen=True)
class ProviderItems:
    """What a provider sent with a reply and wants back as it was; no other one is sent it.

    ``llm.provider_items`` makes them and puts them into requests.
    """

    service: str
    """Host and port."""
    api: str
    """``chat``, ``responses``, ``messages`` or ``gemini``."""
    model: str
    """As it was asked for."""
    items: tuple[Mapping[str, Any], ...] = field(hash=False)


@dataclass(frozen=True)
class AssistantMessage:
    """What the model said and which tools it asked for."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """Thinking the provider shows; sent back where ``provider_items`` says so."""
    refusal: str = ""
    author: str = ""
    """Name of the assistant that said it; empty: none was chosen."""
    origin: Origin = ""
    provider_items: ProviderItems | None = None
    role: Literal["assistant"] = field(default="assistant", init=False)


@dataclass(frozen=True)
class ToolMessage:
    """The one answer to one tool call."""

    call_id: str
    name: str
    parts: tuple[Part, ...]
    is_error: bool = False
    origin: Origin = ""
    """``user``: a person refused the call, and these are their words."""
    role: Literal["tool"] = field(default="tool", init=False)


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def text_of(message: Message) -> str:
    """The text of a message, pictures left out."""
    if isinstance(message, (SystemMessage, AssistantMessage)):
        return message.text
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


# What goes to a model and what comes back, before any provider's shape.


@dataclass(frozen=True)
class Manifest:
    """What the model is told of one tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema (draft 2020-12) of an object."""


@dataclass(frozen=True)
class Parameters:
    """Which model answers, and how."""

    model: str
    temperature: float | None = None
    """None: the provider's default."""
    max_output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent as they are, such as ``reasoning_effort``."""


def fill_parameters(parameters: Parameters, usual: Mapping[str, Any]) -> Parameters:
    """The parameters, with what is usual where they say nothing.

    Args:
        parameters: What was asked for.
        usual: By the names of chat completions, ``max_output_tokens`` and ``extra_body``, whose
            fields go into the request beside the others.
    """
    given = {name: value for name, value in usual.items() if value is not None}
    temperature, limit = given.pop("temperature", None), given.pop("max_output_tokens", None)
    extra = {**given.pop("extra_body", {}), **given, **parameters.extra}
    if parameters.temperature is not None:
        temperature = parameters.temperature
    limit = parameters.max_output_tokens or limit
    return replace(parameters, temperature=temperature, max_output_tokens=limit, extra=extra)


@dataclass(frozen=True)
class Prompt:
    """One request: instructions and history, the tools, the parameters."""

    messages: tuple[Message, ...]
    tools: tuple[Manifest, ...]
    parameters: Parameters


CUT_REASONS = ("length", "repetition")
"""Finish reasons of replies that are not whole; the second is ours, of one that repeats itself."""

WITHHELD = "content_filter"
"""Finish reason of a reply that the service's filter ended; what it asks for is not done."""

PAUSED = "pause"
"""Finish reason of a turn that the provider goes on with, once it gets it back as it is."""


@dataclass(frozen=True)
class Reply:
    """One whole answer of the model."""

    message: AssistantMessage
    finish_reason: str
    """``stop``, ``tool_calls``, ``length``, ``content_filter``, ``repetition``, ``pause`` or the
    provider's own word."""
    usage: Usage
    model: str
    """The model's name as the service gave it, which may differ from the one asked for."""
    duration_seconds: float = 0.0
    first_delta_seconds: float | None = None
    attempts: int = 1
    request_id: str = ""
    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, left out of this request."""
    truncated: bool = False
    """The reply was cut off at a length limit or by a broken connection."""
    limit_tokens: int | None = None
    """How long it was allowed to be; None: only the service knows."""
    problem: str = ""
    """For the model: why its reply could not be read; set by the adapter that tried."""

    @property
    def is_cut(self) -> bool:
        """Whether more would have come; what it asks for is not done."""
        return self.truncated or self.finish_reason in CUT_REASONS


# ``{{name}}`` in a prompt: put in as text, never evaluated (requirements 002-42).


VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d]\w*)[ \t]*\}\}")


def with_variables(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of the names that are known; every other name stays as it is.

    What a value holds is text: names in it are not looked up again.
    """
    if not values:
        return text
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)
