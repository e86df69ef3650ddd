"""Short texts for live objects."""

from __future__ import annotations

import math
import os
import re
import sys
import time
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from cellwright.kernels import probe
from cellwright.kernels.inspection import describe, headline, safe_repr

mpl.use("agg")


def tokens(text: str) -> int:
    """About what a byte-pair tokenizer makes of it: short words, three digits, single signs."""
    return len(re.findall(r"[A-Za-z]{1,7}|\d{1,3}|[^\w\s]|_", text))


def wide_table(rows: int = 320) -> pd.DataFrame:
    random = np.random.default_rng(0)
    table: dict[str, Any] = {f"value{n}": random.normal(size=rows) for n in range(6)}
    table |= {f"count{n}": random.integers(0, 1000, rows) for n in range(3)}
    table |= {f"kind{n}": random.choice(["alpha", "beta", "gamma"], rows) for n in range(5)}
    table |= {"date": pd.date_range("2024-01-01", periods=rows), "flag": random.random(rows) > 0.5}
    return pd.DataFrame(table)


def test_a_table_of_sixteen_columns_takes_two_hundred_tokens() -> None:
    """K25. OpenAI's o200k tokenizer makes 195 of it, the rule here 185."""
    frame = wide_table()
    assert frame.shape == (320, 16)
    assert tokens(describe(frame)) <= 190
    assert len(describe(frame)) <= 480


def test_columns_of_a_wide_table_tell_their_ranges_alone() -> None:
    lines = describe(wide_table()).splitlines()
    assert lines[1] == "(min..max; unique: most frequent)"
    assert re.fullmatch(r"value0 float -\d\.\d+\.\.\d\.\d+", lines[2])
    assert "date date 2024-01-01..2024-11-15" in lines


def test_times_of_day_are_told_of_a_single_day() -> None:
    hours = pd.date_range("2024-01-01 06:30", periods=40, freq="h").to_frame(name="at")
    assert describe(hours[:3]).endswith("at date 2024-01-01 06:30:00..2024-01-01 08:30:00")
    assert describe(hours).endswith("at date 2024-01-01..2024-01-02")


def test_a_table_is_told_by_its_columns() -> None:
    frame = pd.DataFrame(
        {
            "price": [1.5, None, 99.25],
            "region": ["North", "South", "North"],
            "day": pd.to_datetime(pd.Series(["2024-01-01", "2024-01-03", None])),
            "id": [1, 2, 3],
            "empty": [None, None, None],
        }
    )
    assert describe(frame).splitlines() == [
        "DataFrame 3 rows x 5 columns",
        "(numbers: min/median/max; text: unique values: most frequent)",
        "price float NA=1 1.5/50.38/99.25",
        "region str 2: North, South",
        "day date NA=1 2024-01-01..2024-01-03",
        "id int 1/2/3",
        "empty object NA=3",
    ]


def test_an_index_that_says_something_is_told() -> None:
    index = pd.Index(["a", "b"], name="key")
    assert describe(pd.DataFrame({"x": [1, 2]}, index=index)).startswith(
        "DataFrame 2 rows x 1 columns, index key a..b"
    )
    empty = pd.DataFrame({"x": []}, index=pd.Index([], dtype=object))
    assert describe(empty).startswith("DataFrame 0 rows x 1 columns, index Index")


def test_columns_of_odd_values_are_told_without_fuss() -> None:
    frame = pd.DataFrame(
        {
            "lists": [[1], [2]],
            "ids": ["a1", "a2"],
            "kinds": pd.Categorical(["x", "y"]),
            "waits": pd.to_timedelta(["1h", "2h"]),
        }
    )
    frame["many"] = [f"name {n}" for n in range(2)]
    lines = describe(frame).splitlines()[2:]
    assert lines[0] == "lists object [1]"
    assert lines[2] == "kinds category 2: x, y"
    assert lines[3].startswith("waits timedelta64 0 days 01:00:00..0 days 02:00:00")
    long = pd.DataFrame({"name": [f"name {n}" for n in range(30)]})
    assert "name str all different: name 0, …" in describe(long)


def test_a_subclass_of_a_table_is_told_by_what_its_parent_knows() -> None:
    class Odd(pd.Series):
        def isna(self) -> Any:
            raise RuntimeError("no")

    class Own(pd.DataFrame):
        @property
        def shape(self) -> Any:
            raise RuntimeError("no")

    assert describe(Odd([1, 2])).splitlines() == ["Series 2 values, int64", "int 1/1.5/2"]
    assert headline(Own({"a": [1, 2]})) == "2 rows x 1 columns"


