import pytest

from cellwright.record.messages import Price, Usage, budget_amount, cost_of, price_for


def test_usage_adds_up_and_an_estimate_stays_one() -> None:
    total = Usage(10, 1, 4, 2, 1) + Usage(20, 2, estimated=True)
    assert total == Usage(30, 3, 4, 2, 1, True)
    assert total.total_tokens == 33


@pytest.mark.parametrize(
    ("price", "dollars"),
    [
        (Price(1.0, 10.0), (1_000 + 10 * 100) / 1e6),
        (Price(1.0, 10.0, cached=0.1), (600 + 400 * 0.1 + 10 * 100) / 1e6),
        (Price(1.0, 10.0, 0.1, 1.25), (500 + 400 * 0.1 + 100 * 1.25 + 10 * 100) / 1e6),
    ],
)
def test_cached_and_written_tokens_cost_what_the_table_says(price: Price, dollars: float) -> None:
    assert cost_of(Usage(1_000, 100, 400, 100), price) == pytest.approx(dollars)


def test_the_longest_matching_name_gives_the_price() -> None:
    prices = {"gpt-5": Price(1, 1), "gpt-5-mini": Price(2, 2)}
    assert price_for("gpt-5-mini-2026-01-01", prices) == Price(2, 2)
    assert price_for("gpt-5", prices) == Price(1, 1)
    assert price_for("gpt-50", prices) is None


def test_a_listed_price_holds_for_its_model_and_its_dated_versions_alone() -> None:
    listed = {"claude-sonnet-5": Price(2, 10, is_listed=True)}
    assert price_for("claude-sonnet-5", listed) == listed["claude-sonnet-5"]
    assert price_for("claude-sonnet-5-20260801", listed) == listed["claude-sonnet-5"]
    assert price_for("claude-sonnet-5-2026-08-01", listed) == listed["claude-sonnet-5"]
    assert price_for("claude-sonnet-5-7", listed) is None, "it may cost anything"


def test_the_persons_own_price_counts_more_than_a_listed_one() -> None:
    prices = {"claude-sonnet-5": Price(2, 10, is_listed=True), "claude": Price(1, 1)}
    assert price_for("claude-sonnet-5", prices) == Price(1, 1)


def test_a_long_prompt_costs_more_as_a_whole() -> None:
    price = Price(2.0, 10.0, 0.1, 2.5, long_from=1_000, long_prompt=2, long_completion=1.5)
    short, long = Usage(1_000, 100, 400, 100), Usage(1_001, 100, 400, 100)
    assert cost_of(short, price) == pytest.approx((500 * 2 + 40 + 250 + 1_000) / 1e6)
    assert cost_of(long, price) == pytest.approx(((501 * 2 + 40 + 250) * 2 + 1_500) / 1e6)


@pytest.mark.parametrize(("text", "amount"), [("5", 5.0), ("0.5", 0.5), ("off", 0.0), ("None", 0)])
def test_a_budget_is_an_amount_or_off(text: str, amount: float) -> None:
    assert budget_amount(text) == amount


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "much"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        budget_amount(text)
