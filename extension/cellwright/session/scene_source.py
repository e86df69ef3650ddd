"""The scene of an assistant that fits a question, told the model with that question alone."""

from __future__ import annotations

from cellwright.assistants.scenes import THRESHOLD, ChosenScene, Situation, choose_scene
from cellwright.context.assemble import Quoted
from cellwright.context.turn_sources import Found, Turn
from cellwright.record.events import Notice
from cellwright.record.usage import ModelUsage
from cellwright.session.scene_classifier import SceneClassifier
from cellwright.tools import Component


class SceneSource:
    """Chooses a scene by the situation; ``turn_sources.TurnSource``.

    Args:
        classifier: Asked where rules find none; None: rules alone choose.
    """

    def __init__(self, classifier: SceneClassifier | None = None) -> None:
        self._classifier = classifier

    @property
    def name(self) -> str:
        """What it is called where it fails."""
        return "scenes"

    def components(self) -> tuple[Component, ...]:
        """Nothing for the model to call."""
        return ()

    def look_up(self, turn: Turn) -> Found:
        """The instructions of the scene that fits, and which it is; mostly nothing."""
        situation = Situation(turn.prompt, turn.last_error, turn.types, turn.imports)
        chosen = choose_scene(turn.assistant.scenes, situation)
        if chosen is not None:
            return _found(turn, chosen)
        return self._classified(turn) if self._classifier is not None else Found()

    def _classified(self, turn: Turn) -> Found:
        """What the model says, of the scenes that do not say themselves when they fit."""
        assert self._classifier is not None
        scenes = {scene.label: scene for scene in turn.assistant.scenes if scene.when is None}
        text = "\n\n".join(filter(None, (turn.last_answer, turn.prompt)))
        said = self._classifier.classify(text, tuple(scenes), turn.stop)
        if said.problem:
            return Found(problems=(f"{said.problem} Rules alone choose for a minute.",))
        if said.label and said.confidence >= THRESHOLD:
            reason = f"{self._classifier.model} says so ({said.confidence:.2f})"
            chosen = ChosenScene(scenes[said.label], reason, said.confidence)
            return _found(turn, chosen, said.usage)
        if not said.usage:
            return Found()
        notice = f"{self._classifier.model} found no scene of {turn.assistant.name} that fits."
        return Found(notices=(Notice("info", notice, code="looked_up", usage=said.usage),))


def _found(turn: Turn, chosen: ChosenScene, usage: tuple[ModelUsage, ...] = ()) -> Found:
    label = chosen.scene.label
    block = Quoted(f"how to answer this time (scene {label})", chosen.scene.prompt)
    notice = f"Scene {label!r} of {turn.assistant.name}: {chosen.reason}."
    told = Notice("info", notice, code="looked_up", usage=usage) if usage else notice
    return Found((block,), notices=(told,))
