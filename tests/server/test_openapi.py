"""The description of the routes, held against the routes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from recorded_runs import analysis_run
from server.test_route_table import Call, calls
from server_client import Client

from cellwright.server.application import Application
from cellwright.server.openapi_routes import OPERATIONS, RestOperation, document, operations
from cellwright.server.table import load_all_routes

FOUND = tuple(operations(load_all_routes()))
WORDS = ("word", "number", "path")
"""Methods of handlers that read a parameter of the address."""


def described() -> dict[str, Any]:
    return document(load_all_routes(), "/user/ada/cellwright")


def each() -> Iterator[tuple[str, str, Any]]:
    for path, methods in described()["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_every_operation_of_every_route_is_described_and_no_other() -> None:
    assert {operation.key for operation in FOUND} == set(OPERATIONS)
    assert len(list(each())) == len(FOUND)


def test_addresses_and_their_parameters_are_those_of_the_table() -> None:
    paths = described()["paths"]
    variable = paths["/v1/kernels/{kernel_id}/variables/{name}"]["get"]
    assert [parameter["name"] for parameter in variable["parameters"]] == ["kernel_id", "name"]
    assert variable["parameters"][0]["schema"]["pattern"] == "^[A-Za-z0-9_.-]{1,128}$"
    assert "/v2/components/{name}/version/{version}" in paths
    assert "/v1/socket" not in paths
    assert described()["servers"] == [{"url": "/user/ada/cellwright"}]


def test_every_operation_has_a_name_of_its_own_and_words() -> None:
    names = [operation["operationId"] for _, _, operation in each()]
    assert len(set(names)) == len(names)
    assert all(operation["summary"].endswith(".") for _, _, operation in each())
    assert all(operation["description"] for _, _, operation in each())


def test_the_document_has_the_shape_of_openapi() -> None:
    whole = described()
    assert whole["openapi"] == "3.1.0"
    assert set(whole) == {"openapi", "info", "servers", "security", "paths", "components"}
    for name, schema in whole["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert name.isidentifier()


def read_words(operation: RestOperation) -> set[str]:
    """Names of the parameters that the module of a handler reads in this method."""
    classes = [c for c in operation.handler.__mro__ if c.__module__.startswith("cellwright.")]
    found: set[str] = set()
    wanted = {operation.method}
    for cls in classes:
        for node in ast.walk(ast.parse(inspect.getsource(cls))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in wanted:
                for call in ast.walk(node):
                    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                        continue
                    wanted.add(call.func.attr)
                    if call.func.attr in WORDS and isinstance(call.args[0], ast.Constant):
                        found.add(str(call.args[0].value))
    return found


@pytest.mark.parametrize("operation", FOUND, ids=lambda operation: operation.key)
def test_its_parameters_are_those_that_the_route_reads(operation: RestOperation) -> None:
    assert set(operation.described.query) == read_words(operation)


def strict(schema: Any) -> Any:
    """The schema with every object closed: what it does not name must not be there."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


@pytest.mark.server
class TestAnswers:
    """The real answers of all routes."""

    async def test_every_answer_is_as_described(self, client: Client, shared: Application) -> None:
        chat = shared.chats.create("a.ipynb")
        run = shared.runs.start(*analysis_run()).run_id
        shared.chats.add_run(chat.chat_id, run)
        whole = (await client.call("GET", "/openapi.json")).json
        assert whole["servers"] == [{"url": f"{client.base_url}cellwright"}]
        for call in calls(chat.chat_id, run):
            answer = await client.call(call.method, call.path, call.value)
            operation = self.operation(whole, call)
            expected = operation["responses"][str(answer.status)]["content"]
            media = answer.headers["Content-Type"].partition(";")[0]
            assert media in expected, call
            if media == "application/json":
                schema = {
                    **strict(expected[media]["schema"]),
                    "components": strict(whole["components"]),
                }
                errors = list(Draft202012Validator(schema).iter_errors(answer.json))
                assert errors == [], call

    async def test_every_body_takes_the_described_fields_and_no_others(
        self, client: Client, shared: Application
    ) -> None:
        chat = shared.chats.create("a.ipynb").chat_id
        whole = (await client.call("GET", "/openapi.json")).json
        bodies = [
            (call, self.operation(whole, call)["requestBody"]["content"])
            for call in calls(chat, "none")
            if "requestBody" in self.operation(whole, call) and call.route != "files"
        ]
        assert len(bodies) >= 6
        for call, content in bodies:
            fields = content["application/json"]["schema"]["properties"]
            answer = await client.call(call.method, call.path, {"surely_not": 1})
            assert answer.status == 400, call
            assert answer.json["hint"] == f"Known: {', '.join(fields)}."

    def operation(self, whole: Any, call: Call) -> Any:
        names = {operation.path: operation for operation in FOUND}
        for path in names:
            plain = path.removeprefix("/v1/")
            for name in (
                "chat_id",
                "run_id",
                "kernel_id",
                "memory_id",
                "proposal_id",
                "document_id",
                "message_id",
                "branch_id",
            ):
                plain = plain.replace(f"{{{name}}}", "{id}")
            if plain == call.route:
                return whole["paths"][path][call.method.lower()]
        raise AssertionError(call)
