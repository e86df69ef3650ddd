"""What is chosen for a request, whichever face it comes from."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedLM

from cellwright.assistants import Assistant, AssistantList
from cellwright.context.few_shot import DemoSet
from cellwright.errors import SetupError
from cellwright.record.messages import Parameters, Price
from cellwright.session.composer import AssistantChoice, RunEnvironment, compose
from cellwright.session.questions import RunRequest
from cellwright.session.services import ModelService
from cellwright.settings import Limits, ServiceSettings, Settings

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
SETTINGS = Settings(ServiceSettings("http://box/v1", model="set"), adapter="json")
CRITIC = Assistant("critic", model="sharp", instructions="Doubt {{what}}.", temperature=0.3)
ASSISTANTS = AssistantChoice(AssistantList((CRITIC,)))


class Examples:
    """Examples that tell whether they were read."""

    asked = False

    def chosen(self) -> DemoSet:
        self.asked = True
        return DemoSet()

    def of(self, assistant: str) -> DemoSet:
        return DemoSet()


def no_conversation(composed: object) -> Any:
    return nullcontext()


def environment(settings: Settings = SETTINGS, **more: Any) -> RunEnvironment:
    """One whose services answer under the name that they are opened with."""

    def open_service(model: str) -> ModelService:
        name = model or settings.service.model
        return ModelService(ScriptedLM([]), name, "http://box/v1", f"{name} answers.")

    return RunEnvironment(open_service, no_conversation, settings, **more)


@pytest.mark.parametrize(
    ("named", "assistant", "usual", "model"),
    [
        ("mine", "critic", "usual", "mine"),
        ("", "critic", "usual", "sharp"),
        ("", "", "usual", "usual"),
        ("", "", "", "set"),
    ],
)
def test_a_model_is_that_of_the_prompt_then_of_its_assistant_then_the_usual_one(
    named: str, assistant: str, usual: str, model: str
) -> None:
    request = RunRequest("Look.", Parameters(named), usual_model=usual, assistant_name=assistant)
    composed = compose(request, environment(assistants=ASSISTANTS)).request
    assert (composed.parameters.model, composed.base_url) == (model, "http://box/v1")
    assert composed.assistant.name == assistant
    assert composed.adapter == "json"


def test_an_assistant_brings_its_words_and_temperature_and_leaves_the_prompt() -> None:
    request = RunRequest("@critic, look at {{what}}.", given={"what": "this"})
    composed = compose(request, environment(assistants=ASSISTANTS)).request
    assert composed.prompt == "look at this."
    assert composed.assistant.instructions == "Doubt this."
    assert composed.parameters.temperature == 0.3


def test_a_guest_asks_public_assistants_only() -> None:
    request = RunRequest("Look.", assistant_name="critic")
    with pytest.raises(SetupError, match="no assistant 'critic'"):
        compose(request, environment(assistants=replace(ASSISTANTS, is_guest=True)))
    listed = AssistantList((replace(CRITIC, is_public=True),))
    public = AssistantChoice(listed, is_guest=True)
    composed = compose(request, environment(assistants=public)).request
    assert composed.assistant.name == "critic"


def test_a_budget_is_refused_where_no_price_is_known() -> None:
    request = RunRequest("Look.", limits=Limits(cost_limit_dollars=0.5))
    with pytest.raises(SetupError, match=r"\$0\.5 cannot be kept: the price of 'set'"):
        compose(request, environment())
    priced = replace(SETTINGS, prices={"set": Price(1, 1)})
    assert compose(request, environment(priced)).request.limits.cost_limit_dollars == 0.5
    free = ModelService(ScriptedLM([]), "oracle", is_free=True)
    assert compose(request, replace(environment(), open_service=lambda _: free)).service is free


def test_pictures_that_are_not_seen_are_told_by_the_names_the_user_knows(tmp_path: Path) -> None:
    (tmp_path / "upload-1").write_bytes(PNG)
    request = RunRequest("Look.", files=("upload-1",), file_names=("plot.png",))
    notice = compose(request, environment(folder=tmp_path)).request.notice
    assert notice.startswith("set answers. set does not see pictures; of plot.png")
    elsewhere = compose(request, environment(folder=tmp_path / "none")).request
    assert "plot.png" not in elsewhere.notice


def test_what_is_said_of_a_service_is_said_once() -> None:
    told: set[str] = set()
    notices = [compose(RunRequest("Hi."), environment(told=told)).request.notice for _ in range(2)]
    assert notices == ["set answers.", ""]


def test_004_40_only_a_face_that_reads_types_has_typed_questions() -> None:
    examples = Examples()
    typed = RunRequest("df -> n: int\nHow many?", reads_types=True)
    plain = compose(replace(typed, reads_types=False), environment(examples=examples)).request
    assert plain.typed is None
    words = compose(RunRequest("How many?", reads_types=True), environment(examples=examples))
    assert (words.request.typed, examples.asked) == (None, False)
    found = compose(typed, environment(examples=examples)).request.typed
    assert found is not None
    assert (found.body, examples.asked) == ("How many?", True)
