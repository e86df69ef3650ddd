"""Messages of JSON-RPC 2.0, as the protocol uses it: read with care, written by plain functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.record.values import read_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002

RequestId = str | int


class RpcError(Exception):
    """A request is answered with an error.

    Args:
        code: One of the numbers of the protocol.
        message: What is wrong.
        request: Id of the request; None: it cannot be told.
    """

    def __init__(self, code: int, message: str, request: RequestId | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.request = code, message, request


@dataclass(frozen=True)
class Request:
    """Something that is to be answered."""

    id: RequestId
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Notification:
    """Something that is told, without an answer."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Response:
    """The answer to a request of ours."""

    id: RequestId
    result: Mapping[str, Any] | None = None
    """None: it failed."""
    error: str = ""


Incoming = Request | Notification | Response


def read(text: str | bytes) -> Incoming:
    """The message that a text holds.

    Raises:
        RpcError: It holds none.
    """
    try:
        value = read_json(text)
    except ValueError:
        raise RpcError(PARSE_ERROR, "This is not JSON.") from None
    return parse(value)


def parse(value: Any) -> Incoming:
    """The message that a JSON value is.

    Raises:
        RpcError: It is none.
    """
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "This is not one message of JSON-RPC 2.0.")
    number, method = value.get("id"), value.get("method")
    known = number if _is_id(number) else None
    if method is None:
        return _response(value, known)
    params = value.get("params") or {}
    if not isinstance(method, str) or not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "The method or its params are of no use.", known)
    if "id" not in value:
        return Notification(method, params)
    if known is None:
        raise RpcError(INVALID_REQUEST, "The id is neither a text nor a whole number.")
    return Request(known, method, params)


def request(number: RequestId, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A request of ours."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Something that is told."""
    told: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return {**told, "params": dict(params)} if params else told


def result(number: RequestId, value: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": number, "result": dict(value)}


def error(failure: RpcError, number: RequestId | None = None) -> dict[str, Any]:
    """The answer to a request that failed."""
    told = {"code": failure.code, "message": failure.message}
    answered = failure.request if number is None else number
    return {"jsonrpc": "2.0", "id": answered, "error": told}


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _response(value: Mapping[str, Any], known: RequestId | None) -> Response:
    if known is None or not ("result" in value or "error" in value):
        raise RpcError(INVALID_REQUEST, "This is neither a request nor an answer.")
    answer, failure = value.get("result"), value.get("error")
    if isinstance(answer, dict):
        return Response(known, answer)
    words = failure.get("message") if isinstance(failure, dict) else ""
    return Response(known, None, str(words or "It failed."))
