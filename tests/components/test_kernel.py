"""list_variables, inspect_variable and install_package."""

from __future__ import annotations

import pytest
from fakes import FakeKernel, Played, make_context

from cellwright.errors import ToolError
from cellwright.record.content import ComponentOutput, for_model
from cellwright.record.events import CellAdded
from cellwright.record.messages import TextPart
from cellwright.record.outputs import ErrorOutput, Execution, OutputMessage, StreamOutput
from cellwright.tools import Component, ToolContext
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.standard import (
    PIP_CODE,
    UV_CODE,
    InspectVariable,
    InstallPackage,
    ListVariables,
)


def said(tool: Component, context: ToolContext, **arguments: object) -> str:
    (output,) = (
        item for item in tool.tool_eval(context, **arguments) if isinstance(item, ComponentOutput)
    )
    (part,) = for_model(output.content)
    assert isinstance(part, TextPart)
    return part.text


def listing(count: int) -> list[dict[str, str]]:
    return [{"name": f"v{n}", "type": "int", "text": str(n)} for n in range(count)]


def test_variables_are_listed_one_a_line() -> None:
    context = make_context(FakeKernel(probes={"list_variables": listing(2)}))
    assert said(ListVariables(), context) == "v0: int 0\nv1: int 1"


def test_a_long_list_is_cut_and_counted() -> None:
    context = make_context(FakeKernel(probes={"list_variables": listing(75)}))
    assert said(ListVariables(), context).endswith("v59: int 59\n[… 15 more; give a pattern …]")


def test_the_pattern_reaches_the_kernel_and_an_empty_answer_is_said() -> None:
    asked: list[str] = []

    def answer(pattern: str) -> list[dict[str, str]]:
        asked.append(pattern)
        return []

    context = make_context(FakeKernel(probes={"list_variables": answer}))
    assert said(ListVariables(), context, pattern="df*") == "No variables match 'df*'."
    assert said(ListVariables(), context) == "No variables yet."
    assert asked == ["df*", ""]


def test_a_variable_is_summed_up_by_the_kernel() -> None:
    context = make_context(FakeKernel(probes={"inspect_variable": lambda name: f"{name} is 3"}))
    assert said(InspectVariable(), context, name="x") == "x is 3"


def test_a_summary_that_is_too_long_can_be_read_on() -> None:
    long = "\n".join(f"column {n}" for n in range(5_000))
    context = make_context(FakeKernel(probes={"inspect_variable": long}))
    assert 'read_output("df", ' in said(InspectVariable(), context, name="df")
    assert context.shelf.get("df") == long


def test_a_kernel_that_refuses_is_the_tools_error() -> None:
    with pytest.raises(ToolError):
        said(InspectVariable(), make_context(), name="x")


def installer(code: str, *messages: OutputMessage, status: str = "ok") -> FakeKernel:
    execution = Execution("error" if status == "error" else "ok", 1.0)
    return FakeKernel({code.format(requirement='"scikit-learn"'): Played(messages, execution)})


def test_a_package_is_installed_in_a_cell_of_its_own() -> None:
    kernel = installer(
        PIP_CODE, StreamOutput("stdout", "\x1b[32mSuccessfully installed scikit-learn-1.5\x1b[0m\n")
    )
    tool, context = InstallPackage(SeenCells()), make_context(kernel)
    items = list(tool.tool_eval(context, "sklearn"))
    assert isinstance(items[0], CellAdded)
    assert items[0].source.startswith('%pip install --no-input --disable-pip-version-check "sc')
    (last,) = for_model(items[-1].content) if isinstance(items[-1], ComponentOutput) else ()
    assert last == TextPart("scikit-learn 1.5 is installed.")
    assert kernel.requests[0].timeout_seconds == 600.0
    assert tool.label(name="sklearn") == "install scikit-learn for sklearn"
    assert tool.label(name="pandas>=2") == "install pandas>=2"
    assert tool.label(name="-r x") == "install -r x"
    assert tool.risk == "install"


def test_replacing_another_version_asks_for_a_restart() -> None:
    printed = "Successfully uninstalled scikit-learn-1.4\nSuccessfully installed scikit-learn-1.5\n"
    context = make_context(installer(PIP_CODE, StreamOutput("stdout", printed)))
    assert "restarted" in said(InstallPackage(SeenCells()), context, name="sklearn")


def test_without_pip_uv_is_tried() -> None:
    no_pip = Played((StreamOutput("stderr", "python: No module named pip\n"),))
    with_uv = Played((StreamOutput("stderr", " + scikit-learn==1.5\n"),))
    kernel = FakeKernel(
        {
            PIP_CODE.format(requirement='"scikit-learn"'): no_pip,
            UV_CODE.format(requirement='"scikit-learn"'): with_uv,
        }
    )
    read = said(InstallPackage(SeenCells()), make_context(kernel), name="sklearn")
    assert read == "scikit-learn 1.5 is installed."


def test_an_installation_that_failed_is_an_error_that_says_why() -> None:
    offline = StreamOutput("stderr", "NewConnectionError: Network is unreachable")
    with pytest.raises(ToolError, match=r"scikit-learn was not installed\. The package index"):
        said(
            InstallPackage(SeenCells()), make_context(installer(PIP_CODE, offline)), name="sklearn"
        )
    broken = ErrorOutput("OSError", "[Errno 13] Permission denied")
    with pytest.raises(ToolError, match="read-only"):
        said(
            InstallPackage(SeenCells()),
            make_context(installer(PIP_CODE, broken, status="error")),
            name="sklearn",
        )
    with pytest.raises(ToolError, match="did not say why"):
        said(InstallPackage(SeenCells()), make_context(), name="sklearn")


def test_what_is_no_package_name_is_refused_before_anything_runs() -> None:
    kernel = FakeKernel()
    with pytest.raises(ToolError, match="is not a package name"):
        said(InstallPackage(SeenCells()), make_context(kernel), name="x && y")
    assert kernel.requests == []
