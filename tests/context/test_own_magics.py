import pytest

from cellwright.context.assemble import is_own_error, seen_before, without_own_magics


@pytest.mark.parametrize(
    "source",
    [
        "%%agent --mode auto\nGo.",
        "  %agent runs",
        "run = %agent what is x?",
        "%load_ext cellwright",
        "%reload_ext cellwright_magics",
    ],
)
def test_cells_that_ask_the_agent_are_left_out(source: str) -> None:
    assert without_own_magics([source, "x = 1"]) == ["x = 1"]


@pytest.mark.parametrize(
    "source",
    ["%agents = 1", "# %agent", "text = 'see %agent'", "%load_ext autoreload", "%%time\nx = 1"],
)
def test_other_cells_stay(source: str) -> None:
    assert without_own_magics([source]) == [source]


def test_the_rest_of_a_cell_that_loads_the_magics_stays() -> None:
    assert without_own_magics(["import os\n%load_ext cellwright\nx = 1"]) == ["import os\nx = 1"]


@pytest.mark.parametrize(
    ("log", "seen"),
    [([], 1), (["a"], 3), (["x", "a", "y", "b"], 4), (["b", "a"], 3), (["b"], 1)],
)
def test_cells_that_were_seen_before_are_the_first_in_their_order(
    log: list[str], seen: int
) -> None:
    assert seen_before(["%agent what is x?", "a", "%agent runs", "b"], log) == seen


def test_what_the_magic_itself_refuses_is_no_error_of_the_persons_code() -> None:
    own = "cell line 1: get_ipython().run_line_magic('agent', 'memory add a@b.c')\nUsageError: No."
    assert is_own_error(own)
    assert is_own_error(own.replace("run_line", "run_cell"))
    assert not is_own_error("cell line 2: 1 / 0\nZeroDivisionError: division by zero")
    assert not is_own_error(f"cell line 3: show({own!r})\nValueError: No.")
