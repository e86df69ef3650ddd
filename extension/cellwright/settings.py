"""One frozen ``Settings`` and where it comes from; read by edges only and passed in."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from cellwright.errors import SetupError
from cellwright.providers import (
    OLLAMA,
    OPENAI,
    UNKNOWN,
    Provider,
    ProviderKey,
    find_provider,
    keys_in,
    provider_of_key,
    usual_model,
)
from cellwright.record.messages import Parameters, Price, fill_parameters
from cellwright.text import GIVEN_SECRETS

Mode = Literal["plan", "ask", "edits", "auto"]
MODES: tuple[Mode, ...] = ("plan", "ask", "edits", "auto")
ADAPTERS = ("native", "chat", "json", "xml")
Api = Literal["auto", "chat", "responses", "messages", "gemini"]
APIS: tuple[Api, ...] = get_args(Api)
MEGABYTE = 2**20
USER_NAMES = ("JUPYTERHUB_USER", "USER", "USERNAME")


EXAMPLE = 'The file holds JSON such as {"qwen*": {"system_notes": "in_place"}}.'


@dataclass(frozen=True)
class ParameterOption:
    """A parameter of requests that a person can set for one question."""

    flag: str
    name: str
    """As chat completions, ``CELLWRIGHT_MODELS`` and ``CELLWRIGHT_PARAMETERS`` call it."""
    type: Callable[[str], Any]
    metavar: str
    help: str

    @property
    def attribute(self) -> str:
        """Where a parser puts it."""
        return self.flag.lstrip("-").replace("-", "_")


def _body_field(text: str) -> tuple[str, Any]:
    import json

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or name in NOT_IN_BODY:
        raise ValueError(text)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


_body_field.__name__ = "NAME=VALUE"
NOT_IN_BODY = ("model", "messages", "input", "contents", "tools", "stream", "store")
"""Fields of a request that are ours alone."""
PARAMETER_OPTIONS = (
    ParameterOption("--effort", "reasoning_effort", str, "LEVEL", "how much it thinks: low, high"),
    ParameterOption("--verbosity", "verbosity", str, "LEVEL", "how much it says: low, high"),
    ParameterOption("--max-output", "max_output_tokens", int, "N", "tokens of one reply"),
    ParameterOption("--temperature", "temperature", float, "T", "how freely it chooses words"),
    ParameterOption("--top-p", "top_p", float, "P", "of which part of the likely words"),
    ParameterOption("--seed", "seed", int, "N", "same seed, much the same words"),
    ParameterOption("--service-tier", "service_tier", str, "NAME", "such as flex or priority"),
    ParameterOption("--body", "extra_body", _body_field, "NAME=VALUE", "one more field, as JSON"),
)


def option_parameters(model: str, options: Any) -> Parameters:
    """What the options of a command line or a cell ask for; what the model refuses is left out.

    Args:
        model: Who is asked.
        options: What a parser made of them.
    """
    given = {row.name: getattr(options, row.attribute, None) for row in PARAMETER_OPTIONS}
    given["extra_body"] = dict(given["extra_body"] or ())
    return fill_parameters(Parameters(model), given)


TEXTS = ("reasoning_effort", "verbosity", "service_tier", "prompt_cache_key")


@dataclass(frozen=True)
class ModelSettings:
    """How one model is talked with."""

    system_position: Literal["first", "last"] = "first"
    """Where the one system message stands."""
    system_notes: Literal["head", "in_place"] = "head"
    """Whether instructions in mid-conversation go to the system message or stay where they are."""
    alternates: bool = False
    """Its template wants words of the person and of the model strictly in turn."""
    context_tokens: int | None = None
    """Its window; None: not known."""
    vision: bool | None = None
    """Whether it sees pictures; None: it is sent them until it refuses one."""
    api: Api = "auto"
    """Which API it is asked through."""
    reasoning_effort: str = ""
    """How much it thinks, such as ``low``; empty: its own default. So for all that follow."""
    verbosity: str = ""
    service_tier: str = ""
    prompt_cache_key: str = ""
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output_tokens: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of the request, sent as they are."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is sent with each request where nothing else is asked for."""
        given = {name: getattr(self, name) for name in PARAMETER_CHECKS}
        return {name: value for name, value in given.items() if value not in ("", None, {})}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_body(value: Any) -> bool:
    return isinstance(value, Mapping) and not set(value) & set(NOT_IN_BODY)


