"""What a tool said to the person, as HTML that loads and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.exports.html_outputs import output_html
from cellwright.record.content import Content
from cellwright.record.content_drawing import drawn_contents
from cellwright.record.outputs import DisplayData


def contents_html(contents: Iterable[Content]) -> str:
    """The contents that are for the person, drawn as the outputs of a cell are."""
    shown = [item for item in contents if not item.is_error]
    bundles = (
        {**drawn.rich, "text/markdown": drawn.markdown, "text/plain": drawn.plain}
        for drawn in drawn_contents(shown)
    )
    return "".join(
        output_html(DisplayData({mime: data for mime, data in bundle.items() if data}))
        for bundle in bundles
    )
