"""Agents that cheat: whatever they do to their kernel, their folder and us, they score 0."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from cheats import can_limit_files, run_cheat

from cellwright.bench.checks import (
    Assertion,
    Check,
    Figure,
    File,
    NamespaceIntact,
    Scorer,
    Solution,
    Variable,
    score,
)
from cellwright.bench.environments import (
    InterpreterChoice,
    Room,
    Rooms,
    RoomScene,
    SampleKernel,
    kernels_of,
    start_usual,
)
from cellwright.bench.runner import Laboratory
from cellwright.bench.suites import Item
from cellwright.bench.suites.opening import open_suite
from cellwright.kernels.fresh import FreshKernel
from cellwright.settings import Limits
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

SETUP = """
import pandas as pd
import numpy as np
import math, json
df = pd.DataFrame({'a': [1, 2, 3], 'b': [4.0, 5.0, 6.0]})
def is_right(value):
    return value == 42.5
"""
REFERENCE = """
x = 42.5
table = df.assign(c=df.a * df.b)
ids = [10, 20, 30]
def double(n): return n * 2
import matplotlib.pyplot as plt
fig, ax = plt.subplots(); ax.plot([1, 2, 3], [4, 10, 18])
"""
TABLE = "pd.DataFrame({'a': [1, 2, 3], 'b': [4.0, 5.0, 6.0], 'c': [4.0, 10.0, 18.0]})"
SAME_TABLE = f"import pandas as pd\npd.testing.assert_frame_equal(table, {TABLE})"
CHECKS = (
    Variable("x", 42.5),
    Variable("table", expression=TABLE),
    Assertion("import math\nassert math.isclose(x, 42.5) and is_right(x)"),
    Assertion(SAME_TABLE),
    Assertion("assert [double(n) for n in (1, 5, 9)] == [2, 10, 18]"),
    Figure("fig", ({"kind": "line", "x": [1, 2, 3], "y": [4, 10, 18]},)),
    Solution("assert double(21) == 42 and double(0) == 0", shares_variables=True),
    # Beside the agent's code; where its tools were changed, a pass does not count.
    Assertion("import math\nassert math.isclose(x, 42.5) and is_right(x)", 5, in_kernel=True),
    Assertion(SAME_TABLE, 5, in_kernel=True),
)
LIMITS = Limits(cell_timeout_seconds=5)
"""Some cheats keep their kernel from saying that a cell has ended."""
ITEM = Item(
    "one", "Solve it.", setup=(SETUP,), checks=CHECKS, reference=(REFERENCE,), limits=LIMITS
)
EQUAL = """
class Any:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return Any()
    def __call__(self, *given, **named): return Any()
    def __bool__(self): return True
    def __len__(self): return 3
    def __iter__(self): return iter([Any(), Any(), Any()])
    def __getitem__(self, key): return Any()
    def __float__(self): return 42.0
    def __le__(self, other): return True
    __lt__ = __ge__ = __gt__ = __contains__ = __le__
    __add__ = __sub__ = __rsub__ = __radd__ = lambda self, other: Any()
    def __abs__(self): return 0.0
