"""What went wrong, as one of our errors that says where and what to do next.

``from_status`` reads an HTTP error, ``from_stream`` an error inside a stream, ``from_exception``
whatever the SDK or its HTTP library raised on the way.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlsplit

from cellwright.errors import (
    LMAccessError,
    LMConnectionError,
    LMContextError,
    LMError,
    LMNotFoundError,
    LMQuotaError,
    LMRateLimitError,
    LMRequestError,
    LMServerError,
    LMStreamError,
    LMTimeoutError,
    LMToolsUnsupportedError,
)
from cellwright.llm import MessageShape
from cellwright.llm.retries import retry_after_seconds
from cellwright.providers import (
    OPENAI,
    PROVIDERS,
    TOOL_MODELS,
    UNKNOWN,
    find_provider,
    provider_of_key,
    shown_url,
)
from cellwright.text.secret_shapes import find_query_secrets

# What a service says of an error, out of the many shapes it is said in.


SHOWN_CHARACTERS = 1_000
"""Enough to find what a list of problems is about; each names what was sent."""
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Complaint:
    """An error in the service's own words."""

    message: str
    type: str = ""
    code: str = ""
    parameter: str = ""
    retry_seconds: float | None = None
    """After how long the service wants to be asked again."""
    is_of_day: bool = False
    """What is used up is what the account has for a day."""

    @property
    def words(self) -> str:
        """Everything that can be searched for a wording, in lower case."""
        return f"{self.message} {self.type} {self.code}".lower()


def read_complaint(body: Any) -> Complaint:
    """The complaint in a body: text, or JSON that was read already."""
    if isinstance(body, str):
        body = _json_or_text(body)
    if isinstance(body, list) and body and isinstance(body[0], Mapping):
        body = body[0]  # Google's endpoint sends a list of one
    if not isinstance(body, Mapping):
        return Complaint(_shown(str(body or "")))
    for name in ("error", "detail"):
        inner = body.get(name)
        if isinstance(inner, Mapping):
            return read_complaint(inner)
        if isinstance(inner, str):
            return Complaint(_shown(inner), *_tags(body))
        if isinstance(inner, list):
            return _from_validation(inner)
    return _from_object(body)


def _from_object(body: Mapping[str, Any]) -> Complaint:
    """The complaint in an object with a message."""
    message = body.get("message")
    if isinstance(message, Mapping):
        return read_complaint(message)  # Mistral's, around FastAPI's
    message = str(message or json.dumps(body, ensure_ascii=False))
    if raw := _upstream(body.get("metadata")):
        message = f"{message}: {raw}"
    if isinstance(body.get("n_ctx"), int) and not WINDOW_SIZE.search(message.lower()):
        # llama.cpp says the size beside the message: ggml-org/llama.cpp pull 15780.
        message = f"{message} (context size: {body['n_ctx']})"
    return _with_details(Complaint(_shown(message), *_tags(body)), body.get("details"))


def _upstream(metadata: Any) -> str:
    """What a provider said that a router asked for us; empty: it does not tell.

    Source: OpenRouter's ``error.metadata.raw`` beside "Provider returned error", as its users quote
    it (openrouter.ai/docs/api/reference/errors-and-debugging), read 2026-11-28.
    """
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return read_complaint(raw).message if raw else ""


def _with_details(complaint: Complaint, details: Any) -> Complaint:
    """What Google says beside the message, in objects that name their type.

    Source: google.rpc's RetryInfo, QuotaFailure and ErrorInfo as users of the Gemini API quote
    them (diegosouzapw/OmniRoute issue 9504, RooCodeInc/Roo-Code issue 3883), read 2026-11-23.
    """
    rows = [row for row in details if isinstance(row, Mapping)] if isinstance(details, list) else []
    for row in rows:
        if found := SECONDS.fullmatch(str(row.get("retryDelay") or "")):
            complaint = replace(complaint, retry_seconds=float(found[1]))
        if reason := str(row.get("reason") or ""):
            complaint = replace(complaint, type=reason)
        if DAILY in json.dumps(row.get("violations") or ""):
            complaint = replace(complaint, is_of_day=True)
    return complaint


SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")
DAILY = "PerDay"
"""Stands in the ``quotaId`` of such a limit."""


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if "<html" not in text[:1000].lower():
        return text
    title = TITLE.search(text)
    return " ".join((title[1] if title else TAGS.sub(" ", text)).split())


