"""The page of a front end that shows widgets, reduced to their states and a hand that clicks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from queue import Empty
from typing import Any

from magics.live_kernel import LiveKernel, Message, Shown

__all__ = ["WidgetPage"]

VIEW = "application/vnd.jupyter.widget-view+json"
MODEL = "IPY_MODEL_"


class WidgetPage:
    """Hears all that a kernel publishes, whoever asked for it."""

    def __init__(self, kernel: LiveKernel) -> None:
        self.kernel = kernel
        self.states: dict[str, dict[str, Any]] = {}
        """Of the widgets that are open, by model."""
        self.displays: dict[str, dict[str, Any]] = {}
        """MIME bundles by display id, as they are now."""
        self.root = ""
        """Model of the widget that was shown last."""

    def run(self, code: str, **options: Any) -> Shown:
        """Run a cell."""
        return self.kernel.run(code, watch=self.take_in, **options)

    def take_in(self, message: Message) -> None:
        """Draw what a message says."""
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "comm_open":
            self.states[content["comm_id"]] = dict(content["data"].get("state", {}))
        elif kind == "comm_close":
            self.states.pop(content["comm_id"], None)
        elif kind == "comm_msg" and content["comm_id"] in self.states:
            self.states[content["comm_id"]].update(content["data"].get("state", {}))
        elif kind in ("display_data", "update_display_data", "execute_result"):
            self.displays[content.get("transient", {}).get("display_id", "")] = content["data"]
            self.root = content["data"].get(VIEW, {}).get("model_id", self.root)

    def wait(self, what: Callable[[], object], seconds: float = 20.0) -> None:
        """Read on until something is so."""
        deadline = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < deadline, f"{self.text!r} {self.descriptions}"
            try:
                self.take_in(self.kernel.client.get_iopub_msg(timeout=0.1))
            except Empty:
                continue

    def shown(self, model: str = "") -> Iterator[dict[str, Any]]:
        """The states of what is shown, from top to bottom."""
        state = self.states.get(model or self.root)
        if state is None or self._of(state, "layout").get("display") == "none":
            return
        yield state
        for child in state.get("children", ()):
            yield from self.shown(child.removeprefix(MODEL))

    @property
    def text(self) -> str:
        """What can be read."""
        return "\n".join(line for state in self.shown() for line in _lines(state))

    @property
    def html(self) -> str:
        """All that is drawn as HTML."""
        return "\n".join(
            state["value"] for state in self.shown() if state["_model_name"] == "HTMLModel"
        )

    @property
    def descriptions(self) -> list[str]:
        """What the buttons and boxes that can be used are called."""
        return [
            state["description"]
            for state in self.shown()
            if state.get("description") and not state.get("disabled")
        ]

    def press(self, description: str, **header: str) -> None:
        """Click a button."""
        model = self._model(lambda state: state.get("description") == description)
        self._send(model, {"method": "custom", "content": {"event": "click"}}, header)

    def enter(self, value: object, *, field: str = "value", **header: str) -> None:
        """Fill the one box whose placeholder or description begins with a word.

        Args:
            value: What it holds then.
            field: ``value``, or ``index`` for boxes of choices.
            header: What is added to the message's header; ``box`` names the box.
        """
        box = header.pop("box")

        def is_box(state: dict[str, Any]) -> bool:
            names = (state.get("placeholder"), state.get("description"), state["_model_name"])
            return any(str(name).startswith(box) for name in names if name)

        self._send(
            self._model(is_box),
            {"method": "update", "state": {field: value}, "buffer_paths": []},
            header,
        )

    def _send(self, model: str, data: dict[str, Any], header: dict[str, str]) -> None:
        client = self.kernel.client
        message = client.session.msg("comm_msg", {"comm_id": model, "data": data})
        message["header"].update(header)
        client.shell_channel.send(message)

    def _model(self, fits: Callable[[dict[str, Any]], object]) -> str:
        shown = [id(state) for state in self.shown() if fits(state)]
        assert shown, f"{self.text!r} {self.descriptions}"
        return next(model for model, state in self.states.items() if id(state) == shown[-1])

    def _of(self, state: dict[str, Any], name: str) -> dict[str, Any]:
        return self.states.get(str(state.get(name, "")).removeprefix(MODEL), {})


def _lines(state: dict[str, Any]) -> Iterator[str]:
    if state["_model_name"] in ("LabelModel", "HTMLModel"):
        yield state["value"]
    for output in state.get("outputs", ()):
        if output["output_type"] == "stream":
            yield output["text"]
        elif output["output_type"] == "error":
            yield f"{output['ename']}: {output['evalue']}"
        else:
            data = output["data"]
            yield data.get("text/markdown") or data.get("text/html") or data.get("text/plain", "")
