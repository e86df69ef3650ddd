"""Looking at variables runs no code of the person's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

DUNDERS = (
    *("repr", "str", "format", "len", "iter", "contains", "getitem", "missing", "getattr", "bool"),
    *("getattribute", "dir", "hash", "eq", "ne", "lt", "le", "gt", "ge", "call", "next", "index"),
    *("int", "float", "complex", "bytes", "fspath", "length_hint", "reversed", "enter", "exit"),
    *("add", "radd", "sub", "mul", "truediv", "and", "or", "neg", "abs", "round", "sizeof"),
    *(
        "reduce",
        "reduce_ex",
        "getstate",
        "copy",
        "deepcopy",
        "array",
        "array_ufunc",
        "instancecheck",
    ),
    *(
        "array_interface",
        "array_priority",
        "dataframe",
        "arrow_c_stream",
        "rich_repr",
        "set",
        "get",
    ),
)
SPIES = f"""
import collections, datetime, enum, pathlib
import numpy as np, pandas as pd

is_armed = []

def tell(what):
    if not is_armed:
        return
    with open(TOLD, "a") as file:
        file.write(what + "\\n")

def spying(name, result=None):
    def method(self, *arguments, **options):
        tell(f"{{name}}")
        raise RuntimeError(name)
    return method

names = {DUNDERS!r}
body = {{f"__{{name}}__": spying(name) for name in names}}
at_once = {{
    "__class__": property(lambda self: spying("class")(self) if is_armed else type(self)),
    "__dict__": property(lambda self: spying("dict")(self) if is_armed else {{}}),
}}
body["__doc__"] = property(spying("doc"))
for name in ("shape", "dtype", "columns", "index", "name", "axes", "value", "_repr_html_", "args"):
    body[name] = property(spying(name))

class Meta(type):
    pass
for name in ("repr", "str", "eq", "hash", "getattribute", "instancecheck", "subclasscheck", "dir"):
    setattr(Meta, f"__{{name}}__", spying("meta " + name))

def own(base=object):
    made = type("Own", (base,), dict(at_once))
    later.append(made)
    return made

later = []

def made(cls, *arguments):
    base = next(c for c in type.__dict__["__mro__"].__get__(cls)[1:])
    return base.__new__(cls, *arguments)

plain = own()
x_plain = object.__new__(plain)
x_meta_class = type.__new__(Meta, "Odd", (), {{}})
x_meta = object.__new__(x_meta_class)
x_int, x_float, x_str = (made(own(t), *a) for t, a in ((int, (3,)), (float, (2.5,)), (str, ("s",))))
x_bytes = made(own(bytes), b"b")
x_list, x_dict, x_set = made(own(list)), made(own(dict)), made(own(set))
list.append(x_list, 1); dict.__setitem__(x_dict, "k", 2); set.add(x_set, 3)
x_tuple = made(own(tuple), (1, 2))
x_path = pathlib.PurePosixPath("a")
x_error_class = own(ValueError)
x_error = made(x_error_class, "no")
x_listed = [x_plain, [x_plain], (x_plain,), {{"k": x_plain}}]
x_keyed = dict.fromkeys(["k"])
x_deque = collections.deque([x_plain])
x_default = collections.defaultdict(lambda: tell("default factory"))
x_many = [x_plain] * 100
x_array = np.empty(3, dtype=object); x_array[0] = x_plain
x_frame = pd.DataFrame({{"a": [1, 2]}})
x_frame["o"] = pd.Series([None, None], dtype=object)
x_column = x_frame["o"]
cells = np.empty(2, dtype=object); cells[0] = cells[1] = x_plain
x_objects = pd.Series(cells)
x_table = pd.DataFrame({{"o": cells, "n": [1, 2]}})

class Frame(pd.DataFrame):
    @property
    def shape(self):
        tell("shape of a subclass")
        return (9, 9)
    def __len__(self):
        tell("len of a subclass")
        return 9
x_own_frame = Frame({{"a": [1, 2]}})

class Slots:
    __slots__ = ("a", "b")
    __repr__ = spying("slots repr")
x_slots = Slots(); x_slots.a = 1