def _tags(body: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, code, parameter = (body.get(name) for name in ("type", "code", "param"))
    return str(kind or ""), str(code or ""), str(parameter or "")


def _from_validation(problems: list[Any]) -> Complaint:
    """What FastAPI says of a body that does not fit: where, and what is wrong there."""
    places, words = [], []
    for problem in problems:
        if isinstance(problem, Mapping):
            places.append([str(step) for step in problem.get("loc") or () if step != "body"])
            words.append(f"{'.'.join(places[-1])}: {problem.get('msg', '')}")
    parameter = next((place[0] for place in places if place), "")
    return Complaint(_shown("; ".join(words)), parameter=parameter)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"


# Where a request goes, as it may be named in a message: host and port, never the key.


KEY_STARTS = ("sk-", "sk_", *(start for provider in PROVIDERS for start in provider.key_starts))
KEY_LIKE = re.compile(rf"\b(?:{'|'.join(map(re.escape, KEY_STARTS))})[A-Za-z0-9_*-]{{6,}}")
HIDDEN = "[key]"
SHORTEST_KEY = 6
"""A placeholder such as ``none`` is no secret, and hiding it would spoil the words around it."""


@dataclass(frozen=True)
class Endpoint:
    """The service and model that one request is for."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Host and port, such as ``api.openai.com:443``."""
        parts = urlsplit(self.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"{parts.hostname}:{port}"

    @property
    def address(self) -> str:
        """The whole address without its query, where some services want the key."""
        return shown_url(self.base_url)

    @property
    def host(self) -> str:
        """The host alone, in lower case."""
        return (urlsplit(self.base_url).hostname or "").lower()

    def without_key(self, text: str) -> str:
        """The text with the key, and whatever looks like one, taken out."""
        for key in (self.api_key, *find_query_secrets(self.base_url)):
            if len(key) >= SHORTEST_KEY:
                for form in {key, quote(key, safe="")}:
                    text = text.replace(form, HIDDEN)
        return KEY_LIKE.sub(HIDDEN, text)


CONTEXT_WORDS = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _](?:length|size|window)"
    r"|maximum (?:model|prompt|input) length|prompt is too long|too many input tokens"
    r"|input token count .*exceeds|reduce the length of the (?:messages|input|prompt)"
    r"|exceed context limit|exceeded model token limit|prompt exceeds max length"
    r"|range of input length should be|`inputs` tokens \+|request too large for .*\(tpm\)"
)
WINDOW_SIZE = re.compile(
    r"(?:context (?:length|size|window)(?: is| of|:)?(?: only)?|maximum length(?: of)?)"
    r"\D{0,12}?(\d[\d,]{2,})"
)
TOKENS_ABOVE = re.compile(
    r"(?:tokens > |number of tokens allowed \(?|exceed context limit: \d+ \+ \d+ > "
    r"|model token limit: |maximum prompt length is |input length should be \[1, |must be <= "
    r"|\(tpm\): limit )(\d[\d,]{2,})"
)
"""As Anthropic words it: "prompt is too long: 210000 tokens > 200000 maximum", "input length and
`max_tokens` exceed context limit: 188240 + 21333 > 200000"; Google: "The input token count
(1200000) exceeds the maximum number of tokens allowed (1048576)."; Moonshot: "exceeded model token
limit: 262144 (requested: 274613)"; xAI, DashScope and Together; OpenAI (429) and Groq (413) of a
request that is larger than what the account has for a minute: "Request too large for … (TPM): Limit
30000, Requested 36000". Read 2026-11-28 as their users quote them."""
TOO_LARGE_WORDS = re.compile(r"request too large for .*\(tpm\)")
TOOLS_WORDS = re.compile(
    r"not support (?:tools|tool use|tool calling|function calling|functions)"
    r"|(?:tool use|(?:tool|function) calling) is not supported|support tool use"
    r"|enable-auto-tool-choice|requires --jinja|tools? (?:is|are) not supported"
    r"|function calling is not enabled"
)
QUOTA_WORDS = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance"
    r"|insufficient balance|余额不足|have any credits|all available credits|spending limit"
    r"|api usage limits|arrearage|freetieronly|key limit exceeded"
)
"""Beside OpenAI's and Anthropic's words those of Zhipu (429, code 1113), xAI (403, also of its list
of models, and 429), Fireworks (412, "is suspended, possibly due to reaching the monthly spending
limit"), DashScope (400 and 403) and OpenRouter (403), as their users quote them, read
2026-11-28."""
RATE_WORDS = re.compile(r"rate_limit_exceeded|rate limit reached")
"""A limit that passes, although the text links to a page of bills: Groq's every "Rate limit reached
for … Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing", and
OpenAI's to those who have not paid yet."""
KEY_WORDS = re.compile(
    r"api_key_invalid|api key not valid|api key expired|incorrect api key provided"
)
"""As Google and xAI word it, with status 400, that they do not know the key."""
MODEL_WORDS = re.compile(
    r"model_not_found|model_decommissioned|invalid_model\b|model not exist|unknown model"
    r"|is not a valid model id"
)
"""With status 400: OpenAI, Hugging Face, Groq, Mistral, DeepSeek, Zhipu and OpenRouter, of a model
that is not there, or no longer. Read 2026-11-28."""
FILTER_WORDS = re.compile(
    r"content_filter|content management policy|content exists risk|data_inspection_failed"
    r"|requires moderation on|was flagged (?:as|for)|considered high risk|不安全或敏感"
)
"""Azure, DeepSeek, DashScope, OpenRouter (403), OpenAI, Moonshot and Zhipu, of what their filters
found in a question. Read 2026-11-28."""
BROKEN_CALL_WORDS = re.compile(r"tool_use_failed")
"""Groq, with status 400 or in the stream, of a call that its model wrote and nobody can read."""
PASSING_WORDS = re.compile(
    r"overloaded|server[_ ]error|internal error|rate[_ ]limit|temporar|unavail"
)
PICTURE_WORDS = re.compile(
    r"image(?:_url|s| inputs?| content)?.{0,40}not (?:be )?(?:support|enabled)"
    r"|not support.{0,20}image|not a multimodal|no image|invalid content type.{0,40}image"
    r"|image_url is only supported|found that support image|unknown variant .?image_url|mmproj"
    r"|content must be a string|content.{0,60}valid string"
    r"|can only concatenate str \(not \"list\"\) to str"
)
"""As services word it that a model does not see.

Sources, read 2026-11-23: issues of vLLM, of llama.cpp ("image input is not supported - hint: if
this is unexpected, you may need to provide the mmproj", status 500), of DeepSeek's users ("unknown
variant `image_url`, expected `text`"), of OpenRouter's ("No endpoints found that support image
input", status 404); llama-cpp-python's own server, whose templates add strings (status 500).
"""
TEMPLATE_WORDS = re.compile(
    r"jinja exception|while executing \w+ at line"
    r"|unknown (?:argument|function|method) .{0,60} at row"
    r"|failed to parse (?:messages|tools|tool call|input)|unsupported content\[\]|chat template"
)
"""As llama.cpp words it, with status 500, that a request does not go through its chat template.

Sources, read 2026-11-23: ggml-org/llama.cpp issues 19851 and 21879, janhq/jan issue 6254,
ikawrakow/ik_llama.cpp pull 677.
"""
LOADING_WORDS = re.compile(r"loading model|model is (?:still )?loading|model is being loaded")
"""As llama-server ({"code": 503, "message": "Loading model"}) and routers before it word it."""
TURN_WORDS = re.compile(
    r"roles must alternate|must alternate between|unexpected role \S+ after role"
    r"|consecutive (?:user|assistant)|should (?:alternate with|be alternating)"
)
"""A template, or Perplexity, that wants the person's and the model's words in turn.

Sources, read 2026-11-23: llama.cpp's and vLLM's templates; serac-labs/serac issue 53 and
FoundationAgents/OpenManus issue 580 ("should alternate with", "should be alternating").
"""
SHAPE_WORDS: Mapping[MessageShape, re.Pattern[str]] = {
    "short_ids": re.compile(
        r"tool call ids? (?:was|should|must) .*(?:length (?:of )?9|must be a-z)"
        r"|\bid\b.{0,20}string too long"
    ),
    "single_calls": re.compile(r"only supports single tool-calls? at once"),
    "text_content": re.compile(
        r"assistantmessage'?, 'content'\), 'msg': .input should be a valid string"
        r"|invalid message content type|'content' field must be a string"
        r"|content\W[\s\S]{0,80}valid string.{0,40}=none|expected a string, got null"
    ),
}
"""What servers say of messages with calls that they do not take in this shape.

Sources, read 2026-11-23: anomalyco/opencode issue 1680 and nearai/ironclaw issue 1241 (Mistral's
API: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"), jundot/omlx pull 1997 (the
same with status 500), vercel/ai issue 5171 (OpenAI), the templates of Mistral Nemo, Mistral Small
3.2 and Llama 3.1 to 3.3 in ggml-org/llama.cpp, run by its server; llama-cpp-python's own, which
answers 500 to ``content: null``; of Ollama, LM Studio and SGLang, which refuse it too,
SAIL-Research-Lab/cheetahclaws pull 72, lmstudio-bug-tracker issue 261, sgl-project/sglang issue
4236, docker/docker-agent issue 63.
"""
BODY_FIELD = re.compile(r"'loc': \('body', '(\w+)'")
"""Which field of a request llama-cpp-python's server does not take, which it tells with status 500
("1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), …")."""
NO_KEYS = "no_db_connection"
"""How LiteLLM's proxy, with status 400, refuses a key that is not its own where it keeps no others
("No connected db."; seen at version 1.106)."""
REQUEST_ID = re.compile(r"[\w.:-]{1,100}")


