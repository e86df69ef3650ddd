"""Typed questions: variables in, checked results out, never a wrong one."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_service import Answer, FakeService, text, tool_call

from cellwright.agent.typed_answers import TypedAnswers, assigned_names
from cellwright.errors import SetupError, ToolError
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.llm.signatures import Code, Field, Signature, live_type
from cellwright.record.messages import Parameters
from cellwright.record.outputs import VariableSummary
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import rerun
from cellwright.session.services import ModelService
from cellwright.settings import Mode
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools.structured_output import HandIn, results_cell

pytestmark = pytest.mark.usefixtures("forked_kernels")

BEST = "df: DataFrame, question -> answer: str, best: DataFrame"
KNOWN = {
    "df": VariableSummary("df", "DataFrame", "3 x 2"),
    "geo": VariableSummary("geo", "GeoDataFrame", "3 x 2"),
    "n": VariableSummary("n", "int", "5"),
}
SETUP = "import pandas as pd\ndf = pd.DataFrame({'item': ['a', 'b'], 'price': [2.0, 1.0]})"


def typed(text: str, body: str = "") -> TypedAnswers:
    return TypedAnswers(Signature.parse(text), body)


def outputs(text: str) -> tuple[Field, ...]:
    return Signature.parse(f"-> {text}").outputs


def test_004_40_inputs_that_are_variables_are_bound() -> None:
    question = typed(BEST, "Which is cheapest?")
    assert question.variables(KNOWN) == ("df",)
    prompt = question.prompt(KNOWN)
    assert prompt.startswith("Which is cheapest?")
    assert "Inputs: @df, question (the words above)" in prompt
    assert "- answer: str" in prompt
    assert "- best: DataFrame (the name of the variable that holds it)" in prompt


@pytest.mark.parametrize("said", ["question", "task", "topic: str"])
def test_004_40_the_words_below_are_the_value_of_one_text_input(said: str) -> None:
    name = said.partition(":")[0]
    question = typed(f"df, {said} -> n: int", "Count them.")
    assert question.variables(KNOWN) == ("df",)
    assert f"Inputs: @df, {name} (the words above)" in question.prompt(KNOWN)


def test_004_40_without_a_body_the_instructions_are_the_prompt() -> None:
    assert typed("df -> summary").prompt(KNOWN).startswith("Given the fields `df`")
    assert "Inputs: none" in typed("-> summary: str").prompt(KNOWN)


@pytest.mark.parametrize(
    ("signature", "body", "culprit"),
    [
        ("dff -> x", "", "There is no variable 'dff'. Did you mean 'df'?"),
        ("a, b: str, c: str -> x", "words", "There is no variable 'a'."),
        ("df_typo -> n: int", "How many rows?", "no variable 'df_typo'. Did you mean 'df'?"),
        ("geod, question -> n: int", "How many?", "no variable 'geod'. Did you mean 'geo'?"),
        ("sales -> n: int", "How many?", "write 'sales: str'"),
        ("table: DataFrame -> x", "words", "There is no variable 'table'."),
        ("n: DataFrame -> x", "", "'n' is a int, not a DataFrame."),
    ],
)
def test_004_40_an_input_that_is_not_there_is_an_error(
    signature: str, body: str, culprit: str
) -> None:
    with pytest.raises(SetupError) as caught:
        typed(signature, body).variables(KNOWN)
    assert culprit in str(caught.value)


def test_004_40_an_input_may_be_a_kind_of_what_was_asked_for() -> None:
    assert typed("geo: DataFrame, n: float -> x").variables(KNOWN) == ("geo", "n")


def test_004_40_results_are_checked_before_all_are_assigned_at_once() -> None:
    code = results_cell(outputs("answer: str, best: DataFrame"), {"answer": "x", "best": "top"})
    assert code == (
        'if "DataFrame" not in [kind.__name__ for kind in type(top).__mro__]:\n'
        '    raise TypeError(f"best must be a DataFrame, and top is a {type(top).__name__}")\n'
        "answer, best = 'x', top"
    )


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("str", "a\n'b'", "a\n'b'"),
        ("int", "5", 5),
        ("float", 5, 5.0),
        ("bool", True, True),
        ("float", float("inf"), float("inf")),
        ("list[int]", [1, "2"], [1, 2]),
        ("dict[str, list[float]]", {"a": [1]}, {"a": [1.0]}),
        ("tuple[int, str]", [1, "x"], (1, "x")),
        ("Literal['low', 'high']", "low", "low"),
        ("int | None", None, None),
        ("Code", "x = 1\n", "x = 1\n"),
    ],
)
def test_004_40_plain_values_are_cast_and_written_as_python(
    kind: str, value: Any, expected: Any
) -> None:
    code = results_cell(outputs(f"x: {kind}"), {"x": value})
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert namespace["x"] == expected
    assert type(namespace["x"]) is type(expected)


@pytest.mark.parametrize(
    ("text", "values", "complaint"),
    [
        ("n: int", {"n": "three"}, "'n' must be int, not 'three'"),
        ("n: int", {}, "'n' is missing"),
        ("n: int", {"n": 1, "m": 2}, "'m' was not asked for"),
        ("best: DataFrame", {"best": "df.head()"}, "'best' must be the name of a variable"),
        ("best: DataFrame", {"best": "class"}, "'best' must be the name of a variable"),
        ("best: DataFrame", {"best": [[1]]}, "'best' must be the name of a variable"),
        ("x: list[float]", {"x": [float("nan")]}, "cannot be written"),
    ],
)
def test_004_40_what_does_not_fit_is_never_written(
    text: str, values: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ToolError) as caught:
        results_cell(outputs(text), values)
    assert complaint in str(caught.value)


def test_004_40_all_complaints_come_at_once() -> None:
    with pytest.raises(ToolError, match="'b' must be int.*'a' is missing|'a' is missing.*'b'"):
        results_cell(outputs("a: int, b: int"), {"b": "x"})


def test_004_40_defaults_optional_results_and_long_ones() -> None:
    class Colour(enum.Enum):
        RED = "r"

    fields = (
        Field("a", "output", int, default=3),
        Field("b", "output", live_type("Figure") | None),
        Field("c", "output", Colour),
        Field("d", "output", Code),
    )
    code = results_cell(fields, {"c": "r", "d": "y" * 70})
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert [namespace[name] for name in "abc"] == [3, None, "r"]
    assert code.startswith("a, b, c, d = (\n    3,\n")


def test_004_40_a_result_that_stands_there_already_is_only_checked() -> None:
    code = results_cell(outputs("best: DataFrame"), {"best": "best"})
    assert "raise TypeError" in code
    assert "=" not in code.replace("!=", "").splitlines()[-1].replace('f"best must', "")
    assert HandIn(outputs("x: int")).code_for(values=None) == ""
    assert HandIn(outputs("x: int")).code_for(values={"x": 1}) == "x = 1"
    assert HandIn(outputs("x: int, y")).label() == "assign x, y"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("best = 1", {"best"}),
        ("a, (b, *c) = x", {"a", "b", "c"}),
        ("for best in x: pass", {"best"}),
        ("with x as best: pass", {"best"}),
        ("(best := 1)", {"best"}),
        ("import os.path, numpy as best", {"os", "best"}),
        ("del best", {"best"}),
        ("def best():\n    inner = 1", {"best"}),
        ("f = lambda best: best", {"f"}),
        ("best.x = 1\nbest[0] = 2", set()),
        ("print(best == 1)", set()),
        ("%time best = 1", set()),
        ("%matplotlib inline\nbest = 1\nn: int = 2\nm += 1\nok == 2", {"best", "n", "m"}),
        ("!ls\na, best = 1, 2", {"a", "best"}),
    ],
)
def test_004_40_the_names_that_code_binds_are_known(code: str, names: set[str]) -> None:
    found = assigned_names(code)
    assert names <= found
    assert found - names <= {"time best"}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    started = start_kernel(cwd=str(tmp_path_factory.mktemp("typed")))
    yield started
    started.close()


class Desk:
    """A kernel with a table, asked typed questions of a scripted model."""

    def __init__(self, kernel: FreshKernel, store: RunStore) -> None:
        self.kernel = kernel
        self.store = store
        self.requests: list[Any] = []
        self.run("%reset -f\n" + SETUP)

    def run(self, code: str) -> str:
        outputs = self.kernel.execute(CellRequest("c", code), Stop(), lambda output: output)
        return "".join(repr(output.message) for output in outputs)

    def value(self, name: str) -> str:
        return str(self.kernel.probe("inspect_variable", {"name": name}))

    def names(self) -> set[str]:
        return {row["name"] for row in self.kernel.probe("list_variables", {})}

    def ask(
        self, signature: str, script: Sequence[Answer], body: str = "Go.", mode: Mode = "auto"
    ) -> RunRecord:
        conversation = Conversation(RunContext(self.kernel, self.store, Redactor({}), "cli"))
        question = RunRequest("", Parameters("m"), mode=mode, typed=typed(signature, body))
        with FakeService(script) as service:
            list(conversation.ask(question, OpenAILM(service.settings())))
            self.requests = service.requests
        return self.store.record(conversation.last_run_id)


@pytest.fixture
def desk(kernel: FreshKernel, tmp_path: Path) -> Iterator[Desk]:
    database = open_database(tmp_path / "runs.sqlite")
    yield Desk(kernel, RunStore(database))
    database.close()


def hand_in(number: int = 1, **values: Any) -> Answer:
    return tool_call("hand_in", {"values": values}, id=f"hand_{number}")


RUN = tool_call("run_cell", {"code": "top = df.nsmallest(1, 'price')"}, id="run_1")


@pytest.mark.kernel
def test_004_40_typed_results_become_variables(desk: Desk) -> None:
    record = desk.ask(BEST, [RUN, hand_in(answer="b is.", best="top")], "Which is cheapest?")
    assert (record.status, record.answer) == (
        "completed",
        "- `answer`: b is.\n- `best`: DataFrame",
    )
    assert "DataFrame" in desk.value("best")
    assert desk.value("answer").endswith("'b is.'")
    assert record.cells[-1].cell.source.endswith("answer, best = 'b is.', top")
    tools = [tool["function"]["name"] for tool in desk.requests[0].body["tools"]]
    assert "hand_in" in tools
    assert "submit" not in tools
    asked = desk.requests[0].messages[1]["content"]
    assert asked.startswith("Which is cheapest?")
    assert "@df: DataFrame" in asked, "the summary, not the table"


@pytest.mark.kernel
def test_004_40_a_typed_question_is_asked_again_in_the_same_words(desk: Desk) -> None:
    script = [RUN, hand_in(answer="b is.", best="top")]
    record = desk.ask(BEST, script, "Which is cheapest?")
    place = RunContext(desk.kernel, desk.store, Redactor({}), "cli")
    with FakeService(script) as service:
        other = ModelService(OpenAILM(service.settings()), "other")
        list(rerun(record, place, other))
    again = desk.store.record(desk.store.last_started)
    assert (again.status, again.prompt) == ("completed", record.prompt)
    assert again.messages[1] == record.messages[1]


@pytest.mark.kernel
def test_004_40_a_wrong_type_gets_one_repair_turn(desk: Desk) -> None:
    script = [RUN, hand_in(1, answer="b", best="df.head()"), hand_in(2, answer="b", best="top")]
    record = desk.ask(BEST, script)
    assert record.status == "completed"
    assert [call.status for call in record.calls] == ["ok", "error", "ok"]
    sent = desk.requests[2].messages[-1]["content"]
    assert "nothing was assigned: 'best' must be the name of a variable" in sent
    assert "Mend them" in sent


@pytest.mark.kernel
@pytest.mark.parametrize("best", ["df.head()", "prices", "nothing"])
def test_004_40_a_wrong_type_twice_is_a_status_and_never_a_variable(desk: Desk, best: str) -> None:
    run = tool_call("run_cell", {"code": "prices = df.price.tolist()"}, id="run_1")
    record = desk.ask(BEST, [run, *(hand_in(n, answer="b", best=best) for n in (1, 2))])
    assert (record.status, record.cause) == ("agent validation failed", "wrong_results")
    assert "nothing was assigned" in record.reason
    assert not {"answer", "best"} & desk.names()


@pytest.mark.kernel
def test_004_40_words_instead_of_results_are_reminded_of_once(desk: Desk) -> None:
    record = desk.ask("df -> n: int", [text("It is 2."), hand_in(n=2)])
    assert record.status == "completed"
    assert desk.value("n").endswith("2")
    assert "hand_in with a value for each of: n" in desk.requests[1].messages[-1]["content"]
    record = desk.ask("df -> m: int", [text("It is 2."), text("It is 2!")])
    assert (record.status, record.cause) == ("agent validation failed", "results_missing")
    assert "m" not in desk.names()


@pytest.mark.kernel
def test_004_40_code_may_not_assign_a_result_itself(desk: Desk) -> None:
    sneaky = tool_call("run_cell", {"code": "best = 5"}, id="run_1")
    record = desk.ask("df -> best: DataFrame", [sneaky, RUN, hand_in(best="top")])
    assert record.status == "completed"
    assert [call.status for call in record.calls] == ["refused", "ok", "ok"]
    assert "assigns 'best'" in json.dumps(desk.requests[1].messages)
    assert "DataFrame" in desk.value("best")


@pytest.mark.kernel
def test_004_40_an_undefined_input_is_an_error_before_any_request(desk: Desk) -> None:
    with pytest.raises(SetupError, match="There is no variable 'dff'. Did you mean 'df'"):
        desk.ask("dff -> x", [], "")
    assert desk.requests == []
    assert desk.store.list() == ()


@pytest.mark.kernel
def test_004_40_an_earlier_variable_is_replaced_only_by_what_fits(desk: Desk) -> None:
    desk.run("n = 'mine'")
    record = desk.ask("df -> n: int", [hand_in(1, n="x"), hand_in(2, n="y")])
    assert "'mine'" in desk.value("n")
    assert record.notices[0] == "'n' will be replaced when the results fit."
    desk.ask("df -> n: int", [hand_in(n=7)])
    assert desk.value("n").endswith("7")


@pytest.mark.kernel
def test_004_40_where_nobody_can_be_asked_nothing_is_assigned(desk: Desk) -> None:
    record = desk.ask("df -> n: int", [hand_in(n=7), text("No."), text("No.")], mode="ask")
    assert record.status == "agent validation failed"
    assert "n" not in desk.names()
