"""The main job with providers that refuse what the real ones refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command_line import Shell, sources
from fake_anthropic import AnthropicMessages
from fake_gemini import GeminiApi, listed
from fake_providers import DeepSeek, Gemini, Mistral, OpenAIResponses, calls, says, thinks
from fake_service import FakeService, chunk, raw_sse, text
from traitlets.config import Config

from cellwright.llm.keys import KEY_FILE, KeyPlaces
from cellwright.server.configuration import Cellwright
from cellwright.server.service_choice import ServiceChange, ServiceChooser

pytestmark = pytest.mark.kernel

PLOT = """
import base64
from IPython.display import Image
Image(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
))
"""
MAIN_JOB = [
    [
        thinks("First the total."),
        says("I add."),
        calls("run_cell", {"code": "best = 20 + 22\nbest"}),
    ],
    [thinks("Now the plot."), calls("run_cell", {"code": PLOT})],
    [thinks(), says("The best is 42.")],
]


def run(shell: Shell, provider: Any, *arguments: str, model: str) -> tuple[Any, FakeService]:
    """What a run of the main job says of itself, and the service it asked."""
    with FakeService(provider) as service:
        asking = shell.asking(service)
        asking = Shell(asking.folder, {**asking.environ, "CELLWRIGHT_MODEL": model})
        done = asking.run(
            "run", "Which is best?", "--mode", "auto", "--json", "-o", "out.ipynb", *arguments
        )
    assert done.code == 0, done.err
    return done.document, service


def test_the_main_job_runs_with_a_model_that_only_responses_serves(shell: Shell) -> None:
    provider = OpenAIResponses(MAIN_JOB, chunk_bytes=13)
    document, service = run(shell, provider, model="gpt-5.6")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    paths = [request.path.removeprefix("/v1") for request in service.requests]
    assert paths == ["/chat/completions", "/responses", "/responses", "/responses"]
    assert len(provider.refusals) == 1, provider.refusals
    assert len(sources(shell.folder / "out.ipynb")) >= 2
    last = provider.taken[-1]["input"]
    assert [item["type"] for item in last].count("reasoning") == 2
    pictures = [
        part
        for item in last
        if item["type"] == "function_call_output" and isinstance(item["output"], list)
        for part in item["output"]
        if part["type"] == "input_image"
    ]
    assert len(pictures) == 1, "the plot goes with the result that made it"

    shell.run("export", document["id"], "--to", "html", "-o", "run.html")
    page = (shell.folder / "run.html").read_text(encoding="utf-8")
    assert "Responses API from now on" in page, "the record says why"

    replay = shell.run("replay", "last")
    assert (replay.code, replay.out) == (0, "2 cells, no differences.\n")

    with FakeService([text("Mine.")]) as other:
        done = shell.asking(other).run("rerun", document["id"], "-m", "other-model", "--json")
        assert done.code == 0, done.err
        assert "encrypted_content" not in other.requests[0].raw.decode()
    assert done.document["answer"] == "Mine."


TABLE = "import pandas as pd\nsales = pd.DataFrame({'City': ['A', 'B'], 'Sales': [20, 22]})\n"
REPAIRED_JOB = [
    [
        thinks("First the total."),
        says("I add."),
        calls("run_cell", {"code": f"{TABLE}sales['sales'].sum()"}),
    ],
    [thinks("The name is Sales."), calls("run_cell", {"code": f"{TABLE}sales['Sales'].sum()"})],
    [thinks("Now the plot."), calls("run_cell", {"code": PLOT})],
    [thinks(), says("The total is 42.")],
]


def test_the_main_job_runs_through_messages(shell: Shell) -> None:
    """A table, an error that is mended, a plot; then a replay, and a rerun with another model."""
    provider = AnthropicMessages(REPAIRED_JOB, chunk_bytes=13)
    asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_API": "messages"})
    document, service = run(asking, provider, model="claude-sonnet-5-5")
    assert (document["status"], document["answer"]) == ("completed", "The total is 42.")
    assert provider.refusals == []
    assert {request.path for request in service.requests} == {"/v1/messages"}
    messages = provider.taken[-1]["messages"]
    blocks = [block for message in messages for block in message["content"]]
    kinds = [block["type"] for block in blocks]
    assert (kinds.count("thinking"), kinds.count("tool_use")) == (3, 3)
    results = [block for block in blocks if block["type"] == "tool_result"]
    assert "KeyError" in json.dumps(results[0])
    assert "image" in [part["type"] for part in results[2]["content"]], results
    assert json.dumps(provider.taken[-1]).count('"cache_control"') == 4
    usage = document["usage"]
    assert usage["reasoning_tokens"] == 4 * 64
    assert usage["cached_tokens"] > usage["prompt_tokens"] / 2

    shell.run("export", document["id"], "--to", "html", "-o", "run.html")
    page = (shell.folder / "run.html").read_text(encoding="utf-8")
    assert "The name is Sales." in page, "what it thought is there to unfold"

    replay = shell.run("replay", "last")
    assert (replay.code, replay.out) == (0, "3 cells, no differences.\n")

    with FakeService([text("Mine.")]) as other:
        done = shell.asking(other).run("rerun", document["id"], "-m", "other-model", "--json")
        assert done.code == 0, done.err
        assert not any(s in other.requests[0].raw.decode() for s in provider.signed)
    assert done.document["answer"] == "Mine."


def test_the_main_job_runs_where_thinking_has_to_come_back(shell: Shell) -> None:
    provider = DeepSeek(MAIN_JOB)
    document, _ = run(shell, provider, model="deepseek-v4-pro")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    # It sees no pictures, which it says once; the plot's caption goes on without it.
    assert len(provider.refusals) == 1
    assert "image_url" in provider.refusals[0]
    thoughts = [
        message["reasoning_content"]
        for message in provider.taken[-1]["messages"]
        if message.get("tool_calls")
    ]
    assert thoughts == ["First the total.", "Now the plot."]


def test_the_main_job_runs_where_calls_are_signed(shell: Shell) -> None:
    provider = Gemini(MAIN_JOB)
    document, _ = run(shell, provider, model="gemini-3-pro")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    assert provider.refusals == []
    body = json.dumps(provider.taken[-1])
    assert all(signature in body for signature in provider.signatures.values())
    assert '"image_url"' in body


def test_a_key_given_in_the_panel_is_known_to_the_command_line(shell: Shell) -> None:
    """The magics read their settings by the same function."""
    key = "-".join(["sk", "kept", "0123456789abcdef"])
    home = shell.folder / "home"
    with FakeService([text(f"It is {key}.")]) as service:
        configuration = Cellwright(config=Config({"Cellwright": {"home": str(home)}}))
        panel = ServiceChooser(configuration, {}, KeyPlaces(home / KEY_FILE, lambda: None))
        panel.change(ServiceChange("their-model", service.base_url, key))
        asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_HOME": str(home)})
        done = asking.run("run", "Hello", "--mode", "auto", "--json")
    assert done.code == 0, done.err
    assert service.requests[-1].headers["authorization"] == f"Bearer {key}"
    assert service.requests[-1].body["model"] == "their-model"
    assert key not in done.out + done.err
    record = b"".join(p.read_bytes() for p in home.iterdir() if p.name.startswith("runs.sqlite"))
    assert key.encode() not in record


def test_a_provider_that_was_found_by_its_key_is_named_once(shell: Shell) -> None:
    environ = {"AZURE_OPENAI_API_KEY": "0123456789abcdef", "AZURE_OPENAI_DEPLOYMENT": "mine"}
    with FakeService([text("Yes."), text("No.")]) as service:
        environ["AZURE_OPENAI_ENDPOINT"] = service.base_url.removesuffix("/v1")
        asking = Shell(shell.folder, {**shell.environ, **environ})
        done = asking.run("run", "Hello", "--mode", "auto", "--json")
        assert done.code == 0, done.err
        shown = asking.run("show", done.document["id"])
        doctor = asking.run("doctor", "--json")
    assert service.requests[0].path == "/openai/v1/chat/completions"
    assert service.requests[0].body["model"] == "mine"
    assert "AZURE_OPENAI_API_KEY" in done.err + shown.out
    assert "A key is set (AZURE_OPENAI_API_KEY)" in doctor.out


TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("key", "header", "value"),
    [
        ("0123456789abcdef", "api-key", "0123456789abcdef"),
        (TOKEN, "authorization", f"Bearer {TOKEN}"),
    ],
)
def test_an_azure_address_of_before_v1_is_asked_as_it_wants_it(
    shell: Shell, key: str, header: str, value: str
) -> None:
    with FakeService([text("Yes.")]) as service:
        root = service.base_url.removesuffix("/v1")
        old = f"{root}/openai/deployments/mine/chat/completions?api-version=2024-10-21"
        environ = {"CELLWRIGHT_BASE_URL": old, "CELLWRIGHT_API_KEY": key}
        asking = Shell(shell.folder, {**shell.environ, **environ})
        done = asking.run("run", "Hello", "--mode", "auto", "--json")
        doctor = asking.run("doctor", "--json")
    assert done.code == 0, done.err
    (asked,) = service.requests
    assert asked.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert asked.body["model"] == "mine"
    assert {name for name in ("api-key", "authorization") if name in asked.headers} == {header}
    assert asked.headers[header] == value
    assert doctor.code == 0, doctor.out


FLAGS = (
    *("--effort", "low", "--verbosity", "high", "--max-output", "900", "--temperature", "0.5"),
    *("--top-p", "0.9", "--seed", "7", "--service-tier", "flex"),
    *("--body", "top_k=40", "--body", "user=me"),
)
SENT = {
    **{"reasoning_effort": "low", "verbosity": "high", "max_tokens": 900, "temperature": 0.5},
    **{"top_p": 0.9, "seed": 7, "service_tier": "flex", "top_k": 40, "user": "me"},
}


def test_what_the_model_is_asked_with_can_be_said_on_the_command_line(shell: Shell) -> None:
    with FakeService([text("Yes.")]) as service:
        service.openai = False  # top_k
        done = shell.asking(service).run("run", "Hello", "--mode", "plan", "--json", *FLAGS)
    assert done.code == 0, done.err
    body = service.requests[0].body
    assert {name: body.get(name) for name in SENT} == SENT


def test_a_field_that_is_ours_cannot_be_sent_otherwise(shell: Shell) -> None:
    done = shell.run("run", "Hello", "--body", "messages=[]")
    assert done.code == 2
    assert "messages=[]" in done.err


def test_an_assistant_says_what_the_model_is_asked_with(shell: Shell) -> None:
    folder = shell.folder / ".cellwright" / "assistants"
    folder.mkdir(parents=True)
    quick = 'effort = "low"\n[parameters]\nverbosity = "low"\nseed = 3\nmax_output_tokens = 99\n'
    (folder / "quick.toml").write_text(quick)
    (folder / "sly.toml").write_text('[parameters]\nextra_body = {plugins = ["web"]}\n')
    with FakeService([text("Yes."), text("Yes.")]) as service:
        asking = shell.asking(service)
        for more in ((), ("--effort", "high", "--seed", "7")):
            done = asking.run("run", "@quick hello", "--mode", "plan", "--json", *more)
            assert done.code == 0, done.err
        sly = asking.run("run", "@sly hello", "--mode", "plan")
    assert (sly.code, "extra_body" in sly.err) == (2, True), "a project's file sends nothing else"
    names = ("reasoning_effort", "verbosity", "seed", "max_tokens")
    sent = [tuple(request.body.get(name) for name in names) for request in service.requests]
    assert sent == [("low", "low", 3, 99), ("high", "low", 7, 99)]


def test_a_server_that_drops_the_tools_is_talked_with_in_words(shell: Shell) -> None:
    timed = raw_sse([chunk({"content": "I cannot."}), chunk({}, "stop"), chunk(None, timings={})])
    caps = {"chat_template_caps": {"supports_tools": False}}
    with FakeService(
        [timed, text("[[ ## say ## ]]\nIt is 42.\n[[ ## completed ## ]]")], props=caps
    ) as service:
        done = shell.asking(service).run("run", "What is it?", "--mode", "plan", "--json")
    assert done.code == 0, done.err
    assert done.document["answer"] == "It is 42."
    assert ["tools" in request.body for request in service.requests] == [True, False]


def test_the_main_job_runs_where_thinking_is_in_the_content(shell: Shell) -> None:
    provider = Mistral(MAIN_JOB)
    document, _ = run(shell, provider, model="mistral-medium-latest")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    # The picture of the plot came right after its result; from then on words stand between them.
    assert provider.refusals == ["Unexpected role 'user' after role 'tool'"]
    sent = [m["content"] for m in provider.taken[-1]["messages"] if m.get("tool_calls")]
    assert [content[0]["type"] for content in sent] == ["thinking", "thinking"]


def test_the_main_job_runs_through_generate_content(shell: Shell) -> None:
    """A file, two cells and a plot; then a replay, and a rerun with another provider's model."""
    (shell.folder / "sales.csv").write_text("City,Sales\nA,20\nB,22\n")
    read = "import pandas as pd\nbest = int(pd.read_csv('sales.csv')['Sales'].sum())\nbest"
    job = [
        [thinks("First the total."), says("I add."), calls("run_cell", {"code": read})],
        *MAIN_JOB[1:],
    ]
    provider = GeminiApi(job, chunk_bytes=13, line_end="\r\n")
    asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_API": "gemini"})
    files = ("--files", "sales.csv")
    document, service = run(asking, provider, *files, model="gemini-3.8-flash")
    assert (document["status"], document["answer"]) == ("completed", "The best is 42.")
    assert provider.refusals == []
    called = "/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert {request.path for request in service.requests} == {called}
    parts = [part for content in provider.taken[-1]["contents"] for part in content["parts"]]
    signed = [part for part in parts if "thoughtSignature" in part]
    assert len(signed) == 2
    assert all(provider.signatures[part["thoughtSignature"]] for part in signed)
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    assert "42" in results[0]["response"]["output"]
    assert results[1]["parts"][0]["inlineData"]["mimeType"] == "image/png"
    usage = document["usage"]
    assert usage["reasoning_tokens"] == 3 * 64
    assert usage["cached_tokens"] > 0

    shell.run("export", document["id"], "--to", "html", "-o", "run.html")
    page = (shell.folder / "run.html").read_text(encoding="utf-8")
    assert "First the total." in page, "what it thought is there to unfold"

    replay = shell.run("replay", "last")
    assert (replay.code, replay.out) == (0, "2 cells, no differences.\n")

    claude = AnthropicMessages([[says("Mine.")]])
    other = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_API": "messages"})
    with FakeService(claude) as service:
        done = other.asking(service).run("rerun", document["id"], "-m", "claude-5", "--json")
        assert done.code == 0, done.err
        sent = service.requests[0].raw.decode()
    assert not any(signature in sent for signature in provider.signatures)
    assert done.document["answer"] == "Mine."


