"""The providers of models that we know: one row each, and nothing of them is known elsewhere.

What a row says was looked up in ``source`` on the day ``checked``. A provider that is not here
works like any other OpenAI-compatible service; a row saves settings and refusals.

The file stands below ``settings``, which looks for the keys of these providers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

CHECKED = "2026-11-23"
VARIABLE = re.compile(r"\{([A-Z_]+)\}")


@dataclass(frozen=True)
class Provider:
    """A company, a router or a program that answers for models."""

    name: str
    base_url: str
    """Where its models are asked; ``{NAME}`` stands for a variable of the environment."""
    source: str
    """The page of its documentation that says so."""
    hosts: tuple[str, ...] = ()
    """Endings of the names of its hosts; empty: a program of one's own."""
    port: int = 0
    """On which a program listens unless it is told otherwise."""
    key_variable: str = ""
    """The variable of the environment in which people have its key; empty: there is none, or it
    says nothing of which models somebody wants."""
    signer: str = ""
    """What signs requests without a key: a function of ``openai.providers``, of the extra that is
    called the same; empty: nothing does."""
    is_usual: bool = False
    """It is meant where nothing says which."""
    key_starts: tuple[str, ...] = ()
    """What its keys begin with, where that tells them from all others."""
    model: str = ""
    """Asked where none is named; it calls tools. May stand for a variable, as in ``base_url``."""
    model_source: str = ""
    api: Literal["chat", "by model", "messages", "gemini"] = "chat"
    """``by model``: some are served by another API (``responses_models``, ``gemini_models``);
    ``messages``: the API of Anthropic's own, which knows of cache marks and signed thinking;
    ``gemini``: that of Google's own, which tells what was thought and what the cache had."""
    responses_models: re.Pattern[str] | None = None
    gemini_models: re.Pattern[str] | None = None
    own_root: tuple[str, str] = ("", "")
    """How an address in the form of OpenAI ends, and what stands there in that of its own API."""
    has_tokens: bool = False
    """Its key is a token, which goes in ``Authorization`` in its own API, too."""
    models_path: str = "/models"
    """Where its models are listed, all of them; empty: what it lists cannot be asked for."""
    window_path: str = ""
    """Where a program's own list of models, which tells their windows, is below its root."""
    unknown_parameters: frozenset[str] = frozenset()
    """Never sent, by the names that its API has for them: it refuses requests with them."""
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What a limit of the answer is called at first; the other one is tried where it is refused."""
    note: str = ""
    """What else is particular about it, for the documentation."""
    start_hint: str = ""
    """What to do where nothing answers."""
    missing_model_hint: str = ""
    """What to do where the model is not there; ``{model}`` stands for its name."""
    loads_late: bool = False
    """It knows a model's window only once the model is loaded."""
    window_hint: str = ""
    """How it is made to read longer prompts."""
    tools_hint: tuple[str, str] = ("", "")
    """A word of its refusal of tools, and what to do then."""
    checked: str = CHECKED


