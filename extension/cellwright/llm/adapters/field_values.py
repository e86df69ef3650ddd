"""The values of a signature's fields as text for a model, and a model's text as values.

Text stays as it is, byte for byte. Nothing is completed: half a number, list or object is an
error that names its field.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union

from cellwright.kernels.inspection import describe, kind, own_repr
from cellwright.llm.adapters.sections import fences
from cellwright.llm.signatures import LiveObject, type_name

PLAIN = (dict, list, tuple, int, float, type(None))
Unions = (Union, types.UnionType)


class BadValueError(Exception):
    """A value that does not fit its field; the text names the field."""


def is_code(annotation: Any) -> bool:
    """Whether values are program text: our ``Code`` or dspy's ``Code[...]``."""
    if not isinstance(annotation, type):
        return False
    return any(parent.__name__ == "Code" for parent in annotation.__mro__)


def is_live(annotation: Any) -> bool:
    """Whether values stay in the kernel; what is written is the name of a variable."""
    return isinstance(annotation, type) and issubclass(annotation, LiveObject)


def description_of(info: Any) -> str:
    """What a field's author wrote about it; empty where that is only its name."""
    extra = info.json_schema_extra
    text = str(extra.get("desc") or "") if isinstance(extra, Mapping) else ""
    return "" if re.fullmatch(r"\$\{\w+\}", text) else text


def allowed(annotation: Any) -> tuple[Any, ...]:
    """The only values there are; empty for a type without a list of them."""
    if typing.get_origin(annotation) is Literal:
        return typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return tuple(member.value for member in annotation)
    return ()


def rule_for(annotation: Any) -> str:
    """What a value must look like, as a remark for a model; empty for plain text."""
    if values := allowed(annotation):
        return f"must be one of: {'; '.join(str(value) for value in values)}"
    if annotation is bool:
        return "must be true or false"
    if annotation is int:
        return "must be one whole number and nothing else"
    if annotation is float:
        return "must be one number and nothing else"
    if annotation is str or is_code(annotation):
        return ""
    if is_live(annotation):
        return f"must be the name of a variable that holds a {annotation.__name__}"
    schema = schema_of(annotation)
    return (
        f"must adhere to the JSON schema {json.dumps(schema, ensure_ascii=False)}" if schema else ""
    )


def format_value(value: Any) -> str:
    """A value as text."""
    if isinstance(value, enum.Enum):
        return format_value(value.value)
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, PLAIN):
        value = plain_value(value)
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=plain_value)
    )


def plain_value(value: Any) -> Any:
    """A value JSON does not know as one that it knows; of a live object a summary."""
    if isinstance(value, enum.Enum):
        return value.value
    said = value.format() if hasattr(type(value), "format") else None
    if isinstance(said, str):
        return said  # such as dspy.Code
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return list(value)
    return describe(value) if kind(value) else own_repr(value)


def read_value(text: str, name: str, annotation: Any) -> Any:
    """The value a model's text stands for.

    Raises:
        BadValueError: It does not fit.
    """
    if annotation is str or annotation is Any:
        return text
    if is_live(annotation):
        return text.strip()
    if is_code(annotation):
        return validated(_code(text), name, annotation)
    if values := allowed(annotation):
        return _chosen(text, name, annotation, values)
    if code_list := _codes(text, annotation):
        return code_list
    return _cast(text, name, annotation)


def validated(value: Any, name: str, annotation: Any) -> Any:
    """``value`` as the annotation wants it.

    Raises:
        BadValueError: It does not fit.
    """
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticSchemaGenerationError

    if values := allowed(annotation):
        return _chosen(value, name, annotation, values)
    try:
        return TypeAdapter(annotation).validate_python(value)
    except PydanticSchemaGenerationError:
        told = f"{name!r} must be {type_name(annotation)}, which text cannot say"
        raise BadValueError(told) from None
    except ValidationError as error:
        told = "; ".join(_complaint(problem) for problem in error.errors()[:5])
        raise BadValueError(
            f"{name!r} must be {type_name(annotation)}, not {_short(value)}: {told}"
        ) from error


def missing_value(name: str, info: Any) -> Any:
    """What an output is when the reply does not have it.

    Raises:
        BadValueError: It has to be there.
    """
    if not info.is_required():
        return info.get_default(call_default_factory=True)
    if type(None) in typing.get_args(info.annotation):
        return None
    raise BadValueError(f"{name!r} is missing")


def _code(text: str) -> str:
    """Program text without the fences around it; several blocks are one text."""
    blocks = [block.content for block in fences(text)]
    return "\n\n".join(blocks) if blocks else text


def _codes(text: str, annotation: Any) -> list[Any]:
    """One entry a block, for a field that takes a list of programs."""
    inner = typing.get_args(annotation)
    if typing.get_origin(annotation) is not list or not (inner and is_code(inner[0])):
        return []
    return [read_value(block.content, "", inner[0]) for block in fences(text)]


def _cast(text: str, name: str, annotation: Any) -> Any:
    problem: BadValueError | None = None
    for candidate in _candidates(text, annotation):
        try:
            return validated(candidate, name, annotation)
        except BadValueError as error:
            problem = problem or error  # the first reading is the likeliest
    raise problem or BadValueError(f"{name!r} is empty")


def _candidates(text: str, annotation: Any) -> Iterator[Any]:
    """What the text may stand for: JSON, a Python literal, the words themselves."""
    stripped = text.strip()
    block = next(fences(stripped), None)
    if block is not None and block.info in ("json", "python", ""):
        stripped = block.content.strip()
    takes_text = _takes_text(annotation)
    if type(None) in typing.get_args(annotation) and stripped in ("None", "null", ""):
        yield None
    if takes_text:
        yield text
        return
    try:
        yield json.loads(stripped)
    except (ValueError, RecursionError):
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            yield ast.literal_eval(stripped)
    yield stripped


def _takes_text(annotation: Any) -> bool:
    """Whether it is text or nothing: then ``5`` is text as well."""
    if typing.get_origin(annotation) not in Unions:
        return False
    return set(typing.get_args(annotation)) == {str, type(None)}


def _chosen(given: Any, name: str, annotation: Any, values: tuple[Any, ...]) -> Any:
    if isinstance(given, enum.Enum):
        given = given.value
    words = str(given).strip()
    inner = re.fullmatch(r"Literal\[(.*)\]", words, re.DOTALL)
    words = inner[1].strip() if inner else words
    if len(words) > 1 and words[0] == words[-1] and words[0] in "\"'`":
        words = words[1:-1]
    is_enum = isinstance(annotation, type)
    for value in values:
        if value == given or str(value) == words:
            return annotation(value) if is_enum else value
    if is_enum and words.rpartition(".")[2] in annotation.__members__:
        return annotation[words.rpartition(".")[2]]
    listed = ", ".join(repr(value) for value in values)
    raise BadValueError(f"{name!r} must be one of {listed}, not {_short(given)}")


def schema_of(annotation: Any, *, by_alias: bool = True) -> dict[str, Any]:
    """The JSON Schema of a type's values; empty for one that JSON cannot hold.

    Args:
        annotation: The type.
        by_alias: Whether fields of pydantic models go by their aliases.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        return TypeAdapter(annotation).json_schema(by_alias=by_alias)
    except PydanticUserError:
        return {}


def _complaint(problem: Any) -> str:
    where = ".".join(str(step) for step in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]} …"
