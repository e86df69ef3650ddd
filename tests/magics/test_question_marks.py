"""A prompt that ends with a question mark."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from cellwright_magics.magics import keep_question_marks


def transformed(cell: str) -> str:
    manager = TransformerManager()
    manager.cleanup_transforms.append(keep_question_marks)
    return str(manager.transform_cell(cell))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%agent which was best?", "get_ipython().run_line_magic('agent', 'which was best?')\n"),
        ("  %agent why??  ", "get_ipython().run_line_magic('agent', 'why??')\n"),
        ("r = %agent it's {x}?", "r = get_ipython().run_line_magic('agent', \"it's {x}?\")\n"),
        (
            "x = 1\nif x:\n    %agent -m a what is @x?\n",
            "x = 1\nif x:\n    get_ipython().run_line_magic('agent', '-m a what is @x?')\n",
        ),
        ("%agent show it", "get_ipython().run_line_magic('agent', 'show it')\n"),
        ("%agent?", "get_ipython().run_line_magic('pinfo', '%agent')\n"),
        ("%agent ?", "get_ipython().run_line_magic('agent', '?')\n"),
        ("x = '''\n%agent is it?\n'''\n", "x = '''\n%agent is it?\n'''\n"),
        ("# x = %agent is it?\n", "# x = %agent is it?\n"),
        ("print?", "get_ipython().run_line_magic('pinfo', 'print')\n"),
        ("", "\n"),
    ],
)
def test_it_is_asked_and_what_is_no_prompt_stays(cell: str, expected: str) -> None:
    assert transformed(cell) == expected


def test_the_body_of_another_cell_magic_is_left_alone() -> None:
    cell = "%%writefile a.txt\n%agent is it?\n"
    assert keep_question_marks(cell.splitlines(keepends=True)) == cell.splitlines(keepends=True)