PARAMETER_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(TEXTS, (lambda value: isinstance(value, str), "a text")),
    **dict.fromkeys(("temperature", "top_p"), (_is_number, "a number")),
    "seed": (lambda value: type(value) is int, "a whole number"),
    "max_output_tokens": (_is_count, "a number above zero"),
    "extra_body": (_is_body, f"an object without {', '.join(NOT_IN_BODY)}"),
}
"""What can be sent with requests, and what each takes."""
CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "system_position": (lambda value: value in ("first", "last"), '"first" or "last"'),
    "system_notes": (lambda value: value in ("head", "in_place"), '"head" or "in_place"'),
    "alternates": (lambda value: isinstance(value, bool), "true or false"),
    "context_tokens": (_is_count, "a number above zero"),
    "vision": (lambda value: isinstance(value, bool), "true or false"),
    "api": (lambda value: value in APIS, f"one of {', '.join(APIS)}"),
    **PARAMETER_CHECKS,
}


def read_models(path: str) -> Mapping[str, ModelSettings]:
    """The table in a JSON file.

    Raises:
        SetupError: The file cannot be used.
    """
    import json

    try:
        table = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        return {str(name): _checked(name, row) for name, row in dict(table).items()}
    except (OSError, ValueError, TypeError) as error:
        raise SetupError(
            f"CELLWRIGHT_MODELS names {path!r}, which cannot be used: {error}.", hint=EXAMPLE
        ) from error


def settings_of(model: str, models: Mapping[str, ModelSettings]) -> ModelSettings:
    """The row of a model: its name, else the first pattern that fits it.

    Args:
        model: As the service is asked for it; what a router puts before it does not count.
        models: By name or pattern.
    """
    names = (model, model.rpartition("/")[2])
    exact = [models[name] for name in names if name in models]
    fitting = (
        row for pattern, row in models.items() if any(fnmatchcase(name, pattern) for name in names)
    )
    return exact[0] if exact else next(fitting, ModelSettings())


def check_parameters(given: Any, names: Iterable[str] = PARAMETER_CHECKS) -> dict[str, Any]:
    """The parameters of requests in ``given``, if they can be used; what is unset is left out.

    Args:
        given: By name.
        names: Those that may be set there.

    Raises:
        SetupError: One is not known, or has a value that it cannot have.
    """
    try:
        checked = _checked_row(
            "the object", given, {name: PARAMETER_CHECKS[name] for name in names}
        )
    except ValueError as error:
        raise SetupError(f"The parameters cannot be used: {error}.") from None
    return {name: value for name, value in checked.items() if value not in ("", None, {})}


def _checked(name: str, row: Any) -> ModelSettings:
    return ModelSettings(**_checked_row(repr(name), row, CHECKS))


def _checked_row(
    name: str, row: Any, checks: Mapping[str, tuple[Callable[[Any], bool], str]]
) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise ValueError(f"{name} is not an object")
    for key, value in row.items():
        if key not in checks:
            raise ValueError(f"{name} has {key!r}; known are {', '.join(checks)}")
        is_good, wanted = checks[key]
        if not is_good(value):
            raise ValueError(f"{key!r} of {name} is {value!r} and not {wanted}")
    return dict(row)


IDLE_SECONDS = 60.0


def is_nearby(base_url: str) -> bool:
    """Whether an address is of this machine or of its own network, by its looks alone."""
    import ipaddress

    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        own = (".local", ".localhost", ".internal", ".lan")
        return host != "" and ("." not in host or host.endswith(own))