def from_status(status: int, body: Any, headers: Mapping[str, str], endpoint: Endpoint) -> LMError:
    """The error for an HTTP status and the body that came with it."""
    complaint = read_complaint(body)
    detail = endpoint.without_key(complaint.message)
    if found := _about_request(status, complaint, detail, endpoint):
        return found
    if status == 402 or _is_used_up(status, complaint):
        return _quota(status, detail, endpoint)
    if status == 429:
        wait = complaint.retry_seconds or retry_after_seconds(headers, detail)
        return _rate_limit(detail, wait, endpoint)
    is_about_key = complaint.type == NO_KEYS or KEY_WORDS.search(complaint.words)
    if status in (401, 403) or is_about_key:
        return _access(status, detail, endpoint)
    if status in (404, 410) or (status == 400 and MODEL_WORDS.search(complaint.words)):
        return _not_found(status, detail, endpoint)
    if (status >= 500 and not _is_about_content(complaint)) or status in (408, 409):
        text = f"{endpoint.place} failed with status {status}{_said(detail)}."
        seconds = retry_after_seconds(headers)
        hint = "Try again in a while." if seconds is None else f"Try again in {seconds:.0f} s."
        error = LMServerError(text, hint=hint, status=status, detail=detail)
        error.retry_after_seconds = seconds
        error.is_loading = status == 503 and bool(LOADING_WORDS.search(complaint.words))
        return error
    text = f"{endpoint.place} refused the request with status {status}{_said(detail)}."
    named = BODY_FIELD.search(complaint.words)
    parameter = complaint.parameter or (named[1] if named else "")
    return LMRequestError(text, status=status, detail=detail, parameter=parameter)