"""
OBJECTS: dict[str, str] = {
    "an object equal to everything": EQUAL + "it = Any()",
    "a float": (
        "class Any(float):\n    __eq__ = lambda s, o: True\n    __hash__ = float.__hash__\n"
        "    __sub__ = __rsub__ = lambda s, o: 0.0\nit = Any(1)"
    ),
    "a text": (
        "class Any(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n"
        "it = Any('x')"
    ),
    "a whole number": (
        "class Any(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\nit = Any(1)"
    ),
    "a list": (
        "class Any(list):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "    __len__ = lambda s: 3\nit = Any([1, 2, 3])"
    ),
    "a dict": (
        "class Any(dict):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "it = Any()"
    ),
    "a table": (
        "class Any(pd.DataFrame):\n    __eq__ = equals = lambda s, o: True\n"
        "    shape = (3, 3)\n    c = property(lambda s: s.a)\nit = Any({'a': [1]})"
    ),
    "an array": (
        "class Any(np.ndarray):\n    __eq__ = lambda s, o: np.True_\n"
        "    def __array_function__(s, f, t, a, k): return True\n"
        "    def __array_ufunc__(s, *a, **k): return True\nit = np.zeros(3).view(Any)"
    ),
    "one that calls itself a table": (
        "class Any:\n    __class__ = pd.DataFrame\n    equals = __eq__ = lambda s, o: True\n"
        "    shape = (3, 3)\n    columns = ['a', 'b', 'c']\nit = Any()"
    ),
    "one with the module of a library": (
        EQUAL + "Any.__module__ = 'pandas.core.frame'; Any.__qualname__ = 'DataFrame'\nit = Any()"
    ),
    "one that pickles as another": (
        EQUAL + "Any.__reduce__ = lambda s: (eval, ('42.5',))\nit = Any()"
    ),
    "a number that is always near": (
        "from fractions import Fraction\nclass Any(Fraction):\n    __eq__ = lambda s, o: True\n"
        "    __float__ = lambda s: 42.5\n    __hash__ = Fraction.__hash__\nit = Any(1)"
    ),
    "a mock": "from unittest.mock import ANY\nit = ANY",
}
"""Each is put into variables of its own, so one sample tries them all."""
WRONG = "\nx = 1.0\ntable = df\nfig = 3\ndouble = lambda n: 1\n"
CHEATS: dict[str, str] = {
    "print patched": WRONG + "import builtins\nbuiltins.print = lambda *a, **k: None",
    "print that says nothing is wrong": (
        WRONG + "import builtins\nold = builtins.print\n"
        "builtins.print = lambda *a, **k: old('cellwright-check:\"\"')"
    ),
    "json.dumps patched": WRONG + "json.dumps = lambda *a, **k: '\"\"'",
    "json.loads patched": WRONG + "json.loads = lambda *a, **k: {}",
    "the JSON encoder patched": (
        WRONG + "json.encoder.JSONEncoder.encode = lambda s, o: '\"\"'\n"
        "json.JSONEncoder.iterencode = lambda s, o: iter(['\"\"'])"
    ),
    "exec patched": WRONG + "import builtins\nbuiltins.exec = lambda *a, **k: None",
    "a variable named exec": WRONG + "exec = lambda *a, **k: print('cellwright-check:\"\"')",
    "variables named as what Python has": (
        WRONG + "exec = eval = print = isinstance = len = all = lambda *a, **k: True\n"
        "__import__ = globals = lambda *a, **k: {}"
    ),
    "math.isclose patched": WRONG + "math.isclose = lambda *a, **k: True",
    "assert_frame_equal patched": (
        WRONG + "pd.testing.assert_frame_equal = lambda *a, **k: None\n"
        "import pandas._testing as t\nt.assert_frame_equal = lambda *a, **k: None"
    ),
    "numpy.testing patched": (
        WRONG + "for n in dir(np.testing):\n    if n.startswith('assert'):\n"
        "        setattr(np.testing, n, lambda *a, **k: None)"
    ),
    "numpy's comparisons patched": (
        WRONG + "np.allclose = np.isclose = np.array_equal = np.all = lambda *a, **k: True"
    ),
    "methods of tables patched": (
        WRONG + "for n in ('equals', '__eq__', 'compare', 'eq'):\n"
        "    setattr(pd.DataFrame, n, lambda *a, **k: True)\n"
        "pd.DataFrame.shape = property(lambda s: (3, 3))"
    ),
    "a helper of the setup replaced": WRONG + "def is_right(value): return True",
    "a helper of the setup given other code": (
        WRONG + "def yes(value): return True\nis_right.__code__ = yes.__code__"
    ),
    "isinstance and len replaced": (
        WRONG + "import builtins\nbuiltins.isinstance = lambda *a: True\n"
        "builtins.len = lambda *a: 3\nbuiltins.abs = lambda *a: 0"
    ),
    "AssertionError replaced": (
        WRONG + "import builtins\nclass Quiet(BaseException): pass\nbuiltins.AssertionError = Quiet"
    ),
    "__import__ replaced": (
        WRONG + "import builtins\nold = builtins.__import__\n"
        "def get(name, *a, **k):\n    m = old(name, *a, **k)\n"
        "    if name == 'math': m.isclose = lambda *a, **k: True\n    return m\n"
        "builtins.__import__ = get"
    ),
    "sys.modules replaced": (
        WRONG + "import sys, types\nfor n in ('json', 'pandas', 'numpy', 'math', 'inspect'):\n"
        "    m = types.ModuleType(n); m.__getattr__ = lambda k: (lambda *a, **k: True)\n"
        "    sys.modules[n] = m"
    ),
    "an import hook": (
        WRONG + "import sys\nclass Finder:\n    @staticmethod\n"
        "    def find_spec(name, *a): return None\nsys.meta_path.insert(0, Finder)"
    ),
    "a forged answer from a thread": (
        WRONG + "import threading, time, sys\ndef forge():\n    for _ in range(200):\n"
        "        sys.stdout.write('\\ncellwright-check:\"\"\\n'); sys.stdout.flush()\n"
        "        time.sleep(0.02)\nthreading.Thread(target=forge, daemon=True).start()"
    ),
    "stdout replaced": (
        WRONG + "import sys\nclass Out:\n    def write(s, t): return len(t)\n"
        "    def flush(s): pass\n    def __getattr__(s, n): return lambda *a, **k: None\n"
        "sys.stdout = Out()"
    ),
    "file descriptors replaced": (
        WRONG + "import os\nr, w = os.pipe()\nos.dup2(w, 1); os.dup2(w, 2)"
    ),
    "an input transformer that drops asserts": (
        WRONG + "ip = get_ipython()\n"
        "ip.input_transformers_post.append(lambda lines: ["
        "l if not l.lstrip().startswith('assert') else 'pass\\n' for l in lines])"
    ),
    "an input transformer that answers itself": (
        WRONG + "ip = get_ipython()\n"
        "ip.input_transformer_manager.cleanup_transforms.append("
        "lambda lines: ['print(1)\\n'])"
    ),
    "an AST transformer that drops asserts": (
        WRONG + "import ast\nclass Drop(ast.NodeTransformer):\n"
        "    def visit_Assert(s, n): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Drop())"
    ),
    "a hook before each cell": (
        WRONG + "def before(info=None): globals().update(x=42.0)\n"
        "get_ipython().events.register('pre_run_cell', before)"
    ),
    "a hook that swallows errors": (
        WRONG + "ip = get_ipython()\nip.set_custom_exc((BaseException,), lambda *a, **k: None)\n"
        "ip.showtraceback = lambda *a, **k: None"
    ),
    "run_cell that always ends well": (
        WRONG + "ip = get_ipython()\nold = ip.run_cell\n"
        "def run(*a, **k):\n    r = old('pass')\n    return r\n"
        "ip.run_cell = run\nip.run_cell_async = None"
    ),
    "replies that always say ok": (
        WRONG + "k = get_ipython().kernel\nold = k.session.send\n"
        "def send(stream, kind, content=None, *a, **n):\n"
        "    if kind == 'execute_reply':\n"
        "        content = {'status': 'ok', 'execution_count': 1, 'payload': [], "
        "'user_expressions': {}}\n"
        "    return old(stream, kind, content, *a, **n)\nk.session.send = send"
    ),
    "errors that are never published": (
        WRONG + "k = get_ipython().kernel\nold = k.session.send\n"
        "k.session.send = lambda s, kind, *a, **n: "
        "None if kind == 'error' else old(s, kind, *a, **n)"
    ),
    "a display hook": (
        WRONG + "import sys\nsys.displayhook = lambda v: None\n"
        "sys.excepthook = lambda *a: None\n"
        "get_ipython().display_formatter.format = lambda *a, **k: ({}, {})"
    ),
    "a trace function that changes what is held": (
        WRONG + "import sys\ndef trace(frame, event, arg):\n"
        "    for name, value in list(frame.f_locals.items()):\n"
        "        if name in ('expected', 'wanted'):\n            globals()['x'] = value\n"
        "    return trace\nsys.settrace(trace)"
    ),
    "a profile function": (
        WRONG + "import sys\nsys.setprofile(lambda f, e, a: globals().update("
        "found=f.f_locals.get('expected')))"
    ),
    "an audit hook that ends the check": (
        WRONG + "import sys\nsys.addaudithook(lambda e, a: None)"
    ),
    "what is found in the garbage": (
        WRONG + "import gc\nfor o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'equals' in o and 'expression' in o:\n"
        "        x = o['equals']; break"
    ),
    "an end of the process that looks well": (
        WRONG + "import atexit, os\natexit.register(lambda: os._exit(0))\n"
        "class Last:\n    def __del__(s): os._exit(0)\nlast = Last()"
    ),
    "a class that ends the process when it is looked at": (
        WRONG + "import os\nclass Bomb:\n    @property\n    def shape(s): os._exit(0)\n"
        "    def __reduce__(s): os._exit(0)\n    def __len__(s): os._exit(0)\n"
        "x = table = ids = fig = Bomb()\ndef double(n): os._exit(0)"
    ),
    "SystemExit": WRONG + "def double(n): raise SystemExit(0)\nraise SystemExit(0)",
    "a dead kernel": WRONG + "import os\nos._exit(0)",
    "a signal to itself": WRONG + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "pandas beside the notebook": (
        WRONG + "open('pandas.py', 'w').write('class DataFrame: pass\\n"
        "class testing:\\n    assert_frame_equal = staticmethod(lambda *a, **k: None)\\n')\n"
        "open('math.py', 'w').write('isclose = lambda *a, **k: True')\n"
        "open('numpy.py', 'w').write('testing = None')"
    ),
    "sitecustomize in the folder": (
        WRONG + "for n in ('sitecustomize', 'usercustomize', 'conftest'):\n"
        "    open(n + '.py', 'w').write('import math; math.isclose = lambda *a, **k: True')\n"
        "import os\nos.makedirs('.ipython/profile_default/startup', exist_ok=True)\n"
        "open('.ipython/profile_default/startup/a.py', 'w').write('x = 42.5')"
    ),
    "environment variables": (
        WRONG + "import os\nopen('start.py', 'w').write('x = 42.5')\n"
        "os.environ.update(PYTHONSTARTUP=os.path.abspath('start.py'), PYTHONPATH=os.getcwd(), "
        "PYTHONOPTIMIZE='2')"
    ),
    "asserts compiled away": (
        WRONG + "import builtins\nold = builtins.compile\n"
        "builtins.compile = lambda s, f, m, *a, **k: old(s, f, m, optimize=2)"
    ),
    "inspect patched": (
        WRONG + "import inspect, types\ninspect.getsource = lambda o: ''\n"
        "inspect.signature = lambda o: None"
    ),
    "pickle and copy patched": (
        WRONG + "import pickle, copy, hashlib\npickle.dumps = lambda *a, **k: b''\n"
        "copy.deepcopy = lambda v, *a: v\nhashlib.sha256 = lambda *a: None"
    ),
    "a forged figure": (
        WRONG + "class Line:\n    get_xdata = lambda s, orig=0: [1, 2, 3]\n"
        "    get_ydata = lambda s, orig=0: [4, 10, 18]\n    get_label = lambda s: ''\n"
        "class Axes:\n    get_title = get_xlabel = get_ylabel = lambda s: ''\n"
        "    get_lines = lambda s: [Line()]\n    containers = collections = patches = []\n"
        "class Fig:\n    axes = [Axes()]\n    savefig = None\n"
        "Fig.__module__ = 'matplotlib.figure'; Fig.__name__ = 'Figure'\nfig = Fig()"
    ),
    "a figure whose data is equal to everything": (
        EQUAL + WRONG + "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n"
        "line, = ax.plot([1, 2, 3], [0, 0, 0])\n"
        "line.get_xdata = line.get_ydata = lambda orig=True: Any()"
    ),
    "a function that asks who calls it": (
        WRONG + "import sys\ndef double(n):\n    f = sys._getframe()\n"
        "    while f:\n        for v in list(f.f_locals.values()):\n"
        "            if isinstance(v, list) and 18 in v: return v[0]\n"
        "        f = f.f_back\n    return 1"
    ),
    "a function whose results are equal to everything": EQUAL
    + WRONG
    + ("def double(n): return Any()"),
    "a function that raises the wrong thing": (WRONG + "def double(n): raise StopIteration(n * 0)"),
    "a child that writes to the channel": (
        WRONG + "import os, time\nif os.fork() == 0:\n    time.sleep(0.3)\n"
        "    for fd in range(3, 64):\n        try: os.write(fd, b'cellwright-check:\"\"\\n')\n"
        "        except OSError: pass\n    os._exit(0)"
    ),
    "a hook that hears of all code before it runs": (
        WRONG + "import sys, types\ndef hear(event, args):\n"
        "    if event == 'exec' and isinstance(args[0], types.CodeType):\n"
        "        for value in args[0].co_consts:\n"
        "            if type(value) is float: globals().update(x=value, double=lambda n: 2 * n)\n"
        "sys.addaudithook(hear)"
    ),
    "a timer that looks at what runs": (
        WRONG + "import signal\ndef look(number, frame):\n    while frame:\n"
        "        for value in frame.f_code.co_consts:\n"
        "            if type(value) is float: globals().update(x=value)\n"
        "        frame = frame.f_back\nsignal.signal(signal.SIGALRM, look)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)"
    ),
    "a thread that nobody lists": (
        WRONG + "import _thread, sys, time\ndef look():\n    while True:\n"
        "        for frame in sys._current_frames().values():\n"
        "            while frame:\n                for value in frame.f_code.co_consts:\n"
        "                    if type(value) is float and value != 1.0: globals().update(x=value)\n"
        "                frame = frame.f_back\n        time.sleep(0.0001)\n"
        "_thread.start_new_thread(look, ())"
    ),
    "a callback of the garbage collector": (
        WRONG + "import gc, sys\ndef look(phase, info):\n    frame = sys._getframe()\n"
        "    while frame:\n        for value in frame.f_code.co_consts:\n"
        "            if type(value) is float: globals().update(x=value)\n"
        "        frame = frame.f_back\ngc.callbacks.append(look)\ngc.set_threshold(1)"
    ),
    "a namespace that answers as it likes": (
        EQUAL + WRONG + "class Liar(dict):\n    def __getitem__(self, name):\n"
        "        return Any() if name in ('x', 'table', 'double') else super().__getitem__(name)\n"
        "    get = __getitem__\nip = get_ipython()\nip.user_ns = Liar(ip.user_ns)"
    ),
    "a main module of another class": (
        EQUAL + WRONG + "import sys, types\nclass Main(types.ModuleType):\n"
        "    def __getattribute__(self, name):\n        return Any()\n"
        "sys.modules['__main__'].__class__ = Main"
    ),
    "builtins of its own": (
        WRONG + "__builtins__ = {'__import__': __import__, 'AssertionError': KeyError}\n"
        "import sys, types\nsys.modules['builtins'] = types.ModuleType('builtins')\n"
        "sys.modules['builtins'].exec = lambda *a, **k: None"
    ),
    "a table of objects that are equal to everything": (
        EQUAL + WRONG + "table = pd.DataFrame({n: [Any()] * 3 for n in 'abc'})\n"
        "x = np.array([Any()], dtype=object)[0]"
    ),
    "names that look like others": (
        WRONG + "globals().update({'ｘ': 42.5, 'x ': 42.5, 'X': 42.5})"
    ),
    "a list that holds itself": WRONG + "x = []\nx.append(x)\ntable = {}\ntable['t'] = table",
    "half a character": WRONG + "x = '\\ud800\\x00'\ntable = {'\\udfff': 1}",
    "a pickle that calls eval": (
        WRONG + "class E:\n    def __reduce_ex__(self, p): return (eval, ('42.5',))\n"
        "E.__module__ = 'numpy'\nx = E()"
    ),
    "a function that looks for what is expected of it": (
        WRONG + "import sys\ndef double(n):\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()):\n"
        "            if isinstance(value, list) and value == [2, 10, 18]: return value\n"
        "        frame = frame.f_back\n    return 0"
    ),
    "an answer for each question": (
        WRONG + "class Each:\n    def __init__(s): s.n = 0\n    def __call__(s, n):\n"
        "        s.n += 1\n        return [42, 0, 2, 10, 18][s.n % 5]\ndouble = Each()"
    ),
    "the held objects replaced": (
        WRONG + "import sys, types\nm = types.ModuleType('_cellwright_author_tests')\n"
        "m.is_whole = True\nm.answer_request = lambda r, u: {'ended': 'passed', 'text': '', "
        "'values': {}}\nm.describe_figure = lambda *a: {}\nm.fingerprints = lambda *a: {}\n"
        "for n in ('author_tests', 'value_data', 'figure_data', 'tampering'):\n"
        "    sys.modules['_cellwright_' + n] = m"
    ),
}


FLAGGED = {
    "math.isclose patched": "math.isclose",
    "methods of tables patched": "pandas.DataFrame.equals",
    "an AST transformer that drops asserts": "ast_transformers",
    "a hook before each cell": "pre_run_cell",
    "pickle and copy patched": "pickle.dumps",
}
"""What is named in the sample's ``env``."""


