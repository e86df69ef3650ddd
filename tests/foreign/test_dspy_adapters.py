"""dspy's own tests of its adapters, with ours in place of theirs.

They run where ``CELLWRIGHT_FOREIGN`` names a folder with a checkout of stanfordnlp/dspy (3.3.1) in
it. Those that fail are named with the reason, so that any other failure shows, and so does one that
passes all of a sudden. dspy 3.4.1 came without its tests; its own adapters fail both that are named
``PAST`` here.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from foreign.servers import BIN, HERE
from source_tree import PROJECT

CHECKOUT = Path(os.environ.get("CELLWRIGHT_FOREIGN") or "-") / "dspy"
REASON = "CELLWRIGHT_FOREIGN names no folder with a checkout of stanfordnlp/dspy"
WORDS = "it compares whole sentences of the prompt, which are ours"
ERROR = "it compares the whole text of an error"
PAST = (
    "a past question is repeated as it was sent, with its reminder, so that a cache knows "
    "it; dspy 3.4 does so, too, and fails this test"
)
WHOLE = "a list of calls that lacks a brace is refused, as all that was cut is; dspy completes it"
NAMED: dict[str, dict[str, str]] = {
    "chat": {
        "test_chat_adapter_format_exact_messages_for_simple_signature": WORDS,
        "test_chat_adapter_format_exact_messages_with_demo_and_typed_outputs": WORDS,
        "test_chat_adapter_format_exact_messages_with_nested_pydantic_models": WORDS,
        "test_chat_adapter_format_exact_messages_with_incomplete_demo": WORDS,
        "test_chat_adapter_format_exact_messages_with_history": WORDS,
        "test_chat_adapter_format_exact_messages_with_list_value_for_string_input": WORDS,
        "test_chat_adapter_format_exact_messages_with_literal_output": WORDS,
        "test_chat_adapter_format_exact_messages_with_multimodal_custom_type_inputs": WORDS,
        "test_chat_adapter_format_exact_messages_with_history_demo_pydantic_tools_and_image": WORDS,
        "test_chat_adapter_format_exact_messages_with_base_custom_type_input": WORDS,
        "test_chat_adapter_format_exact_messages_with_citations_output_demo": WORDS,
        "test_chat_adapter_format_exact_messages_and_lm_kwargs_with_native_citations": WORDS,
        "test_chat_adapter_format_exact_messages_preserves_passthrough_lm_kwargs": WORDS,
        "test_chat_adapter_format_exact_messages_and_lm_kwargs_with_native_reasoning": WORDS,
        "test_chat_adapter_format_exact_messages_with_reasoning_and_code_outputs": WORDS,
        "test_chat_adapter_format_exact_messages_and_lm_kwargs_with_native_tool_calling": WORDS,
        "test_chat_adapter_format_exact_messages_with_non_native_tool_history": WORDS,
        "test_chat_adapter_format_exact_messages_with_tool_input": WORDS,
        "test_chat_adapter_format_exact_messages_kitchen_sink": WORDS,
        "test_chat_adapter_formats_conversation_history": PAST,
        "test_chat_adapter_toolcalls_vague_match": WHOLE,
        "test_format_system_message": WORDS,
    },
    "json": {
        "test_json_adapter_format_exact_messages_for_simple_signature": WORDS,
        "test_json_adapter_format_exact_messages_with_demo_and_typed_output": WORDS,
        "test_json_adapter_format_exact_messages_with_described_and_bool_outputs": WORDS,
        "test_json_adapter_format_exact_messages_with_history_demo_pydantic_tools_and_image": WORDS,
        "test_json_adapter_format_exact_messages_with_int_and_mapping_outputs": WORDS,
        "test_json_adapter_format_exact_messages_with_literal_and_enum_outputs": WORDS,
        "test_json_adapter_format_exact_messages_with_nested_pydantic_output": WORDS,
        "test_json_adapter_format_exact_messages_with_incomplete_demo": WORDS,
        "test_json_adapter_format_exact_messages_and_lm_kwargs_with_native_tool_calling": WORDS,
        "test_json_adapter_format_exact_messages_with_tool_calls_output_demo": WORDS,
        "test_json_adapter_format_exact_non_native_tool_result_history_field": WORDS,
        "test_json_adapter_on_pydantic_model": WORDS,
        "test_json_adapter_parse_raise_error_on_mismatch_fields": ERROR,
        "test_json_adapter_formats_conversation_history": PAST,
        "test_json_adapter_on_pydantic_model_async": WORDS,
        "test_format_system_message": WORDS,
    },
    "xml": {
        "test_xml_adapter_typed_dict_schema_and_parsing": WORDS,
        "test_xml_adapter_full_prompt": WORDS,
        "test_xml_adapter_format_exact_messages_for_simple_signature": WORDS,
        "test_xml_adapter_format_exact_non_native_tool_result_history_field": WORDS,
        "test_xml_adapter_format_exact_messages_for_two_input_signature": WORDS,
        "test_xml_adapter_format_exact_messages_with_demo_and_typed_output": WORDS,
        "test_xml_adapter_format_exact_messages_with_history_demo_pydantic_tools_and_image": WORDS,
        "test_xml_adapter_format_exact_messages_with_nested_pydantic_output": WORDS,
        "test_xml_adapter_format_exact_messages_with_incomplete_demo": WORDS,
        "test_format_system_message": WORDS,
    },
    "two_step": {
        "test_two_step_adapter_format_exact_messages_for_simple_signature_with_demo": WORDS,
        "test_two_step_adapter_format_exact_messages_with_typed_outputs": WORDS,
    },
}
ENVIRON = {
    **os.environ,
    "PYTHONPATH": f"{PROJECT / 'extension'}{os.pathsep}{HERE}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
COLLECTED = {"chat": 76, "json": 39, "xml": 26, "two_step": 6}


@pytest.mark.skipif(not CHECKOUT.is_dir(), reason=REASON)
@pytest.mark.parametrize("form", NAMED)
def test_dspys_own_tests_pass_but_for_those_that_compare_words(form: str, tmp_path: Path) -> None:
    found = outcomes(form, tmp_path / "report.xml")
    assert {name for name, passed in found.items() if not passed} == set(NAMED[form])
    assert len(found) == COLLECTED[form]


def test_programs_of_dspy_run_with_our_adapters() -> None:
    """As they are installed: predictions, agents, streams, calls and thoughts of the service."""
    words = [str(BIN / "python"), str(HERE / "dspy_programs.py")]
    ran = subprocess.run(words, env=ENVIRON, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    found = json.loads(ran.stdout)
    assert found.pop("configured") == 4
    assert found.pop("streamed").strip() == "It is Paris."
    roles = ["system", "user", "assistant", "tool", "user"]
    assert found.pop("called") == ["look_up", {"city": "Paris"}, roles, "call_7"]
    assert found.pop("thought") == ["I thought.", "It is Paris."]
    assert found.pop("repeated") == [True] * 6, "in dspy since 3.4, and here"
    assert found.pop("deprecated") == [], "dspy 3.5 takes no messages any more"
    assert "left out" not in ran.stderr
    assert found == dict.fromkeys(("ChatAdapter", "JSONAdapter", "XMLAdapter"), "a tower")


def outcomes(form: str, report: Path) -> dict[str, bool]:
    """Whether each test of a file passed; parameters are part of the name."""
    words = ["-m", "pytest", "-q", "-p", "dspy_substitution", "-p", "no:cacheprovider"]
    file = f"tests/adapters/test_{form}_adapter.py"
    ran = subprocess.run(
        [str(BIN / "python"), *words, f"--junitxml={report}", file],
        cwd=CHECKOUT,
        env=ENVIRON,
        capture_output=True,
        text=True,
    )
    assert report.exists(), ran.stdout + ran.stderr
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return {
        case.get("name", ""): not (case.findall("failure") or case.findall("error"))
        for case in cases
    }
