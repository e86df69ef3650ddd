"""What models cost by the public lists of their providers, in US dollars per million tokens.

The person's own table (``CELLWRIGHT_PRICES``) wins. A model that is not here shows no price, and so
does one at another address than its provider's, or one whose price was promised for a time that is
over, unless it is known what it costs without the promise: a guess would be worse. DeepSeek is not
here, since its prices depend on the hour; Mistral's aliases are not, since what they stand for
moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from cellwright.providers import find_provider
from cellwright.record.messages import Price
from cellwright.settings import Settings

CHECKED = "2026-11-23"


@dataclass(frozen=True)
class PriceList:
    """The prices of one provider, as ``source`` had them on the day ``checked``."""

    source: str
    prices: Mapping[str, Price]
    until: Mapping[str, str]
    """The last day on which a price was promised, where it was for a time."""
    afterwards: Mapping[str, Price] = field(default_factory=dict)
    """What such models cost without the promise; they count so from the day after, as it may go on
    but nobody said that it does: a budget is kept either way."""
    checked: str = CHECKED


def _prices(
    *rows: tuple[str, float, float, float | None, float | None],
    long_from: int | None = None,
    long_prompt: float = 1.0,
    long_completion: float = 1.0,
) -> dict[str, Price]:
    """Rows of names, prompt, completion, cached prompt and prompt written into the cache."""
    return {
        name: Price(
            prompt,
            completion,
            cached,
            written,
            long_from=long_from,
            long_prompt=long_prompt,
            long_completion=long_completion,
            is_listed=True,
        )
        for names, prompt, completion, cached, written in rows
        for name in names.split()
    }


LONG_OF_OPENAI: Mapping[str, Any] = {"long_from": 272_000, "long_prompt": 2, "long_completion": 1.5}
PRICE_LISTS: Mapping[str, PriceList] = {
    # Caching for five minutes, which is what our marks ask for.
    "Anthropic": PriceList(
        "https://platform.claude.com/docs/en/about-claude/pricing",
        {
            **_prices(
                ("claude-fable-5-1", 10, 50, 0.25, 12.5),
                ("claude-fable-5", 10, 50, 1, 12.5),
                ("claude-opus-5-5", 4, 20, 0.2, 5),
                (
                    "claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5",
                    *(5, 25, 0.5, 6.25),
                ),
                ("claude-sonnet-5-5", 2, 10, 0.1, 2.5),
                ("claude-sonnet-5", 2, 10, 0.2, 2.5),
                ("claude-sonnet-4-6 claude-sonnet-4-5", 3, 15, 0.3, 3.75),
                ("claude-haiku-4-5", 1, 5, 0.1, 1.25),
            ),
            **_prices(
                ("claude-haiku-5-5", 0.1, 0.5, 0.01, 0.125),
                long_from=100_000,
                long_prompt=5,
                long_completion=5,
            ),
        },
        {},
    ),
    "OpenAI": PriceList(
        "https://developers.openai.com/api/docs/pricing",
        _prices(
            ("gpt-6.2-sol gpt-6.1-sol", 2, 10, 0.1, 2.5),
            ("gpt-6-sol", 2, 10, 0.2, 2.5),
            ("gpt-6-luna", 0.1, 0.5, 0.01, 0.125),
            ("gpt-6.1-terra", 1, 5, 0.05, 1.25),
            ("gpt-5.6 gpt-5.6-sol", 4, 20, 0.4, 5),
            ("gpt-5.6-terra", 2, 12, 0.2, 2.5),
            ("gpt-5.6-luna", 0.2, 1.2, 0.02, 0.25),
            **LONG_OF_OPENAI,
        ),
        # "At least" until then; the page calls it a reduction from these.
        {"gpt-5.6": "2026-11-21", "gpt-5.6-sol": "2026-11-21"},
        _prices(("gpt-5.6 gpt-5.6-sol", 5, 30, 0.5, 6.25), **LONG_OF_OPENAI),
    ),
    "Google Gemini": PriceList(
        "https://ai.google.dev/gemini-api/docs/pricing",
        _prices(("gemini-3.8-flash", 0.75, 3.75, 0.075, None)),
        {"gemini-3.8-flash": "2026-12-31"},
    ),
    "xAI": PriceList(
        "https://docs.x.ai/developers/grok-4-5",
        _prices(
            ("grok-4.5 grok-4.6 grok-4.7", 2, 6, 0.5, None),
            long_from=199_999,
            long_prompt=2,
            long_completion=2,
        ),
        {},
    ),
    "Moonshot": PriceList(
        "https://platform.kimi.ai/docs/pricing/chat-k3",
        _prices(("kimi-k3", 3, 15, 0.3, None)),
        {},
    ),
    "Zhipu": PriceList(
        "https://docs.z.ai/guides/overview/pricing",
        _prices(("glm-5.2", 1.4, 4.4, 0.26, None)),
        {},
    ),
    # What is read from the cache is not on the list, so it counts like the rest.
    "Groq": PriceList(
        "https://console.groq.com/docs/models",
        _prices(("openai/gpt-oss-120b", 0.15, 0.6, None, None)),
        {},
    ),
    "Mistral": PriceList(
        "https://docs.mistral.ai/models/model-cards/mistral-medium-3-5-26-04",
        _prices(("mistral-medium-3.5 mistral-medium-3-5", 1.5, 7.5, None, None)),
        {},
    ),
}
"""By the names of the table of providers."""


def known_prices(settings: Settings) -> Mapping[str, Price]:
    """What models cost: by the list of the service's provider, and as the person set them."""
    return {**list_prices(settings.service.base_url), **settings.prices}


def list_prices(base_url: str, today: date | None = None) -> Mapping[str, Price]:
    """What the models at an address cost today, by their names."""
    found = PRICE_LISTS.get(find_provider(base_url).name)
    if found is None:
        return {}
    now = (today or date.today()).isoformat()
    promised = {
        name: price for name, price in found.prices.items() if now <= found.until.get(name, now)
    }
    return {**found.afterwards, **promised}
