"""Whatever is written into an assistant's file is read back, and the rest of it stays."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cellwright.assistants import Assistant
from cellwright.assistants.changes import changed_file, changes_of, check_fields
from cellwright.assistants.fields import ATTRIBUTES, KINDS
from cellwright.assistants.files import parse_assistant
from cellwright.assistants.toml_values import NotKeptError, parse_document
from cellwright.errors import SetupError
from cellwright.settings import ADAPTERS

PATH = Path("reviewer.toml")
BY_HAND = '''\
# Mine; ask before you change it.

description  =  'Looks for mistakes'   # short

instructions = """
Check "types" \\\\ first.

Then units."""   # long
"model" = "auto"
tools = [ "read_*",
    'run_cell',   # needed
  # the last one
    "plot" ]
temperature=0.20
public = false

# Scenes follow.

# for pictures
[[scenes]]
label = "plot"
prompt = \'\'\'Name the axes.\'\'\'

[[ scenes ]]   # of money
prompt = "Give sums."
  label = "money"
[scenes.when]
types = ["DataFrame"]  # tables
# the end
'''
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
letters = st.characters(exclude_categories=["Cs"])
texts = st.text(letters | st.sampled_from('"\\\n\r\t\x7f#='), max_size=40)
names = st.lists(texts, unique=True, max_size=5) | st.none()
flags = st.booleans()
labels = st.text(string.ascii_letters + ' "#[]', min_size=1, max_size=20).filter(str.strip)
rows = st.builds(
    lambda label, prompt, when: {"label": label, "prompt": f"p{prompt}"} | when,
    labels,
    texts,
    st.sampled_from([{}, {"when": {"prompt": "a|b", "types": ["x"]}}, {"when": {"error": '"'}}]),
)
FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "description": texts,
    "instructions": texts,
    "model": texts,
    "temperature": st.floats(0.1, 1) | st.none(),
    "effort": texts,
    "parameters": st.sampled_from([{}, {"verbosity": "low"}, {"top_p": 0.5, "seed": 3}]),
    "tools": names,
    "adapter": st.sampled_from(["", *ADAPTERS]),
    "library": names,
    "public": flags,
    "default": flags,
    "disable_memory": flags,
    "memory_for_guests": flags,
    "disable_default_prompt": flags,
    "disable_web_browsing": flags,
    "scenes": st.lists(rows, max_size=4, unique_by=lambda row: row["label"]),
}
some_fields = st.fixed_dictionaries({}, optional=dict(FIELDS))


def written(text: str, fields: Mapping[str, Any]) -> str:
    check_fields(fields, "reviewer")
    return changed_file(PATH, text, changes_of(parse_assistant(text, PATH), fields))


def has(assistant: Assistant, key: str, value: Any) -> bool:
    """Whether an assistant has what was given for a key."""
    there = getattr(assistant, ATTRIBUTES.get(key, key))
    if key in ("tools", "library"):
        return (there is None) is (value is None) and set(there or ()) == set(value or ())
    if key == "scenes":
        return [scene.row for scene in there] == value
    return bool(there == (" ".join(value.split()) if key == "description" else value))


def test_there_is_a_value_to_try_for_every_key() -> None:
    assert {*FIELDS, "name"} == set(KINDS)


@quick
@given(some_fields, some_fields)
@example({"instructions": 'a\n"'}, {"instructions": '""""\n\\'})
@example(
    {"tools": ["a"]}, {"tools": [], "scenes": [{"label": "[[scenes]]", "prompt": "\n[[scenes]]"}]}
)
def test_whatever_is_written_is_read_back(first: dict[str, Any], then: dict[str, Any]) -> None:
    text = ""
    meant: dict[str, Any] = {}
    for fields in (first, then):
        without_when = [{"when": None, **row} for row in fields.get("scenes", ())]
        text = written(text, fields | ({"scenes": without_when} if "scenes" in fields else {}))
        meant |= fields
        assistant = parse_assistant(text, PATH)
        assert [key for key, value in meant.items() if not has(assistant, key, value)] == []
        assert written(text, meant) == text


def test_a_key_comes_before_the_table_of_parameters_that_a_person_wrote() -> None:
    table = '[parameters]\nverbosity = "low"  # short\n\n[[scenes]]\nlabel = "a"\nprompt = "b"\n'
    text = written(f'model = "m"\n\n{table}', {"effort": "low", "parameters": {"verbosity": "low"}})
    assert text == f'model = "m"\neffort = "low"\n\n{table}'


