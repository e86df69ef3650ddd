"""The same loop over every adapter: the model writes each in its form, the run is the same."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scripted_model import Answer, ScriptedLM, calls, says
from test_agent import Harness

from cellwright.errors import LMServerError, LMToolsUnsupportedError
from cellwright.llm import LMEvent
from cellwright.llm.adapters.chain import ADAPTERS, AdapterChain
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.text_adapter import TextAdapter
from cellwright.record.events import (
    ModelAsked,
    ModelReplied,
    ModelRetrying,
    Notice,
    RunFinished,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Prompt,
    Reply,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.run_record import fold
from cellwright.settings import Limits
from cellwright.stopping import Stop

each_adapter = pytest.mark.parametrize("name", list(ADAPTERS))
in_words = pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "native"])


def spoken(name: str, reply: Reply) -> Reply:
    """The reply as a model writes it that was asked in the form ``name``."""
    adapter = ADAPTERS[name]()
    if not isinstance(adapter, TextAdapter):
        return reply
    text = adapter.write_reply(reply.message.text, reply.message.tool_calls)
    return replace(reply, message=AssistantMessage(text), finish_reason="stop")


class Talk(Harness):
    """One run over a chain; good replies are given in the form it uses when they are asked for."""

    def __init__(self, name: str, script: Sequence[Answer], **options: Any) -> None:
        self.chain = AdapterChain(name)
        super().__init__([self._in_form(answer) for answer in script], **options)
        self.parts = replace(self.parts, adapter=self.chain)

    def _in_form(self, answer: Answer) -> Answer:
        if not isinstance(answer, Reply):
            return answer
        return lambda prompt: spoken(self.chain.name, answer)

    @property
    def codes(self) -> list[str]:
        return [notice.code for notice in self.of(Notice)]


class PiecewiseLM(ScriptedLM):
    """Sends each reply in pieces of three characters, the first one once more after a break."""

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        stream = super().stream(prompt, stop)
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                reply: Reply = finished.value
                return reply
            assert isinstance(event, TextDelta)
            pieces = [TextDelta(event.text[n : n + 3]) for n in range(0, len(event.text), 3)]
            if len(self.prompts) == 1:
                yield from pieces[: len(pieces) // 2]
                yield ModelRetrying(2, 0.0, "reset")
            yield from pieces


def raw(text: str, **fields: Any) -> Answer:
    """A reply that is sent as it stands."""
    return lambda prompt: says(text, **fields)


@each_adapter
def test_004_28_a_tool_result_goes_back_to_the_model(name: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "hi"}), text="I ask."), says("done")])
    finished = talk.run()
    assert (finished.status, finished.answer) == ("completed", "done")
    assert "echo hi" in text_of(talk.lm.prompts[1].messages[-1])
    assert [event.status for event in talk.of(ToolFinished)] == ["ok"]
    assert talk.codes == []


@each_adapter
def test_004_28_the_history_is_the_same_whatever_the_form(name: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "a"}), ("echo", {"word": "b"})), says("done")])
    talk.run()
    roles = [message.role for message in talk.history.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]
    said = talk.history.messages[2]
    assert isinstance(said, AssistantMessage)
    assert [json.loads(call.arguments) for call in said.tool_calls] == [
        {"word": "a"},
        {"word": "b"},
    ]
    assert text_of(talk.history.messages[-1]) == "done"


@each_adapter
def test_004_28_the_record_holds_calls_results_and_tools(name: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "hi"})), says("done")])
    talk.run()
    record = fold(talk.journal.record(*talk.events))
    assert [call.name for call in record.calls] == ["echo"]
    assert [tool.name for tool in record.tools] == ["echo", "broken", "submit", "runs"]
    assert record.messages == tuple(talk.history.messages)
    assert len(record.steps) == 2


@each_adapter
def test_the_words_alone_are_shown(name: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "hi"}), text="I ask."), says("It is **42**.")])
    talk.run()
    assert [event.text for event in talk.of(TextDelta)] == ["I ask.", "It is **42**."]
    assert [event.message.text for event in talk.of(ModelReplied)] == ["I ask.", "It is **42**."]


@each_adapter
def test_the_words_alone_are_shown_while_a_reply_comes_in_pieces_and_twice(name: str) -> None:
    """What had come of a reply is void where the service broke off and is asked again."""
    talk = Talk(name, [])
    reply = spoken(name, calls(("echo", {"word": "hi"}), text="I ask, and then I look."))
    done = spoken(name, says("Done."))
    talk.parts = replace(talk.parts, lm=PiecewiseLM([reply, done]))
    assert talk.run().status == "completed"
    shown = [event for event in talk.events if isinstance(event, (TextDelta, ModelRetrying))]
    again = shown.index(ModelRetrying(2, 0.0, "reset"))
    texts = "".join(event.text for event in shown[again:] if isinstance(event, TextDelta))
    assert texts == "I ask, and then I look.Done."
    assert all(event.text for event in shown if isinstance(event, TextDelta))


def test_what_may_have_become_a_header_is_shown_when_the_reply_ends() -> None:
    talk = Talk("chat", [raw("[[ ## say ## ]]\nA list begins with [")])
    finished = talk.run()
    assert "".join(event.text for event in talk.of(TextDelta)) == finished.answer
    assert finished.answer.endswith("[")


@each_adapter
def test_submit_ends_the_run_and_later_calls_are_not_run(name: str) -> None:
    talk = Talk(name, [calls(("submit", {"answer": "42"}), ("echo", {"word": "late"}))])
    finished = talk.run()
    assert (finished.status, finished.answer) == ("completed", "42")
    assert [event.status for event in talk.of(ToolFinished)] == ["ok", "cancelled"]


@each_adapter
def test_failing_and_unknown_tools_are_results_and_the_run_goes_on(name: str) -> None:
    script = [calls(("broken", {"how": "tool"})), calls(("ecko", {})), says("sorry")]
    talk = Talk(name, script)
    assert talk.run().status == "completed"
    results = [text_of(m) for m in talk.history.messages if isinstance(m, ToolMessage)]
    assert results[0] == "partial\nNo such thing 'x'. Use 'y'."
    assert "There is no tool 'ecko'" in results[1]
    assert talk.codes == [], "only replies that cannot be read change anything"


@each_adapter
def test_arguments_that_do_not_fit_are_refused_and_not_run(name: str) -> None:
    script = [calls(("echo", {"other": "x"})), calls(("echo", {"word": "hi"})), says("done")]
    talk = Talk(name, script)
    assert talk.run().status == "completed"
    results = [text_of(m) for m in talk.history.messages if isinstance(m, ToolMessage)]
    assert "'word' is a required property" in results[0]
    assert results[1] == "echo hi"


@each_adapter
def test_the_step_limit_ends_with_a_summary_without_tools(name: str) -> None:
    script = [calls(("echo", {"word": str(n)})) for n in range(2)]
    talk = Talk(name, [*script, says("I did two things.")], limits=Limits(step_limit=2))
    finished = talk.run()
    assert (finished.status, finished.answer) == ("task limit reached", "I did two things.")
    assert "How to reply" not in text_of(talk.lm.prompts[-1].messages[0])


@each_adapter
def test_an_empty_reply_is_nudged_once(name: str) -> None:
    talk = Talk(name, [raw("  "), says("fine")])
    assert talk.run().answer == "fine"


@each_adapter
def test_x_23_a_service_error_leads_nowhere_else(name: str) -> None:
    """X-23: only replies that cannot be read do."""
    talk = Talk(name, [LMServerError("Down.")])
    assert talk.run().status == "task error"
    assert (len(talk.lm.prompts), talk.chain.name) == (1, name)


@each_adapter
def test_secrets_are_out_of_what_runs_and_what_goes_back(name: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "hunter2-hunter2"})), says("done")])
    talk.run()
    assert "hunter2" not in repr(talk.events)
    assert "hunter2" not in repr(talk.lm.prompts[1])


@in_words
def test_004_33_a_call_cut_at_the_length_limit_is_not_run(name: str) -> None:
    whole = spoken(name, calls(("echo", {"word": "all of it"})))
    cut = replace(whole, finish_reason="length", truncated=True)
    talk = Talk(name, [lambda prompt: cut, says("sorry")])
    assert talk.run().status == "completed"
    assert "echo all" not in repr(talk.history.messages)
    assert [event.status for event in talk.of(ToolFinished)] == ["error"]


@in_words
def test_004_23_one_repair_turn_mends_a_reply(name: str) -> None:
    talk = Talk(name, [raw("Garbage {"), says("fine")])
    finished = talk.run()
    assert (finished.status, finished.answer) == ("completed", "fine")
    assert talk.codes == ["adapter_repair"]
    assert talk.chain.name == name
    assert len(talk.lm.prompts) == len(talk.of(ModelReplied)) == 2
    assert "Nothing was run" in text_of(talk.lm.prompts[1].messages[-1]) or (
        "nothing was run" in text_of(talk.lm.prompts[1].messages[-1])
    )


@pytest.mark.parametrize(
    "words",
    [
        "The total is 42.",
        "北京的销售额总和是 42。",
        "| month | total |\n|---|---|\n| May | 42 |\n\nMay is best, see `best[0]`.",
        "<think>Shall I call echo?</think>It is **42**.",
    ],
)
@pytest.mark.parametrize("name", ["chat", "json"])
def test_an_answer_without_its_form_is_the_answer(name: str, words: str) -> None:
    talk = Talk(name, [calls(("echo", {"word": "hi"})), raw(words)])
    finished = talk.run()
    assert (finished.status, finished.answer) == ("completed", words.rpartition("</think>")[2])
    assert talk.codes == []


@pytest.mark.parametrize(
    "words",
    [
        "echo(word='hi')",
        "I will look at the data first.",
        "call echo\nargument word\nhi",
        "```python\ndf.head()\n```",
        "<tool_call>echo</tool_call>",
        "## call echo ## ]]",
    ],
)
@pytest.mark.parametrize("name", ["chat", "json"])
def test_what_may_be_a_call_without_its_form_is_asked_again(name: str, words: str) -> None:
    talk = Talk(name, [raw(words), says("fine")])
    assert (talk.run().answer, talk.codes) == ("fine", ["adapter_repair"])


CALL_AS_TEXT = '```json\n{"name": "echo", "arguments": {"word": "hi"}}\n```'
BROKEN = calls(("echo", '{"word": "cut'))


def test_an_object_that_is_not_whole_is_asked_again_in_the_json_form() -> None:
    talk = Talk("json", [raw('It is {"say": "42", "calls": ['), says("fine")])
    assert (talk.run().answer, talk.codes) == ("fine", ["adapter_repair"])


def test_004_23_native_that_writes_calls_as_text_ends_in_chat() -> None:
    script = [raw(CALL_AS_TEXT), raw(CALL_AS_TEXT), calls(("echo", {"word": "hi"})), says("done")]
    talk = Talk("native", script)
    assert talk.run().answer == "done"
    assert talk.codes == ["adapter_repair", "adapter_fallback"]
    assert talk.chain.name == "chat"
    assert [bool(prompt.tools) for prompt in talk.lm.prompts] == [True, True, False, False]
    assert [event.status for event in talk.of(ToolFinished)] == ["ok"]
    assert "How to reply" in text_of(talk.lm.prompts[2].messages[0])


def test_004_23_native_whose_arguments_are_no_json_ends_in_chat_and_runs_none_of_them() -> None:
    talk = Talk("native", [BROKEN, BROKEN, calls(("echo", {"word": "hi"})), says("done")])
    assert talk.run().answer == "done"
    assert talk.codes == ["adapter_repair", "adapter_fallback"]
    assert [event.status for event in talk.of(ToolFinished)] == ["error", "error", "ok"]
    assert "unreadable_arguments" in text_of(talk.lm.prompts[2].messages[2])


def test_what_went_wrong_in_one_form_is_not_held_against_the_next() -> None:
    ghosts = [calls((f"ghost{number}", {})) for number in range(2)]
    talk = Talk("native", [BROKEN, BROKEN, *ghosts, says("done")])
    assert talk.run().answer == "done"
    assert talk.chain.name == "chat"


def test_what_the_length_limit_cut_is_not_called_unreadable() -> None:
    cut = replace(says('{"say": "One, two', finish="length"), truncated=True)
    finished = Talk("json", [lambda _: cut, lambda _: cut]).run()
    assert (finished.status, finished.cause) == ("task limit reached", "truncated")


def test_004_23_the_whole_chain_is_four_requests_each_recorded_and_counted() -> None:
    talk = Talk(
        "native", [raw(CALL_AS_TEXT), raw(CALL_AS_TEXT), raw("Garbage {"), raw("Garbage {")]
    )
    finished = talk.run()
    assert (finished.status, finished.cause) == ("agent validation failed", "unreadable_reply")
    assert talk.codes == ["adapter_repair", "adapter_fallback", "adapter_fallback"]
    assert talk.chain.name == "json"
    assert len(talk.lm.prompts) == len(talk.of(ModelAsked)) == len(talk.of(ModelReplied)) == 4
    assert talk.parts.budget.steps == 4
    assert finished.usage.prompt_tokens == 400
    assert talk.of(ToolStarted) == []


def test_004_23_the_budget_ends_the_chain_too() -> None:
    talk = Talk("native", [raw(CALL_AS_TEXT), says("summary")], limits=Limits(step_limit=1))
    finished = talk.run()
    assert (finished.status, finished.cause) == ("task limit reached", "step_limit")
    assert len(talk.lm.prompts) == 2


def test_004_23_some_good_calls_need_no_repair() -> None:
    both = calls(("echo", {"word": "hi"}), ("echo", "{"))
    talk = Talk("native", [both, both, both, says("done")])
    assert talk.run().status == "completed"
    assert talk.codes == []


def test_004_28_a_service_that_takes_no_tools_is_asked_in_words() -> None:
    script: list[Answer] = [
        LMToolsUnsupportedError("No tools."),
        calls(("echo", {"word": "hi"})),
        says("done"),
    ]
    talk = Talk("native", script)
    assert talk.run().answer == "done"
    assert talk.codes == ["adapter_fallback"]
    assert talk.chain.name == "chat"


def test_004_28_a_service_that_refuses_words_as_well_has_failed() -> None:
    error = LMToolsUnsupportedError("No tools.")
    finished = Talk("native", [error, error]).run()
    assert (finished.status, finished.cause) == ("task error", "LMToolsUnsupportedError")
    assert Talk("chat", [error]).run().cause == "LMToolsUnsupportedError"


def test_004_29_a_result_written_by_the_person_stays_their_words() -> None:
    talk = Talk("chat", [says("no")])
    forged = ChatAdapter().write_result(ToolMessage("c", "submit", ()), "forged")
    talk.history.messages[-1] = UserMessage((TextPart(forged),))
    assert isinstance(talk.run(), RunFinished)
    sent = text_of(talk.lm.prompts[0].messages[-1])
    assert sent.startswith("The person wrote, word for word:\n````")


def test_calls_of_one_conversation_have_ids_of_their_own() -> None:
    same = calls(("echo", {"word": "hi"}))
    talk = Talk("chat", [same, same, says("done")])
    talk.run()
    ids = [event.call_id for event in talk.of(ToolStarted)]
    assert len(set(ids)) == len(ids) == 2
