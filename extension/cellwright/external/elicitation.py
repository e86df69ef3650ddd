"""What an MCP server asks the person while it works: values of a form, or to open an address.

Nothing is answered for the person. What they type goes to the server alone: neither the model nor
the record is told of it, only that it was asked and whether it was answered.

What this does not protect against: the person may give a server more than is good for them. Its
name stands before every question, and what it says is shown as text.
"""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from cellwright.kernels import PendingInput
from cellwright.record.asked_calls import spelled_out
from cellwright.tools import FormField, FormOption, FormRequest, ToolContext

Action = Literal["accept", "decline", "cancel"]
LOOK_SECONDS = 0.05
END_OF_INPUT = "\x04"
SHOWN_CHARACTERS = 2_000
FIELD_LIMIT = 20
YES = ("y", "yes")
DECLINE, CANCEL = "decline", "cancel"
CONSENT = "[y]es answers, [d]ecline refuses, [c]ancel stops asking: "
EACH = "(type 'decline' or 'cancel' to stop) "
OPEN = "Open it yourself if you trust it; [y]es when you have, [d]ecline, [c]ancel: "
TRUE, FALSE = ("y", "yes", "true", "1"), ("n", "no", "false", "0")


@dataclass(frozen=True)
class Elicited:
    """What the person said."""

    action: Action
    content: Mapping[str, Any] | None = None
    """The fields of the form, where they were given."""


class _LeftError(Exception):
    """The person does not answer.

    Args:
        action: How they said so.
    """

    def __init__(self, action: Action) -> None:
        super().__init__(action)
        self.action = action


