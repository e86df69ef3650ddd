"""The table of providers, and that nothing of them is known elsewhere."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from fake_providers import ROWS
from provider_proofs import CLAIMS, LIVE, LIVE_CLAIMS, LIVE_SERVERS, OTHERS
from provider_proofs import PROOFS as PROVEN
from source_tree import PROJECT, source_files

from cellwright import providers
from cellwright.commands.doctor_probes import MARKS, PROBES
from cellwright.providers import (
    OLLAMA,
    OPENAI,
    PROVIDERS,
    UNKNOWN,
    VARIABLE,
    Provider,
    fill_in,
    find_provider,
    has_credentials,
    provider_of_key,
    usual_model,
)
from cellwright.settings import APIS
from cellwright.text.redaction import Redactor
from cellwright.text.secret_shapes import Strength, strength_of

ELSEWHERE = {
    "cellwright/session/prices.py": "what they cost, by their names",
    "cellwright/providers.py": "the table",
    "cellwright/text/secret_shapes.py": "how keys of every kind look, most for something else",
    "cellwright/kernels/fresh.py": "variables that a graphics card needs",
    "cellwright/kernels/obstacles.py": "the device of a graphics card",
}
Proofs = dict[str, str]
CLI, LM = "tests/cli/test_providers.py", "tests/lm"
REAL = "tests/foreign/test_real_servers.py"
KEY = "test_a_key_of_a_provider_is_enough"
PROOFS: dict[str, Proofs] = {
    "OpenAI": {
        "main job through Responses, after one refusal": f"{CLI}::"
        "test_the_main_job_runs_with_a_model_that_only_responses_serves",
        "requests fit the published description": f"{LM}/test_responses.py::"
        "test_requests_fit_the_published_description_with_all_that_can_be_asked",
        "which model is asked through which API": f"{LM}/test_responses.py::"
        "test_the_official_service_is_asked_by_the_model",
    },
    "Anthropic": {
        "requests fit the types of its SDK": f"{LM}/test_messages_sdk.py::"
        "test_requests_fit_the_types_of_the_sdk",
        "main job through Messages, thinking sent back": f"{CLI}::"
        "test_the_main_job_runs_through_messages",
        "four questions, nothing before a thought is changed": "tests/api/test_session.py::"
        "test_a_conversation_with_signed_thinking_goes_on_from_question_to_question",
        "the prompt is cached": f"{LM}/test_messages.py::"
        "test_the_prompt_is_cached_as_far_as_it_will_stay",
        "what a model refuses is left out": f"{LM}/test_messages.py::"
        "test_what_is_refused_is_left_out_once_and_said",
    },
    "Google Gemini": {
        "main job through `generateContent`, signatures sent back": f"{CLI}::"
        "test_the_main_job_runs_through_generate_content",
        "main job through the compatibility layer": f"{CLI}::"
        "test_the_main_job_runs_where_calls_are_signed",
        "requests fit the published description and the SDK's types": f"{LM}/test_gemini_sdk.py::"
        "test_requests_fit_the_types_of_the_sdk",
        "the probes of `doctor --provider`": "tests/cli/test_doctor_probes.py::"
        "test_what_gemini_can_is_found_through_its_own_api",
        "what a model refuses is left out": f"{LM}/test_gemini.py::"
        "test_what_is_refused_is_left_out_once_and_said",
        "a minute's quota is waited for, a day's is not": f"{LM}/test_gemini.py::"
        "test_failures_are_those_of_our_tree_and_tried_again_as_elsewhere",
    },
    "Google Vertex": {
        "which model is asked through which API": f"{LM}/test_gemini.py::"
        "test_other_models_at_vertex_are_asked_through_chat_completions",
    },
    "OpenRouter": {
        "`reasoning_details` sent back": f"{LM}/test_provider_items.py::"
        "test_details_that_come_in_pieces_go_back_whole",
    },
    "Azure OpenAI": {
        "a run with endpoint, key and deployment alone": f"{CLI}::"
        "test_a_provider_that_was_found_by_its_key_is_named_once",
        "an address of before v1, with a key or a token": f"{CLI}::"
        "test_an_azure_address_of_before_v1_is_asked_as_it_wants_it",
    },
    "Mistral": {
        "main job, thinking in the content": f"{CLI}::"
        "test_the_main_job_runs_where_thinking_is_in_the_content",
        "a field it does not know is left out": f"{LM}/test_parameters.py::"
        "test_one_that_is_refused_is_left_out_once_and_said",
        "ids of calls as it wants them": f"{LM}/test_own_servers.py::test_ids_of_nine_letters",
    },
    "DeepSeek": {
        "main job, `reasoning_content` sent back": f"{CLI}::"
        "test_the_main_job_runs_where_thinking_has_to_come_back",
    },
    "Perplexity": {
        "words that it does not know are not sent": f"{LM}/test_responses.py::"
        "test_a_provider_is_not_sent_words_that_it_does_not_know",
    },
    "Ollama": {
        "found where nothing is set": "tests/test_services.py::"
        "test_with_nothing_set_a_local_ollama_answers",
    },
    "vLLM": {
        "a limit that does not fit is left out": f"{LM}/test_own_servers.py::"
        "test_one_that_does_not_fit_is_left_out_and_the_conversation_stays",
    },
    "llama.cpp": {
        "dropped tools are noticed": f"{CLI}::"
        "test_a_server_that_drops_the_tools_is_talked_with_in_words",
        "a model that loads is waited for": f"{LM}/test_own_servers.py::"
        "test_a_server_that_loads_its_model_is_waited_for",
        "its template's errors are no outages": f"{LM}/test_own_servers.py::"
        "test_a_request_that_llama_cpp_cannot_render_is_no_outage",
        "the server itself: endings, Stop, deadline, window, dropped tools": f"{REAL}::"
        "test_a_model_without_tools",
        "conversations in each of the 70 chat templates that it ships": "tests/foreign/"
        "test_templates.py::"
        "test_each_conversation_is_rendered_once_the_refusals_are_learned",
    },
    "LiteLLM": {
        "the proxy itself: dropped tools are noticed behind it": f"{REAL}::"
        "test_a_run_goes_on_in_words_behind_a_proxy_too",
        "it is asked for the window": "tests/test_small_windows.py::test_it_is_asked_once",
    },
}
"""What was tried, against a simulator of the provider or itself, and the test that does it."""
COMMON_WORDS = {"OpenAI"}
"""Names that also stand for a format or a package; the hosts are looked for all the same."""


def texts_of_code(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Text literals of our Python files, docstrings left out, and lines of TypeScript.

    Files in which none of the words stands are passed over.
    """
    lowered = [word.lower() for word in words]
    files = {**source_files()}
    files |= {str(p.relative_to(PROJECT)): p for p in (PROJECT / "js" / "src").rglob("*.ts*")}
    for name, path in sorted(files.items()):
        text = path.read_text("utf-8")
        within = text.lower()
        if name in ELSEWHERE or not any(word in within for word in lowered):
            continue
        if path.suffix != ".py":
            for number, line in enumerate(text.splitlines(), 1):
                if not line.lstrip().startswith(("*", "//", "/*")):
                    yield f"{name}:{number}", line
            continue
        tree = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) in docs:
                    continue
                yield f"{name}:{node.lineno}", node.value