# From this GPT on, chat completions take function tools only without thinking; the others never
# were in chat completions. Source: OpenAI's guide "responses-vs-chat-completions".
RESPONSES_MODELS = re.compile(
    r"(?:^|:)gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|[1-9]\d)(?!\d)"
    r"|(?:^|:)(?:o\d+|gpt-[\d.]+)-(?:pro|deep-research)|codex|computer-use"
)
BUDGET_MODELS = re.compile(r"gemini-(?:1|2)\.|-er-1\.")
"""Google's before Gemini 3: they think up to a budget, sign without being strict about it, and see
no pictures in the results of functions."""
OPENAI = Provider(
    "OpenAI",
    "https://api.openai.com/v1",
    "https://developers.openai.com/api/docs/guides/responses-vs-chat-completions",
    hosts=("openai.com",),
    key_variable="OPENAI_API_KEY",
    is_usual=True,
    key_starts=("sk-proj-", "sk-svcacct-"),
    model="gpt-6.2-sol",
    model_source="https://developers.openai.com/api/docs/models",
    api="by model",
    responses_models=RESPONSES_MODELS,
    length_parameter="max_completion_tokens",
    note="gpt-5.4 and later are asked through Responses, with encrypted thinking carried.",
    checked="2026-11-28",
)
OLLAMA = Provider(
    "Ollama",
    "http://127.0.0.1:11434/v1",
    "https://docs.ollama.com/api/openai-compatibility",
    port=11434,
    loads_late=True,
    note="Found when it runs and nothing is set.",
    start_hint="Start Ollama with: ollama serve",
    missing_model_hint="Run: ollama pull {model}",
    window_hint="Set OLLAMA_CONTEXT_LENGTH=32768 for the Ollama server and start it again.",
    checked="2026-11-28",
)
PROVIDERS: tuple[Provider, ...] = (
    OPENAI,
    Provider(
        "Anthropic",
        "https://api.anthropic.com/v1",
        "https://platform.claude.com/docs/en/api/messages/create",
        hosts=("anthropic.com",),
        key_variable="ANTHROPIC_API_KEY",
        key_starts=("sk-ant-",),
        model="claude-sonnet-5-5",
        model_source="https://platform.claude.com/docs/en/models/sonnet-5-5/overview",
        api="messages",
        models_path="/models?limit=1000",
        note="Asked through Messages: thinking is shown and goes back signed, prompts are cached. "
        "`CELLWRIGHT_API=chat` leads to its compatibility layer, which loses both.",
        checked="2026-11-28",
    ),
    Provider(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "https://ai.google.dev/api/generate-content",
        hosts=("googleapis.com",),
        key_variable="GEMINI_API_KEY",
        key_starts=("AIza",),
        model="gemini-3.8-flash",
        model_source="https://ai.google.dev/gemini-api/docs/deprecations",
        api="gemini",
        own_root=("/openai", ""),
        models_path="/models?pageSize=1000",
        note="Asked through `generateContent`: thinking is shown, and its signatures go back. "
        "`CELLWRIGHT_API=chat` leads to its compatibility layer, which shows no thinking.",
        checked="2026-11-28",
    ),
    Provider(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "https://openrouter.ai/docs/quickstart",
        hosts=("openrouter.ai",),
        key_variable="OPENROUTER_API_KEY",
        key_starts=("sk-or-",),
        model="openrouter/auto",
        model_source="https://openrouter.ai/openrouter/auto",
        note="`reasoning_details` are sent back.",
    ),
    Provider(
        "Azure OpenAI",
        "{AZURE_OPENAI_ENDPOINT}/openai/v1",
        "https://learn.microsoft.com/en-us/azure/foundry-classic/openai/api-version-lifecycle",
        hosts=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
        key_variable="AZURE_OPENAI_API_KEY",
        model="{AZURE_OPENAI_DEPLOYMENT}",
        model_source="https://learn.microsoft.com/en-us/azure/foundry-classic/openai/api-version-lifecycle",
        length_parameter="max_completion_tokens",
        models_path="",  # base models, no deployments: learn.microsoft.com, azureopenai/models/list
        note="The v1 address; a model is named by its deployment. With Entra ID: "
        "a key command (above). An address of before, "
        "`…/openai/deployments/NAME?api-version=…`, does for chat completions.",
    ),
    Provider(
        "Groq",
        "https://api.groq.com/openai/v1",
        "https://console.groq.com/docs/openai",
        hosts=("groq.com",),
        key_variable="GROQ_API_KEY",
        key_starts=("gsk_",),
        model="openai/gpt-oss-120b",
        model_source="https://console.groq.com/docs/models",
    ),
    Provider(
        "Mistral",
        "https://api.mistral.ai/v1",
        "https://docs.mistral.ai/api",
        hosts=("mistral.ai",),
        key_variable="MISTRAL_API_KEY",
        model="mistral-medium-latest",
        model_source="https://docs.mistral.ai/models/model-cards/mistral-medium-3-5-26-04",
        # docs.mistral.ai/resources/cookbooks/mistral-reasoning
        note="Thinking comes in the content, as a list of parts, and goes back so.",
        checked="2026-11-28",
    ),
    Provider(
        "DeepSeek",
        "https://api.deepseek.com/v1",
        "https://api-docs.deepseek.com/guides/thinking_mode",
        hosts=("deepseek.com",),
        key_variable="DEEPSEEK_API_KEY",
        model="deepseek-flash",
        model_source="https://api-docs.deepseek.com/quick_start/pricing",
        note="`reasoning_content` of turns with calls is sent back. "
        "`deepseek-flash` sees pictures, `deepseek-v4-pro` does not.",
        checked="2026-11-28",
    ),
    Provider(
        "xAI",
        "https://api.x.ai/v1",
        "https://docs.x.ai/developers/grok-4-5",
        hosts=("x.ai",),
        key_variable="XAI_API_KEY",
        key_starts=("xai-",),
        model="grok-4.5",
        model_source="https://docs.x.ai/developers/grok-4-5",
    ),
    Provider(
        "Moonshot",
        "https://api.moonshot.ai/v1",
        "https://platform.kimi.ai/docs/api/overview",
        hosts=("moonshot.ai", "moonshot.cn"),
        key_variable="MOONSHOT_API_KEY",
        model="kimi-k3",
        model_source="https://platform.kimi.ai/docs/models",
        note="`reasoning_content` of turns with calls is sent back.",
    ),
    Provider(
        "Zhipu",
        "https://api.z.ai/api/paas/v4",
        "https://docs.z.ai/api-reference/introduction",
        hosts=("z.ai", "bigmodel.cn"),
        key_variable="ZAI_API_KEY",
        model="glm-5.2",
        model_source="https://docs.z.ai/guides/overview/pricing",
        checked="2026-11-28",
    ),
    Provider(
        "DashScope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope",
        hosts=("aliyuncs.com",),
        key_variable="DASHSCOPE_API_KEY",
        model="qwen-plus",
        model_source="https://www.alibabacloud.com/help/en/model-studio/"
        "compatibility-of-openai-with-dashscope",
        note="Singapore's address; a key of another region needs CELLWRIGHT_BASE_URL.",
        checked="2026-11-28",
    ),
    Provider(
        "Together AI",
        "https://api.together.ai/v1",
        "https://docs.together.ai/docs/inference/openai-compatibility",
        hosts=("together.xyz", "together.ai"),
        key_variable="TOGETHER_API_KEY",
        model="deepseek-ai/DeepSeek-V4.1-Flash",
        model_source="https://docs.together.ai/docs/deprecations",
        checked="2026-11-28",
    ),
    Provider(
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "https://docs.fireworks.ai/tools-sdks/openai-compatibility",
        hosts=("fireworks.ai",),
        key_variable="FIREWORKS_API_KEY",
        key_starts=("fw_",),
        model="accounts/fireworks/models/gpt-oss-120b",
        model_source="https://fireworks.ai/models/fireworks/gpt-oss-120b",
        checked="2026-11-28",
    ),
    Provider(
        "Amazon Bedrock",
        "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html",
        hosts=("amazonaws.com", "api.aws"),
        key_variable="AWS_BEARER_TOKEN_BEDROCK",
        model="openai.gpt-oss-20b-1:0",
        model_source="https://docs.aws.amazon.com/bedrock/latest/userguide/"
        "inference-chat-completions.html",
        length_parameter="max_completion_tokens",
        signer="bedrock",
        note="With an API key of Bedrock, or with AWS credentials and the extra `bedrock`: set "
        "`AWS_REGION` and the address.",
    ),
    Provider(
        "Google Vertex",
        "https://aiplatform.googleapis.com/v1/projects/{GOOGLE_CLOUD_PROJECT}"
        "/locations/{GOOGLE_CLOUD_LOCATION}/endpoints/openapi",
        "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/"
        "call-vertex-using-openai-library",
        hosts=("aiplatform.googleapis.com", "-aiplatform.googleapis.com"),
        api="by model",
        gemini_models=re.compile(r"^(?:google/)?gemini"),
        own_root=("/endpoints/openapi", "/publishers/google"),
        has_tokens=True,
        note="Gemini's models are asked through `generateContent`. Set the address; its key is a "
        "token of an hour: `CELLWRIGHT_KEY_COMMAND='gcloud auth print-access-token'`.",
    ),
    Provider(
        "Perplexity",
        "https://api.perplexity.ai/v1",
        "https://docs.perplexity.ai/docs/agent-api/migrate-from-sonar/overview",
        hosts=("perplexity.ai",),
        key_variable="PERPLEXITY_API_KEY",
        key_starts=("pplx-",),
        model="openai/gpt-5.5",
        model_source="https://docs.perplexity.ai/docs/agent-api/building-agents/define-the-run",
        api="by model",
        responses_models=re.compile(""),
        # Source: anomalyco/opencode issue 32108, 2026-06-12.
        unknown_parameters=frozenset({"store", "temperature", "include", "tool_choice"}),
        note="Its Agent API is asked as OpenAI's Responses; chat completions ended on 2026-09-27. "
        "It knows neither `temperature` nor a word against storing.",
        checked="2026-11-28",
    ),
    Provider(
        "NVIDIA",
        "https://integrate.api.nvidia.com/v1",
        "https://build.nvidia.com/nvidia/nemotron-3-super-120b-a12b",
        hosts=("nvidia.com",),
        key_variable="NVIDIA_API_KEY",
        key_starts=("nvapi-",),
        model="nvidia/nemotron-3-super-120b-a12b",
        model_source="https://build.nvidia.com/nvidia/nemotron-3-super-120b-a12b",
        checked="2026-11-28",
    ),
    Provider(
        "Hugging Face",
        "https://router.huggingface.co/v1",
        "https://huggingface.co/docs/inference-providers/guides/responses-api",
        hosts=("huggingface.co",),
        key_starts=("hf_",),
        checked="2026-11-28",
    ),
    OLLAMA,
    Provider(
        "vLLM",
        "http://127.0.0.1:8000/v1",
        "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
        port=8000,
        tools_hint=(
            "enable-auto-tool-choice",
            "Start vLLM with --enable-auto-tool-choice and --tool-call-parser.",
        ),
        note="Calls tools where it was started with `--enable-auto-tool-choice` and "
        "`--tool-call-parser` (features/tool_calling of its documentation).",
        checked="2026-11-28",
    ),
    Provider(
        "SGLang",
        "http://127.0.0.1:30000/v1",
        "https://docs.sglang.io/docs/basic_usage/send_request",
        port=30000,
    ),
    Provider(
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "https://lmstudio.ai/docs/api/openai-api",
        port=1234,
        window_path="/api/v0/models",
    ),
    Provider(
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        port=8080,
        tools_hint=("jinja", "Start llama-server with --jinja."),
    ),
    Provider(
        "LiteLLM",
        "http://127.0.0.1:4000/v1",
        "https://docs.litellm.ai/docs/proxy/docker_quick_start",
        port=4000,
        checked="2026-11-28",
    ),
)
UNKNOWN = Provider("", "", "")
"""Stands for all others."""
TOOL_MODELS = ("gpt-6.2-sol", "qwen3", "llama3.3", "mistral-small3.2", "gpt-oss")
"""Known to call tools; named where a model does not."""