LINES = {
    "description": "description  =  'Looks for mistakes'   # short\n",
    "instructions": 'instructions = """\nCheck "types" \\\\ first.\n\n[[scenes]]\n"""   # long\n',
    "model": '"model" = "auto"\n',
    "temperature": "temperature=0.20\n",
    "tools": "tools = [ \"read_*\",\n    'run_cell',   # needed\n  # the last one\n]\n",
    "public": "  public = true # all\n",
    "disable_memory": "disable_memory = false\n",
    "scenes": "\n# for pictures\n[[ scenes ]]\nlabel = 'plot'\nprompt = '''\n\nAxes.'''\n# end\n",
}
ANYTHING = st.sampled_from(["\n", "# a note\n", "   \n", "#\n\n"])
OTHERS = [
    ("description", "Other"),
    ("description", ""),
    ("instructions", "a\nb"),
    ("model", "gpt"),
    ("temperature", None),
    ("temperature", 0.3),
    ("tools", None),
    ("tools", ["plot", "run_cell"]),
    ("library", ["notes.md"]),
    ("public", False),
    ("disable_memory", True),
    ("adapter", "json"),
    ("scenes", []),
    ("scenes", [{"label": "money", "prompt": "p"}]),
]


@st.composite
def files_by_hand(draw: st.DrawFn) -> tuple[str, ...]:
    """The parts of a file that somebody wrote: keys in any order, notes between them."""
    keys = draw(st.permutations([key for key in LINES if key != "scenes"]))
    keys = [*keys[: draw(st.integers(0, len(keys)))], *draw(st.sampled_from([["scenes"], []]))]
    parts = [part for key in keys for part in (draw(ANYTHING), LINES[key])]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return tuple(part.replace("\n", end) for part in parts)


@quick
@given(files_by_hand(), st.sampled_from(OTHERS))
def test_one_other_field_leaves_the_rest_of_a_file_byte_for_byte(
    parts: tuple[str, ...], other: tuple[str, Any]
) -> None:
    key, value = other
    before = "".join(parts)
    after = written(before, {key: value})
    assert has(parse_assistant(after, PATH), key, value)
    old = LINES.get(key, "")
    is_there = {old, old.replace("\n", "\r\n")} & set(parts)
    may_go = len(old) + old.count("\n") if is_there else 0
    assert alike(before, after) + alike(before[::-1], after[::-1]) >= len(before) - may_go
    assert not ("\r\n" in before and after.count("\r\n") < after.count("\n"))
    had_note = "   # short" in before and (key, value) != ("description", "")
    assert not had_note or "   # short" in after


def alike(first: str, second: str) -> int:
    """How many characters two texts begin with together."""
    return len(os.path.commonprefix([first, second]))


def test_what_means_the_same_is_not_written_again() -> None:
    same = {
        "description": " Looks for\nmistakes ",
        "tools": ["plot", "run_cell", "read_*", "plot"],
        "temperature": 0.2,
        "public": False,
        "library": None,
        "scenes": [
            {"label": "plot", "prompt": "Name the axes.", "when": None},
            {"label": "money", "prompt": "Give sums."},
        ],
    }
    assert written(BY_HAND, same) == BY_HAND
    assert written("temperature = 0.01\n", {"temperature": 0.1}) == "temperature = 0.01\n"
    assert written("temperature = 0.5\n", {"temperature": 0.03}) == "temperature = 0.1\n"


def test_names_of_a_list_keep_their_places_and_comments() -> None:
    after = written(BY_HAND, {"tools": ["inspect_variable", "run_cell", "read_*"]})
    assert "    'run_cell',   # needed\n" in after
    assert parse_assistant(after, PATH).tools == ("read_*", "run_cell", "inspect_variable")
    empty = written(BY_HAND, {"tools": []})
    assert parse_assistant(empty, PATH).tools == ()
    many = [f"a_tool_with_a_long_name_{number}" for number in range(6)]
    assert '\n    "a_tool_with_a_long_name_5",\n]\n' in written("", {"tools": many})


def test_instructions_over_several_lines_are_pleasant_to_read() -> None:
    assert written("", {"instructions": 'Check "types".\nThen C:\\data.\n'}) == (
        'instructions = """\nCheck "types".\nThen C:\\\\data.\n"""\n'
    )