class Holder:
    __repr__ = spying("holder repr")
    __getattr__ = spying("holder getattr")
    kept = property(spying("kept"))
    def __init__(self):
        self.size, self.table, self.other = 3, x_frame, x_plain
x_holder = Holder()

def x_function(a, b=x_plain, *c, d: plain = x_plain, **e):
    return a
x_when = datetime.datetime(2024, 1, 1, tzinfo=type("Zone", (datetime.tzinfo,), {{
    "__repr__": spying("zone repr"), "utcoffset": spying("offset")}})())

class Zone(datetime.tzinfo):
    def __str__(self):
        tell("zone str")
        return "here"
    __repr__ = __str__
    def utcoffset(self, when):
        tell("zone offset")
        return datetime.timedelta(0)
    dst = utcoffset
    def tzname(self, when):
        return "here"
x_zoned = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize(Zone()))
x_zoned_index = pd.Series([1, 2], index=pd.DatetimeIndex(x_zoned))
x_zoned_frame = pd.DataFrame({{"when": x_zoned}}, index=pd.DatetimeIndex(x_zoned))
class Fill(str):
    def __str__(self, *arguments):
        tell("fill")
        return "q"
    __repr__ = __format__ = __str__
x_sparse = pd.Series(pd.arrays.SparseArray(np.array(["a"], dtype=object), fill_value=Fill("q")))

@pd.api.extensions.register_dataframe_accessor("audit")
@pd.api.extensions.register_series_accessor("audit")
class Audit:
    def __init__(self, table):
        tell("accessor")
pd.DataFrame.grown = property(lambda table: tell("grown"))

class Answers(dict):
    get = __contains__ = __bool__ = __getitem__ = spying("answers")
class Pair(tuple):
    __len__ = __bool__ = __getitem__ = spying("pair")
def x_odd(a=1, *, b=2):
    return a
x_odd.__annotations__, x_odd.__kwdefaults__ = Answers(), Answers(b=2)
x_odd.__defaults__ = Pair((1,))
x_odd.__name__ = Fill("x_odd")
Color = enum.Enum("Color", "RED GREEN")
x_enum = Color.RED
for cls in later:
    for name, entry in body.items():
        setattr(cls, name, entry)