@dataclass(frozen=True)
class ProviderKey:
    """A key that somebody has in the environment, and what it is good for."""

    provider: Provider
    key: str = field(repr=False)
    base_url: str
    model: str
    """Empty: the user has to name one."""


def find_provider(base_url: str) -> Provider:
    """Whose address it is; ``UNKNOWN`` where no row says."""
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return UNKNOWN
    fitting = [
        (len(ending), provider)
        for provider in PROVIDERS
        for ending in provider.hosts
        if host == ending or host.endswith(ending if ending.startswith("-") else f".{ending}")
    ]
    if fitting:
        return max(fitting, key=lambda found: found[0])[1]
    return next((p for p in PROVIDERS if p.port and p.port == port), UNKNOWN)


def provider_of_key(key: str) -> Provider:
    """Whose key it is by its beginning; ``UNKNOWN`` where that does not tell."""
    return next((p for p in PROVIDERS if key.startswith(p.key_starts or ("\0",))), UNKNOWN)


def signer_of(base_url: str, key: str) -> str:
    """What signs requests to an address; empty: the key goes with them, if there is one.

    The key of another provider is none: it is taken where nothing better is found.
    """
    provider = find_provider(base_url)
    is_its = key and provider_of_key(key) in (UNKNOWN, provider)
    return "" if is_its else provider.signer


