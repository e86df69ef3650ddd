"""MIME bundles as the text a model is given."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

from cellwright.record.mime_bundles import bundle_text

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 547, 413) + bytes(9)
).decode()
VEGA_LITE = "application/vnd.vegalite.v5+json"


@pytest.mark.parametrize(
    ("bundle", "read"),
    [
        ({"text/plain": "42", "text/html": "<b>42</b>"}, "42"),
        ({"text/plain": ["4", "2"]}, "42"),
        (
            {"text/plain": "LinearRegression()", "text/html": "<div>style</div>"},
            "LinearRegression()",
        ),
        ({"text/plain": "<IPython.core.display.HTML object>", "text/html": "<p>hi</p>"}, "hi"),
        ({"text/plain": "<x.Markdown object>", "text/markdown": "# Title"}, "# Title"),
        ({"text/plain": "<x.Latex object at 0x7f>", "text/latex": "$x$"}, "$x$"),
        ({"text/plain": "<x.JSON object>", "application/json": {"a": [1]}}, '{"a": [1]}'),
        ({"application/geo+json": {"type": "Point"}}, '{"type": "Point"}'),
        ({"text/html": "<script>draw()</script>"}, "[HTML without text]"),
        ({"text/plain": "<x.Thing object at 0x7f>"}, "<x.Thing object at 0x7f>"),
        ({"application/javascript": "alert(1)"}, ""),
        ({"application/vnd.bokehjs_load.v0+json": "", "text/html": ""}, ""),
        ({"application/pdf": "JVBER"}, "[application/pdf]"),
        ({}, ""),
        ({"text/plain": {"odd": 1}}, '{"odd": 1}'),
        (
            {"application/vnd.cellwright.context+text": "12 nodes", "text/plain": "Graph(...)"},
            "12 nodes",
        ),
        (
            {
                "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
                "text/plain": "IntSlider(value=3)",
            },
            "[widget IntSlider(value=3)]",
        ),
        (
            {"image/svg+xml": "<svg><title>Sales</title><text x='1'>Jan</text><text>Jan</text>"},
            "[SVG picture: Sales; Jan]",
        ),
        ({"image/svg+xml": "<svg><path d='M0'/></svg>"}, "[SVG picture]"),
        (
            {"image/png": PNG, "text/plain": "<Figure size 640x480 with 1 Axes>"},
            "[image/png 547x413] <Figure size 640x480 with 1 Axes>",
        ),
        ({"image/png": "not base64!", "text/plain": "fig"}, "fig"),
    ],
)
def test_the_most_readable_form_is_chosen(bundle: dict[str, Any], read: str) -> None:
    assert bundle_text(bundle) == read


def test_a_vega_chart_keeps_its_encoding_and_three_rows() -> None:
    rows = [{"x": n, "y": n * n} for n in range(500)]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "config": {"view": {}},
        "data": {"name": "d"},
        "datasets": {"d": rows},
        "mark": {"type": "bar"},
        "encoding": {"x": {"field": "x"}},
    }
    read = bundle_text({VEGA_LITE: spec, "text/plain": "<VegaLite 5 object>"})
    assert json.loads(read.removeprefix("[Vega chart] ")) == {
        "mark": {"type": "bar"},
        "encoding": {"x": {"field": "x"}},
        "rows": 500,
        "first": rows[:3],
    }


def test_a_vega_chart_inside_html_is_found() -> None:
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar"}
    html = f"<script>(function(a, b){{{{}}}})({json.dumps(spec)}, {{}});</script>"
    assert bundle_text({"text/html": html}) == '[Vega chart] {"mark": "bar"}'
    broken = f"<script>f({{broken}}); g({json.dumps(spec)})</script>"
    assert bundle_text({"text/html": broken}) == '[Vega chart] {"mark": "bar"}'
    other = "<p>see https://vega.github.io/schema/vega-lite/v5.json</p> ({})"
    assert bundle_text({"text/html": other}).startswith("see https://")


def test_inline_values_layers_and_addresses_of_a_vega_chart_are_kept_short() -> None:
    spec = {
        "layer": [{"mark": "line", "data": {"values": [{"a": 1}] * 9}}],
        "data": {"url": "sales.csv"},
    }
    assert json.loads(bundle_text({VEGA_LITE: spec}).removeprefix("[Vega chart] ")) == {
        "layer": [{"mark": "line", "rows": 9, "first": [{"a": 1}] * 3}],
        "data": "sales.csv",
    }


def test_a_plotly_figure_of_two_thousand_points_costs_under_150_tokens() -> None:
    packed = base64.b64encode(struct.pack("<4d", 1, 2, 3, 9)).decode()
    figure = {
        "data": [
            {
                "type": "scatter",
                "x": list(range(2_000)),
                "y": {"dtype": "f8", "bdata": packed},
                "text": ["a", "b", "c", "d"],
                "z": {"dtype": "??", "bdata": packed},
                "hovertemplate": "x=%{x}",
                "visible": None,
            }
        ],
        "layout": {"template": {"huge": "x" * 7_000}, "title": {"text": "T"}, "shapes": []},
    }
    read = bundle_text({"application/vnd.plotly.v1+json": figure, "text/html": "<div/>"})
    assert len(read) < 600
    assert json.loads(read.removeprefix("[Plotly chart] ")) == {
        "data": [
            {
                "type": "scatter",
                "x": {"n": 2_000, "min": 0, "max": 1_999, "first": [0, 1, 2]},
                "y": {"n": 4, "min": 1.0, "max": 9.0, "first": [1.0, 2.0, 3.0]},
                "text": {"n": 4, "first": ["a", "b", "c"]},
                "z": {"n": 0, "first": []},
            }
        ],
        "layout": {"title": {"text": "T"}},
    }


def test_many_traces_of_a_plotly_figure_are_all_but_listed() -> None:
    figure = {"data": [{"name": f"trace {n}"} for n in range(30)]}
    read = bundle_text({"application/vnd.plotly.v1+json": figure})
    assert "trace 19" in read
    assert "trace 20" not in read
