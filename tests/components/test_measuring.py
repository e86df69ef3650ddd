"""What the base class measures and adds up (requirements 000-28, 000-29)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import component

from cellwright.record.content import ComponentOutput
from cellwright.record.messages import ModelUsage, Usage
from cellwright.tools import Component
from cellwright.tools.evaluation import Stopwatch, is_kernel, resident_bytes


def test_000_29_time_and_memory_are_measured_by_the_base_class() -> None:
    def slow() -> Iterator[str]:
        time.sleep(0.02)
        yield "x"
        time.sleep(0.02)

    last = list(component(slow).evaluate())[-1]
    assert isinstance(last, ComponentOutput)
    metrics = last.metrics
    assert metrics is not None
    assert metrics.duration_seconds >= 0.04
    assert 0.02 <= (metrics.first_output_seconds or 0) < metrics.duration_seconds
    assert metrics.end - metrics.begin == pytest.approx(metrics.duration_seconds, abs=1e-5)
    assert (metrics.memory_delta_megabytes is None) == (resident_bytes() is None)
    assert resident_bytes("/nowhere") is None


def test_000_29_nested_tools_are_each_measured() -> None:
    inner = component(lambda: time.sleep(0.02))
    outer = component(lambda: inner.evaluate_merged().content and None)
    merged = outer.evaluate_merged()
    assert merged.metrics is not None
    assert merged.metrics.duration_seconds >= 0.02


def test_000_28_usage_of_a_tools_own_model_calls_is_summed() -> None:
    def asks() -> Iterator[Any]:
        tool = Component()
        for tokens in (3, 4):
            yield tool.create_output(text="x", usage={"name": "m", "prompt_tokens": tokens})

    merged = component(asks).evaluate_merged()
    assert merged.usage == (ModelUsage("m", Usage(7, estimated=True)),)


@pytest.mark.parametrize(
    "written",
    [
        {"name": "m", "prompt_tokens": 2, "completion_tokens": 1},
        [{"model": "m", "prompt_tokens": 2, "completion_tokens": 1}],
        [{"model": "m", "prompt_tokens": 2}, {"model": "m", "completion_tokens": 1}, {}],
    ],
)
def test_x_03_usage_written_as_a_dict_or_as_a_list_is_one_list(written: Any) -> None:
    (spent,) = (
        component(lambda: Component().create_output(text="x", usage=written))
        .evaluate_merged()
        .usage
    )
    assert (spent.model, spent.usage.total_tokens) == ("m", 3)


def test_000_29_a_wall_clock_that_is_set_changes_no_duration() -> None:
    watch = Stopwatch(begin=time.time() + 86_400)
    time.sleep(0.002)
    metrics = watch.metrics()
    assert 0 < metrics.duration_seconds < 10
    assert metrics.end == metrics.begin + metrics.duration_seconds


def test_000_29_the_time_of_the_processor_is_told_only_where_cells_run() -> None:
    assert (Stopwatch().metrics().kernel_cpu_seconds is not None) == is_kernel()
