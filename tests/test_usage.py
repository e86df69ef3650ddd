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


@pytest.mark.parametrize(("text", "amount"), [("5", 5.0), ("0.5", 0.5), ("off", 0.0), ("None", 0)])
def test_a_budget_is_an_amount_or_off(text: str, amount: float) -> None:
    assert budget_amount(text) == amount


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "much"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        budget_amount(text)