def test_002_13_a_scene_goes_with_the_comment_above_it_alone() -> None:
    money = {"label": "money", "prompt": "Give sums."}
    plot = {"label": "plot", "prompt": "Name the axes."}
    without = written(BY_HAND, {"scenes": [money]})
    assert without == BY_HAND.replace(BY_HAND[BY_HAND.index("# for p") : BY_HAND.index("[[ s")], "")
    without = written(BY_HAND, {"scenes": [plot]})
    assert without == BY_HAND[: BY_HAND.index("[[ scenes")]
    none = written(BY_HAND, {"scenes": []})
    assert none == BY_HAND[: BY_HAND.index("# for pictures")]
    turned = written(BY_HAND, {"scenes": [money, plot]})
    assert turned.index("# of money") < turned.index("# tables") < turned.index("# for pictures")
    assert [scene.label for scene in parse_assistant(turned, PATH).scenes] == ["money", "plot"]


def test_002_13_one_changed_scene_leaves_the_others_as_they_are() -> None:
    plot = {"label": "plot", "prompt": "Name the axes."}
    cash = {"label": "cash", "prompt": "Give sums."}
    renamed = written(BY_HAND, {"scenes": [plot, cash]})
    assert renamed == BY_HAND.replace('"money"', '"cash"')
    always = written(BY_HAND, {"scenes": [plot, {**cash, "label": "money", "when": None}]})
    assert "when" not in always
    assert "# for pictures\n[[scenes]]\n" in always
    other = {**plot, "when": {"imports": ["seaborn"]}}
    more = written(BY_HAND, {"scenes": [other, {**cash, "label": "money"}, cash]})
    assert 'when = { imports = ["seaborn"] }\n' in more
    assert more.endswith('# the end\n\n[[scenes]]\nlabel = "cash"\nprompt = "Give sums."\n')


INLINE = 'scenes = [\n  {label = "a", prompt = "b"}, # first\n  {label = "c", prompt = "d"},\n]\n'


def test_002_13_scenes_in_one_list_stay_one() -> None:
    a, c, e = ({"label": label, "prompt": "b"} for label in "ace")
    after = written(INLINE, {"scenes": [a, c, e]})
    assert after.startswith('scenes = [\n  {label = "a", prompt = "b"}, # first\n')
    assert [scene.label for scene in parse_assistant(after, PATH).scenes] == ["a", "c", "e"]
    assert parse_assistant(written(INLINE, {"scenes": [c]}), PATH).scenes[0].prompt == "b"
    assert written(INLINE, {"scenes": []}) == ""
    with pytest.raises(SetupError, match="in a way we do not change. Change it in the file"):
        written(INLINE, {"scenes": [c, a]})
    without_note = INLINE.replace(" # first", "")
    assert written(without_note, {"scenes": [c, a]}) == (
        'scenes = [{ label = "c", prompt = "b" }, { label = "a", prompt = "b" }]\n'
    )


def test_half_a_character_is_not_written() -> None:
    with pytest.raises(SetupError, match="in a way we do not change"):
        written("", {"instructions": "\ud800"})


def test_keys_stand_before_the_scenes_and_below_the_first_words() -> None:
    scene = '[[scenes]]\nlabel = "a"\nprompt = "b"\n'
    assert written(f"# mine\n\n{scene}", {"model": "auto"}) == (
        f'# mine\n\nmodel = "auto"\n\n{scene}'
    )
    assert written("# mine", {"model": "auto"}) == '# mine\nmodel = "auto"\n'
    assert written("public = true", {"model": "auto"}) == 'public = true\nmodel = "auto"\n'
    assert written("public = true", {"scenes": [{"label": "a", "prompt": "b"}]}) == (
        f"public = true\n\n{scene}"
    )


def test_all_that_is_wrong_with_fields_is_named_and_nothing_written() -> None:
    wrong = {
        "model": 5,
        "temperature": "hot",
        "tools": [1],
        "instructions": "i" * 8_001,
        "scenes": [{"label": "l" * 21, "prompt": ""}, "x"],
    }
    with pytest.raises(SetupError) as caught:
        check_fields(wrong, "../x")
    for words in ("model: 5", "temperature: 'hot'", "tools: [1]", "8,001", "scenes: ", "'../x'"):
        assert words in caught.value.message
    assert caught.value.hint == "Nothing was changed."
    with pytest.raises(SetupError, match="scenes: they are written as"):
        check_fields({"scenes": "plot"}, "x")


@pytest.mark.parametrize("text", ["=", BY_HAND], ids=["no TOML", "would not stay as it is"])
def test_a_text_that_would_not_stay_as_it_is_is_not_parsed(text: str) -> None:
    with pytest.raises(NotKeptError):
        parse_document(text)
