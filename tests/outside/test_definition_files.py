"""Services written down in files: what a file may say, and what is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cellwright.errors import SetupError
from cellwright.external import Definition, fingerprint_of
from cellwright.external.consent_store import checked, read_folder, read_servers, read_toml

WHOLE = """
description = "Knows  the weather"
kind = "mcp"
command = "weather-server"
args = ["--metric"]
env = ["WEATHER_KEY"]
allowed = ["fore*"]
reads = ["forecast"]
timeout_seconds = 30
trusted = true
"""


def toml(folder: Path, name: str, text: str) -> Path:
    place = folder / ".cellwright" / "tools"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.toml").write_text(text, "utf-8")
    return place / f"{name}.toml"


def servers(folder: Path, **given: Any) -> Path:
    path = folder / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": given}), "utf-8")
    return path


def test_a_file_of_ours_is_read(tmp_path: Path) -> None:
    path = toml(tmp_path, "weather", WHOLE)
    assert read_toml(path) == Definition(
        "weather",
        "mcp",
        command="weather-server",
        arguments=("--metric",),
        environment={"WEATHER_KEY": "${WEATHER_KEY}"},
        allowed=("fore*",),
        reads=("forecast",),
        timeout_seconds=30.0,
        is_trusted=True,
        description="Knows the weather",
        source=str(path),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "kind: is missing, one of mcp, http, openapi"),
        ("kind = 'soap'", "kind: is not one of mcp, http, openapi"),
        ("kind = 'mcp'", "an MCP server has either a 'url' or a 'command'"),
        ("kind = 'mcp'\nurl = 'http://x'\ncommand = 'y'", "either a 'url' or a 'command'"),
        ("kind = 'http'", "url: is where its document is"),
        ("kind = 'http'\nurl = 'x.example'", "url: cannot be used"),
        ("kind = 'http'\nurl = 'https://me:pw@x.example'", "holds a name or a password"),
        ("kind = 'mcp'\ncommand = 'x'\nlokal = true", "lokal: is not known, did you mean 'local'"),
        ("kind = 'mcp'\ncommand = 'x'\nzzzz = 1", "zzzz: is not known"),
        ("kind = 'mcp'\ncommand = 'x'\nlocal = 1", "local: is not true or false"),
        ("kind = 'mcp'\ncommand = 'x'\nargs = 'y'", "args: is not a list of texts"),
        ("kind = 'mcp'\ncommand = 'x'\nenv = ['a-b']", "env: is not a list of names of variables"),
        ("kind = 'mcp'\ncommand = 'x'\nenv = 3", "env: is not a list of names of variables"),
        ("kind = 'mcp'\ncommand = 'x'\nkey = 'sk-12 34'", "key: is not the name of a variable"),
        ("kind = 'mcp'\ncommand = 'x'\ntimeout_seconds = 0", "timeout_seconds: is not a number"),
        ("kind = 'mcp'\ncommand = 'x'\nname = 'a__b'", "name: 'a__b' has to be letters"),
        (
            "kind = 'http'\nurl = 'https://x.example'\nheaders = {Authorization = 'Bearer abc'}",
            "headers: 'Authorization' holds a key; write ${NAME} of a variable instead",
        ),
        (
            "kind = 'http'\nurl = 'https://x.example/?api_key=12345'",
            "url: 'api_key' holds a key; name the variable that holds it as the 'key'",
        ),
        ("kind = ", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SetupError) as failed:
        read_toml(toml(tmp_path, "weather", text))
    assert message in failed.value.message
    assert "weather.toml" in failed.value.message
    assert "12 34" not in str(failed.value)


def test_a_file_that_is_too_large_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="more than 64 kB"):
        read_toml(toml(tmp_path, "a", "#" * 70_000))
    path = toml(tmp_path, "b", "")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SetupError, match=r"b\.toml cannot be read"):
        read_toml(path)


def test_the_servers_of_other_programs_are_read(tmp_path: Path) -> None:
    variables = {"A": "${B}", "C": "1"}
    path = servers(
        tmp_path,
        **{
            "File system!": {
                "command": "npx",
                "args": ["-y", "fs"],
                "env": variables,
            },
            "web": {"type": "http", "url": "http://localhost:3/mcp", "headers": {"Key": "abc"}},
            "far": {"url": "https://far.example/mcp"},
            "off": {"command": "x", "disabled": True},
        },
    )
    first, web, far = read_servers(path).definitions
    assert (first.name, first.command, first.arguments) == ("File_system", "npx", ("-y", "fs"))
    assert first.environment == {"A": "${B}", "C": "1"}
    assert (web.url, web.headers, web.is_local) == ("http://localhost:3/mcp", {"Key": "abc"}, True)
    assert not far.is_local


def test_variables_and_folders_are_read_as_other_programs_write_them(tmp_path: Path) -> None:
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    given = {
        "web": {"url": "https://w.example", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
        "fs": {"command": "fs", "args": ["${workspaceFolder}/data", "${userHome}"]},
        "asks": {"command": "x", "env": {"KEY": "${input:key}"}},
        "odd": {"command": "x", "args": [1]},
    }
    path.write_text(json.dumps({"servers": given}), "utf-8")
    found = read_servers(path)
    web, files = found.definitions
    assert web.headers == {"Authorization": "Bearer ${TOKEN}"}
    assert files.arguments == (f"{tmp_path}/data", str(Path.home()))
    asks, odd = found.problems
    assert asks == "'asks': it asks for an input; write ${NAME} of an environment variable instead"
    assert "args: is not a list of texts" in odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("{}", "has no table 'mcpServers'"),
        ('{"mcpServers": {"a": 1}}', "'a': .mcp.json: it is no table"),
        ('{"mcpServers": {"a": {"type": "sse", "url": "https://x.example"}}}', "protocol 'sse'"),
        ('{"mcpServers": {"a": {}}}', "either a 'url' or a 'command'"),
        ('{"mcpServers": {"a": {"url": "nowhere"}}}', "cannot be used"),
    ],
)
def test_a_broken_file_of_servers_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / ".mcp.json").write_text(text, "utf-8")
    found = read_folder(tmp_path)
    assert found.definitions == ()
    assert message in found.problems[0]


def test_a_broken_server_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    servers(tmp_path, broken={}, good={"command": "x"})
    found = read_folder(tmp_path)
    assert [definition.name for definition in found.definitions] == ["good"]
    assert len(found.problems) == 1


def test_of_two_of_one_name_the_first_counts(tmp_path: Path) -> None:
    toml(tmp_path, "weather", WHOLE)
    servers(tmp_path, weather={"command": "other"}, more={"command": "m"})
    found = read_folder(tmp_path)
    assert [(d.name, d.command) for d in found.definitions] == [
        ("weather", "weather-server"),
        ("more", "m"),
    ]


def test_the_same_definition_has_the_same_fingerprint_wherever_it_is() -> None:
    one = checked({"name": "a", "kind": "mcp", "command": "x"}, "here.toml")
    two = checked({"name": "a", "kind": "mcp", "command": "x", "description": "d"}, "there.toml")
    other = checked({"name": "a", "kind": "mcp", "command": "y"}, "here.toml")
    assert fingerprint_of(one) == fingerprint_of(two) != fingerprint_of(other)
