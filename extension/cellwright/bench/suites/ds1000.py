"""DS-1000: fill in a few lines of data science. The data is the person's own copy.

The suite's programs are tests of a piece of code: they build the inputs, put the code in its place
and compare, so the code is the answer and no cell has to run it. The programs run in a kernel that
the agent never touched; only the code that they build runs in the agent's.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

from cellwright.bench import figure_pickles
from cellwright.bench.checks import Solution, fenced
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.json_lines import read_json_lines

NEEDED = ("prompt", "reference_code", "metadata", "code_context")
LEFT_OUT = ("Pytorch", "Tensorflow")
REQUEST = (
    "{prompt}\n\nWrite only the Python code that belongs in the place of the solution, as one "
    "block of code, without the code that is given."
)
# matplotlib 3.8, which the suite is pinned to, asks IPython for a name that 9 has no more. Some
# problems draw their numbers at random: with a seed one answer has one score, and the agent's
# kernel draws the numbers that would come next in this one.
BEGIN = """\
import IPython.core.pylabtools as _pylabtools
if not hasattr(_pylabtools, "backend2gui"):
    _pylabtools.backend2gui = dict()
import random as _random
import numpy as _numpy
"""
GO_ON = (
    BEGIN
    + """\
exec({imports!r}, {{}})
_random.setstate(_drawn[0])
_numpy.random.set_state(_drawn[1])
"""
)
"""An answer may name modules that the suite's program has loaded, as ``sklearn.preprocessing``."""
PRELUDE = (
    BEGIN
    + """\
_random.seed(0)
_numpy.random.seed(0)
_exec = exec
def exec(code, space):
    space["_drawn"] = (_random.getstate(), _numpy.random.get_state())
    _exec({go_on!r} + code, space)
"""
)
# What is drawn leaves the agent's kernel as a picture and as a figure, and is looked at here; the
# picture that is expected is no file.
FIGURE = """
import pathlib as _pathlib
import pickle as _pickle
import matplotlib.pyplot as _pyplot
_figure = _pickle.dumps(_pyplot.gcf())
_picture = _pathlib.Path("output.png").read_bytes()
"""
DRAWING = f"""\
import builtins as _builtins
import io as _io
import types as _types
import matplotlib.figure as _figures
import PIL.Image as _images
_reader = _types.ModuleType("_reader")
_builtins.exec({inspect.getsource(figure_pickles)!r}, vars(_reader))
_pictures = {{}}
_savefig, _open = _figures.Figure.savefig, _images.open
def _keep(figure, name, **options):
    _pictures[name] = _io.BytesIO()
    _savefig(figure, _pictures[name], **options)
_figures.Figure.savefig = _keep
_images.open = lambda name: _open(_pictures[name], formats=("PNG",))
_exec_code = exec
def exec(code, space):
    _exec_code(code + {FIGURE!r}, space)
    _pictures["output.png"] = _io.BytesIO(space["_picture"])
    _reader.read_figure(space["_figure"])
"""
# The suite's comparisons call an array of nothing, and what is masked, equal to whatever is
# expected.
END = """
_exec_test = exec_test
def exec_test(result, ans):
    assert not _is_nothing(result) or _is_nothing(ans), "there is nothing in the result"
    return _exec_test(result, ans)
def _is_nothing(value):
    if isinstance(value, (tuple, list)):
        return any(map(_is_nothing, value))
    if not isinstance(value, _numpy.ndarray):
        return False
    return value.size == 0 or bool(_numpy.ma.getmaskarray(value).any())
test_execution(cellwright_answer)
"""
END_WITH_TEXT = END + "test_string(cellwright_answer)\n"
IMPORTS = (ast.Import, ast.ImportFrom)
ENVIRON = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SECONDS = 120.0


def load(data: Path) -> Suite:
    """The suite of a ``ds1000.jsonl.gz``, without what needs PyTorch or TensorFlow.

    Raises:
        SetupError: The file cannot be read.
    """
    rows = read_json_lines(data, NEEDED)
    items = tuple(_item(row) for row in rows if row["metadata"]["library"] not in LEFT_OUT)
    return checked_suite(Suite("ds1000", items, environ=ENVIRON, source=str(data), hidden=(data,)))


def _item(row: dict[str, Any]) -> Item:
    context = row["code_context"]
    library = str(row["metadata"]["library"])
    go_on = GO_ON.format(imports=_imports(context))
    before = PRELUDE.format(go_on=go_on) + (DRAWING if library == "Matplotlib" else "")
    program = before + context + (END_WITH_TEXT if "def test_string(" in context else END)
    return Item(
        index=int(row["metadata"]["problem_id"]),
        prompt=REQUEST.format(prompt=row["prompt"]),
        group=library,
        family=_family(row["metadata"]),
        checks=(Solution(program, timeout_seconds=SECONDS),),
        reference_answer=fenced(row["reference_code"]),
        is_answer_code=True,
    )


def _imports(context: str) -> str:
    found = [node for node in ast.parse(context).body if isinstance(node, IMPORTS)]
    return "\n".join(map(ast.unparse, found))


def _family(metadata: dict[str, Any]) -> str:
    """A problem and its perturbations."""
    origin = metadata.get("perturbation_origin_id", metadata["problem_id"])
    return f"{metadata['library']} {origin}"