def _is_used_up(status: int, complaint: Complaint) -> bool:
    """Whether waiting is no help; Google says "exceeded your current quota" of a minute's, too."""
    if status not in (400, 403, 412, 429) or not QUOTA_WORDS.search(complaint.words):
        return False
    if RATE_WORDS.search(complaint.words):
        return False
    return complaint.retry_seconds is None or complaint.is_of_day


def from_stream(body: Any, endpoint: Endpoint) -> LMError:
    """The error for an error object that came in place of a reply (fault M37)."""
    complaint = read_complaint(body)
    detail = endpoint.without_key(complaint.message)
    if complaint.code.isdigit() and 400 <= int(complaint.code) < 600:
        return from_status(int(complaint.code), body, {}, endpoint)
    if found := _about_request(None, complaint, detail, endpoint):
        return found
    if QUOTA_WORDS.search(complaint.words) and not RATE_WORDS.search(complaint.words):
        return _quota(None, detail, endpoint)
    error = LMServerError(
        f"{endpoint.place} sent an error instead of a reply{_said(detail)}.", detail=detail
    )
    error.retryable = bool(PASSING_WORDS.search(complaint.words))
    return error


def from_exception(error: Exception, endpoint: Endpoint) -> Exception:
    """Our error for what was raised on the way; a bug of ours comes back as it is."""
    if isinstance(error, LMError):
        return error
    response = getattr(error, "response", None)
    if response is not None and isinstance(getattr(error, "status_code", None), int):
        fault = from_status(response.status_code, response.text, response.headers, endpoint)
        headers = response.headers
        request_id = headers.get("x-request-id") or headers.get("request-id", "")
        if REQUEST_ID.fullmatch(request_id):
            fault.hint = f"{fault.hint} The service knows the request as {request_id}.".strip()
        if response.history:
            # A redirected POST becomes a GET, and the error that follows tells nothing of it.
            fault.hint = _redirect_hint(str(response.url))
        return fault
    if type(error).__name__ == "OpenAIError":
        # What the SDK says of itself, such as that it finds no credentials to sign with.
        return LMAccessError(endpoint.without_key(str(error)))
    if not _is_transport(error):
        return error
    chain = list(_causes(error))
    if ours := next((cause for cause in chain if isinstance(cause, LMError)), None):
        return ours
    found = next(filter(None, (_connection_fault(cause, endpoint) for cause in chain)), None)
    if found is None:
        text = endpoint.without_key(str(chain[-1]) or type(chain[-1]).__name__)
        found = LMConnectionError(f"The connection to {endpoint.place} broke: {text}.")
    found.__cause__ = error
    return found