def test_nothing_of_a_provider_is_known_outside_of_the_table() -> None:
    words = {ending.lstrip("-") for provider in PROVIDERS for ending in provider.hosts}
    words |= {provider.name for provider in PROVIDERS} - COMMON_WORDS
    words |= {p.key_variable for p in PROVIDERS if p.key_variable}
    words -= {OPENAI.key_variable}  # ours since the beginning, named in many hints
    known = re.compile("|".join(rf"(?<![\w.]){re.escape(word)}(?!\w)" for word in words), re.I)
    found = [
        f"{place}: {text[:80]!r}" for place, text in texts_of_code(words) if known.search(text)
    ]
    assert found == []


MODEL_FAMILIES = ("gpt", "claude", "gemini", "llama", "qwen", "deepseek", "grok", "kimi", "glm")
BY_TEXT = {
    "startswith",
    "endswith",
    "compile",
    "match",
    "fullmatch",
    "search",
    "fnmatchcase",
    "get",
}
"""Functions that look at a text, or look something up by it."""
CONSTANTS = {name for name, value in vars(providers).items() if isinstance(value, Provider)}
CONSTANTS -= {"UNKNOWN"}


def branches(tree: ast.AST) -> Iterator[ast.AST]:
    """What code compares, matches or looks up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.MatchValue):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            yield from node.args if name in BY_TEXT else ()


def special_cases(text: str) -> list[str]:
    """Where code does something else for one provider or family of models."""
    names = "|".join(re.escape(provider.name) for provider in PROVIDERS)
    # The package of OpenAI's SDK has its name in small letters.
    words = re.compile(rf"\b({names})\b|(?i:(?<![a-z])({'|'.join(MODEL_FAMILIES)})(?![a-z]))")
    tree = ast.parse(text)
    found = [inner for node in branches(tree) for inner in ast.walk(node)]
    # An API may be called as the models that speak it are.
    constants = [node.value for node in found if isinstance(node, ast.Constant)]
    strings = [str(value) for value in constants if value not in APIS]
    compared = [inner for node in ast.walk(tree) if isinstance(node, ast.Compare)
                for inner in ast.walk(node)]  # fmt: skip
    rows = [node.id for node in compared if isinstance(node, ast.Name) and node.id in CONSTANTS]
    return [*filter(words.search, strings), *rows]


def test_no_provider_and_no_family_of_models_is_a_special_case_in_code() -> None:
    files = {name: path for name, path in source_files().items() if name not in ELSEWHERE}
    found = {name: special_cases(path.read_text("utf-8")) for name, path in files.items()}
    assert {name: cases for name, cases in found.items() if cases} == {}
    # In TypeScript nothing at all is named that way; providers are looked for above.
    families = re.compile(rf"(?i)\b({'|'.join(MODEL_FAMILIES)})-?\d")
    lines = [f"{place}: {line}" for place, line in texts_of_code(MODEL_FAMILIES) if ".ts" in place]
    assert [line for line in lines if families.search(line)] == []


@pytest.mark.parametrize(
    "code",
    [
        "if provider is OPENAI: pass",
        "x = find_provider(url) is not OLLAMA",
        "if provider.name == 'Groq': pass",
        "if model.startswith('gpt-5'): pass",
        "rules = {'DeepSeek': 1}",
        "match name:\n    case 'Mistral': pass",
        "re.compile(r'claude-\\d').search(model)",
    ],
)
def test_the_search_for_special_cases_finds_them(code: str) -> None:
    assert special_cases(code) != []


def test_each_row_says_where_it_was_looked_up() -> None:
    assert len({provider.name for provider in PROVIDERS}) == len(PROVIDERS)
    for provider in PROVIDERS:
        assert provider.source.startswith("https://")
        assert bool(provider.model) == bool(provider.model_source), provider.name
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", provider.checked), provider.name
        assert not provider.key_variable or provider.model, "a key alone has to be enough"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_an_address_leads_back_to_its_row(provider: Provider) -> None:
    environ = {name: "somewhere" for name in VARIABLE.findall(provider.base_url)}
    if "AZURE_OPENAI_ENDPOINT" in environ:
        environ["AZURE_OPENAI_ENDPOINT"] = "https://mine.openai.azure.com/"
    url = fill_in(provider.base_url, environ)
    assert find_provider(url) is provider
    assert "{" not in url
    assert not environ or not fill_in(provider.base_url, {})


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://eu.api.openai.com/v1", "OpenAI"),
        ("https://us-east5-aiplatform.googleapis.com/v1/x", "Google Vertex"),
        ("https://bedrock-mantle.us-east-1.api.aws/v1", "Amazon Bedrock"),
        ("http://gpu.example:11434/v1", "Ollama"),
        ("https://evilopenai.com/v1", ""),
        ("https://api.openai.com.example/v1", ""),
        ("http://host:port/v1", ""),
        ("http://[x", ""),
        ("", ""),
    ],
)
def test_a_provider_is_found_by_its_host_or_port(url: str, name: str) -> None:
    assert find_provider(url).name == name


@pytest.mark.parametrize("endpoint", ["https://a.example", "https://a.example/openai/v1/"])
def test_an_endpoint_may_have_been_copied_with_its_path(endpoint: str) -> None:
    azure = next(p for p in PROVIDERS if p.key_variable == "AZURE_OPENAI_API_KEY")
    filled = fill_in(azure.base_url, {"AZURE_OPENAI_ENDPOINT": endpoint})
    assert filled == "https://a.example/openai/v1"


def test_a_key_tells_its_provider_by_its_beginning() -> None:
    for provider in PROVIDERS:
        for start in provider.key_starts:
            assert provider_of_key(f"{start}0123456789") is provider
    assert provider_of_key("sk-0123456789") is UNKNOWN
    assert provider_of_key("") is UNKNOWN


def test_the_usual_model_is_the_providers() -> None:
    assert usual_model(OPENAI.base_url) == "gpt-6.2-sol"
    assert usual_model("https://mine.openai.azure.com/openai/v1") == ""
    assert usual_model(OLLAMA.base_url) == ""
    assert usual_model("https://unknown.example/v1") == ""


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_its_keys_are_taken_out_of_all_that_is_kept(provider: Provider) -> None:
    assert not provider.key_variable or strength_of(provider.key_variable) is not Strength.NONE
    body = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8U9v0W1x2"
    for start in provider.key_starts:
        key = f"{start}{body}"
        assert key not in Redactor({}).text(f"the key {key} is set")


def proofs_of(provider: Provider) -> Proofs:
    """What is claimed of a provider; that its key is enough is tried for each that has one."""
    found = {"its key alone is enough": f"tests/test_settings.py::{KEY}"}
    return (found if provider.key_variable else {}) | PROOFS.get(provider.name, {})


def table_of_providers() -> str:
    """The tables of ``docs/reference/models.md``."""
    rows = [
        "| provider | address | key | usual model | particular | read |",
        "|---|---|---|---|---|---|",
    ]
    for p in PROVIDERS:
        key = f"`{p.key_variable}`" if p.key_variable else ""
        model = f"`{p.model}`" if p.model else ""
        name, url = f"[{p.name}]({p.source})", f"`{p.base_url}`"
        rows.append(f"| {' | '.join((name, url, key, model, p.note, p.checked))} |")
    return "\n".join(rows)


def table_of_proofs() -> str:
    """What was proven with each provider as it is played, what else was, and with real servers."""
    proven = json.loads(PROVEN.read_text("utf-8"))
    heads = [f"[{claim}](../../{file})" for claim, file in CLAIMS.items()]
    rows = [f"| provider | played by | {' | '.join(heads)} | also |", "|---" * 7 + "|"]
    for p in PROVIDERS:
        marks = ["yes" if claim in proven.get(p.name, ()) else "" for claim in CLAIMS]
        also = "; ".join(
            f"[{claim}](../../{test.partition('::')[0]})" for claim, test in proofs_of(p).items()
        )
        is_plain = p.name in ROWS and not ROWS[p.name].rules
        played = "plain rules" if is_plain else "its own rules"
        rows.append(f"| {' | '.join((p.name, played, *marks, also))} |")
    for name, title in LIVE_SERVERS.items():
        marks = [
            f"[yes](../../{file})" if claim in proven.get(name, ()) else ""
            for claim, file in LIVE_CLAIMS.items()
        ]
        rows.append(f"| {' | '.join((title, 'itself', *marks, ''))} |")
    return "\n".join(rows)


def table_of_live_rows() -> str:
    """What the probes of ``doctor`` found at real servers."""
    heads = ["server", "model", "date", *(probe.name for probe in PROBES)]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, (model, date, *verdicts) in json.loads(LIVE.read_text("utf-8")).items():
        marks = [MARKS[verdict] for verdict in verdicts]
        rows.append(f"| {' | '.join((LIVE_SERVERS[name], f'`{model}`', date, *marks))} |")
    return "\n".join(rows)


def test_nothing_is_proven_of_what_is_not_in_the_table() -> None:
    """A test that passes holds its own claim against the file; here it is the other way round."""
    proven = json.loads(PROVEN.read_text("utf-8"))
    names = {provider.name for provider in PROVIDERS}
    assert names.isdisjoint(LIVE_SERVERS), "a row of the file would be of two"
    assert set(proven) <= names | LIVE_SERVERS.keys()
    assert all(set(claims) <= set(CLAIMS) for claims in proven.values())
    files = {*CLAIMS.values(), *LIVE_CLAIMS.values()}
    assert all((PROJECT / file).exists() for file in files)
    assert set(ROWS) | set(OTHERS) == {provider.name for provider in PROVIDERS}


def test_nothing_is_claimed_of_a_provider_without_a_test() -> None:
    assert PROOFS.keys() <= {provider.name for provider in PROVIDERS}
    for test in {test for provider in PROVIDERS for test in proofs_of(provider).values()}:
        file, name = test.split("::")
        assert re.search(rf"def {name}\(", (PROJECT / file).read_text("utf-8")), test


@pytest.mark.parametrize(
    ("name", "make"),
    [
        *(("providers", table_of_providers), ("proofs", table_of_proofs)),
        ("live", table_of_live_rows),
    ],
)
def test_the_documented_table_is_the_one_that_counts(name: str, make: Callable[[], str]) -> None:
    """Run with ``WRITE_DOCS=1`` to write it anew."""
    path = PROJECT / "docs" / "reference" / "models.md"
    made = f"<!-- {name}: made by tests/test_providers.py -->\n"
    head, rest = path.read_text("utf-8").split(made, 1)
    written, tail = rest.split(f"<!-- /{name}", 1)
    if os.environ.get("WRITE_DOCS"):
        path.write_text(f"{head}{made}\n{make()}\n\n<!-- /{name}{tail}", encoding="utf-8")
    assert written.strip() == make()


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, False),
        ({"AWS_ACCESS_KEY_ID": "a"}, False),
        ({"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, True),
        ({"AWS_PROFILE": "work"}, True),
        ({"AWS_SHARED_CREDENTIALS_FILE": "/none"}, False),
    ],
)
def test_credentials_that_sign_requests_are_found(
    environ: Mapping[str, str], found: bool, tmp_path: Path
) -> None:
    bedrock = next(provider for provider in PROVIDERS if provider.signer == "bedrock")
    openai = next(provider for provider in PROVIDERS if provider.name == "OpenAI")
    assert has_credentials(bedrock, environ, tmp_path) is found
    assert not has_credentials(openai, environ, tmp_path)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[default]\n", "utf-8")
    has_own = "AWS_SHARED_CREDENTIALS_FILE" in environ
    assert has_credentials(bedrock, environ, tmp_path) is not has_own
