import pytest

from cellwright.context.own_magics import without_own_magics


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
