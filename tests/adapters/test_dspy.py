"""With dspy itself, where it is installed: each side's signatures through the other's adapters."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import pytest
from field_adapters import ADAPTERS

from cellwright.context.few_shot import Demo, dspy_examples
from cellwright.llm import Capabilities
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.completion import Completion
from cellwright.llm.adapters.json import JSONAdapter, response_format
from cellwright.llm.adapters.signature_adapter import INCOMPLETE, FieldAdapter
from cellwright.llm.adapters.two_step import TwoStepAdapter
from cellwright.llm.signatures import Signature
from cellwright.record.messages import AssistantMessage, Parameters, Prompt, Reply, ToolCall, Usage

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dspy: Any = pytest.importorskip("dspy")

pytestmark = pytest.mark.filterwarnings("default")
OURS = Signature.parse("question, context: list[str] -> answer, score: float", "Answer it.")
INPUTS = {"question": "why?", "context": ["a"]}
VALUES = {"answer": "yes\n\n  so", "score": 0.5}
PythonCode: Any = dspy.Code["python"]
PAIRS = [(ChatAdapter, "ChatAdapter"), (JSONAdapter, "JSONAdapter")]
THEIR_ADAPTERS = ["ChatAdapter", "JSONAdapter"]


class Theirs(dspy.Signature):
    """Answer it."""

    question: str = dspy.InputField(desc="What is asked.")
    history: dspy.History = dspy.InputField()
    kind: Literal["short", "long"] = dspy.InputField()
    answer: str = dspy.OutputField()
    code: PythonCode = dspy.OutputField()
    score: int = dspy.OutputField()


class OneReplyLM:
    """Our protocol: always the same reply."""

    def __init__(self, text: str, *calls: ToolCall) -> None:
        self.reply = Reply(AssistantMessage(text, calls), "stop", Usage(), "m")
        self.prompts: list[Prompt] = []

    def stream(self, prompt: Prompt, stop: Any) -> Any:
        self.prompts.append(prompt)
        yield from ()
        return self.reply

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities()


@pytest.mark.parametrize("name", THEIR_ADAPTERS)
def test_004_41_our_signature_goes_through_their_adapter(name: str) -> None:
    adapter = getattr(dspy, name)()
    demos = [{**INPUTS, **VALUES}, {"question": "half?", "answer": "half"}]
    messages = adapter.format(OURS, demos, INPUTS)
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 2, "user"]
    written = messages[4]["content"]
    assert adapter.parse(OURS, written)["score"] == 0.5


@pytest.mark.parametrize(
    ("ours", "name"), [(ChatAdapter, "ChatAdapter"), (JSONAdapter, "JSONAdapter")]
)
def test_004_41_messages_have_the_same_roles_in_the_same_order(
    ours: type[FieldAdapter], name: str
) -> None:
    demos = [{**INPUTS, **VALUES}, {"question": "half?", "answer": "half"}, {"question": "in"}]
    theirs = getattr(dspy, name)().format(OURS, demos, INPUTS)
    made = ours().format(OURS, demos, INPUTS)
    assert [m["role"] for m in made] == [m["role"] for m in theirs]
    assert made[1]["content"].startswith(INCOMPLETE)
    assert theirs[1]["content"].startswith(INCOMPLETE)
    assert made[3]["content"] == theirs[3]["content"]


@pytest.mark.parametrize(
    ("ours", "name"), [(ChatAdapter, "ChatAdapter"), (JSONAdapter, "JSONAdapter")]
)
def test_004_41_what_one_side_writes_the_other_reads(ours: type[FieldAdapter], name: str) -> None:
    theirs = getattr(dspy, name)()
    assert theirs.parse(OURS, ours().format_assistant_message_content(OURS, VALUES)) == VALUES
    assert ours().parse(OURS, theirs.format_assistant_message_content(OURS, VALUES)) == VALUES


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_41_their_signature_goes_through_our_adapter(adapter: FieldAdapter) -> None:
    history = dspy.History(messages=[{"question": "q0", "kind": "long", "answer": "a0"}])
    inputs = {"question": "q1", "kind": "short", "history": history}
    messages = adapter.format(Theirs, [], inputs)
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert "history" not in messages[0]["content"]
    assert "What is asked." in messages[0]["content"]
    code = "    if a < b:\n        print('```')"
    values = {"answer": "yes", "code": dspy.Code(code=code), "score": 3}
    written = adapter.format_assistant_message_content(Theirs, values)
    found = adapter.parse(Theirs, written)
    assert (found["answer"], found["code"].code, found["score"]) == ("yes", code, 3)


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_29_their_pictures_are_parts(adapter: FieldAdapter) -> None:
    signature = dspy.Signature("picture: dspy.Image -> answer", "Look.")
    picture = dspy.Image(url="data:image/png;base64,AAAA")
    content = adapter.format(signature, [], {"picture": picture})[-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]


def test_004_28_their_tools_go_as_functions_and_their_calls_come_back() -> None:
    def look(at: str) -> str:
        """Look at something."""
        return at

    signature = dspy.Signature("question, tools: list[dspy.Tool] -> calls: dspy.ToolCalls")
    lm = OneReplyLM("", ToolCall("c", "look", '{"at": "x"}'))
    asked = Completion(lm, Parameters("m"))
    adapter = ChatAdapter(use_native_function_calling=True)
    (value,) = adapter(asked, {}, signature, [], {"question": "?", "tools": [dspy.Tool(look)]})
    assert isinstance(value["calls"], dspy.ToolCalls)
    assert [(call.name, call.args) for call in value["calls"].tool_calls] == [("look", {"at": "x"})]
    assert lm.prompts[0].tools[0].name == "look"


def test_004_24_their_signature_has_a_schema() -> None:
    theirs: Any = Theirs
    made = response_format(theirs)["json_schema"]["schema"]
    assert made["required"] == ["answer", "code", "score"]


def test_004_14_their_callbacks_are_told() -> None:
    from dspy.utils.callback import BaseCallback

    class Watcher(BaseCallback):
        def __init__(self) -> None:
            self.told: list[str] = []

        def on_adapter_format_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            self.told.append("format")

        def on_adapter_parse_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            self.told.append("parse")

    watcher = Watcher()
    written = ChatAdapter().format_assistant_message_content(OURS, VALUES)
    ChatAdapter([watcher])(lambda messages: [written], {}, OURS, [], INPUTS)
    assert watcher.told == ["format", "parse"]


def test_004_42_good_runs_are_handed_over_as_its_examples() -> None:
    demos = (Demo("s", "Do it.", "Done.", ("x = 1",)),)
    (made,) = dspy_examples(demos, Signature.parse("question -> answer, code: Code"))
    assert isinstance(made, dspy.Example)
    assert (made.answer, made.code) == ("Done.", "x = 1")
    assert made.inputs().toDict() == {"question": "Do it."}
    assert dspy.ChatAdapter().format(Theirs, [made], {"question": "?", "kind": "short"})


def test_004_26_their_signature_goes_through_two_steps() -> None:
    values = {"answer": "yes", "code": dspy.Code(code="x = 1"), "score": 3}
    lm = OneReplyLM(ChatAdapter().format_assistant_message_content(Theirs, values))
    small = Completion(lm, Parameters("small"))
    found = TwoStepAdapter(small).parse(Theirs, "Yes: x = 1. I would give it 3.")
    assert (found["answer"], found["code"].code, found["score"]) == ("yes", "x = 1", 3)


def test_004_29_their_reasoning_is_a_field_of_the_text_for_a_model_of_ours() -> None:
    signature = dspy.Signature("question -> why: dspy.Reasoning, answer")
    asked = Completion(OneReplyLM("[[ ## why ## ]]\nso\n[[ ## answer ## ]]\nyes"), Parameters("m"))
    (value,) = ChatAdapter()(asked, {}, signature, [], {"question": "?"})
    assert (value["why"].content, value["answer"]) == ("so", "yes")
