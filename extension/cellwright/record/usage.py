"""Tokens and money, as values that add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

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


def cost_of(usage: Usage, price: Price) -> float:
    """US dollars for ``usage`` at ``price``."""
    cached = price.prompt if price.cached is None else price.cached
    written = price.prompt if price.cache_write is None else price.cache_write
    fresh = max(0, usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens)
    dollars = (
        fresh * price.prompt
        + usage.cached_tokens * cached
        + usage.cache_write_tokens * written
        + usage.completion_tokens * price.completion
    )
    return dollars / 1_000_000


def price_for(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of ``model`` from the settings table, by the longest matching name start."""
    names = [name for name in prices if model == name or model.startswith(name + "-")]
    return prices[max(names, key=len)] if names else None


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