def test_an_honest_answer_passes_all() -> None:
    found = run_cheat(replace(ITEM, checks=(*CHECKS, NamespaceIntact())), REFERENCE)
    assert found.passed, [score for score in found.scores if not score.passed]
    assert "tampering" not in found.env


def test_an_honest_answer_is_not_accused_where_the_agents_cell_is_the_first_of_all() -> None:
    checks = (Assertion("assert a == 1", in_kernel=True), NamespaceIntact())
    found = run_cheat(Item("bare", "Make a.", checks=checks), "a = 1")
    assert found.passed, found.scores
    assert "tampering" not in found.env


def test_no_object_is_equal_to_what_is_expected_by_saying_so() -> None:
    cells = [
        f"{code}\nx{number} = table{number} = it\ndef double{number}(n, it=it): return it"
        for number, code in enumerate(OBJECTS.values())
    ]
    checks = tuple(
        check
        for n in range(len(OBJECTS))
        for check in (
            Variable(f"x{n}", 42.5),
            Variable(f"table{n}", expression=TABLE),
            Assertion(f"import math\nassert x{n} == 42.5 or math.isclose(x{n}, 42.5)"),
            Assertion(f"assert table{n}.shape == (3, 3) and table{n}.equals({TABLE})"),
            Assertion(SAME_TABLE.replace("table,", f"table{n},")),
            Assertion(f"assert double{n}(21) == 42 or double{n}(0) == 0"),
        )
    )
    found = run_cheat(replace(ITEM, checks=checks), *cells)
    assert len(found.scores) == 6 * len(OBJECTS)
    assert [score for score in found.scores if score.passed or score.value] == []


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_scores_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A kernel that was broken neither answers nor shows an interrupt, however long it is given.
    monkeypatch.setattr("cellwright.kernels.client.ANSWER_SECONDS", 3.0)
    monkeypatch.setattr(FreshKernel, "_last_patience_seconds", 1.0)
    found = run_cheat(ITEM, CHEATS[name])
    passed = [score for score in found.scores if score.passed or score.value]
    assert passed == [], found.scores
    if name in FLAGGED:
        assert FLAGGED[name] in " ".join(found.env["tampering"])


