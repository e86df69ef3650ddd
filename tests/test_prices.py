"""The public prices of providers, and when they are shown."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from source_tree import PROJECT

from cellwright.errors import SetupError
from cellwright.llm.replay import ReplayLM
from cellwright.providers import OPENAI, PROVIDERS
from cellwright.record.messages import Usage, cost_of, price_for
from cellwright.session.prices import PRICE_LISTS, known_prices, list_prices
from cellwright.session.services import ModelService, check_budget
from cellwright.settings import Limits, from_env

URLS = {provider.name: provider.base_url for provider in PROVIDERS}
TODAY = date(2026, 11, 23)
CLAUDE = {"ANTHROPIC_API_KEY": "sk-ant-0123456789"}


def test_each_list_says_where_and_when_it_was_looked_up() -> None:
    assert PRICE_LISTS.keys() <= URLS.keys()
    for found in PRICE_LISTS.values():
        assert found.source.startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.checked)
        assert found.until.keys() <= found.prices.keys()
        for price in found.prices.values():
            assert price.is_listed
            assert 0 < price.prompt < price.completion
            assert price.cached is None or price.cached < price.prompt
            assert price.cache_write is None or price.cache_write > price.prompt


@pytest.mark.parametrize(
    ("provider", "model", "dollars"),
    [
        # A million tokens each: fresh, read from the cache, written into it, and of the answer.
        ("Anthropic", "claude-sonnet-5-5", 2 + 0.1 + 2.5 + 10),
        ("Anthropic", "claude-haiku-4-5-20251001", 1 + 0.1 + 1.25 + 5),
        ("Anthropic", "claude-haiku-5-5", (0.1 + 0.01 + 0.125 + 0.5) * 5),
        ("OpenAI", "gpt-6.1-sol", (2 + 0.1 + 2.5) * 2 + 10 * 1.5),
        ("Moonshot", "kimi-k3", 3 + 0.3 + 3 + 15),
        ("Groq", "openai/gpt-oss-120b", 0.15 * 3 + 0.6),
    ],
)
def test_what_is_read_written_and_answered_costs_what_the_list_says(
    provider: str, model: str, dollars: float
) -> None:
    price = price_for(model, list_prices(URLS[provider], TODAY))
    assert price is not None
    million = 1_000_000
    usage = Usage(3 * million, million, cached_tokens=million, cache_write_tokens=million)
    assert cost_of(usage, price) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("url", "model"),
    [
        (URLS["Anthropic"], "claude-opus-9"),
        (URLS["OpenAI"], "claude-sonnet-5-5"),
        ("http://127.0.0.1:8000/v1", "openai/gpt-oss-120b"),
        ("https://unknown.example/v1", "gpt-6-sol"),
        (URLS["DeepSeek"], "deepseek-v4-pro"),
        ("", "gpt-6-sol"),
    ],
)
def test_an_unknown_model_shows_no_price(url: str, model: str) -> None:
    assert price_for(model, list_prices(url, TODAY)) is None


def test_a_price_that_was_promised_for_a_time_is_not_shown_afterwards() -> None:
    url = URLS["Google Gemini"]
    assert "gemini-3.8-flash" in list_prices(url, date(2026, 12, 31))
    assert "gemini-3.8-flash" not in list_prices(url, date(2027, 1, 1))


def test_the_usual_model_has_a_price() -> None:
    assert price_for(OPENAI.model, list_prices(OPENAI.base_url, TODAY)) is not None


def test_a_model_may_have_a_price_after_the_promise_too() -> None:
    """The list price, as the promise was "at least" until that day: the higher one is safe."""
    days = (date(2026, 11, 21), date(2026, 11, 22))
    shown = [price_for("gpt-5.6", list_prices(OPENAI.base_url, day)) for day in days]
    assert [(price.prompt, price.completion) for price in shown if price] == [(4, 20), (5, 30)]
    for found in PRICE_LISTS.values():
        assert found.afterwards.keys() <= found.until.keys()


def test_the_persons_own_table_wins(tmp_path: Path) -> None:
    table = tmp_path / "prices.json"
    table.write_text(json.dumps({"claude-sonnet-5-5": {"prompt": 1, "completion": 2}}))
    settings = from_env(CLAUDE | {"CELLWRIGHT_PRICES": str(table)})
    own = price_for("claude-sonnet-5-5", known_prices(settings))
    assert own is not None
    assert (own.prompt, own.completion) == (1, 2)
    other = price_for("claude-opus-5-5", known_prices(settings))
    assert other is not None
    assert other.prompt == 4


def test_a_budget_in_dollars_can_be_kept_where_the_price_is_listed() -> None:
    settings = from_env(CLAUDE)
    limits = Limits(cost_limit_dollars=1.0)
    service = ModelService(ReplayLM([]), settings.service.model)
    check_budget(service, limits, known_prices(settings))
    with pytest.raises(SetupError, match="not known"):
        check_budget(replace(service, model="claude-next"), limits, known_prices(settings))


def test_another_service_has_other_prices() -> None:
    settings = from_env(CLAUDE)
    assert known_prices(settings)
    own = replace(settings.service, base_url="http://127.0.0.1:8000/v1")
    assert known_prices(replace(settings, service=own)) == {}


MADE = "<!-- prices: made by tests/test_prices.py"


def table_of_prices() -> str:
    """The table of ``docs/reference/models.md``."""
    rows = [
        "| provider | model | prompt | from cache | into cache | answer | particular | read |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for provider, found in PRICE_LISTS.items():
        for model, price in found.prices.items():
            of_cache = (price.cached, price.cache_write)
            cached, written = ("" if dollars is None else f"{dollars:g}" for dollars in of_cache)
            last = f"until {found.until[model]}" if model in found.until else ""
            if later := found.afterwards.get(model):
                then = (later.prompt, later.cached, later.cache_write, later.completion)
                last += f", then {' / '.join(f'{dollars:g}' for dollars in then if dollars)}"
            long = ""
            if price.long_from is not None:
                more = f"{price.long_prompt:g}× and {price.long_completion:g}×"
                long = f"above {price.long_from:,} tokens {more}"
            particular = "; ".join(filter(None, (last, long)))
            cells = (
                f"[{provider}]({found.source})",
                f"`{model}`",
                *(f"{price.prompt:g}", cached, written, f"{price.completion:g}"),
                *(particular, found.checked),
            )
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def test_the_documented_prices_are_those_that_count() -> None:
    """Run with ``WRITE_DOCS=1`` to write them anew."""
    path = PROJECT / "docs" / "reference" / "models.md"
    head, rest = path.read_text("utf-8").split(f"{MADE} -->\n", 1)
    written, tail = rest.split("<!-- /prices", 1)
    if os.environ.get("WRITE_DOCS"):
        table = f"{head}{MADE} -->\n\n{table_of_prices()}\n\n<!-- /prices{tail}"
        path.write_text(table, encoding="utf-8")
        written = table_of_prices()
    assert written.strip() == table_of_prices()
