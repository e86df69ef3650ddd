"""The linter for tools: what keeps a model from using one well, and how to mend it.

Nothing of a tool is run: its code is read. Source: requirements 000-54 to 000-56.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cellwright.errors import SetupError, ToolError
from cellwright.record.content import (
    CONTENT_TYPES,
    ComponentOutput,
    canonical_type,
    content,
    content_schema,
)
from cellwright.record.messages import Manifest
from cellwright.record.values import to_dict
from cellwright.tools import Component, author_function
from cellwright.tools.functions import FunctionTool
from cellwright.tools.manifest import (
    RESERVED_PREFIX,
    is_context,
    manifest_complaints,
    read_docstring,
    shown_parameters,
    written_manifests,
)

# Google docstrings, looked at line by line (requirements 000-55, X-06).


ENGLISH = {
    "参数": "Args", "返回": "Returns", "返回值": "Returns", "异常": "Raises", "示例": "Examples",
    "parameters": "Args", "arguments": "Args", "return": "Returns", "example": "Examples",
}  # fmt: skip
SECTIONS = ("Args", "Returns", "Yields", "Raises", "Examples", "Attributes", "References", "Note")
HEADING = re.compile(r"^(?P<name>[^\s:：][^:：]{0,20})[:：]$")
DIRECTIVE = ".. code-block:: python"


@dataclass(frozen=True)
class DocstringProblem:
    """What is wrong, and what to write instead."""

    detail: str
    fix: str


def docstring_problems(text: str, parameters: Sequence[str]) -> Iterator[DocstringProblem]:
    """What a docstring lacks.

    Args:
        text: As ``inspect.getdoc`` gives it.
        parameters: Names that it should describe.
    """
    if not text.strip():
        yield DocstringProblem("there is no docstring", "Say in one sentence what it does.")
        return
    found = read_docstring(text)
    if not found.description:
        yield DocstringProblem("it has no summary", "Begin with one sentence on what it does.")
    for name in parameters:
        if not found.arguments.get(name):
            yield DocstringProblem(f"{name!r} is not described", f"Add '{name}: …' under Args:.")
    for name in found.arguments:
        if name not in parameters:
            yield DocstringProblem(f"{name!r} is no parameter", "Take it out, or rename it.")
    yield from _headings(text)
    yield from _examples(text.split("\n"))


def _headings(text: str) -> Iterator[DocstringProblem]:
    for line in text.split("\n"):
        match = HEADING.match(line)
        name = match["name"] if match else ""
        wanted = ENGLISH.get(name.lower(), "")
        if wanted and name not in SECTIONS:
            yield DocstringProblem(f"the heading is {name!r}", f"Write '{wanted}:'.")


def _examples(lines: list[str]) -> Iterator[DocstringProblem]:
    """After ``Examples:`` a blank line, the directive, a blank line."""
    for number, line in enumerate(lines):
        if line.strip() != "Examples:":
            continue
        wanted = ["", DIRECTIVE, ""]
        after = [following.strip() for following in lines[number + 1 : number + 4]]
        if after != wanted:
            detail = "Examples: is not followed by a blank line, a code block and a blank line"
            fix = f"Write a blank line, '{DIRECTIVE}' and a blank line after it."
            yield DocstringProblem(detail, fix)


Result = Literal["ok", "warning", "failed"]
MARKS: dict[Result, str] = {"ok": "✓", "warning": "!", "failed": "✗"}
OUTPUT_CALLS = ("create_output", "content")
NO_CONTEXT_FIX = "Give it a parameter 'context', or **kwargs, where it needs what the system has."


@dataclass(frozen=True)
class CheckInfo:
    """What one rule found."""

    rule: str
    result: Result = "ok"
    detail: str = ""
    fix: str = ""


def check_tool(component: Component) -> tuple[CheckInfo, ...]:
    """What each rule says of a tool; nothing of it is run."""
    return tuple(rule(component) for rule in RULES)


def check_outputs(outputs: Iterable[ComponentOutput]) -> CheckInfo:
    """Whether what a tool said fits the schema of each content's type."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(content_schema())
    for output in outputs:
        for item in output.content:
            if not validator.is_valid(to_dict(item)):
                detail = f"a content of type {item.type!r} does not fit its schema: {item.text!r}"
                return CheckInfo("SchemaAgainstOutput", "failed", detail[:300], _fields_of(item))
    return CheckInfo("SchemaAgainstOutput")


def checks_table(name: str, found: Iterable[CheckInfo]) -> str:
    """The findings as lines for people, with what to do."""
    rows = list(found)
    width = max((len(row.rule) for row in rows), default=0)
    lines = [f"{name}:"]
    for row in rows:
        lines.append(f"  {MARKS[row.result]} {row.rule:<{width}}  {row.detail}".rstrip())
        if row.fix and row.result != "ok":
            lines.append(f"    {'':<{width}}  {row.fix}")
    return "\n".join(lines)


def manifest_valid(component: Component) -> CheckInfo:
    """Each manifest is a JSON Schema with a description of the tool and of every parameter."""
    try:
        made = component.tool_manifests()
    except SetupError as error:
        return CheckInfo("ManifestValid", "failed", error.message, error.hint)
    problems = [c for manifest in made for c in _manifest_problems(component, manifest)]
    if problems:
        fix = "Describe it under Args: in the docstring, and annotate its type."
        # A person's own function may be offered all the same; the model knows less then.
        result: Result = "warning" if isinstance(component, FunctionTool) else "failed"
        return CheckInfo("ManifestValid", result, "; ".join(problems), fix)
    return CheckInfo("ManifestValid")


