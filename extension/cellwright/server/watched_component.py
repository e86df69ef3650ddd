"""A component whose outputs somebody hears as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, ClassVar, cast

from cellwright.record.content import ComponentOutput
from cellwright.record.prompts import Manifest
from cellwright.stopping import Stop
from cellwright.tools import Component, Risk, ToolContext, ToolYield


class WatchedComponent(Component):
    """Another component, which ``watched`` makes it stand for."""

    inner: ClassVar[Component]
    risk: ClassVar[Risk] = "execute"

    def __init__(self, heard: Callable[[ComponentOutput], None], stop: Stop) -> None:
        self._heard, self._stop = heard, stop
        self.failure: Exception | None = None
        """What ended the call."""

    def label(self, **arguments: object) -> str:
        """That of the component."""
        return self.inner.label(**arguments)

    def risk_for(self, **arguments: object) -> Risk:
        """That of the component."""
        return self.inner.risk_for(**arguments)

    def code_for(self, **arguments: object) -> str:
        """That of the component."""
        return self.inner.code_for(**arguments)

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """Those of the component."""
        return self.inner.tool_manifests()

    def evaluate(
        self, context: ToolContext | None = None, /, **arguments: Any
    ) -> Iterator[ToolYield]:
        """Call the component; stop between two of its outputs when that is asked.

        Raises:
            RunCancelled: Somebody asked to stop.
        """
        outputs = cast("Any", self.inner.evaluate(context, **arguments))
        try:
            with closing(outputs):
                for item in outputs:
                    self._stop.check()
                    if isinstance(item, ComponentOutput):
                        self._heard(item)
                    yield item
                    self._stop.check()
        except Exception as error:
            self.failure = error
            raise


def watched(
    component: Component, heard: Callable[[ComponentOutput], None], stop: Stop
) -> WatchedComponent:
    """The component, with somebody who hears what it says."""
    body: Mapping[str, Any] = {
        "name": component.name,
        "version": component.version,
        "risk": component.risk,
        "inner": component,
    }
    made: WatchedComponent = type(component.name, (WatchedComponent,), dict(body))(heard, stop)
    return made