def test_a_call_that_gemini_could_not_write_ends_a_run_truthfully(shell: Shell) -> None:
    broken = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(default_api."}
    ended = raw_sse([{"candidates": [broken]}], done=False)
    withheld = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    with FakeService([ended, ended, raw_sse([withheld], done=False)]) as service:
        environ = {**shell.environ, "CELLWRIGHT_API": "gemini"}
        asking = Shell(shell.folder, environ).asking(service)
        done = asking.run("run", "Which is best?", "--mode", "auto", "--json")
        refused = asking.run("run", "Something bad", "--mode", "auto", "--json")
    assert done.code != 0
    assert done.document["status"] != "completed"
    assert "MALFORMED_FUNCTION_CALL" in done.document["reason"]
    assert "PROHIBITED_CONTENT" in refused.document["answer"]
    assert len(service.requests) == 3


def test_doctor_asks_gemini_for_its_models(shell: Shell) -> None:
    wished = {"CELLWRIGHT_API": "gemini", "CELLWRIGHT_MODEL": "gemini-3.8-flash"}
    with FakeService(models=listed("gemini-3.8-flash")) as service:
        asking = Shell(shell.folder, {**shell.asking(service).environ, **wished})
        doctor = asking.run("doctor", "--json")
    states = {check["name"]: check["status"] for check in doctor.document["checks"]}
    assert (states["endpoint"], states["model"]) == ("ok", "ok")
    assert "x-goog-api-key" in service.other_requests[0].headers


def test_doctor_sends_nobody_to_an_address_that_they_did_not_set(shell: Shell) -> None:
    """The tests reach no network, so the provider of the key is not found."""
    environ = {**shell.environ, "ANTHROPIC_API_KEY": "sk-ant-0123456789"}
    found = Shell(shell.folder, environ).run("doctor", "--json").document["checks"]
    endpoint = next(check for check in found if check["name"] == "endpoint")
    assert endpoint["status"] == "failed"
    assert endpoint["action"] == "Check the address and the network."
    own = {"CELLWRIGHT_BASE_URL": "http://127.0.0.1:9/v1", "CELLWRIGHT_MODEL": "a-model"}
    found = Shell(shell.folder, {**shell.environ, **own}).run("doctor", "--json").document["checks"]
    endpoint = next(check for check in found if check["name"] == "endpoint")
    assert endpoint["text"] == "127.0.0.1:9 does not answer: Connection refused."
    assert "CELLWRIGHT_BASE_URL" in endpoint["action"]
