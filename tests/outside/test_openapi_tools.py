"""An OpenAPI 3 document as tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import make_context
from outside.http_service import Answered, HttpService, Received

from cellwright.errors import ToolError
from cellwright.external import Definition, Function
from cellwright.external.openapi import OpenapiService, read_openapi
from cellwright.external.source import risk_of
from cellwright.external.web import ProcessEnvironment, Web

SHOP = Definition("shop", "openapi", "https://shop.example/v1/openapi.json")
ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "What it is called."},
        "size": {"type": "integer", "nullable": True, "example": 4},
        "inside": {"$ref": "#/components/schemas/Item"},
    },
    "required": ["name"],
}
PATHS: dict[str, Any] = {
    "/items/{id}": {
        "parameters": [{"$ref": "#/components/parameters/Id"}],
        "get": {
            "operationId": "getItem",
            "summary": "One item.",
            "description": "With all of it.",
            "parameters": [
                {"name": "fields", "in": "query", "schema": {"type": "array", "items": {}}},
                {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                {"name": "id", "in": "query"},
            ],
        },
        "delete": {"operationId": "deleteItem"},
    },
    "/items": {
        "post": {
            "operationId": "addItem",
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
            },
        },
        "get": {"parameters": [{"name": "sid", "in": "cookie", "required": True}]},
        "put": {"requestBody": {"required": True, "content": {"text/csv": {}}}},
    },
    "/health": {"get": {"summary": "Well?"}},
}


def document(**changes: Any) -> dict[str, Any]:
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Shop"},
        "servers": [{"url": "/v1"}],
        "paths": PATHS,
        "components": {
            "schemas": {"Item": ITEM},
            "parameters": {
                "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
            },
        },
    }
    return {**whole, **changes}


def functions(**changes: Any) -> dict[str, Function]:
    return {f.name: f for f in read_openapi(document(**changes), SHOP).functions}


def connected(service: HttpService, **options: Any) -> OpenapiService:
    service.answers["/v1/openapi.json"] = Answered(document())
    url = f"{service.url}/v1/openapi.json"
    made = Definition("shop", "openapi", url, is_local=True, **options)
    return OpenapiService(made, Web(made, ProcessEnvironment({"SHOP_KEY": "key-of-the-shop"})))


def call(service: OpenapiService, name: str, arguments: Mapping[str, Any]) -> Any:
    found = {f.name: f for f in service.listing().functions}
    output = service.call(found[name], arguments, make_context())
    return output.content[0].text


def test_each_operation_is_a_tool_named_by_its_id() -> None:
    found = functions()
    assert list(found) == ["getItem", "deleteItem", "addItem", "get_health"]
    assert found["getItem"].description == "One item.\nWith all of it."
    assert found["deleteItem"].description == "DELETE /items/{id}"


def test_get_reads_delete_destroys_and_everything_else_is_asked_about() -> None:
    risks = {name: risk_of(SHOP, function) for name, function in functions().items()}
    assert risks == {
        "getItem": "read",
        "deleteItem": "destroy",
        "addItem": "execute",
        "get_health": "read",
    }


def test_parameters_and_body_become_one_schema_without_references() -> None:
    found = functions()
    assert found["getItem"].parameters == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "fields": {"type": "array", "items": {}},
            "X-Trace": {"type": "string"},
            "query_id": {"type": "string"},
        },
        "required": ["id"],
    }
    assert found["addItem"].parameters == {
        "type": "object",
        "properties": {
            "body": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "What it is called."},
                    "size": {"type": ["integer", "null"]},
                    "inside": {"type": "object"},
                },
                "required": ["name"],
                "description": "What is sent, as JSON.",
            }
        },
        "required": ["body"],
    }


def test_what_cannot_be_called_is_left_out_and_told() -> None:
    problems = read_openapi(document(), SHOP).problems
    assert problems == (
        "'get_items': it needs the cookie 'sid'",
        "'put_items': it takes a body that is not JSON",
    )
    twice = {"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}}
    assert read_openapi(document(paths=twice), SHOP).problems == ("the name 'x' is there twice",)
    many: dict[str, Any] = {f"/p{number}": {"get": {}} for number in range(70)}
    found = read_openapi(document(paths=many), SHOP)
    assert len(found.functions) == 64
    assert found.problems == ("it has 70 operations; 64 at most are taken",)


def test_odd_documents_break_nothing() -> None:
    assert functions(paths=[]) == {}
    odd = {
        "/a": None,
        "/b": {"get": None, "parameters": 3},
        "/c": {
            "get": {"parameters": [{"name": 1, "in": "query"}, {"name": "q", "in": "query"}]},
            "post": {"requestBody": {"content": {"application/json": {}}}},
            "put": {"requestBody": {"content": []}},
        },
        "/d": {"$ref": "#/paths/~1c"},
        "/": {
            "get": {
                "parameters": [
                    {
                        "name": "j",
                        "in": "query",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    }
                ]
            }
        },
    }
    found = functions(paths=odd)
    assert list(found) == ["get_c", "post_c", "put_c", "get_d", "post_d", "put_d", "get_root"]
    assert found["post_c"].parameters["properties"]["body"] == {
        "description": "What is sent, as JSON."
    }
    assert found["get_root"].parameters["properties"]["j"] == {"type": "object"}
    loop = {"/a": {"$ref": "#/paths/~1a"}}
    assert functions(paths=loop) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"openapi": "2.0"}, r"version '2\.0' of OpenAPI\. 3\.x is read"),
        ({"openapi": None}, "no version of OpenAPI"),
        ({"servers": [{"url": "https://elsewhere.example"}]}, "would go to 'elsewhere.example'"),
    ],
)
def test_documents_that_cannot_be_used_are_refused(changes: Any, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        read_openapi(document(**changes), SHOP)


def test_a_document_that_is_no_object_is_refused() -> None:
    with pytest.raises(ToolError, match="is no object"):
        read_openapi([], SHOP)


def test_variables_of_the_server_have_their_defaults() -> None:
    servers = [
        {"url": "https://{host}.example/{v}", "variables": {"host": {"default": "shop"}, "v": 3}}
    ]
    found = functions(servers=servers)
    assert found["get_health"].details["url"] == "https://shop.example/health"


def test_a_call_puts_each_argument_where_it_belongs(service: HttpService) -> None:
    service.answers["/v1/items/4%2F2"] = Answered({"id": 4})
    arguments = {"id": "4/2", "fields": ["a b", True], "X-Trace": "t", "query_id": 7, "other": 1}
    said = call(connected(service, key="SHOP_KEY"), "getItem", arguments)
    assert said == {"data": {"id": 4}}
    sent = service.received[-1]
    assert sent.path == "/v1/items/4%2F2?fields=a+b&fields=true&id=7"
    assert sent.headers["X-Trace"] == "t"
    assert sent.headers["Authorization"] == "Bearer key-of-the-shop"


def test_a_body_is_sent_as_json(service: HttpService) -> None:
    service.answers["/v1/items"] = Answered("", 204)
    shop = connected(service)
    assert call(shop, "addItem", {"body": {"name": "ø"}}) == {"info": "(status 204)"}
    sent = service.received[-1]
    assert (sent.method, sent.json) == ("POST", {"name": "ø"})
    assert sent.headers["Content-Type"] == "application/json"
    shop.close()


def test_arguments_cannot_lead_elsewhere(service: HttpService) -> None:
    shop = connected(service)
    for part in ("..", ".", ""):
        with pytest.raises(ToolError, match="no part of a path"):
            call(shop, "getItem", {"id": part})
    with pytest.raises(ToolError, match="cannot be sent as a header"):
        call(shop, "getItem", {"id": 1, "X-Trace": "a\r\nHost: other"})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answered("plain"), {"info": "plain"}),
        (Answered("{", headers={"Content-Type": "application/json"}), {"info": "{"}),
        (
            Answered(b"\x00\x01", headers={"Content-Type": "application/zip"}),
            {"info": "[application/zip, 2 bytes]"},
        ),
    ],
)
def test_answers_of_other_kinds_are_told_as_text(
    service: HttpService, answer: Answered, expected: Any
) -> None:
    service.answers["/v1/health"] = answer
    assert call(connected(service), "get_health", {}) == expected


def test_a_status_that_is_an_error_is_a_tool_error(service: HttpService) -> None:
    service.answers["/v1/health"] = Answered({"why": "ill"}, 503)
    with pytest.raises(ToolError, match='answered with status 503: {"why": "ill"}'):
        call(connected(service), "get_health", {})


def test_a_document_may_be_a_file_and_may_be_yaml(tmp_path: Path, service: HttpService) -> None:
    yaml = pytest.importorskip("yaml")
    service.answers["/health"] = Answered({"ok": True})
    whole = document(servers=[{"url": service.url}])
    (tmp_path / "shop.yaml").write_text(yaml.safe_dump(whole, default_flow_style=False), "utf-8")
    made = Definition("shop", "openapi", "shop.yaml", is_local=True)
    shop = OpenapiService(made, Web(made, ProcessEnvironment({}, str(tmp_path))))
    assert call(shop, "get_health", {}) == {"data": {"ok": True}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("a: [", "neither JSON nor YAML"),
        ("a: &x [1]\nb: [*x, *x]", "has YAML aliases"),
        ("a: 'with & and *'\nopenapi: '2'", "has version '2'"),
        ("openapi: 3.0.0", "does not say where its server is"),
    ],
)
def test_files_that_are_no_document_are_told(tmp_path: Path, text: str, message: str) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "d.yaml").write_text(text, "utf-8")
    made = Definition("shop", "openapi", "d.yaml")
    with pytest.raises(ToolError, match=message):
        OpenapiService(made, Web(made, ProcessEnvironment({}, str(tmp_path)))).listing()


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    made = Definition("shop", "openapi", "none.json")
    with pytest.raises(ToolError, match="'none.json' cannot be read"):
        OpenapiService(made, Web(made, ProcessEnvironment({}, str(tmp_path)))).listing()
    (tmp_path / "none.json").write_text(json.dumps("x" * 2_000_001), "utf-8")
    with pytest.raises(ToolError, match="more than 2,000,000 bytes"):
        OpenapiService(made, Web(made, ProcessEnvironment({}, str(tmp_path)))).listing()


def test_an_address_without_a_document_is_told(service: HttpService) -> None:
    def gone(_: Received) -> Answered:
        return Answered("", 410)

    shop = connected(service)
    service.answers["/v1/openapi.json"] = gone
    with pytest.raises(ToolError, match="answered with status 410"):
        shop.listing()