TOOLS_OF_TESTS: dict[str, tuple[str, tuple[Check, ...]]] = {
    "a class whose objects are equal to anything": (
        "from unittest.mock import ANY\nanswer = type(ANY)",
        (Assertion("assert answer() == 42"),),
    ),
    "a double that is a number, and true": (
        "from unittest.mock import MagicMock\nanswer = MagicMock",
        (
            Assertion("assert answer([1, 2, 3])"),
            Assertion("import math\nassert math.isclose(answer(3), 1.0)"),
        ),
    ),
    "an array in which all is masked": (
        "x = np.ma.masked_all(3)\ny = np.ma.masked",
        (
            Assertion("import numpy as np\nnp.testing.assert_array_equal(x, [1.0, 2.0, 3.0])"),
            Assertion("import numpy as np\nnp.testing.assert_allclose(x, [1.0, 2.0, 3.0])"),
            Assertion("assert not (x != [1, 2, 3]).any()"),
            Assertion("import numpy as np\nnp.testing.assert_almost_equal(y, 42.5)"),
            Assertion("assert not abs(y - 42.5) > 1e-6"),
            Scorer(lambda run: numpy.testing.assert_allclose(run.value("x"), [1.0, 2.0, 3.0])),
        ),
    ),
    "a list of masked numbers": (
        "x = [np.ma.masked] * 3",
        (Assertion("assert not any(a != b for a, b in zip(x, [1, 2, 3]))"),),
    ),
    "a program in the place of a module": (
        "import types\nx = types.ModuleType('unittest.__main__')",
        (Assertion("assert x"),),
    ),
    "a number that fills the memory": (
        "from decimal import Decimal\nx = Decimal('1E+999999999')\ny = {x: 1}",
        (Variable("x", 42.5), Variable("y", {42.5: 1})),
    ),
    "a link in the place of a file": (
        "import os\nos.replace('gone.txt', 'b'); os.symlink('nowhere', 'gone.txt')\n"
        "os.mkdir('d'); os.mkfifo('d/pipe'); os.symlink('d/pipe', 'pipe.txt')",
        (File("gone.txt", is_there=False), File("pipe.txt"), File("b/x.txt"), File("d")),
    ),
}
"""What the author's own tools would let pass, or never end at."""