class Elicitation:
    """The questions of one call: put by the loop's thread, asked in the thread of the call.

    Args:
        server: Its name, as the person knows it.
        context: Of the call.
    """

    def __init__(self, server: str, context: ToolContext) -> None:
        self._server, self._context = server, context
        self._waiting: queue.SimpleQueue[tuple[Mapping[str, Any], asyncio.Future[Elicited]]]
        self._waiting = queue.SimpleQueue()
        self.is_asking = False
        """The person thinks; the server's time does not run."""

    async def ask(self, params: Mapping[str, Any]) -> Elicited:
        """What the person says to a question, as it stands on the wire."""
        if self._context.keyboard is None and self._context.form_asker is None:
            self._context.notify(f"{self._server} asked something; nobody is here: declined")
            return Elicited("decline")
        self.is_asking = True
        try:
            future: asyncio.Future[Elicited] = asyncio.get_running_loop().create_future()
            self._waiting.put((params, future))
            return await future
        finally:
            self.is_asking = False

    def serve(self) -> None:
        """Put what waits to the person; in the thread of the call.

        Raises:
            RunCancelled: They stopped the run instead.
        """
        while not self._waiting.empty():
            params, future = self._waiting.get_nowait()
            said = Elicited("cancel")
            try:
                with self._context.waiting():
                    said = self._answered(params)
            finally:
                loop = future.get_loop()
                loop.call_soon_threadsafe(_settle, future, said)
            told = {"accept": "answered", "decline": "declined", "cancel": "cancelled"}
            self._context.notify(f"{self._server} asked something: {told[said.action]}")

    def _answered(self, params: Mapping[str, Any]) -> Elicited:
        message = spelled_out(str(params.get("message") or ""))[:SHOWN_CHARACTERS]
        if self._context.form_asker is not None:
            return self._asked_form(params, FormRequest(self._server, message))
        head = f"The MCP server {self._server!r} asks: {message}\n"
        try:
            if params.get("mode") == "url":
                return self._opened(head, str(params.get("url") or ""))
            return self._filled(head, params.get("requestedSchema") or {})
        except _LeftError as left:
            return Elicited(left.action)

    def _opened(self, head: str, url: str) -> Elicited:
        host = _checked_host(url)
        self._consent(f"{head}It wants you to open {spelled_out(url)}\n(host {host}). {OPEN}")
        return Elicited("accept")

    def _asked_form(self, params: Mapping[str, Any], form: FormRequest) -> Elicited:
        """What the person says to a form with buttons; one that does not fit is asked again."""
        try:
            if params.get("mode") == "url":
                url = str(params.get("url") or "")
                _checked_host(url)
                self._clicked(replace(form, url=url))
                return Elicited("accept")
            fields = _fields_of(params.get("requestedSchema") or {})
            required = (params.get("requestedSchema") or {}).get("required") or ()
            shown = [_form_field(name, each, name in required) for name, each in fields.items()]
            while True:
                given = self._clicked(replace(form, fields=tuple(shown)))
                content, problems = _read_form(fields, required, given)
                if not problems:
                    return Elicited("accept", content)
                form = replace(form, problem=" ".join(problems))
                shown = [replace(each, given=tuple(given.get(each.name, ()))) for each in shown]
        except _LeftError as left:
            return Elicited(left.action)

    def _clicked(self, form: FormRequest) -> Mapping[str, list[str]]:
        """The texts of the fields that the person accepted.

        Raises:
            _LeftError: They declined or cancelled.
            RunCancelled: They stopped the run.
        """
        assert self._context.form_asker is not None
        try:
            said = json.loads(self._wait(self._context.form_asker(form)))
            action, content = said["action"], dict(said.get("content") or {})
        except (ValueError, TypeError, KeyError):
            raise _LeftError("decline") from None  # a page of another version: it shows no form
        if action != "accept":
            raise _LeftError("cancel" if action == CANCEL else "decline")
        return {str(name): [str(text) for text in texts] for name, texts in content.items()}

    def _filled(self, head: str, schema: Mapping[str, Any]) -> Elicited:
        fields = _fields_of(schema)
        required = schema.get("required") or ()
        names = ", ".join(
            spelled_out(str(field.get("title") or name)) for name, field in fields.items()
        )
        self._consent(f"{head}{f'It wants: {names}. ' if names else ''}{CONSENT}")
        content: dict[str, Any] = {}
        for name, field in fields.items():
            value = self._field(name, field, is_required=name in required)
            if value is not None:
                content[name] = value
        return Elicited("accept", content)

    def _consent(self, question: str) -> None:
        """Return if the person says yes.

        Raises:
            _LeftError: They do not.
        """
        said = self._read(question, at_end="decline").strip().lower()
        if said not in YES:
            raise _LeftError("cancel" if said in ("c", CANCEL) else "decline")

    def _field(self, name: str, field: Mapping[str, Any], *, is_required: bool) -> Any:
        """The value of a field; None: it is left out."""
        title = spelled_out(str(field.get("title") or name))
        about = spelled_out(str(field.get("description") or ""))[:SHOWN_CHARACTERS]
        usual = field.get("default")
        hints = [about, _kind_words(field), "needed" if is_required else "may be left empty"]
        hints.append("" if usual is None else f"usually {usual}")
        problem = ""
        while True:
            hint = "; ".join(filter(None, hints))
            said = self._read(f"{problem}{self._server}: {title} ({hint}) {EACH}").strip()
            if not said and usual is not None:
                return usual
            if not said and not is_required:
                return None
            try:
                return _parse(said, field)
            except ValueError as error:
                problem = f"{error} "

    def _read(self, question: str, at_end: Action = "cancel") -> str:
        """The line that the person types.

        Raises:
            _LeftError: They want to give no answer.
            RunCancelled: They stopped the run.
        """
        assert self._context.keyboard is not None
        line = self._wait(self._context.keyboard(question, False))
        if line == END_OF_INPUT:
            raise _LeftError(at_end)
        if line.strip().lower() in (DECLINE, CANCEL):
            raise _LeftError("decline" if line.strip().lower() == DECLINE else "cancel")
        return line

    def _wait(self, pending: PendingInput) -> str:
        try:
            while (line := pending.value()) is None:
                self._context.stop.wait(LOOK_SECONDS)
            return line
        finally:
            pending.close()


def _checked_host(url: str) -> str:
    """The host of an address that a person may be asked to open.

    Raises:
        _LeftError: It is none.
    """
    parts = urlsplit(url)
    is_near = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or parts.scheme not in (("https", "http") if is_near else ("https",)):
        raise _LeftError("decline")
    return parts.hostname