@dataclass(frozen=True)
class ServiceSettings:
    """Where the model is and how long to wait for it."""

    base_url: str = ""
    """Empty: none is set, so the demo model answers."""
    api_key: str = field(default="", repr=False)
    model: str = ""
    api: Api = "auto"
    """``chat`` (chat completions), ``responses`` or ``messages``; ``auto``: by host, model and
    refusals."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Sent with each request where neither the model's row nor the question says otherwise."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; what a gateway wants may be secret."""
    connect_timeout_seconds: float = 10.0
    idle_timeout_seconds: float = IDLE_SECONDS
    """No data for this long ends the request."""
    deadline_seconds: float = 600.0
    """One request, retries not counted."""
    retry_limit: int = 3
    retry_after_limit_seconds: float = 60.0
    """A service that asks to wait longer than this is not waited for in silence."""
    key_command: str = field(default="", repr=False)
    """Printed the key, and is asked again when the service no longer takes it; empty: none did."""
    key_file: str = field(default="", repr=False)
    """Held the key, and is read again likewise; empty: none did."""

    @property
    def first_data_seconds(self) -> float:
        """How long a reply may take to begin: a machine nearby may read a prompt for minutes."""
        if self.idle_timeout_seconds == IDLE_SECONDS and is_nearby(self.base_url):
            return self.deadline_seconds
        return self.idle_timeout_seconds


@dataclass(frozen=True)
class Limits:
    """Where a run ends whatever the model says."""

    step_limit: int = 12
    wall_seconds: float = 1_800.0
    token_limit: int | None = None
    cost_limit_dollars: float | None = None
    cell_timeout_seconds: float = 120.0
    soft_wait_seconds: float | None = None
    """After this time the model is told what a cell has shown so far; None: at its end."""
    cell_limit: int | None = None
    """So many cells may run."""
    output_limit_bytes: int | None = None
    """Of all cells together."""
    memory_limit_bytes: int | None = None
    """Address space of a kernel that is started for the run; of no other kernel."""


USUAL_SNAPSHOTS = 3
SWITCHES = {
    "CELLWRIGHT_GUEST": "is_guest",
    "CELLWRIGHT_MESSAGE_TIMES": "message_times",
    "CELLWRIGHT_PROJECT_FILES": "project_files",
}
"""Variables that say yes or no, and what they set."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set, with its default."""

    service: ServiceSettings = field(default_factory=ServiceSettings)
    mode: Mode = "ask"
    adapter: str = "native"
    """How the model is talked with at first: ``native``, ``chat``, ``json`` or ``xml``."""
    limits: Limits = field(default_factory=Limits)
    home: Path = field(default_factory=lambda: Path.home() / ".cellwright")
    """Folder of the record."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """Dollars per million tokens by model name, as the person set them."""
    ollama_url: str = ""
    """Where a local Ollama is looked for when nothing is set; empty: it is not looked for."""
    vision_model: str = ""
    """What ``auto`` means where there are pictures and the set model does not see."""
    long_model: str = ""
    """What ``auto`` means for a long conversation; empty: the set model."""
    user: str = ""
    """Who works here, as the hub or the system calls them; tools are told."""
    embedding_model: str = ""
    """Gives documents vectors, at the service's endpoint; empty: words alone are searched."""
    vector_memory_bytes: int = 256 * MEGABYTE
    """So much the vectors of libraries may take in a process; others are read for each question."""
    scene_model: str = ""
    """Says which scene fits where rules find none, at the service's endpoint; empty: nobody."""
    library_hosts: tuple[str, ...] = ()
    """Hosts whose pages may be added to a library, beside this machine's own."""
    is_guest: bool = False
    """Whoever asks is not whose account this is: no memory, nothing that is not public."""
    project_files: bool = True
    """Whether a project's ``AGENTS.md`` and skills are read, where the person agreed to them."""
    message_times: bool = False
    """Whether the model is told when each question was sent."""
    snapshots: int = USUAL_SNAPSHOTS
    """So many states of a live kernel are kept to be gone back to; 0: none."""
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    """What a person knows of models, by name or pattern."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Which of key, endpoint and model came from where; shown by doctor."""
    found_key: str = ""
    """Why this service answers although nobody named it: the variable that holds its key, or where
    the key was kept; empty: it was named."""
    installable: tuple[str, ...] = ()
    """Packages that mode ``auto`` installs without asking."""