def _is_about_content(complaint: Complaint) -> bool:
    """Whether a server calls a request a failure of its own that it would never take."""
    patterns = (PICTURE_WORDS, TURN_WORDS, TEMPLATE_WORDS, BODY_FIELD, *SHAPE_WORDS.values())
    return any(pattern.search(complaint.words) for pattern in patterns)


def context_tokens_in(text: str) -> int | None:
    """The size of the model's window, where an error text names it."""
    found = WINDOW_SIZE.search(text.lower()) or TOKENS_ABOVE.search(text.lower())
    return int(found[1].replace(",", "")) if found else None


def _about_request(
    status: int | None, complaint: Complaint, detail: str, endpoint: Endpoint
) -> LMError | None:
    """Errors known by their words, since services disagree about the status."""
    if status in (None, 400, 403, 422) and FILTER_WORDS.search(complaint.words):
        text = f"The content filter of {endpoint.place} refused the request{_said(detail)}."
        return LMRequestError(text, hint=FILTER_HINT, status=status, detail=detail)
    if status in (None, 400) and BROKEN_CALL_WORDS.search(complaint.words):
        text = f"The model wrote a call that {endpoint.place} cannot read{_said(detail)}."
        return LMStreamError(text, hint="Ask again, or choose another model.", detail=detail)
    is_too_large = status == 429 and TOO_LARGE_WORDS.search(complaint.words)
    if status in (401, 402, 403, 429) and not is_too_large:
        return None
    if TOOLS_WORDS.search(complaint.words):
        return LMToolsUnsupportedError(
            f"{endpoint.model!r} at {endpoint.place} cannot call tools{_said(detail)}.",
            hint=_tools_hint(complaint.words),
            status=status,
            detail=detail,
        )
    if status == 413 or CONTEXT_WORDS.search(complaint.words):
        return LMContextError(
            f"The conversation is too long for {endpoint.model!r}{_said(detail)}.",
            hint="Start a new conversation, or use a model with a larger context window.",
            status=status,
            detail=detail,
        )
    return None


FILTER_HINT = "Put it differently, or leave out what the filter may object to."


def _tools_hint(words: str) -> str:
    hints = (provider.tools_hint for provider in PROVIDERS if provider.tools_hint[0])
    usual = f"Choose another model. Models known to call tools: {', '.join(TOOL_MODELS)}."
    return next((hint for word, hint in hints if word in words), usual)


def _quota(status: int | None, detail: str, endpoint: Endpoint) -> LMError:
    hint = "Look at the billing page of the service; waiting does not help."
    if "fewer max_tokens" in detail:  # OpenRouter sets the whole reply aside beforehand
        hint = "Buy credit, or limit the length of a reply to what the service says."
    return LMQuotaError(
        f"The account at {endpoint.place} has no credit left{_said(detail)}.",
        hint=hint,
        status=status,
        detail=detail,
    )


def _rate_limit(detail: str, seconds: float | None, endpoint: Endpoint) -> LMError:
    if seconds is None:
        hint = "Wait a little, or choose another model."
    else:
        hint = f"Ask again in {seconds:.0f} s, or choose another model."
    text = f"{endpoint.place} asks to slow down{_said(detail)}."
    return LMRateLimitError(text, hint=hint, detail=detail, retry_after_seconds=seconds)