CREDENTIALS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "bedrock": (
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ("AWS_PROFILE",),
        ("AWS_WEB_IDENTITY_TOKEN_FILE",),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
    )
}
"""By signer: variables of which one group is set where there are credentials."""


def has_credentials(provider: Provider, environ: Mapping[str, str], home: Path) -> bool:
    """Whether there is what signs requests to a provider, so that it needs no key.

    Args:
        provider: Where the requests go.
        environ: May name credentials.
        home: The user's folder, where files of credentials lie.
    """
    groups = CREDENTIALS.get(provider.signer, ())
    if any(all(environ.get(name) for name in group) for group in groups):
        return True
    named = environ.get("AWS_SHARED_CREDENTIALS_FILE", "")
    return bool(groups) and Path(named or home / ".aws" / "credentials").is_file()


def keys_in(environ: Mapping[str, str]) -> Iterator[ProviderKey]:
    """The keys in an environment that are good for something, in the order of the table."""
    for provider in PROVIDERS:
        key = environ.get(provider.key_variable, "").strip().strip("'\"").strip()
        base_url = fill_in(provider.base_url, environ)
        if key and base_url:
            yield ProviderKey(provider, key, base_url, fill_in(provider.model, environ))


def fill_in(text: str, environ: Mapping[str, str]) -> str:
    """A text with the variables it names; empty where one of them is not set."""
    names = VARIABLE.findall(text)
    values = {name: environ.get(name, "").strip().rstrip("/") for name in names}
    if not all(values.values()):
        return ""
    for name, value in values.items():
        rest = text.partition(f"{{{name}}}")[2]
        # An endpoint may have been copied with the path that follows it here.
        text = text.replace(f"{{{name}}}", value.removesuffix(rest) if rest else value)
    return text


