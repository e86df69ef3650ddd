"""DS-1000: fill in a few lines of data science. The data is the person's own copy.

The suite's programs are tests of a piece of code: they build the inputs, put the code in its place
and compare, so the code is the answer and no cell has to run it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
# problems draw their numbers at random: with a seed one answer has one score.
PRELUDE = """\
import random as _random
import IPython.core.pylabtools as _pylabtools
import numpy as _numpy
if not hasattr(_pylabtools, "backend2gui"):
    _pylabtools.backend2gui = {}
_random.seed(0)
_numpy.random.seed(0)
"""
END = "\ntest_execution(cellwright_answer)\n"
END_WITH_TEXT = END + "test_string(cellwright_answer)\n"
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
    program = PRELUDE + context + (END_WITH_TEXT if "def test_string(" in context else END)
    return Item(
        index=int(row["metadata"]["problem_id"]),
        prompt=REQUEST.format(prompt=row["prompt"]),
        group=str(row["metadata"]["library"]),
        family=_family(row["metadata"]),
        checks=(Solution(program, timeout_seconds=SECONDS, in_kernel=True),),
        reference_answer=fenced(row["reference_code"]),
        is_answer_code=True,
    )


def _family(metadata: dict[str, Any]) -> str:
    """A problem and its perturbations."""
    origin = metadata.get("perturbation_origin_id", metadata["problem_id"])
    return f"{metadata['library']} {origin}"
