"""``Message``: requirements 000-03."""

from __future__ import annotations

from typing import Any

import pytest
from component_samples import Figureless

from cellwright.tools.message import Message


def test_000_03_every_message_has_an_id_of_its_own() -> None:
    assert Message().id != Message().id


def test_000_03_none_stays_none_and_the_type_is_told() -> None:
    assert Message(None).content is None
    assert (Message(None).mtype, Message([1]).mtype) == ("NoneType", "list")


@pytest.mark.parametrize("content", [None, "text", {"a": [1, 2.5, True]}, [], 3])
def test_000_03_plain_content_round_trips(content: Any) -> None:
    message = Message(content, name="q", origin="cell")
    again = Message.from_dict(message.to_dict())
    assert again == message
    assert (again.content, again.origin, again.id) == (content, "cell", message.id)


def test_000_03_a_class_of_ones_own_keeps_its_kind_and_its_fields() -> None:
    class Note(Message[str]):
        """A message of our own."""

    again = Note.from_dict(Note("x", colour="red").to_dict())
    assert isinstance(again, Note)
    assert (again.content, again.colour) == ("x", "red")


def test_000_03_an_object_becomes_its_repr_and_its_mime_bundle() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1]})
    message = Message(table)
    assert message.content is table
    data = message.to_dict()
    assert "<table" in data["mime"]["text/html"]
    assert data["content"] == repr(table)
    assert Message({"rows": {1: 2}, "f": Figureless()}).to_dict()["mime"]["text/plain"]
    assert "<table" in message._repr_mimebundle_()["text/html"]


def test_000_03_a_field_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="no field 'colour'"):
        _ = Message("x").colour


def test_a_message_compares_by_what_it_holds() -> None:
    one = Message("x", id="1")
    assert one == Message("x", id="1")
    assert one != "x"
    assert len({one, Message("x", id="1")}) == 1
    assert repr(one) == "Message(name='msg', mtype='str', id='1')"
    assert str(Message({"a": 1})) == '{"a":1}'
