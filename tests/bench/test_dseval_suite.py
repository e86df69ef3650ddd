"""DSEval's files: blocks, validators, sessions, and what a checkout lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_dseval import write_dseval

from cellwright.bench.dseval_check import DsevalQuestion
from cellwright.bench.suites import Suite, shown_prompt
from cellwright.bench.suites.dseval import SEED, load, load_with_errors, read_blocks
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import SetupError


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return load(write_dseval(tmp_path))


def question(suite: Suite, number: int) -> DsevalQuestion:
    (check,) = suite.items[number].checks
    assert isinstance(check, DsevalQuestion)
    return check


def test_every_question_is_a_sample_of_its_session(suite: Suite) -> None:
    found = [(item.index, item.session, item.step, item.group) for item in suite.items]
    assert found == [
        ("shop/absent/1", "shop/absent", 1, "shop"),
        ("shop/broken/1", "shop/broken", 1, "shop"),
        ("shop/orders/1", "shop/orders", 1, "shop"),
        ("shop/orders/2", "shop/orders", 2, "shop"),
        ("shop/orders/3", "shop/orders", 3, "shop"),
        ("shop/rounding/1", "shop/rounding", 1, "shop"),
    ]


def test_validators_stand_on_a_template(suite: Suite) -> None:
    assert question(suite, 2).validator == {
        "crash": None,
        "namespace_intact": None,
        "result": None,
        "namespace_check": {"orders": None},
    }
    assert list(question(suite, 4).validator) == ["crash", "namespace_intact", "namespace_check"]
    assert (question(suite, 4).forbidden, question(suite, 4).limit_seconds) == (
        ("limit_again",),
        300.0,
    )
    assert [suite.items[n].limits.cell_timeout_seconds for n in (3, 4)] == [120.0, 300.0]


def test_the_namespace_is_carried_from_question_to_question(suite: Suite) -> None:
    last = suite.items[4]
    assert last.setup[0] == SEED
    assert last.setup[1:-1] == (
        "import pandas as pd\nimport numpy as np",
        'orders = pd.read_csv("inputs/orders.csv")',
        "orders.price.mean()",
        "limit = 10",
    )
    assert list(last.files) == ["inputs/orders.csv"]


def test_the_agent_is_shown_the_cells_so_far(suite: Suite) -> None:
    shown = shown_prompt(suite.items[4])
    assert "Asked: What is the mean price?\n```python\norders.price.mean()\n```" in shown
    assert shown.index("limit = 10") < shown.index("Add a column")
    assert shown_prompt(suite.items[5]) == suite.items[5].prompt


def test_with_errors_it_is_shown_what_it_did_itself(tmp_path: Path) -> None:
    suite = load_with_errors(write_dseval(tmp_path))
    assert (suite.name, suite.is_in_order) == ("dseval-errors", True)
    shown = shown_prompt(suite.items[4], {2: "orders.price.median()"})
    assert "orders.price.median()" in shown
    assert "orders.price.mean()" not in shown


def test_a_file_the_checkout_lacks_keeps_the_session_from_starting(suite: Suite) -> None:
    assert suite.items[0].setup[0] == (
        "raise FileNotFoundError('The data has no file absent.csv.')"
    )


def test_shared_files_are_those_that_are_named_or_may_be(tmp_path: Path) -> None:
    inputs = tmp_path / "_inputs"
    inputs.mkdir()
    for name in ("may.csv", "june.csv", "other.txt"):
        (inputs / name).write_text("n\n1\n")
    path = tmp_path / "months.py"
    path.write_text('# %%\n"""\nquestion: Read.\n"""\n\nopen("inputs/{}.csv".format("may"))\n')
    (item,) = load(path).items
    assert list(item.files) == ["inputs/june.csv", "inputs/may.csv"]
    assert not item.setup[0].startswith("raise")


def test_the_suite_is_opened_by_its_name(tmp_path: Path) -> None:
    root = write_dseval(tmp_path)
    assert len(open_suite("dseval", root).items) == 6
    assert open_suite("dseval-errors", root).is_in_order
    assert len(open_suite("dseval", root / "benchmarks" / "shop").items) == 6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('# %%\n"""\nquestion: [\n"""\n1', "block 1"),
        ('# %%\n"""\nanswer: 1\n"""\n1', "block 1 holds"),
        ('# %%\n"""\nnothing\n"""\n1', "block 1 holds"),
        ('# %%\n"""\nquestion: x\nvalidator:\n  template: strict\n"""\n1', "the validator is"),
        ('# %%\n"""\nquestion: x\nvalidator: [crash]\n"""\n1', "the validator is"),
    ],
)
def test_a_wrong_block_is_told(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text)
    with pytest.raises(SetupError, match=why):
        read_blocks(path)


def test_what_is_no_checkout_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="has no samples"):
        load(tmp_path)
    with pytest.raises(SetupError, match="cannot be read"):
        read_blocks(tmp_path / "gone.py")
    (tmp_path / "_manifest.yaml").write_text("version: 1")
    (tmp_path / "a.py").write_text("# %%\n1")
    with pytest.raises(SetupError, match="YAML with a name"):
        load(tmp_path)
