"""From one way of talking to the next, and nothing but what cannot be read leads on."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError
from cellwright.llm.adapters import ParsedReply
from cellwright.llm.adapters.chain import ADAPTERS, AdapterChain
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.record.messages import AssistantMessage, Manifest, Reply, Usage

TOOLS = (Manifest("anything", "Takes anything.", {"type": "object"}),)
GOOD = Reply(AssistantMessage(ChatAdapter().write_reply("Fine.", [])), "stop", Usage(), "m")


def test_004_23_the_chain_is_repair_then_chat_then_json_then_nothing() -> None:
    chain = AdapterChain()
    bad = ParsedReply("x", (), "unreadable", "Why.")
    steps = []
    while (recovery := chain.recover(bad)) is not None:
        assert "Why." in recovery.text
        steps.append((recovery.notice.code, recovery.changes_adapter, chain.name))
    assert steps == [
        ("adapter_repair", False, "native"),
        ("adapter_fallback", True, "chat"),
        ("adapter_fallback", True, "json"),
    ]


@pytest.mark.parametrize(
    ("name", "then"), [("chat", ["json"]), ("json", []), ("xml", ["chat", "json"])]
)
def test_004_23_a_chain_may_begin_further_on(name: str, then: list[str]) -> None:
    chain = AdapterChain(name)
    bad = ParsedReply("x", (), "unreadable")
    assert chain.recover(bad) is not None
    after = []
    while chain.recover(bad) is not None:
        after.append(chain.name)
    assert after == then


def test_004_23_a_good_reply_earns_the_next_bad_one_its_repair_turn() -> None:
    chain = AdapterChain("chat")
    bad = ParsedReply("x", (), "unreadable", "Why.")
    for _ in range(5):
        recovery = chain.recover(bad)
        assert recovery is not None
        assert not recovery.changes_adapter
        assert chain.parse_reply(chain.read(GOOD, TOOLS), TOOLS).text == "Fine."
    assert chain.name == "chat"


def test_004_28_a_service_without_tools_gets_words() -> None:
    chain = AdapterChain()
    recovery = chain.without_functions()
    assert recovery is not None
    assert (chain.name, recovery.notice.level) == ("chat", "warning")
    assert chain.without_functions() is None


def test_an_adapter_by_itself_tries_nothing_else() -> None:
    adapter = NativeAdapter()
    assert adapter.recover(ParsedReply("x", (), "unreadable")) is None
    assert adapter.without_functions() is None
    assert adapter.shown(TOOLS) is None


def test_an_unknown_adapter_is_told_with_those_there_are() -> None:
    with pytest.raises(SetupError, match="native, chat, json, xml"):
        AdapterChain("yaml")
    assert list(ADAPTERS) == ["native", "chat", "json", "xml"]