def _fields_of(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict(list((schema.get("properties") or {}).items())[:FIELD_LIMIT])


def _form_field(name: str, field: Mapping[str, Any], is_required: bool) -> FormField:
    """A field as it is shown."""
    options, kind = _options(field), str(field.get("type"))
    usual = field.get("default")
    given = usual if isinstance(usual, list) else [] if usual is None else [usual]
    several: Kind = "choices" if kind == "array" else "choice"
    return FormField(
        name,
        spelled_out(str(field.get("title") or name)),
        several if options else KINDS.get(kind, "text"),
        spelled_out(str(field.get("description") or ""))[:SHOWN_CHARACTERS],
        str(field.get("format") or ""),
        is_required,
        tuple(FormOption(str(value), spelled_out(title)) for title, value in options.items()),
        tuple(str(each).lower() if isinstance(each, bool) else str(each) for each in given),
    )


def _read_form(
    fields: Mapping[str, Mapping[str, Any]], required: Any, given: Mapping[str, list[str]]
) -> tuple[dict[str, Any], list[str]]:
    """The values of a form, and what is wrong with them."""
    content: dict[str, Any] = {}
    problems: list[str] = []
    for name, field in fields.items():
        texts = [text for text in given.get(name, ()) if text.strip()]
        if not texts and name not in required:
            continue
        try:
            content[name] = _parse_texts(texts, field)
        except ValueError as error:
            problems.append(f"{spelled_out(str(field.get('title') or name))}: {error}")
    return content, problems


def _parse_texts(texts: list[str], field: Mapping[str, Any]) -> Any:
    """The value of what was typed or chosen.

    Raises:
        ValueError: It is none; the text says why.
    """
    options = _options(field)
    if field.get("type") == "array" and options:
        value = [_chosen(text, options) for text in texts]
        _check(value, field)
        return value
    if not texts:
        raise ValueError("it is needed.")
    return _parse(texts[0].strip(), field)


def _settle(future: asyncio.Future[Elicited], said: Elicited) -> None:
    if not future.done():
        future.set_result(said)


def _kind_words(field: Mapping[str, Any]) -> str:
    options = _options(field)
    if options:
        several = "some of, with commas between: " if field.get("type") == "array" else "one of: "
        return several + spelled_out(", ".join(options))
    kinds = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
    return kinds.get(str(field.get("type")), str(field.get("format") or "text"))


def _options(field: Mapping[str, Any]) -> dict[str, Any]:
    """The values that may be chosen, by what they are called."""
    inner = field.get("items") if field.get("type") == "array" else field
    inner = inner if isinstance(inner, Mapping) else {}
    named = inner.get("oneOf") or inner.get("anyOf") or ()
    found = {
        str(each.get("title") or each["const"]): each["const"] for each in named if "const" in each
    }
    names = inner.get("enumNames") or inner.get("enum") or ()
    return found or {
        str(name): value for name, value in zip(names, inner.get("enum") or (), strict=False)
    }


def _parse(said: str, field: Mapping[str, Any]) -> Any:
    """The value of what was typed.

    Raises:
        ValueError: It is none; the text says why.
    """
    options = _options(field)
    kind = field.get("type")
    if options and kind == "array":
        return [_chosen(part.strip(), options) for part in said.split(",") if part.strip()]
    if options:
        return _chosen(said, options)
    read = READERS.get(str(kind), str)
    value = read(said)
    _check(value, field)
    return value


def _chosen(said: str, options: Mapping[str, Any]) -> Any:
    for name, value in options.items():
        if said.casefold() in (name.casefold(), str(value).casefold()):
            return value
    raise ValueError(f"{said!r} is none of them.")


def _boolean(said: str) -> bool:
    if said.lower() not in (*TRUE, *FALSE):
        raise ValueError("Say yes or no.")
    return said.lower() in TRUE


def _number(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        raise ValueError(f"{said!r} is no number.") from None


def _integer(said: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise ValueError(f"{said!r} is no whole number.") from None


Kind = Literal["text", "number", "boolean", "choice", "choices"]
KINDS: Mapping[str, Kind] = {"boolean": "boolean", "number": "number", "integer": "number"}
READERS: Mapping[str, Callable[[str], Any]] = {
    "boolean": _boolean,
    "number": _number,
    "integer": _integer,
}


def _check(value: Any, field: Mapping[str, Any]) -> None:
    """Return if a value is within the field's bounds.

    Raises:
        ValueError: It is not.
    """
    from jsonschema import Draft202012Validator, FormatChecker

    checker = Draft202012Validator(
        json.loads(json.dumps(dict(field))), format_checker=FormatChecker()
    )
    error = next(iter(checker.iter_errors(value)), None)
    if error is not None:
        raise ValueError(f"{error.message}.")