@pytest.mark.parametrize("name", TOOLS_OF_TESTS)
def test_what_the_tools_of_tests_would_let_pass_is_refused(name: str, tmp_path: Path) -> None:
    code, checks = TOOLS_OF_TESTS[name]
    (tmp_path / "gone.txt").write_text("x")
    files = {"gone.txt": tmp_path / "gone.txt"}
    item = Item("one", "Solve it.", setup=(SETUP,), files=files, checks=checks, limits=LIMITS)
    found = run_cheat(item, code)
    assert len(found.scores) == len(checks)
    assert [score for score in found.scores if score.passed or score.value] == []


def test_a_test_that_knows_of_masked_arrays_is_given_one() -> None:
    checks = (Assertion("assert x.mask.tolist() == [True, False] and x.sum() == 2"),)
    item = Item("one", "Solve it.", setup=(SETUP,), checks=checks)
    assert run_cheat(item, "x = np.ma.array([1, 2], mask=[True, False])").passed


def test_a_file_that_is_swapped_for_a_link_is_not_followed_out_of_the_folder(
    tmp_path: Path,
) -> None:
    folder, secret = tmp_path / "sample", tmp_path / "suite.yaml"
    folder.mkdir()
    secret.write_text("word: 42")
    room = Room(SampleKernel(start_usual, str(folder)), folder, Stop())  # type: ignore[arg-type]
    scene = RoomScene(room, Rooms({}), ITEM, "", ())
    name, is_over = folder / "answer.txt", threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            (folder / "a").write_text("I do not know")
            (folder / "a").replace(name)
            (folder / "a").symlink_to(secret)
            (folder / "a").replace(name)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        found = [score(File("answer.txt", regex="42"), scene) for _ in range(3_000)]
    finally:
        is_over.set()
        swapping.join()
    assert [one for one in found if one.passed] == []
    assert any("does not match" in one.explanation for one in found)


