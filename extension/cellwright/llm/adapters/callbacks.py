"""Callbacks of signature adapters, with the method names that dspy's callbacks have.

What a callback raises is logged and goes no further: whoever watches must not break the call.
"""

from __future__ import annotations

import functools
import inspect
import logging
import uuid
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

LOG = logging.getLogger(__name__)
_running: ContextVar[frozenset[tuple[int, str]]] = ContextVar("_running", default=frozenset())


def reported(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose start and end the instance's callbacks are told of.

    An override that calls the inherited method is one call, so it is told of once.
    """
    name = function.__name__
    signature = inspect.signature(function)

    @functools.wraps(function)
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        key, running = (id(self), name), _running.get()
        if key in running:
            return function(self, *arguments, **keywords)
        bound = dict(signature.bind(self, *arguments, **keywords).arguments)
        bound.pop("self", None)
        token = _running.set(running | {key})
        try:
            return told(
                self, f"adapter_{name}", bound, lambda: function(self, *arguments, **keywords)
            )
        finally:
            _running.reset(token)

    return method


def told(instance: Any, event: str, inputs: dict[str, Any], work: Callable[[], Any]) -> Any:
    """Do ``work`` between ``on_<event>_start`` and ``on_<event>_end``."""
    callbacks: Iterable[Any] = tuple(instance.callbacks)
    call_id = uuid.uuid4().hex
    for callback in callbacks:
        _tell(callback, f"on_{event}_start", call_id=call_id, instance=instance, inputs=inputs)
    outputs, raised = None, None
    try:
        outputs = work()
    except BaseException as error:
        raised = error
        raise
    finally:
        for callback in callbacks:
            _tell(callback, f"on_{event}_end", call_id=call_id, outputs=outputs, exception=raised)
    return outputs


def _tell(callback: Any, method: str, **told: Any) -> None:
    handler = getattr(callback, method, None)
    if handler is None:
        return
    try:
        handler(**told)
    except Exception:  # the person's code, not ours
        LOG.warning("the callback %r failed in %s", callback, method, exc_info=True)