def test_a_named_column_tells_its_name() -> None:
    series = pd.Series([1, 2], name="n")
    assert describe(series).splitlines() == ["Series 2 values, int64, name 'n'", "int 1/1.5/2"]


def test_very_wide_tables_name_the_columns_that_are_left_out() -> None:
    frame = pd.DataFrame(np.zeros((2, 90)), columns=[f"c{n}" for n in range(90)])
    last = describe(frame).splitlines()[-1]
    assert last.startswith("30 more columns: c60, c61")
    assert tokens(describe(frame)) < 1_000


def test_huge_tables_and_arrays_are_sampled_and_never_slow() -> None:
    frame = pd.DataFrame(np.zeros((1_000_000, 20)))
    frame["text"] = "x"
    started = time.monotonic()
    text = describe(frame)
    assert time.monotonic() - started < 1
    assert "ranges from every 52th row" in text
    assert "of every 22th value" in describe(np.zeros((3000, 3000)))


def test_arrays_are_told_by_shape_and_range() -> None:
    array = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert describe(array).splitlines() == [
        "ndarray shape (2, 2), float64",
        "min 1, mean 2.667, max 4, NaN 1",
        "first: 1, nan, 3, 4",
    ]
    assert describe(np.array([[1, 2], [3, 4]]).T).splitlines()[1] == "min 1, mean 2.5, max 4"
    assert "'a', 'b'" in describe(np.array(["a", "b"]))
    assert describe(np.array([np.nan])).splitlines()[1] == "first: nan"
    assert headline(array) == "shape (2, 2), float64"


def test_containers_are_told_by_length_and_first_items() -> None:
    mapping: dict[str, Any] = {f"k{n}": n for n in range(14)}
    assert describe(mapping).splitlines()[:2] == ["dict of 14", "'k0': int 0"]
    assert describe(mapping).splitlines()[-1] == "… 2 more"
    assert describe([1, 2.5, "x"]).splitlines() == [
        "list of 3 (float x 1, int x 1, str x 1)",
        "- 1",
        "- 2.5",
        "- 'x'",
    ]
    assert describe(list(range(10))).splitlines()[-1] == "… 4 more"
    assert headline(list(range(10))) == "10 items"
    assert headline([1, "a"]) == "[1, 'a']"


def test_a_container_of_tables_does_not_print_the_tables() -> None:
    assert headline({"t": wide_table()}) == "dict of 1: 't': <DataFrame 320 rows x 16 columns>"
    assert safe_repr({"a": [[1, [2, [3, [4]]]]]}, 40).startswith("dict of 1: 'a': list")
    assert safe_repr(list(range(100))).startswith("list of 100: 0, 1, 2")


def test_a_container_that_contains_itself_is_no_trap() -> None:
    endless: list[Any] = []
    endless.append(endless)
    endless.append(endless)
    assert "list of 2" in describe(endless)


def test_functions_show_their_signature() -> None:
    def half(value: float, *, exact: bool = False) -> float:
        """Half of it."""
        return value / 2

    assert headline(half) == "half(value: 'float', *, exact: 'bool' = False) -> 'float'"
    assert describe(half).splitlines()[-1] == "Half of it."
    half.__doc__ = None
    assert describe(half).splitlines()[-1].startswith("half(")
    assert headline(dict) == "dict"


def test_texts_tell_their_length() -> None:
    assert describe("x" * 3000).startswith("str of 3000 characters: 'xxx")
    assert len(describe("x" * 3000)) < 1_100
    assert describe(b"ab") == "bytes of 2 characters: b'ab'"
    assert headline("a\nb") == "'a\\nb'"


def test_a_figure_is_told_by_its_axes() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2])
    axes.set_title("Sales")
    figure.add_axes((0, 0, 0.1, 0.1))
    assert describe(figure).splitlines() == [
        "Figure with 2 axes",
        "title 'Sales', x '', y '': 1 lines",
        "title '', x '', y '': empty",
    ]


class Raises:
    """Everything about it raises."""

    def __repr__(self) -> str:
        raise ValueError("no repr")

    @property
    def shape(self) -> Any:
        raise ValueError("no shape")


