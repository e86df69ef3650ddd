"""Typed signatures: what goes into a task, what comes out of it, and what the task is.

``"df: DataFrame, question -> answer: str, best: DataFrame"`` names inputs, outputs and their
types. A type that is no JSON value (a table, a figure, a model) is a live one: the object stays in
the kernel, a summary of it is sent, and what comes back is checked by the name of its class.

The attributes are those that ``dspy.Signature`` has (requirements 004-41), so that either fits
where the other is expected; dspy is not needed.
"""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from cellwright.errors import SetupError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Side = Literal["input", "output"]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""No default: the field has to be there."""


class LiveObject:
    """Base of the types whose values stay in the kernel; what is written is a variable's name."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler(str)


class Code(str):
    """Program text, kept byte for byte; a fence around it is taken off."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, handler(str))


PLAIN_TYPES: Mapping[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict,
    "tuple": tuple, "set": set, "None": None, "Any": Any, "List": list, "Dict": dict,
    "Optional": typing.Optional, "Union": typing.Union, "Literal": Literal, "Code": Code,
}  # fmt: skip
CLASS_NAME = re.compile(r"^(?:[a-z_]\w*\.)*(?P<name>[A-Z]\w*|ndarray)$")
DEFAULT_INSTRUCTIONS = "Given the fields {inputs}, produce the fields {outputs}."


@dataclass(frozen=True)
class Field:
    """One input or output."""

    name: str
    side: Side
    annotation: Any = str
    description: str = ""
    default: Any = MISSING
    is_typed: bool = dataclass_field(default=True, compare=False)
    """A type was written; a name alone is a text."""

    @property
    def prefix(self) -> str:
        """The name as a label: ``best_month`` becomes ``Best Month:``."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name).split("_")
        return " ".join(word[:1].upper() + word[1:] for word in words if word) + ":"

    @property
    def is_live(self) -> bool:
        """Whether its values stay in the kernel."""
        return isinstance(self.annotation, type) and issubclass(self.annotation, LiveObject)

    @property
    def is_optional(self) -> bool:
        """Whether a reply may leave it out."""
        allows_none = type(None) in typing.get_args(self.annotation)
        return self.default is not MISSING or self.annotation is None or allows_none

    @property
    def type_name(self) -> str:
        """The type in words for a model, such as ``list[str]``."""
        return type_name(self.annotation)

    def to_field_info(self) -> FieldInfo:
        """The field as dspy has it."""
        from pydantic.fields import FieldInfo

        extra: dict[str, Any] = {
            "desc": self.description or f"${{{self.name}}}",
            "prefix": self.prefix,
            "__dspy_field_type": self.side,
        }
        given = {} if self.default is MISSING else {"default": self.default}
        return FieldInfo(annotation=self.annotation, json_schema_extra=extra, **given)


class SignatureLike(Protocol):
    """What adapters need of a signature; ``dspy.Signature`` classes have it too."""

    @property
    def instructions(self) -> str:
        """What is to be done."""
        ...

    @property
    def input_fields(self) -> Mapping[str, Any]:
        """Inputs by name, as pydantic ``FieldInfo``."""
        ...

    @property
    def output_fields(self) -> Mapping[str, Any]:
        """Outputs by name, as pydantic ``FieldInfo``."""
        ...


@dataclass(frozen=True)
class Signature:
    """Inputs, outputs and instructions of a task; changing one makes a new one.

    Stability: provisional.

    Args:
        parts: The fields, inputs first.
        instructions: What is to be done; empty: a sentence made of the names.
    """

    parts: tuple[Field, ...]
    instructions: str = ""

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SetupError(
                f"The signature names {', '.join(map(repr, twice))} twice.",
                hint="Give each input and output a name of its own.",
            )
        if not self.instructions:
            object.__setattr__(self, "instructions", _sentence(self.inputs, self.outputs))

    @classmethod
    def parse(cls, text: str, instructions: str = "") -> Signature:
        """The signature that ``"inputs -> outputs"`` describes.

        Args:
            text: Names separated by commas, each with an optional type: ``ctx: list[str]``.
            instructions: What is to be done.

        Raises:
            SetupError: It is not of that form, or a type is not known.
        """
        before, arrow, after = text.partition("->")
        if not arrow or "->" in after:
            raise SetupError(
                f"{text!r} is no signature.", hint='Write it like "question, df -> answer: str".'
            )
        if not after.strip():
            raise SetupError("The signature has no output.", hint="Write inputs -> outputs.")
        parts = (*_fields(before, "input"), *_fields(after, "output"))
        return cls(parts, instructions)

    @property
    def inputs(self) -> tuple[Field, ...]:
        """The inputs, in order."""
        return tuple(part for part in self.parts if part.side == "input")

    @property
    def outputs(self) -> tuple[Field, ...]:
        """The outputs, in order."""
        return tuple(part for part in self.parts if part.side == "output")

    @property
    def input_fields(self) -> dict[str, FieldInfo]:
        """The inputs as dspy has them."""
        return {part.name: part.to_field_info() for part in self.inputs}

    @property
    def output_fields(self) -> dict[str, FieldInfo]:
        """The outputs as dspy has them."""
        return {part.name: part.to_field_info() for part in self.outputs}

    @property
    def fields(self) -> dict[str, FieldInfo]:
        """All fields as dspy has them."""
        return {**self.input_fields, **self.output_fields}

    def with_instructions(self, instructions: str) -> Signature:
        """The same fields for another task."""
        return replace(self, instructions=instructions)

    def append(self, field: Field) -> Signature:
        """With one more field at the end of its side."""
        return self.insert(len(self._side(field.side)), field)

    def prepend(self, field: Field) -> Signature:
        """With one more field at the start of its side."""
        return self.insert(0, field)

    def insert(self, position: int, field: Field) -> Signature:
        """With one more field before the ``position``-th of its side."""
        side = list(self._side(field.side))
        side.insert(position, field)
        parts = (*side, *self.outputs) if field.side == "input" else (*self.inputs, *side)
        return replace(self, parts=parts)

    def delete(self, name: str) -> Signature:
        """Without a field; the same where there is none of that name."""
        return replace(self, parts=tuple(part for part in self.parts if part.name != name))

    def _side(self, side: Side) -> tuple[Field, ...]:
        return self.inputs if side == "input" else self.outputs


