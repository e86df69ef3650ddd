"""The scene of an assistant that fits a question, told the model with that question alone."""

from __future__ import annotations

from cellwright.components import Component
from cellwright.context.assemble import Quoted
from cellwright.scenes import Situation, choose_scene
from cellwright.turn_sources import Found, Turn

__all__ = ["SceneSource"]


class SceneSource:
    """Chooses a scene by the situation; ``turn_sources.TurnSource``."""

    @property
    def name(self) -> str:
        """What it is called where it fails."""
        return "scenes"

    def components(self) -> tuple[Component, ...]:
        """Nothing for the model to call."""
        return ()

    def look_up(self, turn: Turn) -> Found:
        """The instructions of the scene that fits, and which it is; mostly nothing."""
        assistant = turn.assistant
        situation = Situation(turn.prompt, turn.last_error, turn.types, turn.imports)
        chosen = choose_scene(assistant.scenes, situation)
        if chosen is None:
            return Found()
        label = chosen.scene.label
        block = Quoted(f"how to answer this time (scene {label})", chosen.scene.prompt)
        notice = f"Scene {label!r} of {assistant.name}: {chosen.reason}."
        return Found((block,), notices=(notice,))