def test_a_raising_repr_is_told_and_breaks_nothing() -> None:
    """K23."""
    assert describe(Raises()) == "Raises: <Raises object>"
    assert headline(Raises()) == "<Raises object>"
    assert safe_repr([Raises()]) == "list of 1: <Raises object>"


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Makes an object of a library that is not installed here."""

    def make(name: str, module: str, **members: Any) -> Any:
        cls = type(name, (), {"__module__": module, **members})
        stands_for = types.ModuleType(module)
        setattr(stands_for, name, cls)
        monkeypatch.setitem(sys.modules, module, stands_for)
        return cls()

    return make


def test_an_object_that_only_claims_to_be_of_a_library_is_none_of_its() -> None:
    liar = type("DataFrame", (), {"__module__": "pandas", "shape": (1, 2)})()
    assert headline(liar) == "<DataFrame object>"


def test_objects_of_libraries_that_are_not_here_are_known_by_name(
    named: Callable[..., Any],
) -> None:
    tensor = named("Tensor", "torch", shape=(2, 3), dtype="float32")
    assert headline(tensor) == "shape (2, 3), float32"
    broken = named("Tensor", "torch", shape=None, dtype="float32")
    assert headline(broken).startswith("(cannot be looked at: TypeError")
    geo = named("GeoDataFrame", "geopandas", shape=(2, 3))
    assert headline(geo) == "2 rows x 3 columns"


class Column:
    """A polars column, as far as it is asked."""

    def __init__(self, dtype: str, values: list[Any]) -> None:
        self.dtype, self.values = dtype, [v for v in values if v is not None]
        self.length = len(values)

    def __len__(self) -> int:
        return self.length

    def gather_every(self, step: int) -> Column:
        return self

    def null_count(self) -> int:
        return self.length - len(self.values)

    def min(self) -> Any:
        return min(self.values)

    def max(self) -> Any:
        return max(self.values)

    def median(self) -> Any:
        return sorted(self.values)[len(self.values) // 2]

    def to_list(self) -> list[Any]:
        return self.values


def polars_table(named: Callable[..., Any], shape: Any, columns: dict[str, Any]) -> Any:
    return named(
        "DataFrame",
        "polars.dataframe.frame",
        shape=shape,
        columns=list(columns),
        get_column=staticmethod(columns.__getitem__),
    )


def test_polars_tables_are_told_too(named: Callable[..., Any]) -> None:
    columns = {"n": Column("Int64", [1, 2, None]), "s": Column("String", ["a", "a", "b"])}
    frame = polars_table(named, (3, 2), columns)
    assert headline(frame) == "3 rows x 2 columns"
    assert describe(frame).splitlines() == [
        "polars DataFrame 3 rows x 2 columns",
        "n Int64 NA=1 1/2/2",
        "s str 2: a, b",
    ]


@pytest.mark.parametrize("value", [None, True, 3, 2.5, 1 + 2j, ..., range(3), pd.NaT])
def test_plain_values_are_their_repr(value: object) -> None:
    assert headline(value) == repr(value)
    assert describe(value) == f"{type(value).__name__}: {value!r}"


class SlowColumn(Column):
    """Takes longer than all columns together may."""

    def min(self) -> Any:
        time.sleep(0.25)
        return super().min()


def test_looking_stops_when_the_time_is_up(named: Callable[..., Any]) -> None:
    columns = {"slow": SlowColumn("Int64", [1]), "next": Column("Int64", [2])}
    frame = polars_table(named, (1, 2), columns)
    assert describe(frame).splitlines()[1:] == ["slow Int64 1/1/1", "next Int64"]


def test_what_lies_in_a_module_can_be_looked_at() -> None:
    shell = SimpleNamespace(user_ns={"math": math, "os": os}, user_ns_hidden={})
    assert "3.14159" in probe.inspect_variable(shell, "math.pi")
    told = probe.inspect_variable(shell, "os.environ")
    assert "PATH" in told
    assert os.environ["PATH"] not in told


@pytest.mark.parametrize(
    "name", ["os.environ", "os.environb", "os.environ._data", "system.environ"]
)
def test_values_of_the_environment_are_told_by_no_way(name: str) -> None:
    system = sys.modules[os.name]
    shell = SimpleNamespace(user_ns={"os": os, "system": system}, user_ns_hidden={})
    told = probe.inspect_variable(shell, name)
    assert "PATH" in told
    assert os.environ["PATH"] not in told
    for key in ("'PATH'", "b'PATH'"):
        with pytest.raises(probe.ProbeError, match="the person's keys"):
            probe.inspect_variable(shell, f"{name}[{key}]")


def looked_at(name: str, **values: Any) -> str:
    shell = SimpleNamespace(user_ns=values, user_ns_hidden={})
    return str(probe.inspect_variable(shell, name))


class Slotted:
    __slots__ = ("empty", "kept")

    def __init__(self) -> None:
        self.kept = 7


class Asked:
    there = 5

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("this code must not run")

    @property
    def computed(self) -> Any:
        raise AssertionError("this code must not run")

    def method(self) -> None: ...


class Missing(dict[str, int]):
    def __missing__(self, key: str) -> int:
        raise AssertionError("this code must not run")


class Listed(list[int]):
    def __getitem__(self, place: Any) -> Any:
        raise AssertionError("this code must not run")


class Items:
    def __getitem__(self, key: str) -> Any:
        raise AssertionError("this code must not run")


class Unlike:
    """A key that would compare itself."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("this code must not run")

    def __hash__(self) -> int:
        return hash("a")