x_liar = type("DataFrame", (), {{"__module__": "pandas", "shape": property(spying("liar"))}})()
x_shown = 0
is_armed.append(1)
"""
EXPRESSIONS = (
    *("x_plain.shape", "x_plain.nothing", "x_plain['k']", "x_dict['k']", "x_dict['none']"),
    *("x_default['none']", "x_list[0]", "x_holder.kept", "x_holder.size", "x_holder.table.a"),
    *("x_holder.nothing", "x_slots.a", "x_str[0]", "x_table.o", "x_table['o']", "x_own_frame.a"),
    *("x_frame.audit", "x_frame.a.audit", "x_frame.grown"),
    *("x_own_frame.shape", "x_meta_class.nothing", "x_listed[0]", "x_keyed['k']", "x_enum.value"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("looking")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[FreshKernel]:
    with start_kernel(cwd=str(folder)) as started:
        run(started, SPIES.replace("TOLD", repr(str(folder / "told"))))
        yield started


def run(kernel: FreshKernel, code: str) -> None:
    running = kernel.execute(CellRequest("c", code), Stop(), lambda output: output)
    error = None
    while error is None:
        try:
            next(running)
        except StopIteration as ended:
            error = ended.value.error or ""
    assert not error, error


def names(kernel: FreshKernel) -> list[str]:
    return [row["name"] for row in kernel.probe("list_variables", {"pattern": "x_*"})]


def test_the_spies_tell_when_they_are_asked(kernel: FreshKernel, folder: Path) -> None:
    code = "for spy in (lambda: repr(x_plain), lambda: x_holder.kept, lambda: str(x_meta_class)):\n"
    code += "    try: spy()\n    except RuntimeError: pass"
    run(kernel, code)
    told = (folder / "told").read_text().split("\n")
    assert {"repr", "kept", "meta repr"} & set(told)
    (folder / "told").unlink()


def test_listing_variables_runs_nothing(kernel: FreshKernel, folder: Path) -> None:
    rows = {row["name"]: row for row in kernel.probe("list_variables", {"pattern": "x_*"})}
    assert not (folder / "told").exists(), (folder / "told").read_text()
    assert len(rows) > 30
    assert rows["x_plain"] == {"name": "x_plain", "type": "Own", "text": "<Own object>"}
    assert rows["x_holder"]["text"].startswith(
        "Holder(size=3, table=<DataFrame 2 rows x 2 columns>"
    )
    assert rows["x_own_frame"]["text"] == "2 rows x 1 columns"
    assert rows["x_int"]["text"] == "Own(3)"
    assert rows["x_enum"]["text"].startswith("Color(")


def test_inspecting_each_variable_runs_nothing(kernel: FreshKernel, folder: Path) -> None:
    for name in names(kernel):
        text = kernel.probe("inspect_variable", {"name": name})
        assert text
        assert not (folder / "told").exists(), f"{name}: {(folder / 'told').read_text()}"
        json.dumps(text)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_inspecting_a_part_runs_nothing(kernel: FreshKernel, folder: Path, expression: str) -> None:
    answer: Any = None
    try:
        answer = kernel.probe("inspect_variable", {"name": expression})
    except Exception as error:
        answer = str(error)
    assert not (folder / "told").exists(), f"{expression}: {(folder / 'told').read_text()}"
    assert answer


def test_parts_that_lie_there_are_read_and_others_refused(kernel: FreshKernel) -> None:
    assert kernel.probe("inspect_variable", {"name": "x_holder.size"}) == "int: 3"
    assert "Series 2 values" in kernel.probe("inspect_variable", {"name": "x_holder.table.a"})
    assert kernel.probe("inspect_variable", {"name": "x_dict['k']"}) == "int: 2"
    for name in ("x_holder.kept", "x_frame.audit", "x_frame.a.audit", "x_frame.grown"):
        with pytest.raises(Exception, match="cannot be read without running code"):
            kernel.probe("inspect_variable", {"name": name})
    for name in ("x_frame.shape", "x_frame.plot", "x_frame.style", "x_frame.T", "x_array.T"):
        assert kernel.probe("inspect_variable", {"name": name})


KEY = "_trait_values['kernel']._trait_values['session']._trait_values['key']"


@pytest.mark.parametrize(
    "expression",
    [
        *(f"get_ipython.__self__.{KEY}", f"shell.{KEY}", f"names['get_ipython'].__self__.{KEY}"),
        *("shell", "shell._trait_values", "get_ipython", "get_ipython.__func__", "In", "exit"),
        *("spying.__globals__", "spying.__globals__['get_ipython']", "sys.modules['os']"),
    ],
)
def test_of_the_kernel_itself_nothing_is_told(
    kernel: FreshKernel, folder: Path, expression: str
) -> None:
    run(
        kernel,
        "import sys\nshell, names = get_ipython(), globals()\n"
        f"with open({str(folder / 'key')!r}, 'w') as file:\n"
        "    file.write(shell.kernel.session.key.decode())",
    )
    key = (folder / "key").read_text()
    if expression == "shell":
        assert "ZMQInteractiveShell" in kernel.probe("inspect_variable", {"name": "shell"})
        assert key not in kernel.probe("inspect_variable", {"name": "shell"})
        return
    with pytest.raises(Exception, match="person|no '_trait_values'") as refused:
        kernel.probe("inspect_variable", {"name": expression})
    assert key not in str(refused.value)


def test_a_name_of_ipython_that_the_person_gave_a_meaning_is_theirs(kernel: FreshKernel) -> None:
    run(kernel, "In = 3")
    assert kernel.probe("inspect_variable", {"name": "In"}) == "int: 3"


@pytest.mark.parametrize("base", ["Exception", "SyntaxError"])
def test_the_last_error_is_told_without_asking_it(
    kernel: FreshKernel, folder: Path, base: str
) -> None:
    code = (
        f"class Told({base}):\n    filename = __class__ = property(spying('part of an error'))\n"
        "    __getattribute__ = spying('attribute of an error')\n"
        "    __str__ = spying('str of an error')\n"
        "    __repr__ = spying('repr of an error')\n"
        "import sys; sys.last_value = Told('what was given')"
    )
    run(kernel, code)
    found = kernel.probe("last_error", {})
    assert not (folder / "told").exists()
    assert found is None or "what was given" in found["text"]
