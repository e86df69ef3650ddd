"""A figure of matplotlib out of the agent's kernel, read where no code of the agent's has run.

This source is sent to the clean kernel. A pickle may call whatever it names, so this one may name
classes of matplotlib and what arrays are made of, and nothing else; and what it sets may not stand
in the place of a method. What a figure says of itself then comes from matplotlib's own code.
"""

from __future__ import annotations

import io
import pickle
import types
from typing import Any

LIBRARIES = ("matplotlib", "mpl_toolkits", "cycler")
TIMES = tuple(f"pandas._libs.tslibs.{name}" for name in ("offsets", "period", "timestamps"))
PANDAS = (*TIMES, "pandas.plotting._matplotlib.converter")
"""Modules of pandas whose classes an axis with times has."""
CORES = ("core", "_core")
LEFT_OUT = ("backends", "testing", "animation", "texmanager", "dviread", "sphinxext")
"""Parts of matplotlib whose objects open files or start programs."""
OTHERS = {
    *(("builtins", name) for name in ("set", "frozenset", "slice", "range", "complex", "object")),
    *(("collections", name) for name in ("OrderedDict", "defaultdict", "deque", "Counter")),
    *(("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")),
    *(("copyreg", name) for name in ("_reconstructor",)),
    *(("functools", name) for name in ("partial",)),
    *(("itertools", name) for name in ("count", "cycle")),
    *(("matplotlib.cbook", name) for name in ("_picklable_class_constructor",)),
    *(("matplotlib.cbook", name) for name in ("_exception_printer",)),
    *(("matplotlib.backend_bases", name) for name in ("_key_handler", "_mouse_handler")),
    *(("matplotlib.axis", name) for name in ("Axis._format_with_dict",)),
    *(("seaborn.categorical", name) for name in ("BoxPlotContainer",)),
    *(("pandas._libs.tslibs.period", name) for name in ("_unpickle_period",)),
    *((PANDAS[-1], f"_{span}_finder") for span in ("daily", "monthly", "quarterly", "annual")),
    *(("matplotlib.artist", name) for name in ("_stale_axes_callback",)),
    *(("matplotlib.colorbar", name) for name in ("_remove_cbar_axes",)),
    *(("matplotlib.figure", name) for name in ("_stale_figure_callback",)),
    *(("numpy", name) for name in ("ndarray", "dtype", "average", "sum", "mean")),
    *((f"numpy.{core}.multiarray", name) for core in CORES for name in ("_reconstruct", "scalar")),
    *((f"numpy.{core}.numeric", name) for core in CORES for name in ("_frombuffer",)),
    *(("numpy.ma", name) for name in ("MaskedArray",)),
    *(("numpy.ma.core", name) for name in ("MaskedArray", "_mareconstruct", "MaskedConstant")),
}
"""What else a figure is made of."""


REPLACED = ("cla", "format_coord")
"""Methods that colour bars and pandas replace; neither says what is drawn."""


Unpickler: Any = vars(pickle)["_Unpickler"]
"""The one that is written in Python: each of its steps can be looked at."""


class Table:
    """Stands for what pandas keeps of its tables in an axes that it has drawn into."""

    def __new__(cls, *given: Any) -> Table:
        """Of nothing that it is given."""
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        """Nothing is kept."""


class FigureReader(Unpickler):  # type: ignore[misc]  # Python says nothing of its type
    """Reads a pickled figure, and looks at each step."""

    dispatch = dict(Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        """A class that a figure may have.

        Raises:
            UnpicklingError: It is something else.
        """
        if (module, name) == ("builtins", "getattr"):
            return get_method
        package = module.partition(".")[0]
        if (module, name) in OTHERS or package in LIBRARIES or module in PANDAS:
            found = super().find_class(module, name)
            if (module, name) in OTHERS or (isinstance(found, type) and _is_of_figures(found)):
                return found
        elif package == "pandas":
            return Table
        raise pickle.UnpicklingError(f"a figure holds no {module}.{name}")

    def load_reduce(self) -> None:
        """Call a class; nothing else is called."""
        function = self.stack[-2]
        is_known = isinstance(function, type) or function is get_method
        named = getattr(function, "__module__", ""), getattr(function, "__name__", "")
        if not is_known and named not in OTHERS:
            raise pickle.UnpicklingError(f"a figure calls no {type(function).__name__}")
        super().load_reduce()

    dispatch[pickle.REDUCE[0]] = load_reduce

    def load_build(self) -> None:
        """Set what an object holds."""
        state, kind = self.stack[-1], type(self.stack[-2])
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in part.items() if isinstance(part, dict) else ():
                # Transforms have methods of another one in the place of their own.
                is_same = isinstance(value, types.MethodType) and value.__name__ == name
                is_method = name not in REPLACED and callable(getattr(kind, str(name), None))
                if is_method and not is_same:
                    raise pickle.UnpicklingError(f"{kind.__name__}.{name} is a method")
        super().load_build()

    dispatch[pickle.BUILD[0]] = load_build


def _is_of_figures(kind: type) -> bool:
    package, _, rest = kind.__module__.partition(".")
    is_plain = rest.partition(".")[0] not in LEFT_OUT
    return kind.__module__ in PANDAS or (package in LIBRARIES and is_plain)


def get_method(value: Any, name: str) -> Any:
    """A method of an object of matplotlib."""
    is_own = type(value).__module__.partition(".")[0] in LIBRARIES and not name.startswith("__")
    if not is_own and (type(value), name) != (list, "remove"):
        raise pickle.UnpicklingError(f"a figure holds no {name!r} of a {type(value).__name__}")
    return getattr(value, name)


def read_figure(data: bytes) -> Any:
    """The figure; it is pyplot's current one, where it was.

    Raises:
        UnpicklingError: It holds what no figure holds.
    """
    return FigureReader(io.BytesIO(data)).load()
