"""``hand_in``: typed results checked, and then assigned, in one cell that everybody can read."""

from __future__ import annotations

import ast
import enum
import keyword
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from cellwright.errors import ToolError
from cellwright.llm.adapters.field_values import BadValueError, plain_value, validated
from cellwright.llm.signatures import MISSING, Field
from cellwright.record.content import ComponentOutput, Content
from cellwright.record.events import CellAdded
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.cell_running import SeenCells, run_cell

TRIES = 2
MISSING_OUTPUTS = (
    "You have not handed in the results. Call the tool hand_in with a value for each of: {names}."
)


class HandIn(Component):
    """Ends a typed question: what fits is assigned, what does not is never assigned.

    Args:
        outputs: What is to be handed in.
    """

    name: ClassVar[str] = "hand_in"
    risk: ClassVar[Risk] = "execute"

    def __init__(self, outputs: tuple[Field, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._outputs = outputs
        self._tries = 0
        self._is_done = False
        self.failure = ""
        """Why the run cannot go on: the results were wrong twice."""

    def reminder(self) -> str:
        """What the model still owes; empty when all is there."""
        if self._is_done:
            return ""
        return MISSING_OUTPUTS.format(names=", ".join(field.name for field in self._outputs))

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"assign {', '.join(field.name for field in self._outputs)}"

    def code_for(self, **arguments: object) -> str:
        """The cell it runs, as far as there is one."""
        values = arguments.get("values")
        try:
            return results_cell(self._outputs, values if isinstance(values, Mapping) else {})
        except ToolError:
            return ""

    def tool_eval(self, context: ToolContext, values: dict[str, Any]) -> Iterator[ToolYield]:
        """Hand in the results that were asked for; they are checked, assigned, and the run ends.

        Args:
            values: Each result by its name. Plain values as they are; for a table, a figure or
                another live object the name of the variable that holds it.
        """
        self._tries += 1
        try:
            code = results_cell(self._outputs, values)
        except ToolError as error:
            raise self._refusal(error.message) from None
        cell_id = context.new_cell_id()
        yield CellAdded(cell_id, code, call_id=context.call_id)
        seen = SeenCells()
        seen.note(cell_id, code)
        ran = yield from run_cell(context, seen, cell_id, code)
        if ran.execution.status != "ok":
            failed = ran.execution.error
            told = f"{failed.ename}: {failed.evalue}" if failed is not None else "the cell failed"
            raise self._refusal(told)
        self._is_done = True
        # It is the run's answer, which is shown by itself.
        answer = Content("text", {"info": self._answer(values)}, visible_scope="llm")
        yield ComponentOutput((answer,), final=True)

    def _refusal(self, why: str) -> ToolError:
        text = f"The results were not taken, and nothing was assigned: {why}"
        if self._tries < TRIES:
            return ToolError(text, hint="Mend them and hand them in once more.")
        self.failure = text
        return ToolError(text)

    def _answer(self, values: Mapping[str, Any]) -> str:
        """What the person reads: the words where there are some, and the names."""
        lines = []
        for field in self._outputs:
            value = values.get(field.name)
            shown = field.type_name if field.is_live else str(value)
            lines.append(f"- `{field.name}`: {shown}")
        return "\n".join(lines)


def results_cell(outputs: tuple[Field, ...], values: Mapping[str, Any]) -> str:
    """The cell that checks live objects and then assigns everything at once.

    Raises:
        ToolError: Values are missing, unknown or wrong; all complaints at once.
    """
    names = [field.name for field in outputs]
    complaints = [f"{name!r} was not asked for" for name in values if name not in names]
    checks: list[str] = []
    pairs: list[tuple[str, str]] = []
    for field in outputs:
        try:
            expression = _expression(field, values)
        except BadValueError as error:
            complaints.append(str(error))
            continue
        if field.is_live and expression != "None":
            checks.append(_check(field, expression))
        if expression != field.name:
            pairs.append((field.name, expression))
    if complaints:
        raise ToolError(f"{'; '.join(complaints)}.")
    return "\n".join([*checks, *_assignment(pairs)]) or "pass"


def _expression(field: Field, values: Mapping[str, Any]) -> str:
    """What stands on the right side of the assignment."""
    if field.name not in values:
        if not field.is_optional:
            raise BadValueError(f"{field.name!r} is missing")
        return _literal(field.name, None if field.default is MISSING else field.default)
    value = values[field.name]
    if not field.is_live:
        return _literal(field.name, validated(value, field.name, field.annotation))
    if not isinstance(value, str) or not value.isidentifier() or keyword.iskeyword(value):
        raise BadValueError(
            f"{field.name!r} must be the name of a variable that holds a {field.type_name}, "
            f"not {value!r:.80}"
        )
    return value


def _literal(name: str, value: Any) -> str:
    """A value as Python writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, enum.Enum) or hasattr(value, "model_dump"):
        value = plain_value(value)
    text = repr(str(value) if isinstance(value, str) else value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise BadValueError(f"{name!r} is {text[:80]}, which cannot be written") from None
    return text


def _check(field: Field, name: str) -> str:
    kinds = f"[kind.__name__ for kind in type({name}).__mro__]"
    wanted = field.type_name
    told = f"{field.name} must be a {wanted}, and {name} is a {{type({name}).__name__}}"
    return f'if "{wanted}" not in {kinds}:\n    raise TypeError(f"{told}")'


def _assignment(pairs: list[tuple[str, str]]) -> list[str]:
    if len(pairs) < 2:
        return [f"{name} = {expression}" for name, expression in pairs]
    names = ", ".join(name for name, _ in pairs)
    if sum(len(expression) for _, expression in pairs) < 60:
        return [f"{names} = {', '.join(expression for _, expression in pairs)}"]
    lines = [f"    {expression}," for _, expression in pairs]
    return [f"{names} = (", *lines, ")"]