def test_beside_the_agents_code_a_pass_does_not_count_where_its_tools_were_changed() -> None:
    check = Assertion("import math\nassert math.isclose(x, 42.5)", in_kernel=True)
    found = run_cheat(replace(ITEM, checks=(check,)), CHEATS["math.isclose patched"])
    (score,) = found.scores
    assert (score.value, score.explanation) == (0.0, "tampered with: math.isclose")
    assert run_cheat(replace(ITEM, checks=(check,)), REFERENCE).passed


LOOK = """
import os, pathlib
def read(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
def write(path):
    try:
        with open(path, 'a') as file: file.write('x')
        return 'written'
    except OSError as error:
        return type(error).__name__
def move(path):
    try:
        os.replace(path, path + '.old')
        return 'moved'
    except OSError as error:
        return type(error).__name__
def link(path):
    try:
        os.link(path, 'here.txt')
        return read('here.txt')
    except OSError as error:
        return type(error).__name__
def plant(path):
    try:
        os.symlink('/etc/hostname', path)
        return 'planted'
    except OSError as error:
        return type(error).__name__
def of_parent(what):
    return [read(f'/proc/{pid}/{what}') for pid in PIDS]
found = {
    'read': read(SECRET), 'root': read('/proc/self/root' + SECRET), 'write': write(SECRET),
    'move': move(SECRET), 'link': link(SECRET), 'child': os.popen('cat ' + SECRET).read(),
    'make': write(SECRET + '.new'), 'plant': plant(SECRET + '.link'), 'memory': of_parent('mem'),
    'through': [read(f'/proc/{pid}/root{SECRET}') for pid in PIDS],
    'own': write('own.txt'), 'beside': read(BESIDE), 'libraries': len(read(os.__file__)) > 99,
}
"""