def from_env(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from ``CELLWRIGHT_*``, then ``OPENAI_*``, then keys of providers, then the defaults.

    Raises:
        SetupError: A variable has a value that cannot be used, or the key command fails.
    """
    env = os.environ if environ is None else environ
    found = _find_service(env)
    settings = Settings(
        service=_service(env, found),
        user=_user(env),
        source=_sources(env, found),
        found_key=found.key_from if found.is_guess else "",
    )
    changes: dict[str, Any] = {"ollama_url": _ollama_url(env)}
    if env.get("CELLWRIGHT_HOME"):
        changes["home"] = Path(env["CELLWRIGHT_HOME"]).expanduser()
    if env.get("CELLWRIGHT_MODE"):
        changes["mode"] = checked_mode(env["CELLWRIGHT_MODE"].strip(), "CELLWRIGHT_MODE")
    if env.get("CELLWRIGHT_ADAPTER"):
        changes["adapter"] = checked_adapter(env["CELLWRIGHT_ADAPTER"].strip())
    changes |= {key: _yes_or_no(env, name) for name, key in SWITCHES.items() if env.get(name)}
    if env.get("CELLWRIGHT_SOFT_WAIT", "").strip():
        seconds = _seconds(env, "CELLWRIGHT_SOFT_WAIT", 0.0)
        changes["limits"] = replace(settings.limits, soft_wait_seconds=seconds)
    changes["vision_model"] = _clean(env.get("CELLWRIGHT_VISION_MODEL", ""))
    changes["long_model"] = _clean(env.get("CELLWRIGHT_LONG_MODEL", ""))
    if env.get("CELLWRIGHT_PRICES"):
        changes["prices"] = _prices(env["CELLWRIGHT_PRICES"])
    changes["embedding_model"] = _clean(env.get("CELLWRIGHT_EMBEDDING_MODEL", ""))
    if env.get("CELLWRIGHT_VECTOR_MEMORY_MB", "").strip():
        changes["vector_memory_bytes"] = _megabytes(env, "CELLWRIGHT_VECTOR_MEMORY_MB")
    changes["scene_model"] = _clean(env.get("CELLWRIGHT_SCENE_MODEL", ""))
    if env.get("CELLWRIGHT_MODELS"):
        changes["models"] = read_models(env["CELLWRIGHT_MODELS"])
    changes["installable"] = tuple(env.get("CELLWRIGHT_ALLOW_INSTALL", "").split())
    if env.get("CELLWRIGHT_SNAPSHOTS", "").strip():
        changes["snapshots"] = _count(env, "CELLWRIGHT_SNAPSHOTS")
    hosts = env.get("CELLWRIGHT_LIBRARY_HOSTS", "").replace(",", " ")
    changes["library_hosts"] = tuple(hosts.lower().split())
    return replace(settings, **changes)


def _count(env: Mapping[str, str], name: str) -> int:
    value = env[name].strip()
    if not value.isdecimal():
        raise SetupError(f"{name} is {value!r}.", hint="Use a whole number; 0 switches it off.")
    return int(value)


def _yes_or_no(env: Mapping[str, str], name: str) -> bool:
    value = env[name].strip().lower()
    if value not in (*YES, *NO):
        raise SetupError(f"{name} is {value!r}.", hint="Use yes or no.")
    return value in YES


YES, NO = ("yes", "on", "true", "1"), ("no", "off", "false", "0")
"""As people write switches elsewhere, and ``off`` in other variables of ours."""


def not_for_guests(settings: Settings, what: str) -> None:
    """See that whoever asks is the person whose record this is.

    Raises:
        SetupError: They are a guest.
    """
    if settings.is_guest:
        raise SetupError(
            f"{what} is not for guests.", hint="CELLWRIGHT_GUEST=yes makes whoever works here one."
        )


def checked_mode(value: str, where: str) -> Mode:
    """``value`` as a mode.

    Raises:
        SetupError: It is none of them.
    """
    for mode in MODES:
        if value == mode:
            return mode
    raise SetupError(f"{where} is {value!r}.", hint=f"Use one of: {', '.join(MODES)}.")


def check_batch_mode(mode: str, *, is_interactive: bool) -> None:
    """Refuse a mode that would ask where nobody can be asked, before a model is paid for.

    Args:
        mode: How the run is to be allowed to act.
        is_interactive: Somebody can be asked.

    Raises:
        SetupError: The model's code could not run.
    """
    if not is_interactive and mode in ("ask", "edits"):
        raise SetupError(
            f"Mode {mode!r} asks before it runs code, and nobody can be asked here.",
            hint="Use --mode auto to let code run without asking, or --mode plan to only look.",
        )


def checked_adapter(value: str) -> str:
    """``value`` as the name of an adapter.

    Raises:
        SetupError: There is none of that name.
    """
    if value in ADAPTERS:
        return value
    raise SetupError(
        f"CELLWRIGHT_ADAPTER is {value!r}.", hint=f"Use one of: {', '.join(ADAPTERS)}."
    )


def checked_api(value: str) -> Api:
    """``value`` as the name of an API.

    Raises:
        SetupError: There is none of that name.
    """
    for api in APIS:
        if value == api:
            return api
    raise SetupError(f"CELLWRIGHT_API is {value!r}.", hint=f"Use one of: {', '.join(APIS)}.")


def normalise_base_url(url: str) -> str:
    """A base URL as the SDK wants it: trimmed, with ``/v1``, without ``/chat/completions``.

    A query, which holds the version of the API at some services, stays behind it.

    Raises:
        SetupError: It is not an http or https address, or names no host or port that can be.
    """
    cleaned, mark, query = url.strip().strip("'\"").partition("?")
    cleaned = cleaned.rstrip("/")
    if not cleaned:
        return ""
    shown = re.sub("//[^/]*@", "//", cleaned)
    if not cleaned.startswith(("http://", "https://")):
        raise SetupError(
            f"The endpoint {shown!r} is not an address.", hint="It starts with http:// or https://."
        )
    if not _can_be_asked(cleaned):
        raise SetupError(
            f"The endpoint {shown!r} names no host, or no port that can be.",
            hint="It looks like https://host/v1 or http://host:8000/v1.",
        )
    for ending in ("/chat/completions", "/completions", "/responses", "/messages", "/models"):
        cleaned = cleaned.removesuffix(ending)
    path = cleaned.split("://", 1)[1].partition("/")[2]
    return f"{cleaned if path else f'{cleaned}/v1'}{mark}{query}"


def _can_be_asked(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0 and not any(map(str.isspace, address))
    except ValueError:
        return False


@dataclass(frozen=True)
class _FoundService:
    """Where the model is asked and with which key, as far as the environment says."""

    base_url: str = ""
    key: str = field(default="", repr=False)
    key_from: str = "default"
    model: str = ""
    """Asked where none is named."""
    is_guess: bool = False
    """The key of a provider other than OpenAI was there, and nothing that names its service."""


def _find_service(env: Mapping[str, str]) -> _FoundService:
    """What is set for us, else the first key that somebody has for a provider."""
    url = env.get("CELLWRIGHT_BASE_URL") or env.get("OPENAI_BASE_URL", "")
    key, name = _own_key(env)
    theirs = list(keys_in(env))
    if url.strip():
        url = normalise_base_url(url)
        key, name = (key, name) if key else _key_for(find_provider(url), theirs, env)
        return _FoundService(url, key, name, usual_model(url))
    if key:
        owner = provider_of_key(key)
        url = OPENAI.base_url if owner is UNKNOWN or "{" in owner.base_url else owner.base_url
        return _FoundService(url, key, name, usual_model(url))
    if not theirs:
        return _FoundService()
    first = theirs[0]
    variable = first.provider.key_variable
    is_guess = not first.provider.is_usual
    return _FoundService(first.base_url, first.key, variable, first.model, is_guess)


def _own_key(env: Mapping[str, str]) -> tuple[str, str]:
    """The key that is meant for us, and the setting that gives it; both empty: there is none."""
    if key := _clean(env.get("CELLWRIGHT_API_KEY", "")):
        return key, "CELLWRIGHT_API_KEY"
    if command := env.get("CELLWRIGHT_KEY_COMMAND", "").strip():
        return run_key_command(command), "CELLWRIGHT_KEY_COMMAND"
    if name := env.get("CELLWRIGHT_KEY_FILE", "").strip():
        return read_key_file(name), "CELLWRIGHT_KEY_FILE"
    return "", ""


def _key_for(
    provider: Provider, theirs: Sequence[ProviderKey], env: Mapping[str, str]
) -> tuple[str, str]:
    """The key for an address: its provider's own, else OpenAI's, which gateways take as theirs."""
    for found in theirs:
        if found.provider is provider and provider.hosts:
            return found.key, provider.key_variable
    key = _clean(env.get(OPENAI.key_variable, ""))
    return (key, OPENAI.key_variable) if key else ("", "default")


KEY_COMMAND_SECONDS = 30.0
KEY_COMMAND_KEPT_SECONDS = 300.0
"""So long a key is used before its command is asked again: vaults hand out short-lived ones."""
GIVEN_KEYS: dict[str, tuple[float, str]] = {}
"""When each command or file gave this process which key; in memory alone."""


def run_key_command(command: str, *, refused: str = "") -> str:
    """The key that a command prints; it is run without a shell, and again after five minutes.

    Nothing that it says is repeated anywhere: that could be the key.

    Args:
        command: With its arguments.
        refused: A key that is not taken any more, so that the command is run at once.

    Raises:
        SetupError: It cannot be run, fails, takes too long, or prints what no key is.
    """
    import shlex
    import subprocess

    kept_at, key = GIVEN_KEYS.get(command, (0.0, ""))
    if key not in ("", refused) and time.monotonic() - kept_at < KEY_COMMAND_KEPT_SECONDS:
        return key
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words, capture_output=True, stdin=subprocess.DEVNULL, timeout=KEY_COMMAND_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise _command_fault(f"took longer than {KEY_COMMAND_SECONDS:g} s") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "its quotes do not match"
        raise _command_fault(f"cannot be run: {why}") from None
    if done.returncode:
        raise _command_fault(f"ended with status {done.returncode}")
    key = done.stdout.decode("ascii", "replace").strip()
    if not key or not key.isprintable() or "\ufffd" in key or " " in key:
        raise _command_fault("did not print a key, one word on one line")
    GIVEN_KEYS[command] = (time.monotonic(), key)
    GIVEN_SECRETS.add(key)
    return key


def read_key_file(name: str) -> str:
    """The key in a file that is renewed from outside, by a Hub or Kubernetes.

    Raises:
        SetupError: It cannot be read, or holds what no key is; nothing of it is repeated.
    """
    try:
        key = _clean(Path(name).expanduser().read_text("ascii"))
    except (OSError, UnicodeDecodeError) as error:
        key, why = "", (isinstance(error, OSError) and error.strerror) or "it is no plain text"
    else:
        why = "it holds no key, one word on one line"
    if not key or not key.isprintable() or " " in key:
        raise SetupError(
            f"The file in CELLWRIGHT_KEY_FILE cannot be used: {why}.",
            hint="It has to hold the key and nothing else.",
        )
    GIVEN_KEYS[name] = (time.monotonic(), key)
    GIVEN_SECRETS.add(key)
    return key


def renew_key(service: ServiceSettings) -> str:
    """The key as whatever gave it gives it now; empty: neither a command nor a file did.

    Raises:
        SetupError: It gives none.
    """
    origin = service.key_command or service.key_file
    # A key that was chosen since is none of its business.
    if not origin or GIVEN_KEYS.get(origin, (0.0, ""))[1] != service.api_key:
        return ""
    if service.key_command:
        return run_key_command(service.key_command, refused=service.api_key)
    return read_key_file(service.key_file)


def _command_fault(what: str) -> SetupError:
    text = f"The command in CELLWRIGHT_KEY_COMMAND {what}."
    return SetupError(text, hint="Run it in a terminal: it has to print the key and nothing else.")


def _service(env: Mapping[str, str], found: _FoundService) -> ServiceSettings:
    return ServiceSettings(
        idle_timeout_seconds=_seconds(env, "CELLWRIGHT_IDLE_SECONDS", IDLE_SECONDS),
        deadline_seconds=_seconds(env, "CELLWRIGHT_DEADLINE_SECONDS", 600.0),
        parameters=_read_object(env, "CELLWRIGHT_PARAMETERS"),
        headers=_read_object(env, "CELLWRIGHT_HEADERS"),
        base_url=normalise_base_url(found.base_url),
        api_key=found.key,
        key_command=_giver(env, "CELLWRIGHT_KEY_COMMAND", found),
        key_file=_giver(env, "CELLWRIGHT_KEY_FILE", found),
        api=checked_api(env.get("CELLWRIGHT_API", "").strip().lower() or "auto"),
        model=_clean(env.get("CELLWRIGHT_MODEL", "")) or found.model,
    )


def _giver(env: Mapping[str, str], name: str, found: _FoundService) -> str:
    """The command or file of a variable; empty: it did not give the key."""
    return env[name].strip() if found.key_from == name else ""


def _user(env: Mapping[str, str]) -> str:
    return next((env[name] for name in USER_NAMES if env.get(name)), "")


def _read_object(env: Mapping[str, str], name: str) -> dict[str, Any]:
    """The JSON object in a variable: parameters of requests, or headers, whose values are texts.

    Raises:
        SetupError: It is none, or says what cannot be used; headers are not repeated.
    """
    import json

    text = env.get(name, "").strip()
    try:
        value = json.loads(text) if text else {}
        if name == "CELLWRIGHT_PARAMETERS":
            return _checked_row("the object", value, PARAMETER_CHECKS)
        if not all(isinstance(item, str) for item in dict(value).values()):
            raise ValueError("the value of a header is a text")
    except (ValueError, TypeError) as error:
        why = "it is not JSON" if isinstance(error, json.JSONDecodeError) else error
        example = '{"top_p": 0.9}' if name == "CELLWRIGHT_PARAMETERS" else '{"X-Team": "data"}'
        hint = f"It holds JSON such as {example}."
        raise SetupError(f"{name} cannot be used: {why}.", hint=hint) from None
    return dict(value)


def _sources(env: Mapping[str, str], found: _FoundService) -> dict[str, str]:
    names = {
        "base_url": ("CELLWRIGHT_BASE_URL", "OPENAI_BASE_URL"),
        "model": ("CELLWRIGHT_MODEL",),
    }
    given = {what: next((n for n in group if env.get(n)), "") for what, group in names.items()}
    return {
        "api_key": found.key_from,
        **{what: name or "default" for what, name in given.items()},
    }


def _ollama_url(env: Mapping[str, str]) -> str:
    wanted = env.get("CELLWRIGHT_OLLAMA", OLLAMA.base_url.removesuffix("/v1")).strip().rstrip("/")
    return "" if wanted.lower() in ("", "off", "no", "0", "false") else wanted


def _seconds(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name, "").strip()
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise SetupError(f"{name} is {text!r}.", hint="It is a number of seconds above zero.")
    return seconds


def _megabytes(env: Mapping[str, str], name: str) -> int:
    text = env[name].strip()
    if not (text.isascii() and text.isdigit()):
        raise SetupError(f"{name} is {text!r}.", hint="It is a whole number of megabytes; 0: none.")
    return int(text) * MEGABYTE


def _clean(value: str) -> str:
    return value.strip().strip("'\"").strip()


def _prices(path: str) -> dict[str, Price]:
    import json

    try:
        table = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        return {name: Price(**fields) for name, fields in table.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise SetupError(
            f"CELLWRIGHT_PRICES names {path!r}, which cannot be used: {error}.",
            hint='The file holds JSON such as {"a-model": {"prompt": 1.25, "completion": 10}}.',
        ) from error
