"""Events as other programs see them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest
from event_strategies import EVENT_CLASSES, events
from hypothesis import given, settings
from recorded_runs import analysis_run

from cellwright.record.events import Event, json_schema
from cellwright.record.values import to_dict


@cache
def validator() -> jsonschema.protocols.Validator:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@settings(deadline=None)
@given(event=events)
def test_every_event_fits_the_schema(event: Event) -> None:
    validator().validate(json.loads(json.dumps(to_dict(event))))


def test_a_real_run_fits_the_schema() -> None:
    for event in analysis_run():
        validator().validate(to_dict(event))


@pytest.mark.parametrize(
    "data",
    [{"kind": "text_delta"}, {"kind": "nonsense", "text": "a"}, {"text": 1, "kind": "text_delta"}],
)
def test_what_is_no_event_does_not_fit(data: Any) -> None:
    assert not validator().is_valid(data)


def test_the_schema_names_every_event() -> None:
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {cls.__name__ for cls in EVENT_CLASSES} <= set(schema["$defs"])
