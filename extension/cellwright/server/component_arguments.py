"""The arguments of a component that is called by hand, held against its schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cellwright.record.outputs import safe_json
from cellwright.record.prompts import Manifest
from cellwright.server.routes import Refusal
from cellwright.tools.system_names import reserved_names

MESSAGE_CHARACTERS = 300
ERRORS_TOLD = 20
DEPTH_LIMIT = 40


@dataclass(frozen=True)
class ArgumentError:
    """What is wrong with one argument; both places are JSON pointers."""

    path: str
    """In the arguments."""
    schema_path: str
    """In the tool's schema of its parameters."""
    message: str


class ArgumentsRefusal(Refusal):
    """Arguments that a tool cannot be called with; all that is wrong is told."""

    def __init__(self, tool: str, errors: Iterable[ArgumentError], code: str = "arguments") -> None:
        found = list(errors)[:ERRORS_TOLD]
        words = "; ".join(f"{error.path or '/'}: {error.message}" for error in found)
        message = f"{tool!r} cannot be called with these arguments: {words}."
        super().__init__(400, message, "See its manifest.", code)
        self.details = {"errors": [asdict(error) for error in found]}


def checked_arguments(manifest: Manifest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool gets them.

    Raises:
        ArgumentsRefusal: Some do not fit, are not known, or are the system's own.
    """
    name, schema = manifest.name, manifest.parameters
    if _is_deeper(arguments, DEPTH_LIMIT):
        raise ArgumentsRefusal(name, [ArgumentError("", "", "nested too deeply")])
    given: dict[str, Any] = safe_json(arguments)
    reserved = reserved_names(given)
    if reserved:
        taken = [ArgumentError(_pointer([n]), "", "is set by the system alone") for n in reserved]
        raise ArgumentsRefusal(name, taken, code="reserved")
    errors = [*_unknown(given, schema), *_misfits(given, schema)]
    if errors:
        raise ArgumentsRefusal(name, errors)
    return given


def _unknown(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
    """Names that the schema does not have; where it forbids them, it says so itself."""
    if "additionalProperties" in schema or "properties" not in schema:
        return
    for name in given:
        if name not in schema["properties"]:
            yield ArgumentError(_pointer([name]), "/properties", "is not known")


def _misfits(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    # With a registry of its own it never looks for a schema elsewhere.
    validator = Draft202012Validator(dict(schema), registry=REGISTRY)
    try:
        for error in validator.iter_errors(given):
            yield ArgumentError(
                _pointer(error.absolute_path),
                _pointer(error.absolute_schema_path),
                error.message[:MESSAGE_CHARACTERS],
            )
    except Unresolvable as error:
        yield ArgumentError("", "", f"its schema refers to {error.ref!r}, which is not there")


def _pointer(steps: Iterable[Any]) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (Mapping, list)):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in inner)
