"""HTML as a person reads it."""

from __future__ import annotations

import pytest

from cellwright.text.cleaning import html_text


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<b>bold</b> and <i>more</i>", "bold and more"),
        ("<p>one</p><p>two &amp; three</p>", "one\ntwo & three"),
        ("<style>p{}</style><script>alert('x')</script>seen", "seen"),
        ("<audio controls><source src='data:x'>Your browser</audio>", "[audio]"),
        ("<svg><text>in svg</text></svg>after", "[svg]after"),
        ("<img src='data:x'>", "[img]"),
        ("a<br>b", "a\nb"),
        (
            "<table><tr><th>n</th><th>m</th></tr><tr><td>1</td><td> 2 </td></tr></table>",
            "n | m\n1 | 2",
        ),
        ("<tr>loose</tr></table></script>", ""),
        ("<td>loose</td>", "loose"),
        ("<script>never closed", ""),
    ],
)
def test_visible_text_is_kept_and_the_rest_is_not(html: str, read: str) -> None:
    assert html_text(html) == read


def test_a_long_table_shows_twenty_rows_and_counts_the_others() -> None:
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(30))
    read = html_text(f"<table>{rows}</table>").splitlines()
    assert read[:20] == [str(n) for n in range(20)]
    assert read[20:] == ["[… 10 more rows …]"]
