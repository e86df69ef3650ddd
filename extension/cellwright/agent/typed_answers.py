"""Questions with typed inputs and outputs: ``df, question -> answer: str, best: DataFrame``.

Inputs are variables of the kernel, sent as summaries. Outputs become variables once they are
known to fit; until then the model's code may not touch their names.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.agent.policy import Policy, PolicyDecision
from cellwright.context.few_shot import DemoSet
from cellwright.errors import SetupError
from cellwright.llm.signatures import Field, Signature
from cellwright.notebooks import Notebook
from cellwright.record.messages import Message, TextPart
from cellwright.record.outputs import VariableSummary
from cellwright.tools import Component
from cellwright.tools.registry import Registry
from cellwright.tools.structured_output import HandIn

ASSIGNED = re.compile(
    r"^[ \t]*(?P<names>[A-Za-z_][\w, \t]*?)[ \t]*(?:=(?!=)|:[^=\n]*=(?!=)|[-+*/|&]=)", re.MULTILINE
)
RESULTS = """\
{body}

Inputs: {inputs}
Results to hand in with the tool hand_in, and in no other way:
{outputs}
Compute under other names: these are assigned when you hand them in."""
INPUTS = "\n\nInputs: "
QUESTION_NAMES = ("question", "q", "query", "prompt", "request", "task", "text")
HELD = " (the name of the variable that holds it)"
WANTED = re.compile(
    re.escape("\nResults to hand in with the tool hand_in, and in no other way:\n")
    + r"(?P<lines>(?:- .*\n)+)Compute under other names: .*\Z"
)
WANTED_LINE = re.compile(r"- (?P<name>\w+): (?P<type>.*)")


@dataclass(frozen=True)
class TypedAnswers:
    """What goes into a question and what is to come out of it."""

    signature: Signature
    body: str = ""
    """What the person wrote below the signature."""
    demos: DemoSet = DemoSet()
    """Good runs, shown to the model before its first question of this kind."""

    @property
    def outputs(self) -> tuple[Field, ...]:
        """What is to be handed in."""
        return self.signature.outputs

    def variables(self, known: Mapping[str, VariableSummary]) -> tuple[str, ...]:
        """The inputs that are variables.

        Args:
            known: The variables there are.

        Raises:
            SetupError: An input is no variable and not what the body says, or is of another
                type; all complaints at once.
        """
        complaints = []
        named = []
        for field in self.signature.inputs:
            if field.name in known:
                named.append(field.name)
                complaints += _wrong_type(field, known[field.name])
            elif field.name != self._said_by_body(known):
                complaints.append(_undefined(field, known))
        if complaints:
            raise SetupError(
                " ".join(complaints), hint="Define it in a cell first, or leave it out."
            )
        return tuple(named)

    def prompt(self, known: Mapping[str, VariableSummary]) -> str:
        """The words of the question, results included."""
        said = self._said_by_body(known)
        inputs = [f"@{f.name}" for f in self.signature.inputs if f.name != said]
        if said:
            inputs.append(f"{said} (the words above)")
        outputs = "\n".join(f"- {_described(field)}" for field in self.outputs)
        body = self.body.strip() or self.signature.instructions
        return RESULTS.format(body=body, inputs=", ".join(inputs) or "none", outputs=outputs)

    def examples(self, history: Iterable[Message]) -> tuple[TextPart, ...]:
        """The demos as the model is shown them; nothing where it has seen them already."""
        return self.demos.before(history, self.signature)

    def notice(self, known: Mapping[str, VariableSummary]) -> str:
        """For the person: the results that replace a variable; empty where none does."""
        taken = [field.name for field in self.outputs if field.name in known]
        names = ", ".join(map(repr, taken))
        return f"{names} will be replaced when the results fit." if taken else ""

    def _said_by_body(self, known: Mapping[str, VariableSummary]) -> str:
        """The one text input that is no variable: the body is its value.

        A name alone may be a variable that was misspelt, so only the usual names of a question
        are taken for one.
        """
        missing = [f for f in self.signature.inputs if f.name not in known and f.annotation is str]
        free = [f for f in missing if f.is_typed or f.name in QUESTION_NAMES]
        return free[0].name if len(free) == 1 and self.body.strip() else ""


@dataclass
class OutputPolicy(Policy):
    """Refuses code that assigns the results itself, so that no wrong one ever stands there."""

    names: tuple[str, ...] = ()

    def decide(
        self,
        component: Component,
        arguments: Mapping[str, Any],
        notebook: Notebook | None = None,
    ) -> PolicyDecision:
        """Whether the call runs, is asked about or is refused."""
        if component.name != "hand_in":
            code = component.code_for(**arguments)
            taken = [name for name in self.names if name in assigned_names(code)]
            if taken:
                return PolicyDecision(
                    "refuse",
                    f"The code assigns {', '.join(map(repr, taken))}, which hand_in does once the "
                    "value is known to fit. Use another name.",
                )
        return super().decide(component, arguments, notebook)


@dataclass(frozen=True)
class QuestionTools:
    """The tools of one question and who decides about them."""

    registry: Registry
    policy: Policy
    owed: HandIn | None = None


# ``df, question -> answer: str, best: DataFrame``: a first line that says types.


BEFORE_ARROW = re.compile(r"\s*(?:[^\W\d]\w*\s*(?:[,:].*)?)?")
AFTER_ARROW = re.compile(r"\s*[^\W\d]\w*\s*(?:[,:].*)?")
"""A name, then a type or another name: how either side of the arrow begins."""


def typed_answers_of(prompt: str) -> TypedAnswers | None:
    """What the first line says of types; None for a line that is a prompt.

    A line counts when it is a signature as a whole. ``convert a -> b`` is a prompt, and so is a
    single line without any type: people write arrows.

    Raises:
        SetupError: The line names types, and one of them is not known.
    """
    line, _, body = prompt.partition("\n")
    before, arrow, after = line.partition("->")
    if not (arrow and BEFORE_ARROW.fullmatch(before) and AFTER_ARROW.fullmatch(after)):
        return None
    if not (body.strip() or ":" in line):
        return None
    try:
        return TypedAnswers(Signature.parse(line), body)
    except SetupError:
        if ":" not in after:
            return None
        raise


def typed_answers_in(prompt: str) -> TypedAnswers | None:
    """What a recorded prompt says of results; None where it asks for none.

    The inputs are not told: they are in the message that was sent.
    """
    found = WANTED.search(prompt)
    if found is None:
        return None
    lines = [WANTED_LINE.fullmatch(line) for line in found["lines"].splitlines()]
    outputs = [_output(line["name"], line["type"]) for line in lines if line is not None]
    known = tuple(output for output in outputs if output is not None)
    return TypedAnswers(Signature(known), words_of(prompt)) if len(known) == len(lines) else None


def words_of(prompt: str) -> str:
    """What the person asked, without what a typed question adds to it."""
    found = WANTED.search(prompt)
    if found is None:
        return prompt.strip()
    return prompt[: prompt.rfind(INPUTS, 0, found.start() + 1)].strip()


def _output(name: str, described: str) -> Field | None:
    """The output that a line describes; its description, if there is one, follows the type."""
    text = described.partition(HELD)[0]
    while text:
        with contextlib.suppress(SetupError):
            outputs = Signature.parse(f"-> {name}: {text}").outputs
            if len(outputs) == 1:
                return outputs[0]
        text = text.rpartition(", ")[0]
    return None


def offered(
    typed: TypedAnswers | None,
    registry: Registry,
    policy: Policy,
    spare: Iterable[Component] = (),
) -> QuestionTools:
    """The tools for a question: with typed results ``hand_in`` stands in for ``submit``.

    Args:
        typed: The results that are wanted.
        registry: The tools there are.
        policy: Who decides about calls.
        spare: Tools for names that the registry does not have.
    """
    more = [tool for tool in spare if registry.find(tool.name) is None]
    if more:
        registry = Registry([*_all_of(registry), *more])
    if typed is None:
        return QuestionTools(registry, policy)
    owed = HandIn(typed.outputs)
    kept = [tool for tool in _all_of(registry) if tool.name != "submit"]
    names = tuple(field.name for field in typed.outputs)
    strict = OutputPolicy(policy.mode, policy.approver, policy.trusted, policy.installable, names)
    return QuestionTools(Registry([*kept, owed]), strict, owed)


def _all_of(registry: Registry) -> list[Component]:
    """Its tools, each once: one may have several names."""
    found = [registry.find(name) for name in registry.names()]
    return list({id(tool): tool for tool in found if tool is not None}.values())


def assigned_names(code: str) -> frozenset[str]:
    """The names that running ``code`` may bind, those inside functions left out."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        # Magics and the like are no Python: then what looks like an assignment is one.
        found = (match["names"].split(",") for match in ASSIGNED.finditer(code))
        return frozenset(name.strip() for names in found for name in names)
    return frozenset(_bound(tree))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _wrong_type(field: Field, variable: VariableSummary) -> list[str]:
    """Plain types are the model's to judge; a live one has its name, or one made of it."""
    wanted = field.type_name
    if not field.is_live or variable.type.endswith(wanted):
        return []
    return [f"{field.name!r} is a {variable.type}, not a {wanted}."]


def _undefined(field: Field, known: Mapping[str, VariableSummary]) -> str:
    longer = [name for name in known if len(name) > 1 and field.name.startswith(name)]
    near = difflib.get_close_matches(field.name, known, n=1) or sorted(longer, key=len)[-1:]
    meant = f" Did you mean {near[0]!r}?" if near else ""
    if field.annotation is str and not field.is_typed:
        meant += f" If it stands for the words below, write '{field.name}: str'."
    return f"There is no variable {field.name!r}.{meant}"


def _described(field: Field) -> str:
    what = f"{field.name}: {field.type_name}"
    if field.is_live:
        what += HELD
    return f"{what}, {field.description}" if field.description else what
