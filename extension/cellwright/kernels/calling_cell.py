"""Keeps the calling cell as it was while other cells run inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tokenize import TokenError
from typing import Any

UNDERSCORES = ("_", "__", "___")
OTHER_LOOPS = ("_trio_runner", "_curio_runner")


@contextmanager
def calling_cell_kept(shell: Any, code: str, loop_runner: Callable[..., Any]) -> Iterator[None]:
    """Leave ``_``, ``Out``, the loop and the result of the calling cell as they were.

    Args:
        code: The cell that runs inside; its own last semicolon counts, not the caller's.
        loop_runner: Runs the coroutine of a cell with top-level ``await``.
    """
    hook = shell.displayhook
    results = _Results(shell)
    result, runner = hook.exec_result, shell.loop_runner
    quiet = hook.__dict__.get("quiet")
    hook.quiet = lambda: _ends_with_semicolon(hook, code)
    if getattr(runner, "__name__", "") not in OTHER_LOOPS:
        shell.loop_runner = loop_runner
    try:
        yield
    finally:
        shell.loop_runner, hook.exec_result = runner, result
        del hook.quiet
        if quiet is not None:
            hook.quiet = quiet
        results.restore()


def _ends_with_semicolon(hook: Any, code: str) -> bool:
    try:
        return bool(hook.semicolon_at_end_of_expression(code))
    except (TokenError, SyntaxError):
        return False


class _Results:
    """``_`` and its like, and this prompt's entry of ``Out``."""

    def __init__(self, shell: Any) -> None:
        self._hook, self._namespace = shell.displayhook, shell.user_ns
        self._count = self._hook.prompt_count
        self._out = self._namespace["_oh"]
        self._cached = {name: getattr(self._hook, name) for name in UNDERSCORES}
        names = (*UNDERSCORES, f"_{self._count}")
        self._named = {name: self._namespace.get(name, self) for name in names}
        self._shown = self._out.get(self._count, self)
        # By these IPython tells its own ``_`` from one that the person assigned.
        self._hidden = shell.user_ns_hidden
        self._known = {name: self._hidden.get(name, self) for name in names}

    def restore(self) -> None:
        for name, value in self._cached.items():
            setattr(self._hook, name, value)
        for name, value in self._named.items():
            _put(self._namespace, name, value, absent=self)
        for name, value in self._known.items():
            _put(self._hidden, name, value, absent=self)
        _put(self._out, self._count, self._shown, absent=self)


def _put(mapping: Any, key: Any, value: Any, *, absent: object) -> None:
    if value is absent:
        mapping.pop(key, None)
    else:
        mapping[key] = value
