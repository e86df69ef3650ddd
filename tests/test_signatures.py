"""Signatures: parsed from text or a class, changed by making new ones."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.errors import SetupError
from cellwright.llm.signatures import (
    MISSING,
    Code,
    Field,
    InputField,
    LiveObject,
    OutputField,
    Signature,
    SignatureClass,
    live_type,
    type_name,
)


class Cheapest(SignatureClass):
    """Find the cheapest offer."""

    answer: str = OutputField("One sentence.")
    offers: live_type("DataFrame") = InputField("What is on offer.")  # type: ignore[valid-type]
    limit: float = InputField("In dollars.", default=10.0)


def types_of(signature: Signature) -> dict[str, Any]:
    return {part.name: part.annotation for part in signature.parts}


def test_004_40_text_names_inputs_outputs_and_their_types() -> None:
    signature = Signature.parse("question, ctx: list[str] -> answer: str, score: float")
    assert [(part.name, part.side) for part in signature.parts] == [
        ("question", "input"),
        ("ctx", "input"),
        ("answer", "output"),
        ("score", "output"),
    ]
    assert types_of(signature) == {
        "question": str,
        "ctx": list[str],
        "answer": str,
        "score": float,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dict[str, list[int]]", dict[str, list[int]]),
        ("int | None", int | None),
        ("Optional[int]", int | None),
        ("Literal['low', 'high']", Literal["low", "high"]),
        ("typing.Any", Any),
        ("'list[str]'", list[str]),
        ("None", None),
        ("Code", Code),
    ],
)
def test_004_40_types_are_read_without_evaluating_text(text: str, expected: Any) -> None:
    assert Signature.parse(f"-> x: {text}").outputs[0].annotation == expected


def test_004_40_a_class_name_is_an_object_that_stays_in_the_kernel() -> None:
    signature = Signature.parse("df: pd.DataFrame -> fig: Figure, m: np.ndarray, n: int")
    assert [(part.type_name, part.is_live) for part in signature.parts] == [
        ("DataFrame", True),
        ("Figure", True),
        ("ndarray", True),
        ("int", False),
    ]
    assert signature.inputs[0].annotation is live_type("DataFrame")
    assert issubclass(live_type("Figure"), LiveObject)


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("a, b", "'a, b' is no signature"),
        ("a -> b -> c", "is no signature"),
        ("a, a -> b", "names 'a' twice"),
        ("a -> a", "names 'a' twice"),
        ("a ->", "has no output"),
        ("a b -> c", "'a b' is no list of names"),
        ("*a -> c", "'*a' has more than names and types"),
        ("a=1 -> c", "'a=1' has more than names and types"),
        ("a -> b: money", "'money' is not known"),
        ("a -> b: __import__('os')", "is not known"),
        ("a -> b: 5", "'5' is not known"),
        ("a -> b: list[int[str]]", "'int[str]' is not known"),
        ("a -> b: Literal[x]", "'Literal[x]' is not known"),
        ("a -> b: None | None", "'None | None' is not known"),
        ("a -> b: dict[()]", "'dict[()]' is not known"),
        ("a -> b: 'x y'", "'x y'"),
    ],
)
def test_004_40_a_wrong_signature_is_refused_with_its_culprit(text: str, culprit: str) -> None:
    with pytest.raises(SetupError) as caught:
        Signature.parse(text)
    assert culprit in str(caught.value)


def test_004_40_without_instructions_the_names_make_a_sentence() -> None:
    assert Signature.parse("a, b -> c").instructions == (
        "Given the fields `a`, `b`, produce the fields `c`."
    )
    assert Signature.parse("a -> b", "Translate.").instructions == "Translate."


def test_004_40_a_class_gives_descriptions_defaults_and_instructions() -> None:
    signature = Cheapest.signature
    assert signature.instructions == "Find the cheapest offer."
    assert [part.name for part in signature.parts] == ["offers", "limit", "answer"]
    assert [part.default for part in signature.parts] == [MISSING, 10.0, MISSING]
    assert [part.is_optional for part in signature.parts] == [False, True, False]
    assert signature.inputs[0].is_live
    assert repr(MISSING) == "MISSING"


def test_004_40_fields_are_added_and_removed_in_a_new_signature() -> None:
    signature = Signature.parse("a, b -> x, y", "Do it.")
    longer = (
        signature.append(Field("c", "input"))
        .prepend(Field("w", "output"))
        .insert(1, Field("a2", "input", int))
    )
    assert [part.name for part in longer.parts] == ["a", "a2", "b", "c", "w", "x", "y"]
    assert [part.name for part in longer.delete("b").delete("nobody").parts] == [
        *("a", "a2", "c", "w", "x", "y")
    ]
    assert longer.with_instructions("Else.").instructions == "Else."
    assert [part.name for part in signature.parts] == ["a", "b", "x", "y"]
    assert longer.instructions == "Do it."


def test_004_41_fields_carry_what_dspy_reads() -> None:
    fields = Cheapest.signature.fields
    assert list(fields) == ["offers", "limit", "answer"]
    assert fields["limit"].default == 10.0
    assert fields["limit"].annotation is float
    assert fields["answer"].json_schema_extra == {
        "desc": "One sentence.",
        "prefix": "Answer:",
        "__dspy_field_type": "output",
    }
    assert Signature.parse("a -> bestMonth_of_year").outputs[0].prefix == "Best Month Of Year:"


def test_types_are_named_as_people_write_them() -> None:
    named = [type_name(kind) for kind in (str, list[str], int | None, None, Literal["a"])]
    assert named == ["str", "list[str]", "int | None", "None", "Literal['a']"]


NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), unique=True, min_size=1)


@given(NAMES, st.sampled_from(["str", "int", "list[str]", "dict[str, int]", "Figure"]))
def test_004_40_what_is_written_is_read_back(names: list[str], kind: str) -> None:
    import keyword

    names = [f"{name}_" if keyword.iskeyword(name) else name for name in names]
    names = list(dict.fromkeys(names))
    signature = Signature.parse("-> " + ", ".join(f"{name}: {kind}" for name in names))
    assert [(part.name, part.type_name) for part in signature.outputs] == [
        (name, kind) for name in names
    ]
