"""The loop alone: a scripted model and small tools, no kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from scripted_model import Answer, ScriptedLM, calls, says

from cellwright.agent.loop import AgentParts, History, run
from cellwright.agent.policy import ApprovalAnswer as Decision
from cellwright.agent.policy import Policy
from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.context.normalise import normalise
from cellwright.errors import (
    KernelDiedError,
    LMContextError,
    LMServerError,
    RunCancelled,
    ToolError,
)
from cellwright.kernels import Kernel
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.budget import RunBudget
from cellwright.record.content import ComponentOutput, Content, text
from cellwright.record.events import (
    ApprovalAnswered,
    Event,
    ModelAsked,
    ModelReplied,
    Notice,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Parameters,
    Prompt,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.run_record import RecordedEvent
from cellwright.settings import Limits, Mode
from cellwright.stopping import Stop
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, Shelf, ToolContext, ToolYield
from cellwright.tools.registry import Registry


class Echo(Component):
    name = "echo"

    def tool_eval(self, context: ToolContext, word: str) -> Iterator[ToolYield]:
        """Say a word back.

        Args:
            word: The word.
        """
        yield text(f"echo {word}")


class Broken(Component):
    name = "broken"

    def tool_eval(self, context: ToolContext, how: str) -> Iterator[ToolYield]:
        """Fail.

        Args:
            how: In which way.
        """
        yield text("partial")
        failures: dict[str, BaseException] = {
            "tool": ToolError("No such thing 'x'.", hint="Use 'y'."),
            "bug": ZeroDivisionError("division by zero"),
            "died": KernelDiedError("The kernel died."),
            "stop": RunCancelled("stopped by the test"),
            "interrupt": KeyboardInterrupt(),
        }
        raise failures[how]


class Submit(Component):
    name = "submit"

    def tool_eval(self, context: ToolContext, answer: str) -> Iterator[ToolYield]:
        """End.

        Args:
            answer: The answer.
        """
        yield ComponentOutput((Content("text", {"info": answer}),), final=True)


class Runs(Component):
    name = "runs"
    risk = "execute"

    def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
        """Run something."""
        yield text("ran")


class ListJournal:
    """Keeps events in a list."""

    run_id = "run"

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.tells = False
        """Whether it has something to say of itself with every event."""

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        self.events.extend(events)
        first = len(self.events) - len(events) + 1
        return tuple(
            RecordedEvent(self.run_id, number, 0.0, event)
            for number, event in enumerate(events, first)
        )

    def take_notices(self) -> tuple[Notice, ...]:
        return (Notice("warning", "The record is locked."),) if self.tells else ()


class Person:
    """Answers every question the same way."""

    def __init__(self, answer: Decision | BaseException) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def ask(self, call: ToolStarted, reason: str) -> Decision:
        self.asked.append(call.name)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Harness:
    """One run of the loop and everything that came of it."""

    def __init__(
        self,
        script: Sequence[Answer],
        *,
        limits: Limits | None = None,
        mode: Mode = "auto",
        person: Person | None = None,
    ) -> None:
        self.lm = ScriptedLM(script)
        self.journal = ListJournal()
        self.stop = Stop()
        publisher = Publisher(self.journal, Redactor({"TOKEN": "hunter2-hunter2"}), None)
        context = ToolContext(
            kernel=cast(Kernel, None),
            notebook=None,
            shelf=Shelf(),
            stop=self.stop,
            on_output=publisher.output,
            new_cell_id=lambda: "cell",
        )
        self.person = person or Person(Decision(True, "person"))
        policy = Policy(mode, self.person)
        registry = Registry([Echo(), Broken(), Submit(), Runs()])
        budget = RunBudget(limits or Limits())
        self.parts = AgentParts(
            lm=self.lm,
            adapter=NativeAdapter(),
            parameters=Parameters("scripted"),
            tools=ToolCaller(registry, policy, context, CallerParts(publisher, budget)),
            publisher=publisher,
            budget=budget,
            stop=self.stop,
        )
        self.history = History([SystemMessage("rules"), UserMessage((TextPart("question"),))])
        self.events: list[Event] = []

    def run(self, look: Callable[[Event], None] = lambda event: None) -> RunFinished:
        for event in run(self.parts, self.history):
            self.events.append(event)
            look(event)
        assert self.events == self.journal.events, "shown and recorded are the same"
        check_every_call_has_one_result(self.history.messages)
        finished = self.events[-1]
        assert isinstance(finished, RunFinished)
        return finished

    def of(self, cls: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, cls)]


def check_every_call_has_one_result(messages: list[Message]) -> None:
    asked = [c.id for m in messages if isinstance(m, AssistantMessage) for c in m.tool_calls]
    answered = [m.call_id for m in messages if isinstance(m, ToolMessage)]
    assert sorted(asked) == sorted(answered)


def test_an_answer_without_calls_completes_the_run() -> None:
    harness = Harness([says("42")])
    finished = harness.run()
    assert (finished.status, finished.answer, finished.reason) == ("completed", "42", "")
    assert finished.usage.prompt_tokens == 100


def test_a_tool_result_goes_back_to_the_model() -> None:
    harness = Harness([calls(("echo", {"word": "hi"})), says("done")])
    assert harness.run().status == "completed"
    result = text_of(harness.lm.prompts[1].messages[-1])
    assert result == "<tool-result>\necho hi\n</tool-result>"
    assert [e.status for e in harness.of(ToolFinished)] == ["ok"]


def test_the_history_only_grows() -> None:
    script = [calls(("echo", {"word": str(n)}), start=n) for n in range(3)]
    harness = Harness([*script, says("done")])
    harness.run()
    prompts = harness.lm.prompts
    for earlier, later in zip(prompts, prompts[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert later.tools == earlier.tools


def test_the_record_carries_each_message_once() -> None:
    harness = Harness([calls(("echo", {"word": "hi"})), says("done")])
    harness.run()
    asked = [m for e in harness.of(ModelAsked) for m in e.messages]
    assert asked == harness.history.messages[:-1]
    assert [bool(e.tools) for e in harness.of(ModelAsked)] == [True, False]


def test_what_the_record_says_of_itself_is_shown_wherever_it_comes_up() -> None:
    person = Person(Decision(True, "person"))
    script = [calls(("runs", {}), ("ghost", {}), ("echo", {"word": "a"})), says("done")]
    harness = Harness(script, mode="ask", person=person)
    harness.journal.tells = True
    events = list(run(harness.parts, harness.history))
    assert events == harness.journal.events
    told = [event for event in events if isinstance(event, Notice)]
    assert len(told) >= len(events) / 2 - 1


def test_parallel_calls_run_in_order_with_one_result_each() -> None:
    """Fault M6."""
    harness = Harness([calls(("echo", {"word": "a"}), ("echo", {"word": "b"})), says("done")])
    harness.run()
    results = [m for m in harness.history.messages if isinstance(m, ToolMessage)]
    assert [(m.call_id, text_of(m)) for m in results] == [
        ("call_0", "echo a"),
        ("call_1", "echo b"),
    ]


def test_submit_ends_the_run_and_later_calls_are_not_run() -> None:
    harness = Harness([calls(("submit", {"answer": "42"}), ("echo", {"word": "late"}))])
    finished = harness.run()
    assert (finished.status, finished.answer) == ("completed", "42")
    assert [e.status for e in harness.of(ToolFinished)] == ["ok", "cancelled"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("tool", "partial\nNo such thing 'x'. Use 'y'."),
        ("bug", "partial\nThe tool failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_failing_tool_is_a_result_and_the_run_goes_on(how: str, said: str) -> None:
    harness = Harness([calls(("broken", {"how": how})), says("sorry")])
    assert harness.run().status == "completed"
    assert text_of(harness.history.messages[3]) == said
    assert harness.of(ToolFinished)[0].status == "error"


def test_an_unknown_tool_is_answered_with_the_names_there_are() -> None:
    """Fault M4."""
    harness = Harness([calls(("ecko", {"word": "hi"})), says("sorry")])
    harness.run()
    assert harness.of(ToolStarted)[0].arguments == {"word": "hi"}
    answer = text_of(harness.history.messages[3])
    assert "'ecko'" in answer
    assert "echo" in answer


def test_unknown_tools_three_times_in_a_row_end_the_run_as_invalid_action() -> None:
    harness = Harness([calls((f"ghost{n}", {}), start=n) for n in range(3)])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("agent invalid action", "invalid_calls")


def test_broken_arguments_are_never_run_and_end_the_run_after_three() -> None:
    """Fault M1."""
    script = [calls(("echo", '{"word": "' + "x" * n), start=n) for n in range(3)]
    harness = Harness(script)
    finished = harness.run()
    assert finished.status == "agent validation failed"
    assert not any("echo x" in text_of(m) for m in harness.history.messages)
    written = [event.arguments for event in harness.of(ToolStarted)]
    assert written == [{"raw": '{"word": "' + "x" * n} for n in range(3)], "as the model wrote them"


def test_a_good_call_between_broken_ones_starts_the_count_anew() -> None:
    bad = [calls(("echo", f"[{n}"), start=10 * n) for n in range(4)]
    good = calls(("echo", {"word": "hi"}), start=5)
    harness = Harness([bad[0], bad[1], good, bad[2], bad[3], says("done")])
    assert harness.run().status == "completed"


def test_an_empty_reply_is_nudged_once_and_then_ends_the_run() -> None:
    """Fault M16."""
    harness = Harness([says("  "), says("fine")])
    assert harness.run().answer == "fine"
    harness = Harness([says(""), says("")])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("agent validation failed", "empty_reply")


def test_replies_that_are_cut_before_they_say_anything_are_called_cut() -> None:
    """A model that thinks, or repeats itself, until its limit; seen with llama.cpp."""
    cut = replace(says("", finish="length"), truncated=True)
    finished = Harness([cut, cut]).run()
    assert (finished.status, finished.cause) == ("task limit reached", "truncated")
    assert "cut" in finished.reason


def test_a_refusal_completes_the_run_as_refused() -> None:
    """Fault M15."""
    finished = Harness([says("", refusal="I cannot help with that.")]).run()
    assert (finished.status, finished.cause) == ("completed", "refused")
    assert finished.answer == "I cannot help with that."


def test_a_tool_call_written_as_text_is_not_run() -> None:
    """Fault M18."""
    body = '```json\n{"name": "echo", "arguments": {"word": "hi"}}\n```'
    harness = Harness([says(body)])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("agent validation failed", "tool_call_as_text")
    assert "supports tool calling" in harness.of(Notice)[0].action


def test_a_truncated_answer_says_so() -> None:
    """Fault M13."""
    reply = says("half an ans", finish="length")
    finished = Harness([replace(reply, truncated=True, limit_tokens=10)]).run()
    assert (finished.status, finished.cause) == ("task limit reached", "truncated")
    assert finished.reason


def test_the_step_limit_ends_with_a_summary_without_tools() -> None:
    """Fault M21."""
    script = [calls(("echo", {"word": str(n)}), start=n) for n in range(2)]
    harness = Harness([*script, says("I did two things.")], limits=Limits(step_limit=2))
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task limit reached", "step_limit")
    assert finished.answer == "I did two things."
    assert harness.lm.prompts[-1].tools == ()
    assert "--max-steps" in finished.reason


def test_a_summary_that_fails_does_not_hide_the_limit() -> None:
    script: list[Answer] = [calls(("echo", {"word": "a"}), text="so far"), LMServerError("Down.")]
    finished = Harness(script, limits=Limits(step_limit=1)).run()
    assert (finished.status, finished.answer) == ("task limit reached", "so far")


def test_other_limits_end_without_another_request() -> None:
    harness = Harness([calls(("echo", {"word": "a"}))], limits=Limits(token_limit=50))
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task limit reached", "token_limit")
    assert len(harness.lm.prompts) == 1


def test_the_same_call_is_warned_at_three_and_stopped_at_five() -> None:
    """Fault M19."""
    harness = Harness([calls(("echo", {"word": "a"}), start=n) for n in range(5)])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task limit reached", "repeated_calls")
    results = [text_of(m) for m in harness.history.messages if isinstance(m, ToolMessage)]
    assert ["Notice" in result for result in results] == [False, False, True, True, True]


def test_repeats_that_end_in_time_do_not_stop_the_run() -> None:
    script = [calls(("echo", {"word": "a"}), start=n) for n in range(4)]
    other = [calls(("echo", {"word": str(n)}), start=10 + n) for n in range(3)]
    assert Harness([*script, *other, says("done")]).run().status == "completed"


def test_a_context_error_compacts_once_and_goes_on() -> None:
    """Fault M41."""
    long = calls(("echo", {"word": "x" * 9_000}))
    more = calls(("echo", {"word": "y"}), start=1)
    harness = Harness([long, LMContextError("Too long."), more, says("done")])
    assert harness.run().status == "completed"
    assert len(text_of(harness.lm.prompts[2].messages[-1])) < 5_000
    # The record is told of the shorter history once, and of what follows as ever.
    asked = harness.of(ModelAsked)
    assert [event.replaces_history for event in asked] == [False, False, True, False]
    assert [len(event.messages) for event in asked] == [2, 2, 4, 2]
    assert [bool(event.tools) for event in asked] == [True, False, False, False]


def test_a_context_error_with_nothing_to_cut_ends_the_run() -> None:
    finished = Harness([LMContextError("Too long.")]).run()
    assert (finished.status, finished.cause) == ("agent context limit", "context")


def test_a_service_error_ends_the_run_with_what_to_do() -> None:
    harness = Harness([LMServerError("127.0.0.1 failed.", hint="Try again.")])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task error", "LMServerError")
    assert harness.of(Notice)[0].action == "Try again."


def test_a_dead_kernel_ends_the_run_with_every_call_answered() -> None:
    script = [calls(("broken", {"how": "died"}), ("echo", {"word": "late"}))]
    harness = Harness(script)
    finished = harness.run()
    assert (finished.status, finished.cause) == ("task error", "kernel_died")
    died, late = harness.of(ToolFinished)
    assert (died.status, late.status) == ("error", "cancelled")
    assert text_of(died.message) == "partial\nThe kernel died."


@pytest.mark.parametrize("how", ["stop", "interrupt"])
def test_a_stop_inside_a_tool_answers_every_call_as_cancelled(how: str) -> None:
    """Faults K12, M47."""
    harness = Harness([calls(("broken", {"how": how}), ("echo", {"word": "late"}))])
    finished = harness.run()
    assert (finished.status, finished.cause) == ("cancelled", "stopped")
    assert [e.status for e in harness.of(ToolFinished)] == ["cancelled", "cancelled"]


def test_a_stop_between_steps_sends_no_more_requests() -> None:
    harness = Harness([calls(("echo", {"word": "a"})), says("never")])

    def look(event: Event) -> None:
        if isinstance(event, ToolFinished):
            harness.stop.set()

    assert harness.run(look).status == "cancelled"
    assert len(harness.lm.prompts) == 1


def test_our_own_bug_ends_the_run_as_recorded_with_its_traceback() -> None:
    def bug(prompt: Prompt) -> Any:
        raise AttributeError("our bug")

    finished = Harness([bug]).run()
    assert (finished.status, finished.cause) == ("task error", "internal")
    assert "our bug" in finished.reason
    assert "Traceback" in finished.reason


def test_a_run_that_nobody_pulls_any_more_is_recorded_as_cancelled() -> None:
    harness = Harness([calls(("echo", {"word": "a"})), says("never")])
    events = run(harness.parts, harness.history)
    while not isinstance(next(events), ToolStarted):
        pass
    events.close()  # type: ignore[attr-defined]
    finished = harness.journal.events[-1]
    assert isinstance(finished, RunFinished)
    assert (finished.status, finished.cause) == ("cancelled", "abandoned")
    check_every_call_has_one_result(harness.history.messages)


def test_a_call_the_person_refuses_is_told_to_the_model_with_their_words() -> None:
    person = Person(Decision(False, "person", "use df2 instead"))
    harness = Harness([calls(("runs", {})), says("ok")], mode="ask", person=person)
    assert harness.run().status == "completed"
    assert person.asked == ["runs"]
    assert "use df2 instead" in text_of(harness.history.messages[3])
    assert not harness.of(ApprovalAnswered)[0].allowed


def test_a_call_the_person_allows_is_run() -> None:
    harness = Harness([calls(("runs", {})), says("ok")], mode="ask")
    harness.run()
    assert text_of(harness.history.messages[3]) == "ran"


def test_a_stop_while_the_person_is_asked_cancels_the_run() -> None:
    """Fault K14."""
    person = Person(KeyboardInterrupt())
    harness = Harness([calls(("runs", {}))], mode="ask", person=person)
    assert harness.run().status == "cancelled"


def test_a_secret_in_a_result_reaches_neither_model_nor_record() -> None:
    """Fault A17."""
    secret = "hunter2-hunter2"
    harness = Harness([calls(("echo", {"word": secret}), text=f"key {secret}"), says(secret)])
    finished = harness.run()
    assert secret not in repr(harness.events)
    assert secret not in repr(harness.lm.prompts)
    assert secret not in finished.answer


def test_what_the_model_is_sent_is_already_in_the_shape_providers_accept() -> None:
    harness = Harness([calls(("echo", {"word": "a"})), says("done")])
    harness.run()
    for prompt in harness.lm.prompts:
        assert normalise(prompt.messages) == prompt.messages


def test_the_reply_is_recorded_before_its_tools_start() -> None:
    harness = Harness([calls(("echo", {"word": "a"})), says("done")])
    harness.run()
    kinds = [type(e) for e in harness.events]
    assert kinds.index(ModelReplied) < kinds.index(ToolStarted)


def test_002_75_a_run_with_a_call_is_told_in_this_order() -> None:
    harness = Harness([calls(("echo", {"word": "hi"}), text="I say it."), says("Done.")])
    harness.run()
    told = [type(event).__name__ for event in harness.events]
    assert told == [
        *("ModelAsked", "TextDelta", "ModelReplied", "ToolStarted", "ToolFinished"),
        *("ModelAsked", "TextDelta", "ModelReplied", "RunFinished"),
    ]
    failing = Harness([calls(("broken", {"how": "tool"})), says("Oh.")])
    failing.run()
    assert [event.status for event in failing.of(ToolFinished)] == ["error"]


class OwedTable:
    """A result that is never handed in."""

    failure = ""

    def reminder(self) -> str:
        return "Hand in the table."


def test_missing_results_are_asked_for_once_and_then_the_run_ends() -> None:
    harness = Harness([says("First."), says("Second."), says("Third.")])
    harness.parts = replace(harness.parts, owed=OwedTable())
    finished = harness.run()
    assert (finished.status, finished.cause) == ("agent validation failed", "results_missing")
    assert finished.answer == "Second."
    assert len(harness.of(ModelAsked)) == 2
    told = [message for message in harness.history.messages if isinstance(message, UserMessage)]
    assert [text_of(message) for message in told] == ["question", "Hand in the table."]


def test_calls_are_run_though_results_are_owed() -> None:
    harness = Harness([calls(("echo", {"word": "a"})), calls(("submit", {"answer": "42"}))])
    harness.parts = replace(harness.parts, owed=OwedTable())
    assert harness.run().status == "completed"
    assert [event.status for event in harness.of(ToolFinished)] == ["ok", "ok"]


@pytest.mark.parametrize("when", ["between two steps", "in a tool"])
def test_the_record_says_why_a_run_was_stopped(when: str) -> None:
    harness = Harness([calls(("broken", {"how": "stop"}), ("echo", {"word": "a"})), says("Done.")])
    if when == "between two steps":
        harness = Harness([calls(("echo", {"word": "a"})), says("Done.")])
    why = "stopped by the test" if when == "in a tool" else "stopped because the lab was closed"

    def look(event: Event) -> None:
        if isinstance(event, ToolFinished):
            harness.stop.set(why)

    finished = harness.run(look)
    assert finished.status == "cancelled"
    assert why in finished.reason


def test_a_run_at_its_limit_answers_with_what_was_said_last() -> None:
    asked = calls(("echo", {"word": "a"}))
    with_words = replace(asked, message=replace(asked.message, text="I found 42."))
    script = [with_words, calls(("echo", {"word": "c"})), says("")]
    finished = Harness(script, limits=Limits(step_limit=2)).run()
    assert (finished.cause, finished.answer) == ("step_limit", "I found 42.")