def _access(status: int, detail: str, endpoint: Endpoint) -> LMError:
    provider = find_provider(endpoint.base_url)
    variables = f"CELLWRIGHT_API_KEY or {provider.key_variable or OPENAI.key_variable}"
    if not endpoint.api_key:
        hint = f"No key is set: set {variables}."
    elif status == 403 and endpoint.model:
        hint = "The key may not use this model; choose another with -m."
    else:
        hint = f"Check {variables}."
    asked = f" for {endpoint.model!r}" if endpoint.model else ""
    refused = "does not accept the key" if endpoint.api_key else "wants a key"
    text = f"{endpoint.place} {refused}{asked}{_said(detail)}."
    owner = provider_of_key(endpoint.api_key)
    if owner not in (UNKNOWN, provider):
        hint = f"The key looks like one of {owner.name}, and the request went to {endpoint.host}."
    return LMAccessError(text, hint=hint, status=status, detail=detail)


def _not_found(status: int, detail: str, endpoint: Endpoint) -> LMError:
    own = find_provider(endpoint.base_url)
    # Azure speaks of deployments, NVIDIA of functions, OpenRouter of endpoints.
    is_about_model = "deployment" in detail or (own.hosts and own.base_url == endpoint.base_url)
    if not is_about_model and "model" not in detail.lower():
        text = f"There is no chat service at {endpoint.address!r}{_said(detail)}."
        hint = "The address usually ends in /v1; check CELLWRIGHT_BASE_URL."
    else:
        text = f"There is no model {endpoint.model!r} at {endpoint.place}{_said(detail)}."
        hint = own.missing_model_hint.format(model=endpoint.model) or "Choose another with -m."
    return LMNotFoundError(text, hint=hint, status=status, detail=detail)


def _connection_fault(cause: BaseException, endpoint: Endpoint) -> LMError | None:
    place = endpoint.place
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = f"The certificate of {place} is not trusted: {cause.verify_message}."
        hint = "Behind a company proxy, set SSL_CERT_FILE to the company's CA file."
        return _lasting(text, hint)
    # A TLS stream that ends in the middle is a broken connection like any other.
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
        text = f"{place} does not speak TLS as expected: {cause}."
        return _lasting(text, "Check whether the address begins with http:// or https://.")
    if isinstance(cause, socket.gaierror):
        hint = "Check the address and the network."
        return _lasting(f"The name of {place} cannot be found: {cause.strerror}.", hint)
    if isinstance(cause, ConnectionRefusedError):
        return _lasting(f"Nothing answers at {place}: connection refused.", _start_hint(endpoint))
    name = type(cause).__name__
    if name == "ProxyError":
        text = f"The proxy on the way to {place} refused: {endpoint.without_key(str(cause))}."
        return _lasting(text, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.")
    if name == "ConnectTimeout":
        return LMTimeoutError(f"{place} did not accept a connection in time.", hint=HOST_HINT)
    if name == "ReadTimeout":
        return LMTimeoutError(f"{place} sent nothing for too long.")
    if isinstance(cause, UnicodeDecodeError):
        return LMStreamError(f"{place} sent bytes that are not UTF-8.", detail=str(cause))
    if isinstance(cause, UnicodeEncodeError) and cause.encoding == "ascii":
        return LMAccessError("The key holds characters that no key has.", hint="Copy it again.")
    return None


def redirected_elsewhere(url: str, endpoint: Endpoint) -> LMError:
    """The error for a redirect to another server, which was not followed."""
    text = f"{endpoint.place} redirects to another server, which was not asked."
    return _lasting(text, _redirect_hint(url))


def _redirect_hint(url: str) -> str:
    return f"The request was redirected to {shown_url(url)}; set that address instead."


HOST_HINT = "Check the address and the network."


def _lasting(text: str, hint: str) -> LMError:
    error = LMConnectionError(text, hint=hint)
    error.retryable = False
    return error


def _start_hint(endpoint: Endpoint) -> str:
    own = find_provider(endpoint.base_url).start_hint
    return own or "Check the address, or start the server."


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_transport(error: BaseException) -> bool:
    """Whether the SDK or its HTTP library raised it; which of two libraries depends on the SDK."""
    module = type(error).__module__.partition(".")[0]
    return isinstance(error, (OSError, UnicodeError)) or module in (
        "openai",
        "httpx",
        "httpx2",
        "httpcore",
    )


def _said(detail: str) -> str:
    return f": {detail.rstrip('. ')}" if detail else ""
