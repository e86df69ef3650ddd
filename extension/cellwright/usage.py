"""Tokens and money, as values that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Price", "Usage", "cost_of", "estimate_tokens"]

CHARACTERS_PER_TOKEN = 4


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


def estimate_tokens(text: str) -> int:
    """A rough count, four characters a token, where no tokenizer is at hand."""
    return (len(text) + CHARACTERS_PER_TOKEN - 1) // CHARACTERS_PER_TOKEN


def price_for(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of ``model`` from the settings table, by the longest matching name start."""
    names = [name for name in prices if model == name or model.startswith(name + "-")]
    return prices[max(names, key=len)] if names else None