@dataclass(frozen=True)
class _Declared:
    side: Side
    description: str
    default: Any


def InputField(desc: str = "", default: Any = MISSING) -> Any:  # noqa: N802 (as in dspy)
    """An input of a ``SignatureClass``."""
    return _Declared("input", desc, default)


def OutputField(desc: str = "", default: Any = MISSING) -> Any:  # noqa: N802 (as in dspy)
    """An output of a ``SignatureClass``."""
    return _Declared("output", desc, default)


class SignatureClass:
    """Base for a signature written as a class; the docstring is the instructions.

    ``signature`` holds the value that is made of it.
    """

    signature: ClassVar[Signature]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        hints = typing.get_type_hints(cls)
        declared = {k: v for k, v in vars(cls).items() if isinstance(v, _Declared)}
        parts = [
            Field(name, given.side, hints.get(name, str), given.description, given.default)
            for name, given in declared.items()
        ]
        ordered = sorted(parts, key=lambda part: part.side)
        cls.signature = Signature(tuple(ordered), (cls.__doc__ or "").strip())


def live_type(name: str) -> type[LiveObject]:
    """The live type of a class name; the same for the same name."""
    if name not in _LIVE:
        _LIVE[name] = type(name, (LiveObject,), {})
    return _LIVE[name]


_LIVE: dict[str, type[LiveObject]] = {}


def type_name(annotation: Any) -> str:
    """A type in words for a model."""
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    return re.sub(r"(?:\b\w+\.)+(?=\w)", "", str(annotation))


def _sentence(inputs: Iterable[Field], outputs: Iterable[Field]) -> str:
    def names(fields: Iterable[Field]) -> str:
        return ", ".join(f"`{field.name}`" for field in fields)

    return DEFAULT_INSTRUCTIONS.format(inputs=names(inputs), outputs=names(outputs))


def _fields(text: str, side: Side) -> list[Field]:
    try:
        function = ast.parse(f"def _({text.strip()}): ...").body[0]
    except SyntaxError:
        raise SetupError(
            f"{text.strip()!r} is no list of names.", hint='Write "name: type, name: type".'
        ) from None
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
        raise SetupError(
            f"{text.strip()!r} has more than names and types.", hint="Leave out *, / and defaults."
        )
    return [
        Field(
            argument.arg,
            side,
            _annotation(argument.annotation),
            is_typed=argument.annotation is not None,
        )
        for argument in given.args
    ]


def _annotation(node: ast.expr | None) -> Any:
    """The type an expression names; nothing is evaluated that is not a known name."""
    if node is None:
        return str
    try:
        return _type_of(node)
    except (TypeError, ValueError, IndexError, SyntaxError):  # as Python says no to int[str]
        raise _unknown(ast.unparse(node)) from None


def _type_of(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return None if node.value is None else _annotation_of_text(node.value)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(ast.unparse(node))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _annotation(node.left) | _annotation(node.right)
    if isinstance(node, ast.Subscript):
        return _subscripted(node)
    raise _unknown(ast.unparse(node))


def _annotation_of_text(value: object) -> Any:
    if isinstance(value, str):
        return _annotation(ast.parse(value, mode="eval").body)
    raise _unknown(repr(value))


def _subscripted(node: ast.Subscript) -> Any:
    base = _annotation(node.value)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if base is Literal:
        return Literal[tuple(ast.literal_eval(item) for item in items)]
    inner = tuple(_annotation(item) for item in items)
    return base[inner if len(inner) > 1 else inner[0]]


def _named(name: str) -> Any:
    last = name.rpartition(".")[2]
    if last in PLAIN_TYPES:
        return PLAIN_TYPES[last]
    found = CLASS_NAME.match(name)
    if found:
        return live_type(found["name"])
    raise _unknown(name)


def _unknown(text: str) -> SetupError:
    return SetupError(
        f"The type {text!r} is not known.",
        hint="Use str, int, float, bool, list, dict, Literal, Code or a class name.",
    )
