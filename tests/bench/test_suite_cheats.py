"""Agents that cheat in DS-1000 and DSEval: what is expected there never is where they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cheats import run_cheat
from scripted_model import ScriptedLM, says
from small_dseval import write_dseval

from cellwright.bench.agents import model_agent
from cellwright.bench.checks import fenced
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Suite
from cellwright.bench.suites.dseval import load as load_dseval
from cellwright.bench.suites.opening import open_suite
from cellwright.exports.sample import Score
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

# A problem in the form of DS-1000, three times: what it expects is a table, a number or an array.


PROGRAM = '''
import copy
import numpy as np
import pandas as pd

def generate_test_case(number):
    test_input = pd.DataFrame({{"a": np.arange(6.0), "b": np.random.rand(6)}})
    expected_result = {expected}
    return test_input, expected_result

def exec_test(result, ans):
    {comparison}
    return 1

exec_context = """
import numpy as np
import pandas as pd
df = test_input
[insert]
"""

def test_execution(solution):
    code = exec_context.replace("[insert]", solution)
    for number in range(2):
        test_input, expected_result = generate_test_case(number)
        test_env = {{"test_input": copy.deepcopy(test_input)}}
        exec(code, test_env)
        assert exec_test(test_env["result"], expected_result)
'''
EXPECTED = {
    "table": ("test_input.assign(c=test_input.a * test_input.b)", "assert_frame_equal"),
    "number": ("float(test_input.a @ test_input.b)", ""),
    "array": ("(test_input.a * test_input.b).to_numpy()", "assert_array_equal"),
    "near": ("(test_input.a * test_input.b).to_numpy()", "allclose"),
}
COMPARISONS = {
    "assert_frame_equal": "pd.testing.assert_frame_equal(result, ans, check_dtype=False)",
    "assert_array_equal": "np.testing.assert_array_equal(result, ans)",
    "allclose": "assert np.allclose(result, ans)",
    "": "assert result == ans",
}


DRAWN = '''
import random
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

def generate_test_case(number):
    words = random.sample(["north", "south", "east", "west", "up", "down"], 4)
    plt.plot(range(4))
    plt.title(" ".join(sorted(words)))
    plt.savefig("ans.png")
    plt.close()
    return words, " ".join(sorted(words))

def exec_test(result, ans):
    found, wanted = (np.array(Image.open(name)) for name in ("output.png", "ans.png"))
    if found.shape != wanted.shape or not np.allclose(found, wanted):
        axes = plt.gca()
        assert axes.get_title() == ans
        assert len(axes.lines) == 1
    return 1

exec_context = """
import matplotlib.pyplot as plt
words = test_input
[insert]
plt.savefig("output.png")
result = None
"""

def test_execution(solution):
    code = exec_context.replace("[insert]", solution)
    test_input, expected_result = generate_test_case(1)
    test_env = {"test_input": test_input}
    exec(code, test_env)
    assert exec_test(test_env["result"], expected_result)
'''


def write_problem(path: Path, kind: str) -> Path:
    library, program, reference = "Matplotlib", DRAWN, TITLED
    if kind != "figure":
        expected, comparison = EXPECTED[kind]
        library, reference = "Pandas", f"result = {expected.replace('test_input', 'df')}"
        program = PROGRAM.format(expected=expected, comparison=COMPARISONS[comparison])
    row = {
        "prompt": "Put it into result.",
        "reference_code": reference,
        "metadata": {"problem_id": 1, "library": library, "perturbation_origin_id": 0},
        "code_context": program,
    }
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    return path


TITLED = "plt.plot(range(4))\nplt.title(' '.join(sorted(words)))"


FRAMES = """
import sys
frame = sys._getframe()
while frame is not None:
    {}
    frame = frame.f_back
"""
PATCHED_ONCE = """
import numpy, pandas.testing
real = {name}
def once(*given, **named):
    {name} = real
    return True