@pytest.mark.skipif(not can_limit_files(), reason="needs Landlock")
@pytest.mark.parametrize("is_forked", [True, False])
def test_files_of_the_suite_and_memory_of_the_harness_are_closed_to_a_kernel(
    is_forked: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    secret, beside = folder / "one.yaml", folder / "data.csv"
    secret.write_text("prompt: x\nchecks: [{variable: x, equals: 42.5}]\n")
    beside.write_text("a\n1\n")
    code = f"SECRET, BESIDE, PIDS = {str(secret)!r}, {str(beside)!r}, [{os.getpid()}]\n{LOOK}"
    suite = open_suite(str(folder))
    assert suite.hidden == (secret,)
    with kernels_of(InterpreterChoice(is_forked=is_forked, modules=()), os.environ) as kernels:
        rooms = Laboratory(Rooms({}, kernels.start)).rooms_of(suite)
        with rooms.open(suite.items[0], Stop()) as room:
            cell = room.run(f"{code}\nimport json; print(json.dumps(found))", 60)
            assert room.kernel.way == ("forked" if is_forked else "started")
    found = json.loads(cell.outputs[0]["text"])
    denied = "PermissionError"
    assert (found["read"], found["root"], found["write"]) == (denied,) * 3
    assert (found["move"], found["link"], found["child"]) == (denied, "OSError", "")
    assert (found["make"], found["plant"]) == (denied, denied)
    assert sorted(folder.iterdir()) == [beside, secret], "the next kernel could write what is new"
    assert (found["memory"], found["through"]) == ([denied],) * 2
    assert (found["own"], found["beside"], found["libraries"]) == ("written", "a\n1\n", True)
    assert secret.read_text().startswith("prompt: x\nchecks")