CLASSIC = re.compile(r"/openai/deployments/(?P<deployment>[^/?]+)")
"""In addresses of Azure's API before v1, and of gateways before it: the model is named there, and
the version behind a question mark; a key goes in a header of its own, a token does not.
Source: Azure OpenAI's page "reference", section "Authentication"."""
TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]*")
"""What Entra ID gives."""


def usual_model(base_url: str) -> str:
    """The model that is asked at an address where none is named; empty: none is."""
    if deployment := CLASSIC.search(base_url):
        return deployment["deployment"]
    provider = find_provider(base_url)
    return "" if VARIABLE.search(provider.model) else provider.model


def usual_api(base_url: str, model: str) -> Literal["chat", "responses", "messages", "gemini"]:
    """Through which API a model is asked of which nothing is set and nothing learned."""
    provider = find_provider(base_url)
    if provider.api in ("messages", "gemini"):
        return provider.api
    if provider.gemini_models is not None and provider.gemini_models.search(model):
        return "gemini"
    only = provider.responses_models
    return "responses" if only is not None and only.search(model) else "chat"


MESSAGES_PATH = "/messages"
MESSAGES_HEADERS = {"anthropic-version": "2026-10-21"}
"""Demanded with each request. The key goes as everywhere, in ``Authorization``, which the API takes
and its SDK sends since this version. Sources: the page "api/versioning"; anthropic 2.12.0."""
AUTHORIZATION = "Authorization"
GEMINI_METHOD = ":streamGenerateContent"
GEMINI_PATH = f"/models/{{model}}{GEMINI_METHOD}?alt=sse"
"""Below the root of Google's own API; without the question it would stream one JSON list."""


def own_path(base_url: str, path: str) -> str:
    """A path of a provider's own API; with its address where that has another root."""
    ending, own = find_provider(base_url).own_root
    root = base_url.rstrip("/")
    return f"{root.removesuffix(ending)}{own}{path}" if ending and root.endswith(ending) else path


def shown_url(url: str) -> str:
    """An address without a name, password or parameters, fit to be shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def models_path(base_url: str) -> str:
    """Where the models of an address are listed; empty: nowhere."""
    if CLASSIC.search(base_url):
        return ""
    provider = find_provider(base_url)
    path = provider.models_path
    return own_path(base_url, path) if provider.api == "gemini" else path


def headers_for(base_url: str, path: str) -> Mapping[str, str]:
    """What a service wants in the head of a request beside the key."""
    is_theirs = path == MESSAGES_PATH or find_provider(base_url).api == "messages"
    return MESSAGES_HEADERS if is_theirs else {}


def key_header(base_url: str, path: str, api: str, key: str) -> str:
    """In which header a service wants the key.

    Args:
        base_url: Its address.
        path: What is asked.
        api: Which API the person set.
        key: What goes there: a token goes elsewhere than a key.
    """
    if CLASSIC.search(base_url):
        return AUTHORIZATION if TOKEN.fullmatch(key) else "api-key"
    provider = find_provider(base_url)
    is_list = path == models_path(base_url) and "gemini" in (provider.api, api)
    is_gemini = is_list or GEMINI_METHOD in path
    return "x-goog-api-key" if is_gemini and not provider.has_tokens else AUTHORIZATION
