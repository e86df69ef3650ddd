"""Signs in code that it does more than compute: deletes, installs, sends, touches guarded files.

What deletes and installs is looked for in the syntax tree (``python_risks``), the rest, and what
is no Python, by patterns in the text. Signs can be hidden and they can be wrong, so they only
ever raise what is asked about, never lower it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from cellwright.agent.command_risks import (
    DELETES_FILES,
    HIDDEN,
    INSTALLS,
    MOVES_FILES,
    OTHER_LANGUAGES,
    PACKAGE_MAGICS,
    RUNS_DOWNLOADS,
    UNKNOWN,
    CodeRisk,
    read_commands,
)
from cellwright.kernels.cell_syntax import as_python, without_texts

# What a cell's syntax tree refers to, whatever it is called there: what deletes and installs.
#
# Names are followed through imports, assignments, loops, ``getattr`` and dictionaries of modules,
# in the cell alone and without the order of its lines: a name stands for all it was ever given.
# To refer to a function is a sign already, since a later cell may call it by its new name.
#
# What this does not see: variables of earlier cells that are not called what they are (a path
# named ``x``), modules and files that the cell imports or runs, what a library deletes of itself,
# files that are overwritten as they are opened for writing.


NAMES_A_MODULE = CodeRisk("destroy", "gives a module that deletes another name")
DEPTH_LIMIT = 4
"""Code in code in code."""
VALUES = 8
"""So many values of a name are followed."""
GROWTH = 12
"""So many pieces are put behind the first one of a value that grows."""
ROUNDS = 6
SAME = {"posix": "os", "nt": "os", "posixpath": "os.path", "ntpath": "os.path"}
MODULES = frozenset(
    {"os", "shutil", "subprocess", "pathlib", "sys", "importlib", "pip", "builtins", "runpy"}
    | {"asyncio", "functools", "operator", "pty", "ctypes", "micropip", "ensurepip", "shlex"}
)
"""Names that mean these modules where the cell gives them nothing else: earlier cells import."""
STRANGE_TO_RENAME = frozenset({"os", "builtins", "pip"})
BUILTINS = frozenset(
    {"__import__", "compile", "eval", "exec", "getattr", "globals", "locals", "vars"}
)
UNIMPORTED = {"Path": "pathlib.Path", "__builtins__": "builtins"}
PATH, PATHS = "pathlib.Path()", "pathlib.Path[]"
SHELL_CALL = "get_ipython()"
REFERENCES: Mapping[str, CodeRisk] = {
    **dict.fromkeys(
        (f"os.{name}" for name in ("remove", "unlink", "rmdir", "removedirs", "truncate")),
        DELETES_FILES,
    ),
    **dict.fromkeys(("os.rename", "os.renames", "os.replace", "shutil.move"), MOVES_FILES),
    **dict.fromkeys(("shutil.rmtree", "send2trash.send2trash"), DELETES_FILES),
    **dict.fromkeys(
        (f"{kind}.{name}" for kind in ("pathlib.Path", PATH) for name in ("rename", "replace")),
        MOVES_FILES,
    ),
    **dict.fromkeys((f"{PATH}.move", f"{PATH}.move_into"), MOVES_FILES),
    **dict.fromkeys(
        (f"ctypes.CDLL().{name}" for name in ("remove", "rename", "system", "truncate")),
        DELETES_FILES,
    ),
    **dict.fromkeys(
        ("pip.main", "micropip.install", "piplite.install", "spacy.cli.download"), INSTALLS
    ),
    **dict.fromkeys(("conda.cli.main", "sh.pip", "sh.conda"), INSTALLS),
    **dict.fromkeys(("sh.rm", "sh.rmdir", "sh.mv"), DELETES_FILES),
}
ROOMS: Mapping[str, CodeRisk] = {
    "pip._internal": INSTALLS,
    "ensurepip": INSTALLS,
    "conda.cli.python_api": INSTALLS,
}
"""Modules of which every part is a sign."""
DISTINCTIVE = frozenset(
    {"rmtree", "unlink", "rmdir", "removedirs", "remove_tree", "rm_rf", "rm", "rm_file"}
    | {"delete_object", "delete_objects", "delete_bucket", "delete_blob", "delete_file"}
    | {"delete_dir", "delete_dir_contents"}
)
"""Methods and functions that delete files, whosever they are."""
UNDER_A_MODULE = frozenset({"remove", "rename", "replace", "system", "popen", "main"})
"""What of a module that nobody knows is taken for the worst."""
COMMANDS = frozenset(
    {"os.system", "os.popen", "pty.spawn", "asyncio.create_subprocess_shell", "pexpect.run"}
    | {
        "pexpect.spawn",
        f"{SHELL_CALL}.system",
        f"{SHELL_CALL}.getoutput",
        f"{SHELL_CALL}.system_raw",
    }
    | {f"{SHELL_CALL}.system_piped", f"{SHELL_CALL}.getoutputs"}
    | {
        f"subprocess.{name}"
        for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput")
    }
    | {"subprocess.getstatusoutput"}
)
PROGRAMS = re.compile(
    r"os\.(?:exec[lv]\w*|spawn[lv]\w*|posix_spawnp?)|asyncio\.create_subprocess_exec"
)
READS_CODE = frozenset({"builtins.exec", "builtins.eval", "builtins.compile"})
IMPORTS = frozenset({"builtins.__import__", "importlib.import_module", "importlib.__import__"})
RUNS_MODULES = frozenset({"runpy.run_module", "runpy._run_module_as_main"})
SHELL_MAGICS = frozenset({"sx", "system", "!", "bash", "sh", "cmd", "zsh", "ksh", "fish"})
DELETING_MAGICS = frozenset({"rm", "rmdir", "mv", "ren"})
OTHER_TEXTS = frozenset(
    {"writefile", "file", "html", "HTML", "svg", "SVG", "markdown", "latex", "javascript", "js"}
)
"""Cell magics whose text nothing runs in the kernel."""
CODE_MAGICS = frozenset({"capture", "prun", "time", "timeit"})
"""Magics whose text is Python, and is run."""
ALWAYS_MAGICS = DELETING_MAGICS | PACKAGE_MAGICS
"""Names that stand for the magic even where what follows makes Python of it: ``rm -f``."""
AUTOMAGIC = re.compile(
    rf"\s*({'|'.join(sorted(ALWAYS_MAGICS | CODE_MAGICS | SHELL_MAGICS))}|sc|alias|alias_magic)"
    r"(?![\w.])(?![ \t]*[=,])[ \t]*(\S[^\n]*)\s*"
)
INTERPOLATED = re.compile(r"\{([^{}]{1,400})\}")
HELD = re.compile(r"\{[^{}]*\}|\$\{?\w+\}?")
PATH_NAME = re.compile(r"(?:^|_)(?:path|file|filename|filepath|folder|directory|dir)s?\d*$")
PATH_METHODS = frozenset(
    {"absolute", "expanduser", "joinpath", "relative_to", "resolve", "with_name", "with_stem"}
    | {"with_suffix", "copy", "rename", "replace", "readlink", "parent", "cwd", "home"}
)
PATH_LISTS = frozenset({"glob", "rglob", "iterdir", "parents"})
LISTS = frozenset({"list", "sorted", "tuple", "set", "reversed", "iter", "next"})
SUSPECT = re.compile(
    r"\b(?:os|shutil|pathlib|subprocess|pip|exec|eval|getattr|__import__|importlib|runpy|ensurepip"
    rf"|get_ipython|{'|'.join(sorted(DISTINCTIVE | DELETING_MAGICS))})\b|^[ \t]*%|!(?!=)",
    re.MULTILINE,
)


def python_risks(cell: str, depth: int = 0) -> tuple[CodeRisk, ...]:
    """The signs in a cell, each once.

    Args:
        cell: As IPython is given it.
        depth: How many other codes it is in.
    """
    if depth > DEPTH_LIMIT:
        return (HIDDEN,)
    found: dict[CodeRisk, None] = {}
    try:
        trees = _read(cell)
        for tree in trees:
            found.update(dict.fromkeys(_CodeReader(tree, depth).signs()))
        # What is wrong here may be right in the kernel, whose Python is another one.
        if not trees and SUSPECT.search(without_texts(as_python(cell))):
            found[HIDDEN] = None
    except RecursionError:
        found[HIDDEN] = None
    return tuple(found)


def _read(cell: str) -> list[ast.Module]:
    """What IPython may take a cell for; empty: for nothing that can be read here."""
    text = as_python(cell)
    tree = _parsed(cell) or _parsed(text)
    found = [tree] if tree is not None else []
    # In a cell of one line IPython takes a magic without its percent sign.
    words = AUTOMAGIC.fullmatch(text)
    if words is not None and (
        tree is None or words[1] in ALWAYS_MAGICS and words[2][0] not in "(["
    ):
        magic = _parsed(f"get_ipython().run_line_magic({words[1]!r}, {words[2]!r})")
        found += [magic] if magic is not None else []
    return found


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError):
        return None


OF_INTEREST = (
    *(ast.Import, ast.ImportFrom, ast.Call, ast.Name, ast.Attribute, ast.Subscript),
    *(
        ast.Assign,
        ast.AugAssign,
        ast.AnnAssign,
        ast.NamedExpr,
        ast.For,
        ast.AsyncFor,
        ast.comprehension,
    ),
    *(ast.withitem, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
)
"""Nodes that give names a meaning, or may be signs: of long code they are a third."""


class _CodeReader:
    """Reads one tree."""

    def __init__(self, tree: ast.Module, depth: int) -> None:
        self._nodes = [node for node in ast.walk(tree) if isinstance(node, OF_INTEREST)]
        self._depth = depth
        self._bound: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._given: dict[str, list[ast.expr]] = {}
        self._looped: dict[str, list[ast.expr]] = {}
        self._known: dict[int, frozenset[str]] = {}
        for node in self._nodes:
            self._bind(node)
        self._follow()

    def signs(self) -> Iterator[CodeRisk]:
        """All signs, some of them more than once."""
        for node in self._nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from self._imported(node)
            elif isinstance(node, ast.Call):
                yield from self._called(node)
                yield from self._referred(node)
            elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
                yield from self._referred(node)

    # Names

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, meaning in _imports(node):
                self._bound.add(name)
                self._names.setdefault(name, set()).add(meaning)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._extend(node.target.id, node.op, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._loop(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self._define(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bound.add(target.id)
            self._given.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for one, its in zip(target.elts, value.elts, strict=True):
                    self._assign(one, its)
            else:
                self._loop(target, value)

    def _extend(self, name: str, operator: ast.operator, value: ast.expr) -> None:
        """``command += [...]``: what was written before, with this behind it."""
        before = self._given.get(name, [])
        # Each one makes two of what is followed, so only the last ones are, and not without end.
        longer = [ast.BinOp(old, operator, value) for old in before if _length(old) < GROWTH]
        self._given[name] = [*before, *longer][-VALUES:]

    def _loop(self, target: ast.expr, values: ast.expr) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self._bound.add(name.id)
                self._looped.setdefault(name.id, []).append(values)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        if not isinstance(node, ast.Lambda):
            self._bound.add(node.name)
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if default is not None:
                self._given.setdefault(argument.arg, []).append(default)

    def _follow(self) -> None:
        """Give each name what its values mean, until nothing new comes of it."""
        for _ in range(ROUNDS):
            before = {name: set(found) for name, found in self._names.items()}
            self._known.clear()
            for name, values in self._given.items():
                for value in values[:VALUES]:
                    self._names.setdefault(name, set()).update(self._meanings(value))
            for name, values in self._looped.items():
                for value in values[:VALUES]:
                    self._names.setdefault(name, set()).update(self._elements(value))
            if before == self._names:
                return

    # Meanings

    def _meanings(self, node: ast.AST) -> frozenset[str]:
        """What an expression may be, in names of modules and their parts."""
        known = self._known.get(id(node))
        if known is None:
            means = self._mean(node)
            known = frozenset(sorted(map(_same, means))[:VALUES]) if means else frozenset()
            self._known[id(node)] = known
        return known

    def _mean(self, node: ast.AST) -> Iterable[str]:
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(self._meanings(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._result(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            sides = self._meanings(node.left) | self._meanings(node.right)
            return {PATH} & sides if isinstance(node.op, ast.Div) else ()
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Starred)):
            return self._meanings(node.value)
        return self._parts(node)

    def _parts(self, node: ast.AST) -> Iterable[str]:
        """Of what is one of several, or holds them."""
        if isinstance(node, ast.IfExp):
            return self._meanings(node.body) | self._meanings(node.orelse)
        if isinstance(node, ast.BoolOp):
            return frozenset().union(*map(self._meanings, node.values))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return {PATHS} if PATH in self._meanings(node.elt) else ()
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return (
                {PATHS} if any(PATH in self._meanings(part) for part in node.elts[:SMALL]) else ()
            )
        return ()

    def _name(self, name: str) -> Iterable[str]:
        if name in self._names and self._names[name]:
            return self._names[name]
        if name in self._bound:
            return ()
        if name in BUILTINS:
            return {f"builtins.{name}"}
        if name in UNIMPORTED:
            return {UNIMPORTED[name]}
        return {name} if name in MODULES or name == "get_ipython" else ()

    def _attribute(self, bases: Iterable[str], name: str) -> set[str]:
        found = set()
        for base in bases:
            if base == PATH and name in PATH_METHODS - {"rename", "replace"}:
                found.add(f"{PATH}.{name}")
                if name == "parent":
                    found.add(PATH)
            elif name in MODULES and "(" not in base:
                found.add(name)  # a module that another one imports: pathlib.os
            else:
                found.add(f"{base}.{name}")
        return found

    def _result(self, call: ast.Call) -> set[str]:
        """What a call gives."""
        found: set[str] = set()
        if isinstance(call.func, ast.Name) and call.func.id in LISTS and call.args:
            kept = self._meanings(call.args[0]) & {PATH, PATHS}
            return {PATH} if kept and call.func.id == "next" else set(kept)
        for function in self._meanings(call.func):
            found.update(self._given_by(function, call))
        return found

    def _given_by(self, function: str, call: ast.Call) -> Iterable[str]:
        first = call.args[0] if call.args else None
        base, _, method = function.rpartition(".")
        if function in IMPORTS:
            return self._texts(first) if first is not None else ()
        if method == "__getattribute__" and first is not None:
            return {one for name in self._texts(first) for one in self._attribute([base], name)}
        if function == "builtins.getattr" and len(call.args) > 1:
            bases = self._meanings(call.args[0])
            return {
                one for name in self._texts(call.args[1]) for one in self._attribute(bases, name)
            }
        if function == "builtins.vars" and first is not None:
            return {f"{one}.__dict__" for one in self._meanings(first)}
        if function == "importlib.reload" and first is not None:
            return self._meanings(first)
        if function in ("pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"):
            return {PATH}
        if function in (
            "get_ipython",
            "IPython.get_ipython",
            "IPython.core.getipython.get_ipython",
        ):
            return {SHELL_CALL}
        if function.startswith("ctypes.") and method in ("CDLL", "PyDLL", "LoadLibrary"):
            return {"ctypes.CDLL()"}
        return _of_a_path(base, method)

    def _subscript(self, node: ast.Subscript) -> Iterable[str]:
        keys = self._texts(node.slice)
        found: set[str] = set()
        for base in self._meanings(node.value):
            if base.endswith(".__dict__"):
                found |= {f"{base.removesuffix('.__dict__')}.{key}" for key in keys}
            elif base in ("sys.modules", "builtins"):  # __builtins__ may be a dictionary
                found |= keys if base == "sys.modules" else {f"builtins.{key}" for key in keys}
            elif base == PATHS:
                found.add(PATH)
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if called is not None and self._meanings(called) & {"builtins.globals", "builtins.locals"}:
            found |= {one for key in keys for one in self._name(key)}
        return found

    def _elements(self, node: ast.AST) -> Iterable[str]:
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return frozenset().union(*map(self._meanings, node.elts[:SMALL]))
        return {PATH} if PATHS in self._meanings(node) else ()

    # Texts

    def _texts(self, node: ast.AST | None, depth: int = 0) -> set[str]:
        """What a text or a list of words may say; ``UNKNOWN`` stands for what is not known."""
        if node is None or depth > 12:
            return {UNKNOWN}
        if isinstance(node, ast.Constant):
            return {_text(node.value)}
        if isinstance(node, ast.Name):
            return self._texts_of_name(node.id, depth)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, "", depth)
        if isinstance(node, ast.FormattedValue):
            return self._texts(node.value, depth + 1)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._joined(node.elts, " ", depth)
        if isinstance(node, ast.BinOp):
            return self._combined(node, depth)
        if isinstance(node, ast.IfExp):
            return self._texts(node.body, depth + 1) | self._texts(node.orelse, depth + 1)
        if isinstance(node, ast.Call):
            return self._texts_of_call(node, depth)
        return {"python"} if "sys.executable" in self._meanings(node) else {UNKNOWN}

    def _texts_of_name(self, name: str, depth: int) -> set[str]:
        found: set[str] = set()
        for value in self._given.get(name, [])[:VALUES]:
            found |= self._texts(value, depth + 1)
        for value in self._looped.get(name, [])[:VALUES]:
            if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
                for element in value.elts[:SMALL]:
                    found |= self._texts(element, depth + 1)
            else:
                found.add(UNKNOWN)
        return found or ({"python"} if "sys.executable" in self._name(name) else {UNKNOWN})

    def _joined(self, parts: Iterable[ast.expr], between: str, depth: int) -> set[str]:
        texts = [sorted(self._texts(part, depth + 1))[:VALUES] for part in list(parts)[:SMALL]]
        if between:
            texts = [[_quoted(text) for text in options] for options in texts]
        found = set()
        for chosen in product(*texts):
            found.add(between.join(chosen))
            if len(found) >= VALUES:
                break
        return found

    def _combined(self, node: ast.BinOp, depth: int) -> set[str]:
        if isinstance(node.op, ast.Mod):
            return {re.sub(r"%\w", UNKNOWN, text) for text in self._texts(node.left, depth + 1)}
        if isinstance(node.op, ast.Add):
            lists = _is_list(node)
            sides = [sorted(self._texts(side, depth + 1))[:3] for side in (node.left, node.right)]
            return {(" " if lists else "").join(pair) for pair in product(*sides)}
        return {UNKNOWN}

    def _texts_of_call(self, node: ast.Call, depth: int) -> set[str]:
        first = node.args[0] if node.args else None
        if not isinstance(node.func, ast.Attribute):
            if isinstance(node.func, ast.Name) and node.func.id in ("str", "list", "tuple"):
                return self._texts(first, depth + 1)
            return {UNKNOWN}
        method = node.func.attr
        if method in ("split", "join", "quote") and "shlex" in self._meanings(node.func.value):
            return self._texts(first, depth + 1)
        if method in ("split", "strip", "encode", "decode", "rstrip", "lstrip", "lower"):
            return self._texts(node.func.value, depth + 1)
        if method == "format":
            return {HELD.sub(UNKNOWN, text) for text in self._texts(node.func.value, depth + 1)}
        if method == "join" and isinstance(first, (ast.List, ast.Tuple)):
            between = self._texts(node.func.value, depth + 1)
            if between == {""}:
                return self._joined(first.elts, "", depth)
            return self._texts(first, depth + 1)
        return {UNKNOWN}

    # Signs

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[CodeRisk]:
        for name, meaning in _imports(node):
            yield from _signs_of(_same(meaning))
            if name != meaning and _same(meaning) in STRANGE_TO_RENAME:
                yield NAMES_A_MODULE

    def _referred(self, node: ast.expr) -> Iterator[CodeRisk]:
        for meaning in self._meanings(node):
            yield from _signs_of(meaning)
        if isinstance(node, ast.Attribute) and node.attr in DISTINCTIVE:
            yield DELETES_FILES

    def _called(self, node: ast.Call) -> Iterator[CodeRisk]:
        for function in self._meanings(node.func):
            yield from self._call_of(function, node)
        if isinstance(node.func, ast.Attribute):
            yield from self._method(node.func, node)

    def _call_of(self, function: str, node: ast.Call) -> Iterator[CodeRisk]:
        first = node.args[0] if node.args else None
        if function in COMMANDS:
            given = first if first is not None else _keyword(node, ("args", "cmd", "command"))
            yield from self._commands(self._texts(given))
        elif PROGRAMS.fullmatch(function):
            skipped = 1 if ".spawn" in function and function.startswith("os") else 0
            yield from self._commands(self._joined(node.args[skipped:], " ", 0))
        elif function in READS_CODE:
            yield from self._code(first)
        elif function in RUNS_MODULES:
            yield from self._commands({f"python -m {text}" for text in self._texts(first)}, True)
        elif function == "builtins.getattr" and len(node.args) > 1:
            if UNKNOWN in self._texts(node.args[1]) and self._holds_danger(node.args[0]):
                yield HIDDEN
        elif function in ("operator.methodcaller", "operator.attrgetter"):
            names = {part for text in self._texts(first) for part in text.split(".")}
            yield from [DELETES_FILES] if names & (DISTINCTIVE | UNDER_A_MODULE) else []

    def _holds_danger(self, node: ast.expr) -> bool:
        dangerous = ("os", "shutil", "builtins", "pip", PATH)
        return not self._meanings(node).isdisjoint(dangerous)

    def _method(self, function: ast.Attribute, node: ast.Call) -> Iterator[CodeRisk]:
        if function.attr in ("run_line_magic", "run_cell_magic", "run_cell", "run_cell_async"):
            yield from self._magic(function.attr, node)
        elif function.attr in ("magic", "ex", "ev") and SHELL_CALL in self._meanings(
            function.value
        ):
            for text in self._texts(node.args[0] if node.args else None):
                prefix = "%" if function.attr == "magic" else ""
                yield from self._inner(f"{prefix}{text.lstrip('%')}" if prefix else text)
        elif function.attr in ("rename", "replace") and self._moves_a_path(function, node):
            yield MOVES_FILES
        elif function.attr in UNDER_A_MODULE and UNKNOWN in self._meanings(function.value):
            yield HIDDEN

    def _moves_a_path(self, function: ast.Attribute, node: ast.Call) -> bool:
        """Texts and tables have methods of these names too, and are given something else."""
        if len(node.args) != 1 or node.keywords:
            return False
        given = node.args[0]
        if PATH in self._meanings(given) or isinstance(given, ast.BinOp) and _divides(given):
            return True
        if function.attr == "replace":
            return isinstance(given, ast.JoinedStr) or (
                isinstance(given, ast.Constant) and isinstance(given.value, str)
            )
        return isinstance(function.value, ast.Name) and bool(PATH_NAME.search(function.value.id))

    def _magic(self, way: str, node: ast.Call) -> Iterator[CodeRisk]:
        given = [self._texts(argument) for argument in node.args[:3]]
        if way.startswith("run_cell") and way != "run_cell_magic":
            yield from self._code(node.args[0] if node.args else _keyword(node, ("raw_cell",)))
            return
        if not given or UNKNOWN in given[0]:
            yield HIDDEN
            return
        lines = given[1] if len(given) > 1 else {""}
        bodies = given[2] if len(given) > 2 else {""}
        for name, line, body in product(given[0], lines, bodies):
            if way == "run_line_magic":
                yield from self._line_magic(name.lstrip("%"), line)
            else:
                yield from self._cell_magic(name.lstrip("%"), line, body)

    def _line_magic(self, name: str, line: str) -> Iterator[CodeRisk]:
        if name in SHELL_MAGICS:
            yield from self._commands({line})
        elif name == "sc":  # %sc result=command
            yield from self._commands({line.partition("=")[2]})
        elif name in DELETING_MAGICS | PACKAGE_MAGICS:
            yield from self._commands({f"{name} {line}"})
        elif name == "alias":
            yield from self._commands({line.partition(" ")[2]})
        elif name == "alias_magic":
            words = [word.lstrip("%") for word in line.split() if not word.startswith("-")]
            if set(words[1:2]) & (DELETING_MAGICS | PACKAGE_MAGICS | SHELL_MAGICS):
                yield NAMES_A_MODULE
        else:
            yield from self._options_then_code(line)

    def _options_then_code(self, line: str) -> Iterator[CodeRisk]:
        """``%timeit -n 1 f()``: what stands behind the options may be code."""
        words = line.split(" ")
        for place in range(min(len(words), 12)):
            rest = " ".join(words[place:])
            if rest and not rest.startswith("-") and _read(rest):
                yield from self._inner(rest)
                return
            if not any(word.startswith("-") for word in words[max(0, place - 1) : place + 1]):
                return

    def _cell_magic(self, name: str, line: str, body: str) -> Iterator[CodeRisk]:
        if name in SHELL_MAGICS:
            yield from self._commands({body})
        elif name == "script":
            program = line.split(" ")[0].rpartition("/")[2]
            if program.startswith(("python", "pypy")):
                yield from self._inner(body)
            else:
                yield from self._commands({body})
            if program in OTHER_LANGUAGES:
                yield HIDDEN
            # A shell without a command reads the body, which can be read here, too.
            yield from (risk for risk in self._commands({f"env {line}"}) if risk is not HIDDEN)
        elif name in ("perl", "ruby"):
            yield HIDDEN
        elif name not in OTHER_TEXTS:
            yield from self._options_then_code(line)
            if name in CODE_MAGICS or _read(body):
                yield from self._inner(body)

    def _commands(self, texts: Iterable[str], is_module: bool = False) -> Iterator[CodeRisk]:
        for text in sorted(texts)[:VALUES]:
            for inside in INTERPOLATED.findall(text):
                if _read(inside):
                    yield from self._inner(inside)
            said = self._interpolated(text)
            found = read_commands(said)
            yield from found.risks
            for code in found.python:
                yield from self._inner(code)
            words = said.split()
            if is_module and words[2:3] == ["pip"]:
                yield INSTALLS

    def _interpolated(self, text: str) -> str:
        """A command with what IPython puts in for names, as far as the cell tells it."""

        def put_in(found: re.Match[str]) -> str:
            name = found.group().strip("${}")
            texts = self._texts_of_name(name, 0) if name in self._given else {UNKNOWN}
            return sorted(texts)[0] if len(texts) == 1 else UNKNOWN

        return HELD.sub(put_in, text)

    def _code(self, node: ast.expr | None) -> Iterator[CodeRisk]:
        if isinstance(node, ast.Call) and "builtins.compile" in self._meanings(node.func):
            return  # read where it is compiled
        for text in self._texts(node):
            if UNKNOWN in text:
                yield HIDDEN
            else:
                yield from self._inner(text)

    def _inner(self, code: str) -> tuple[CodeRisk, ...]:
        return python_risks(code, self._depth + 1)


SMALL = 60
"""So many parts of a list are looked at."""


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import makes, and what they mean."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, whole
            if whole != alias.name:
                yield whole, whole
        elif alias.name != "*":
            meaning = f"{node.module or ''}.{alias.name}"
            known = alias.name in MODULES and (node.module or "") in MODULES
            yield alias.asname or alias.name, alias.name if known else meaning
        else:
            module = _same(node.module or "")
            for reference in REFERENCES:
                if reference.rpartition(".")[0] == module:
                    name = reference.rpartition(".")[2]
                    yield name, reference
            for command in COMMANDS:
                if command.rpartition(".")[0] == module:
                    yield command.rpartition(".")[2], command


def _signs_of(meaning: str) -> Iterator[CodeRisk]:
    if meaning in REFERENCES:
        yield REFERENCES[meaning]
    for room, sign in ROOMS.items():
        if meaning == room or meaning.startswith(f"{room}."):
            yield sign
    if meaning.rpartition(".")[2] in DISTINCTIVE and "." in meaning:
        yield DELETES_FILES


def _same(name: str) -> str:
    """Other names of a module and of its parts as the usual ones."""
    head, dot, rest = name.partition(".")
    return f"{SAME.get(head, head)}{dot}{rest}"


def _of_a_path(base: str, method: str) -> Iterable[str]:
    if base in (PATH, "pathlib.Path") and method in PATH_LISTS:
        return {PATHS}
    if base in (PATH, "pathlib.Path") and method in PATH_METHODS:
        return {PATH}
    return ()


def _is_list(node: ast.AST) -> bool:
    while isinstance(node, ast.BinOp):
        if isinstance(node.right, ast.List):
            return True
        node = node.left
    return isinstance(node, ast.List)


def _length(node: ast.AST) -> int:
    """How many parts a sum has."""
    count = 1
    while isinstance(node, ast.BinOp):
        node, count = node.left, count + 1
    return count


def _divides(node: ast.BinOp) -> bool:
    parts: list[ast.AST] = [node.left, node.right]
    return isinstance(node.op, ast.Div) and any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts
    )


def _keyword(node: ast.Call, names: tuple[str, ...]) -> ast.expr | None:
    return next((given.value for given in node.keywords if given.arg in names), None)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else UNKNOWN


def _quoted(word: str) -> str:
    """A word of a command so that it stays one."""
    if word == UNKNOWN or re.fullmatch(r"[\w./=:@%+,-]+", word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


SIGN_LIMIT = 5


@dataclass(frozen=True)
class _Sign:
    pattern: re.Pattern[str]
    found: CodeRisk


def _sign(pattern: str, risk: CodeRisk) -> _Sign:
    return _Sign(re.compile(pattern, re.IGNORECASE | re.MULTILINE), risk)


DELETES_ROWS = CodeRisk("destroy", "deletes from a database")
SENDS = CodeRisk("destroy", "publishes or sends something")
STOPS = CodeRisk("destroy", "ends processes")
AS_ADMINISTRATOR = CodeRisk("destroy", "acts as administrator")
SHELL = CodeRisk("execute", "runs a shell command")
GUARDED = CodeRisk("destroy", "touches Jupyter's or cellwright's own files", always_ask=True)
MEMORY = CodeRisk("destroy", "changes what is kept for later conversations", always_ask=True)
CONSENT = CodeRisk(
    "destroy", "agrees in your place to what models are told or may use", always_ask=True
)
OWN_SERVER = CodeRisk("destroy", "reads the Jupyter server's token", always_ask=True)

# Repeats are bounded and stay on their line, so that no code makes the search slow.
LINE_START = r"^[ \t]*(?:\w[\w, ]{0,80}=[ \t]*)?"
SHELL_LINE = LINE_START + r"(?:!|%(?:sx|system)\b)|^%%(?:bash|sh|script|cmd)\b"
BETWEEN = r"[\"', \t\n\[/]{1,9}"
OPTIONS = (
    rf"(?:{BETWEEN}-[^\s\"',]{{1,60}}(?:{BETWEEN}[^\s\"',-][^\s\"',]{{0,99}})?){{0,4}}{BETWEEN}"
)
AGENT = r"(?:%agent|^[ \t]*agent|_magic\(\s{0,9}[\"']agent)\b"
CONSENTS = (
    rf"(?:instructions{BETWEEN}allow|tool{BETWEEN}(?:connect|discover|refresh|bind)"
    rf"|mcp{BETWEEN}login|scene{BETWEEN}add|assistant{BETWEEN}(?:new|set|use|rename))\b"
)
COMMAND = rf"(?:{SHELL_LINE}|[\"'`;|&(]|^)[ \t]*"
SIGNS = (
    _sign(r"\bshutil\s{0,9}\.\s{0,9}rmtree\b|\brmtree\s{0,9}\(", DELETES_FILES),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:remove|unlink|rmdir|removedirs|truncate)\b", DELETES_FILES),
    _sign(r"\.\s{0,9}(?:unlink|rmdir)\s{0,9}\(|\bsend2trash\b", DELETES_FILES),
    _sign(
        COMMAND
        + r"(?:sudo[ \t]+)?(?:rm|rmdir|shred|mkfs\.?\w{0,9}|dd)(?:[\"'],)?[ \t]+(?![-+*/]?=)\S",
        DELETES_FILES,
    ),
    # At the start of a line and after a semicolon it is Python's own statement.
    _sign(rf"(?:{SHELL_LINE}|[\"'`|&])[ \t]*del(?:[\"'],)?[ \t]+\S", DELETES_FILES),
    _sign(r"\A\s{0,99}%%(?:script|cmd)\b[\s\S]{0,9999}?^[ \t]*del[ \t]+\S", DELETES_FILES),
    _sign(
        r"\bgit\s{1,9}(?:reset\s{1,9}--hard|clean\s{1,9}-|push\b.{0,99}--force|checkout\s{1,9}--)",
        DELETES_FILES,
    ),
    _sign(
        r"\b(?:drop\s{1,9}(?:table|database|schema|view|index)|truncate\s{1,9}table"
        r"|delete\s{1,9}from)\s",
        DELETES_ROWS,
    ),
    _sign(
        r"\b(?:pip3?|uv|conda|mamba|apt(?:-get)?|brew|npm|yum|dnf)\b[\"', \t]{1,9}"
        r"(?:pip[\"', \t]{1,9})?(?:-\S{1,40}[ \t]{1,9}){0,5}(?:un)?(?:install|add|remove|sync)\b",
        INSTALLS,
    ),
    _sign(r"\bensurepip\b|\bmicropip\s{0,9}\.\s{0,9}install\b", INSTALLS),
    _sign(r"\bgit\s{1,9}push\b|\btwine\s{1,9}upload\b|\bsmtplib\b|\bsendmail\b", SENDS),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:kill|killpg|abort|_exit)\b|\bpkill\b|\bkillall\b", STOPS),
    _sign(r"\bshutdown\s{1,9}(?:-|now|/)|\breboot\b", STOPS),
    _sign(r"\bsudo\s{1,9}\S|\bch(?:mod|own)\s{1,9}-R\b", AS_ADMINISTRATOR),
    _sign(r"\b(?:curl|wget)\b.{0,300}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b", RUNS_DOWNLOADS),
    _sign(
        r"(?:^|[\s/\\\"'~(])\.(?:jupyter|ipython|cellwright|ssh|(?:bash|z)rc|(?:bash_|z)?profile"
        r"|bash_login|zshenv|zlogin)\b",
        GUARDED,
    ),
    _sign(r"\bkernelspec|\bkernels?[/\\].{0,200}kernel\.json|\bjupyter_\w{0,40}config\b", GUARDED),
    _sign(r"\bsitecustomize\b|\busercustomize\b|\bipython_\w{0,40}config\b", GUARDED),
    _sign(r"(?-i:\bCELLWRIGHT_[A-Z])", GUARDED),
    _sign(rf"\b(?:agent|cellwright){OPTIONS}memory\b|\bcellwright/v1/memor", MEMORY),
    _sign(rf"(?:{AGENT}|\bcellwright\b){OPTIONS}{CONSENTS}|\bcellwright/v1/(?!memor)\w", CONSENT),
    _sign(rf"{AGENT}{OPTIONS}(?:system|prompt|later)\b|\bAgentMagics\s{{0,9}}\.", CONSENT),
    _sign(rf"(?:{AGENT}|\bcellwright\b){OPTIONS}usage\b.{{0,99}}--budget", CONSENT),
    _sign(r"\bcellwright\s{0,9}\.\s{0,9}(?:knowledge|memory|store)\b|\bruns\.sqlite\b", MEMORY),
    _sign(r"\bcellwright\s{1,9}import\s{1,9}(?:knowledge|memory|store)\b", MEMORY),
    _sign(
        r"\bcellwright(?:\s{0,9}\.\s{0,9}|\s{1,9}import\s{1,9})(?:cli|commands|external)\b", CONSENT
    ),
    _sign(r"\bJUPYTERHUB_API_TOKEN\b|\bjpserver-|\bJPY_API_TOKEN\b", OWN_SERVER),
    _sign(SHELL_LINE, SHELL),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:system|popen|exec\w+|spawn\w+)\b|\bsubprocess\b", SHELL),
)


@lru_cache(maxsize=16)
def code_risks(code: str) -> tuple[CodeRisk, ...]:
    """The signs in a piece of code, each once, the five that matter most."""
    found = dict.fromkeys(sign.found for sign in SIGNS if sign.pattern.search(code))
    found.update(dict.fromkeys(python_risks(code)))
    most_first = sorted(found, key=lambda sign: (not sign.always_ask, sign.risk == "execute"))
    return tuple(most_first[:SIGN_LIMIT])