def manifest_matches(component: Component) -> CheckInfo:
    """The manifest's parameters are those of ``tool_eval``, in both directions."""
    function = _function(component)
    if function is None or len(written_manifests(component)) > 1:
        return CheckInfo("ManifestMatchesToolEval")
    try:
        told = set(component.tool_manifests()[0].parameters.get("properties", {}))
    except SetupError as error:
        return CheckInfo("ManifestMatchesToolEval", "failed", error.message, error.hint)
    if component.meta is not None:
        return CheckInfo("ManifestMatchesToolEval")
    own = {parameter.name for parameter in shown_parameters(function)}
    wrong = sorted(told ^ own)
    if not wrong:
        return CheckInfo("ManifestMatchesToolEval")
    detail = f"only one of both has {', '.join(map(repr, wrong))}"
    return CheckInfo("ManifestMatchesToolEval", "failed", detail, "Name them alike.")


def input_names(component: Component) -> CheckInfo:
    """No parameter has a name of the system."""
    function = _function(component)
    names = list(inspect.signature(function).parameters) if function is not None else []
    reserved = [name for name in names if name.startswith(RESERVED_PREFIX)]
    if reserved:
        detail = f"{', '.join(map(repr, reserved))} cannot be a parameter"
        return CheckInfo("ToolEvalInputName", "failed", detail, "Take **kwargs, or a context.")
    return CheckInfo("ToolEvalInputName")


def output_calls(component: Component) -> CheckInfo:
    """What the code hands to ``create_output`` is of a known type with its fields."""
    problems = [problem for call in _output_calls(component) for problem in _call_problems(call)]
    if problems:
        known = ", ".join(CONTENT_TYPES)
        fix = f"The types are {known}."
        return CheckInfo("ToolEvalOutputJson", "failed", "; ".join(problems), fix)
    return CheckInfo("ToolEvalOutputJson")


def init_arguments(component: Component) -> CheckInfo:
    """It can be made without arguments, or takes more than it knows."""
    parameters = list(inspect.signature(type(component).__init__).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return CheckInfo("InitKwargs")
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    if needed:
        detail = f"__init__ needs {', '.join(map(repr, needed))}"
        return CheckInfo("InitKwargs", "warning", detail, "Give them defaults, or take **kwargs.")
    return CheckInfo("InitKwargs")


def eval_arguments(component: Component) -> CheckInfo:
    """``tool_eval`` can be handed what the system knows."""
    function = _function(component)
    if function is None or isinstance(component, FunctionTool):
        return CheckInfo("ToolEvalKwargs")
    parameters = inspect.signature(function).parameters.values()
    if any(is_context(p) or p.kind is p.VAR_KEYWORD for p in parameters):
        return CheckInfo("ToolEvalKwargs")
    detail = "tool_eval takes neither a context nor **kwargs"
    return CheckInfo("ToolEvalKwargs", "warning", detail, NO_CONTEXT_FIX)


def docstring_style(component: Component) -> CheckInfo:
    """The docstring is a Google one that fits the parameters."""
    function = _function(component) or type(component).run
    parameters = [parameter.name for parameter in shown_parameters(function)]
    problems = list(docstring_problems(inspect.getdoc(function) or "", parameters))
    if problems:
        details = "; ".join(problem.detail for problem in problems)
        fixes = " ".join(dict.fromkeys(problem.fix for problem in problems))
        return CheckInfo("Docstring", "warning", details, fixes)
    return CheckInfo("Docstring")


RULES: tuple[Callable[[Component], CheckInfo], ...] = (
    manifest_valid,
    manifest_matches,
    input_names,
    output_calls,
    init_arguments,
    eval_arguments,
    docstring_style,
)


def _manifest_problems(component: Component, manifest: Manifest) -> Iterator[str]:
    yield from manifest_complaints(manifest)
    function = _function(component)
    if isinstance(component, FunctionTool) and not inspect.getdoc(component.function):
        yield "it has no docstring"
    elif function is None and not manifest.description:
        yield "it has no description"


def _function(component: Component) -> Callable[..., Any] | None:
    if isinstance(component, FunctionTool):
        return component.function
    return author_function(component)


def _output_calls(component: Component) -> list[ast.Call]:
    function = _function(component)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))) if function else None
    except (OSError, TypeError, SyntaxError):
        return []  # its source cannot be read; what it says is checked when it is called
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    return [call for call in calls if _called(call) in OUTPUT_CALLS]


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _call_problems(call: ast.Call) -> Iterator[str]:
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for name, value in zip(("type", "text", "role"), call.args, strict=False):
        given[name] = value
    kind = _literal(given.get("type"), "text")
    if _literal(given.get("role"), "tool") == "user":
        yield f"line {call.lineno} speaks for the person (role 'user')"
    if not isinstance(kind, str):
        return
    if not canonical_type(kind):
        yield f"line {call.lineno} has the unknown type {kind!r}"
        return
    said = _literal(given.get("text"), None)
    if said is None:
        return
    try:
        content(kind, said, scope=str(_literal(given.get("visible_scope"), "all")))
    except ToolError as error:
        yield f"line {call.lineno}: {error.message}"


def _literal(node: ast.expr | None, otherwise: Any) -> Any:
    """The value of a literal; None where only running the code would tell."""
    if node is None:
        return otherwise
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _fields_of(item: Any) -> str:
    rule = CONTENT_TYPES[item.type]
    return f"It needs {', '.join(map(repr, rule.required or rule.one_of))}."