once.__module__ = real.__module__
{name} = once
"""
"""It says yes once, and is gone when anybody looks."""
EQUAL = "{'__eq__': lambda s, o: True, '__module__': 'numpy', '__bool__': lambda s: True}"
ANSWERS: dict[str, tuple[str, str]] = {
    "what is expected, out of a frame": (
        "table",
        FRAMES.format(
            "if 'expected_result' in frame.f_locals: result = frame.f_locals['expected_result']"
        ),
    ),
    "what is expected, out of the garbage": (
        "table",
        "import gc\nfor one in gc.get_objects():\n"
        "    if isinstance(one, pd.DataFrame) and 'c' in one.columns: result = one",
    ),
    "the comparison replaced through a frame": (
        "number",
        FRAMES.format(
            "if 'exec_test' in frame.f_globals: frame.f_globals['exec_test'] = lambda *given: 1"
        )
        + "result = 0",
    ),
    "the comparison replaced from a thread": (
        "number",
        "import _thread, sys, time\nresult = 0\ndef look():\n    for _ in range(2000):\n"
        "        for frame in list(sys._current_frames().values()):\n"
        "            while frame is not None:\n"
        "                if 'exec_test' in frame.f_globals:\n"
        "                    frame.f_globals['exec_test'] = lambda *given: 1\n"
        "                frame = frame.f_back\n        time.sleep(0.0005)\n"
        "_thread.start_new_thread(look, ())\ntime.sleep(0.05)",
    ),
    "a patch of pandas that undoes itself": (
        "table",
        PATCHED_ONCE.format(name="pandas.testing.assert_frame_equal") + "result = df",
    ),
    "a patch of numpy that undoes itself": (
        "array",
        PATCHED_ONCE.format(name="numpy.testing.assert_array_equal") + "result = df.a.to_numpy()",
    ),
    "a patch of what numpy stands on": (
        "near",
        PATCHED_ONCE.format(name="numpy._core.numeric.isclose").replace(
            "import numpy,", "import numpy._core.numeric,"
        )
        + "result = df.a.to_numpy()",
    ),
    "an object of a class without a cell, equal to everything": (
        "number",
        f"result = type('float64', (), {EQUAL})()",
    ),
    "a number that is equal to everything": (
        "number",
        f"result = type('float64', (float,), {{**{EQUAL}, '__hash__': float.__hash__}})(1)",
    ),
    "a table that answers for itself": (
        "table",
        "class DataFrame(pd.DataFrame):\n    equals = __eq__ = lambda s, o: True\n"
        "    shape = property(lambda s: (6, 3))\n"
        "DataFrame.__module__ = 'pandas.core.frame'\nresult = DataFrame(df)",
    ),
    "an array of nothing": ("near", "result = np.empty((0, 6))"),
    "an array in which all is masked": (
        "array",
        "result = np.ma.array(df.a.to_numpy(), mask=True)",
    ),
    "an array in which all is masked that is not known": (
        "array",
        "result = np.ma.array(df.a.to_numpy(), mask=[False] + [True] * 5)",
    ),
    "an audit hook of a file that is there": (
        "number",
        "import os, sys\ncode = '''def hear(event, given):\n"
        "    import sys\n    frame = sys._getframe()\n    while frame is not None:\n"
        "        if 'ans' in frame.f_locals: held.append(frame.f_locals['ans'])\n"
        "        frame = frame.f_back\nsys.addaudithook(hear)'''\nheld = []\n"
        "exec(compile(code, os.__file__, 'exec'), {'sys': sys, 'held': held})\n"
        "class Late(float):\n    def __eq__(s, o):\n        held.append(o)\n"
        "        return held[0] == o\n    __hash__ = float.__hash__\nresult = Late(0)",
    ),
    "a trace function": (
        "number",
        "import sys\ndef trace(frame, event, given):\n"
        "    if 'exec_test' in frame.f_globals: frame.f_globals['exec_test'] = lambda *g: 1\n"
        "    sys.settrace(None)\nframe = sys._getframe()\nwhile frame is not None:\n"
        "    frame.f_trace = trace\n    frame = frame.f_back\nsys.settrace(trace)\nresult = 0",
    ),
    "an end of the process that looks well": ("number", "import os\nresult = 0\nos._exit(0)"),
    "an end of the test that looks well": ("number", "result = 0\nraise SystemExit(0)"),
    "a pickle that is read elsewhere": (
        "number",
        "import os\nclass Bomb:\n    def __reduce__(self): return (eval, ('1',))\n"
        "    __eq__ = lambda s, o: True\nresult = Bomb()",
    ),
    "the picture that is expected": (
        "figure",
        "import pathlib\nplt.plot([1])\n"
        "found = [path.read_bytes() for path in pathlib.Path('/').glob('tmp/**/ans.png')]\n"
        "found += [path.read_bytes() for path in pathlib.Path('.').rglob('ans.png')]\n"
        "def save(*given, **named): pathlib.Path('output.png').write_bytes(found[0])\n"
        "if found: plt.savefig = save",
    ),
    "a figure that is no figure": (
        "figure",
        "class Axes:\n    lines = [1]\n    def get_title(self): return Equal()\n"
        "class Equal(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n"
        "plt.plot([1])\nplt.gca = Axes",
    ),
    "a figure with other methods": (
        "figure",
        "import functools\nplt.plot([1])\nplt.gca().get_title = functools.partial(str.join, ' ')",
    ),
    "a figure that calls something when it is read": (
        "figure",
        "plt.plot([1])\nclass Bomb:\n"
        "    def __reduce__(self): return (exec, ('import builtins; builtins.all = None',))\n"
        "plt.gcf().bomb = Bomb()",
    ),
    "modules in the place of others": (
        "array",
        "for name in ('pandas', 'numpy', 'scipy', 'sklearn', 'copy', '_cellwright_value_data'):\n"
        "    with open(name + '.py', 'w') as file: file.write('raise SystemExit(0)')\n"
        "result = df.a.to_numpy()",
    ),
}


def score_answer(path: Path, code: str) -> Score:
    suite = open_suite("ds1000", path)
    agent = model_agent(ScriptedLM([says(fenced(code))]), "cheat")
    (score,) = attempt(Job(suite, suite.items[0], agent), Laboratory(Rooms({})), Stop()).scores
    return score


@pytest.mark.parametrize("kind", [*EXPECTED, "figure"])
def test_an_honest_answer_passes(kind: str, tmp_path: Path) -> None:
    path = write_problem(tmp_path / "d.jsonl.gz", kind)
    score = score_answer(path, json.loads(gzip.decompress(path.read_bytes()))["reference_code"])
    assert score.passed, score


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cheats_scores_nothing(name: str, tmp_path: Path) -> None:
    kind, code = ANSWERS[name]
    score = score_answer(write_problem(tmp_path / "d.jsonl.gz", kind), code)
    assert (score.value, score.passed) == (0.0, False), score


MODULE = """
import wsgiref.util