def test_parts_are_read_past_the_code_of_their_classes() -> None:
    frame = pd.DataFrame(
        {"price": [1.5, 2.5], "when": pd.to_datetime(["2025-01-01"] * 2, utc=True)}
    )
    values = {
        "df": frame, "asked": Asked(), "slotted": Slotted(), "day": pd.Timestamp("2025-01-01"),
        "missing": Missing(a=3), "listed": Listed([4]), "odd": {Unlike(): 1, "b": 2}, "kind": Asked,
        "sparse": pd.Series(pd.arrays.SparseArray([0, 1])), "number": np.int64(8), "pair": (1, [2]),
    }  # fmt: skip
    for name, told in {
        "df.price": "Series",
        "df['price']": "Series",
        "df.shape": "tuple of 2",
        "df.index": "RangeIndex",
        "df.when": "datetime64",
        "asked.there": "5",
        "asked.method": "method(self)",
        "slotted.kept": "7",
        "day.year": "2025",
        "missing['a']": "3",
        "listed[0]": "4",
        "odd['b']": "2",
        "kind.there": "5",
        "sparse": "Sparse",
        "number.real": "8",
        "pair[1][0]": "2",
    }.items():
        assert told in looked_at(name, **values), name
    for name, why in {
        "asked.computed": "is computed by",
        "asked.gone": "has a __getattr__",
        "slotted.empty": "is computed by",
        "slotted.gone": "has no 'gone'",
        "missing['b']": "there is no",
        "odd['a']": "there is no",
        "items['a']": "a __getitem__ of its own",
        "asked.method.__globals__": "is no variable of the person's",
        "modules['os']": "is no variable of the person's",
        "module.gone": "has no 'gone'",
        "asked +": "is not a name",
        "asked.method()": "is not a name",
        "nothing": "there is no",
    }.items():
        with pytest.raises(probe.ProbeError, match=re.escape(why)):
            looked_at(name, **values, items=Items(), modules=sys.modules, module=math)


def test_what_was_put_on_tables_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: Any) -> Any:
        raise AssertionError("this code must not run")

    monkeypatch.setattr(pd.DataFrame, "grown", property(read), raising=False)
    frame = pd.DataFrame({"price": [1]})
    with pytest.raises(probe.ProbeError, match="was put on DataFrame"):
        looked_at("df.grown", df=frame)
    labelled = pd.DataFrame([[1]], columns=pd.Index([Unlike()], dtype=object))
    with pytest.raises(probe.ProbeError, match="without running code"):
        looked_at("df['a']", df=labelled)


def test_a_name_that_ipython_put_there_is_no_variable() -> None:
    shell = SimpleNamespace(user_ns={"_oh": {1: 2}, "x": 1}, user_ns_hidden={})
    shell.user_ns_hidden["_oh"] = shell.user_ns["_oh"]
    with pytest.raises(probe.ProbeError, match="is no variable of the person's"):
        probe.inspect_variable(shell, "_oh[1]")
    shell.user_ns["_oh"] = {1: 3}  # theirs now
    assert "3" in probe.inspect_variable(shell, "_oh[1]")
