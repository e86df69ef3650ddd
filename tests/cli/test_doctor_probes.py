"""``doctor --provider`` against providers that can all, and against some that lack one thing."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from command_line import Done, Shell
from fake_gemini import fault, listed
from fake_service import (
    MODEL,
    Answer,
    FakeService,
    Pause,
    Request,
    Wire,
    after,
    chunk,
    error,
    raw_sse,
    text,
    tool_call,
    tool_calls,
)

from cellwright.commands.doctor_probes import NO_MODEL, PROBES
from cellwright.providers import PROVIDERS

PIECES = ("one, ", Pause(0.05), "two, ", Pause(0.05), "three")


def slowly(pieces: tuple[Any, ...]) -> Answer:
    """A reply whose pieces come one after the other, with what it cost."""
    events = [p if isinstance(p, Pause) else chunk({"content": p}) for p in pieces]
    usage = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}
    return raw_sse([*events, chunk({}, "stop"), chunk(None, usage=usage)])


class Able:
    """A provider that can all that is probed; subclasses lack something.

    It keeps what it read once, and then says so in its counts.
    """

    def __init__(self) -> None:
        self.beginnings: set[str] = set()

    def __call__(self, request: Request) -> Wire:
        """The answer to a request, by what it asks for."""
        if request.body["model"] != MODEL:
            return error(404, f"The model {request.body['model']!r} does not exist")(request)
        return self.answer(request)(request)

    def answer(self, request: Request) -> Answer:
        """Looks at the question."""
        said = request.last_text
        for words, reply in self.replies(request).items():
            if words in said:
                return reply
        return text("pong")

    def replies(self, request: Request) -> dict[str, Answer]:
        """What it says, by words of the question."""
        beginning = request.last_text[:200]
        cached = 2_000 if beginning in self.beginnings else 0
        self.beginnings.add(beginning)
        usage = {
            "prompt_tokens": 2_600,
            "completion_tokens": 5,
            "total_tokens": 2_605,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        return {
            "Count from one": slowly(PIECES),
            "Call the tool ping with": tool_call("ping", {"word": "hello"}),
            "twice": tool_calls([("ping", {"word": "left"}), ("ping", {"word": "right"})]),
            "Say good morning": tool_call("ping", {"word": "morning"}),
            "two halves": text("Yellow, blue."),
            "left and a right half": text("Yellow, blue."),
            "The code word is": text("It is heron."),
            "A bat and a ball": text("0.05", reasoning="Half of 0.10."),
            "from 1 to 300": slowly(("one\n", *[Pause(0.2), "two\n"] * 20)),
            "Line 0001": text("155", usage=usage),
        }


class WithoutTools(Able):
    """Refuses tools, as servers word it."""

    def answer(self, request: Request) -> Answer:
        """Looks for tools first."""
        if "tools" in request.body:
            return error(400, f"{MODEL} does not support tools")
        return super().answer(request)


class WithoutPictures(Able):
    """Refuses pictures."""

    def answer(self, request: Request) -> Answer:
        """Looks for pictures first."""
        if b"image_url" in request.raw:
            return error(400, "image input is not supported")
        return super().answer(request)


class WithoutForcedTools(Able):
    """Refuses to be told which tool to call, and calls one where it may choose."""

    def answer(self, request: Request) -> Answer:
        """Looks for the choice first."""
        if "tool_choice" in request.body:
            return error(400, "Unsupported parameter: 'tool_choice'", param="tool_choice")
        return super().answer(request)


class Small(Able):
    """Has a window of 4,096 tokens, and calls every wrong request an outage."""

    def __call__(self, request: Request) -> Wire:
        """Looks at the length first."""
        if request.body["model"] != MODEL:
            return error(500, "KeyError")(request)
        if len(request.raw) > 4 * 4_096:
            words = "the request exceeds the available context size: context size is 4096 tokens"
            return error(400, words)(request)
        return super().__call__(request)


class Plain(Able):
    """Answers all in one piece, calls one tool at a time, shows and counts nothing."""

    def replies(self, request: Request) -> dict[str, Answer]:
        """The same with less."""
        return {
            **super().replies(request),
            "Count from one": after(text("one, two"), 0.3),
            "twice": tool_call("ping", {"word": "left"}),
            "Say good morning": text("Good morning."),
            "left and a right half": text("Red and green."),
            "A bat and a ball": text("0.05"),
            "Line 0001": text("155"),
        }


def probe(shell: Shell, provider: Callable[[Request], Wire], *arguments: str) -> Done:
    """What the command says of a provider."""
    with FakeService(provider) as service:
        return shell.asking(service).run("doctor", "--provider", *arguments)


def verdicts(done: Done) -> dict[str, str]:
    """The verdict of each probe."""
    return {result["name"]: result["verdict"] for result in done.document["probes"]}


ALL = dict.fromkeys((probe.name for probe in PROBES), "works") | {"price": "could not tell"}
CALLS = ("tools", "parallel tools", "forced tool")


@pytest.mark.parametrize(
    ("provider", "lacks"),
    [
        (Able, {}),
        (WithoutTools, dict.fromkeys(CALLS, "does not")),
        (WithoutPictures, {"pictures": "does not"}),
        (WithoutForcedTools, {"forced tool": "does not"}),
        (Small, {"long context": "does not", "refusal": "does not"}),
        (
            Plain,
            {
                **dict.fromkeys(("stream", "parallel tools", "forced tool"), "does not"),
                **dict.fromkeys(("thinking returned", "cache"), "does not"),
                "pictures": "could not tell",
            },
        ),
    ],
)
def test_each_thing_a_provider_lacks_is_found(
    shell: Shell, provider: Callable[[], Able], lacks: dict[str, str]
) -> None:
    done = probe(shell, provider(), "--json")
    assert done.code == 0, done.err
    assert verdicts(done) == {**ALL, **lacks}
    assert done.document["model"] == MODEL
    assert len(done.document["row"].split("|")) == len(PROBES) + 5
    spent = done.document["usage"]["prompt_tokens"] + done.document["usage"]["completion_tokens"]
    each = [p["usage"]["prompt_tokens"] + p["usage"]["completion_tokens"]
            for p in done.document["probes"]]  # fmt: skip
    assert sum(each) == spent


def test_what_is_sent_and_that_it_costs_is_said_before(shell: Shell) -> None:
    seen: list[str] = []
    prices = shell.folder / "prices.json"
    prices.write_text(json.dumps({MODEL: {"prompt": 2.0, "completion": 10.0}}))
    with FakeService(Able()) as service:
        asking = shell.asking(service)
        environ = {**asking.environ, "CELLWRIGHT_PRICES": str(prices)}
        done = Shell(shell.folder, environ).run("doctor", "--provider")
        seen = [request.body["model"] for request in service.requests]
        url = service.base_url
    announced = done.err.splitlines()[0]
    assert f"13 requests to {url} ({MODEL})" in announced
    assert "no more than 20,000" in announced
    assert "at most $0.20" in announced
    assert seen.count(NO_MODEL) == 1
    assert len(seen) == 12, "the list of models is no request to a model"
    assert "price" in done.out
    assert "cost about $" in done.out
    assert done.out.count("works") == 12
    quiet = probe(shell, Able(), "--quiet")
    assert quiet.err == ""


def test_no_more_tokens_than_allowed_are_asked_for(shell: Shell) -> None:
    with FakeService(Able()) as service:
        asking = shell.asking(service)
        done = asking.run("doctor", "--provider", "--max-tokens", "3000", "--json")
        sent = [len(request.raw) for request in service.requests]
    found = {p["name"]: p for p in done.document["probes"]}
    assert found["long context"]["verdict"] == "could not tell"
    assert "--max-tokens" in found["long context"]["text"]
    assert found["stream"]["verdict"] == "works"
    assert max(sent) < 4 * 3_000
    assert done.document["usage"]["prompt_tokens"] < 3_000


def test_a_key_that_is_refused_is_tried_once(shell: Shell) -> None:
    with FakeService(lambda r: error(401, "Incorrect API key provided")(r)) as service:
        done = shell.asking(service).run("doctor", "--provider", "--json")
        assert len(service.requests) == 1
    assert done.code == 1
    assert set(verdicts(done).values()) == {"works", "could not tell"}
    assert "no-key" not in done.out + done.err


def test_stop_keeps_what_was_found(shell: Shell) -> None:
    def stopped(request: Request) -> Wire:
        if "twice" in request.last_text:
            os.kill(os.getpid(), signal.SIGINT)
            return slowly((Pause(5.0), "late"))(request)
        return Able()(request)

    done = probe(shell, stopped, "--json")
    assert done.code == 130
    found = verdicts(done)
    assert [found[name] for name in ("stream", "tools")] == ["works", "works"]
    assert found["parallel tools"] == found["cache"] == "could not tell"


def test_how_far_it_is_is_shown_when_it_takes_long(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellwright.commands.calling.LINE_SECONDS", 0.0)
    done = probe(shell, Able())
    lines = done.err.splitlines()
    assert lines[1] == "0 of 12  models"
    assert lines[-1] == "11 of 12  price"


class TestWhichServiceIsMeant:
    def test_no_key_of_another_is_sent(self, shell: Shell) -> None:
        companies = [p for p in PROVIDERS if p.key_variable and "{" not in p.base_url]
        other, wanted = companies[0], companies[1]
        environ = {**shell.environ, other.key_variable: "sk-proj-0123456789abcdef"}
        done = Shell(shell.folder, environ).run("doctor", "--provider", wanted.name)
        assert done.code == 2
        assert wanted.key_variable in done.err

    def test_a_program_of_ones_own_is_where_the_setting_says(self, shell: Shell) -> None:
        name = next(p.name for p in PROVIDERS if not p.hosts and p.port == 8080)
        done = probe(shell, Able(), name, "--json")
        assert verdicts(done) == ALL

    @pytest.mark.parametrize("name", ["nobody", "google"])
    def test_a_name_that_is_no_ones_or_two_ones_is_asked_for(self, shell: Shell, name: str) -> None:
        done = shell.run("doctor", "--provider", name)
        assert done.code == 2
        assert "Choose one of" in done.err

    def test_nothing_that_is_set_is_no_service(self, shell: Shell) -> None:
        done = shell.run("doctor", "--provider")
        assert done.code == 2
        assert "No service is set" in done.err

    def test_the_first_model_that_is_listed_is_asked_where_none_is_named(
        self, shell: Shell
    ) -> None:
        with FakeService(Able()) as service:
            environ = {**shell.environ, "CELLWRIGHT_BASE_URL": service.base_url}
            done = Shell(shell.folder, environ).run("doctor", "--provider", "--json")
            named = Shell(shell.folder, environ).run(
                "doctor", "--provider", "-m", "other", "--max-tokens", "700", "--json"
            )
        assert done.document["model"] == MODEL
        assert named.document["model"] == "other"
        assert verdicts(named)["models"] == "could not tell"


def pinging(word: str) -> dict[str, Any]:
    """A part that calls the tool of the probes."""
    return {"functionCall": {"name": "ping", "args": {"word": word}}}


PONG: list[dict[str, Any] | Pause] = [{"text": "pong"}]
COUNTING: list[dict[str, Any] | Pause] = [{"text": "one\n"}, Pause(0.2)]


class AbleGemini:
    """All of that in the words of Google's own API, in whose address the model is named."""

    PARTS: Mapping[str, Sequence[dict[str, Any] | Pause]] = {
        "Count from one": [{"text": "one, "}, Pause(0.05), {"text": "two, "}, Pause(0.05),
                           {"text": "three"}],
        "Call the tool ping with": [pinging("hello")],
        "twice": [pinging("left"), pinging("right")],
        "Say good morning": [pinging("morning")],
        "left and a right half": [{"text": "Yellow, blue."}],
        "two halves": [{"text": "Yellow, blue."}],
        "The code word is": [{"text": "It is heron."}],
        "A bat and a ball": [{"text": "Half of 0.10.", "thought": True}, {"text": "0.05"}],
        "from 1 to 300": COUNTING * 20,
        "Line 0001": [{"text": "155"}],
    }  # fmt: skip

    def __init__(self) -> None:
        self.beginnings: set[str] = set()

    def __call__(self, request: Request) -> Wire:
        """The answer to a request, by what it asks for."""
        model = request.path.rpartition("/models/")[2].partition(":")[0]
        if model != MODEL:
            words = f"models/{model} is not found for API version v1beta"
            return fault(404, "NOT_FOUND", words)(request)
        asked = [part.get("text", "") for part in request.body["contents"][-1]["parts"]]
        said, beginning = " ".join(asked), " ".join(asked)[:200]
        found = (parts for words, parts in self.PARTS.items() if words in said)
        prompt = len(request.raw) // 4
        counts: dict[str, Any] = {"promptTokenCount": prompt, "candidatesTokenCount": 5}
        counts["cachedContentTokenCount"] = prompt - 9 if beginning in self.beginnings else 0
        self.beginnings.add(beginning)
        pieces = [
            part
            if isinstance(part, Pause)
            else {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
            for part in next(found, PONG)
        ]
        last: dict[str, Any] = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": counts}
        return raw_sse([*pieces, last], done=False)(request)


def test_what_gemini_can_is_found_through_its_own_api(shell: Shell) -> None:
    asking = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_API": "gemini"})
    with FakeService(AbleGemini(), models=listed(MODEL)) as service:
        done = asking.asking(service).run("doctor", "--provider", "--json")
    assert done.code == 0, done.err
    assert verdicts(done) == ALL