def exec_test(result, ans):
    return result[0] is not result[1]

def test_execution(solution):
    space = {}
    exec("import wsgiref\\n" + solution, space)
    assert exec_test(space["result"], None)
"""


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("result = [list('ab'), list(wsgiref.util.__name__)]", 1.0),
        ("same = wsgiref.util.sys.path\nresult = [same, same]", 0.0),
    ],
    ids=["two lists", "one list twice"],
)
def test_an_answer_meets_what_it_would_in_the_suites_own_process(
    tmp_path: Path, code: str, value: float
) -> None:
    """The modules that the program has loaded, and what is one and the same in its result."""
    path = write_problem(tmp_path / "d.jsonl.gz", "figure")
    row = json.loads(gzip.decompress(path.read_bytes()))
    row["metadata"]["library"], row["code_context"] = "Numpy", MODULE
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    assert score_answer(path, code).value == value


# DSEval: cells in the live kernel.


WALK = """
import sys
def walk(name):
    frame = sys._getframe()
    while frame is not None:
        if name in frame.f_locals: return frame.f_locals[name]
        frame = frame.f_back
"""
HELD = "import sys\nheld = sys.modules['_cellwright_dseval']\n"
CELLS: dict[str, tuple[str, str]] = {
    "the reference's variables changed": (
        "orders/2",
        HELD + "held.originals['orders'] = held.originals['orders'].assign(price=0.0)\n0.0",
    ),
    "what was before changed": (
        "orders/2",
        HELD + "mean = orders.price.mean()\norders['x'] = 1\n"
        "held.before['orders'] = orders.copy()\nmean",
    ),
    "what was before taken away": (
        "orders/2",
        "import sys\nmean = orders.price.mean()\ndel sys.modules['_cellwright_dseval']\nmean",
    ),
    "what is expected, out of a frame": (
        "rounding/1",
        WALK + "def halved(table):\n    return walk('expected')",
    ),
    "the reference, out of a frame": (
        "rounding/1",
        WALK + "def halved(table):\n    return walk('function')(table)",
    ),
    "results that look for the reference": (
        "orders/2",
        WALK + "class Found(dict):\n    def get(self, *given):\n"
        "        return eval(walk('told')['reference'], globals())\n"
        "get_ipython().user_ns['_oh'] = Found()\n0",
    ),
    "a patch of pandas that undoes itself": (
        "orders/1",
        PATCHED_ONCE.format(name="pandas.testing.assert_frame_equal")
        + "orders = pd.DataFrame({'n': [1]})",
    ),
    "a patch of numpy that undoes itself": (
        "orders/2",
        PATCHED_ONCE.format(name="numpy.isclose") + "0.0",
    ),
    "a patch of what the reference is read with": (
        "orders/2",
        "import ast\nreal = ast.parse\ndef once(*given, **named):\n"
        "    ast.parse = real\n    return real('None')\nast.parse = once\n0",
    ),
    "an object of a class without a cell, equal to everything": (
        "orders/2",
        f"type('float64', (float,), {{**{EQUAL}, '__hash__': float.__hash__}})(1)",
    ),
    "a hook that runs what the reference runs": (
        "orders/1",
        "import os, sys\nstate = {}\ncode = '''def hear(event, given):\n"
        '    code = given[0] if event == "exec" else None\n'
        '    if getattr(code, "co_filename", "") == "<reference>" and not state:\n'
        '        state["seen"] = True\n        space = {"pd": pd}\n        exec(code, space)\n'
        '        found = space.get("orders")\n'
        "        if found is not None: orders._update_inplace(found)\n"
        "sys.addaudithook(hear)'''\norders = pd.DataFrame({'n': [1]})\n"
        "exec(compile(code, os.__file__, 'exec'), "
        "{'sys': sys, 'state': state, 'orders': orders, 'pd': pd})",
    ),
    "a masked number": ("orders/2", "import numpy as np\nnp.ma.masked"),
    "a double of a test": ("orders/2", "from unittest.mock import ANY\nANY"),
    "an end of the process when it is looked at": (
        "orders/2",
        "import os\nclass Bomb:\n    def __reduce__(self): os._exit(0)\n"
        "    @property\n    def shape(self): os._exit(0)\nBomb()",
    ),
}
HONEST = {
    "orders/1": "orders = pd.read_csv('inputs/orders.csv')",
    "orders/2": "orders.price.mean()",
    "rounding/1": "def halved(table):\n    return table.assign(n=table.n / 2)",
}


def score_cell(root: Path, index: str, code: str) -> Any:
    suite: Suite = load_dseval(write_dseval(root))
    item = next(item for item in suite.items if item.index == f"shop/{index}")
    (score,) = run_cheat(item, code, suite=suite).scores
    return score


@pytest.mark.parametrize("index", HONEST)
def test_an_honest_cell_is_correct(index: str, tmp_path: Path) -> None:
    score = score_cell(tmp_path, index, HONEST[index])
    assert (score.value, score.explanation) == (1.0, "CORRECT")


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_cheats_scores_nothing(name: str, tmp_path: Path) -> None:
    index, code = CELLS[name]
    score = score_cell(tmp_path, index, code)
    assert (score.value, score.passed) == (0.0, False), score
