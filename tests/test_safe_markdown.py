"""What becomes of model-written Markdown in a renderer that lets everything through."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from cpu_time import quick
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from cellwright.text.cleaning import (
    as_text,
    fenced,
    host_of,
    plain_text,
    safe_inline,
    safe_link,
    safe_markdown,
)

PNG = "data:image/png;base64,iVBORw0KGgo="
ALLOWED_TAG = re.compile(
    "p|br|strong|em|del|s|code|pre|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|a|hr|img|span|div|"
    "h[1-6]|sup|section|dl|dt|dd|input"
)
ALLOWED_ATTRIBUTES = ("class", "id", "alt", "start", "align", "type", "disabled", "checked")
PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=http://evil.test/x.png onerror=alert(1)>",
    "<IMG\nSRC=http://evil.test/x.png>",
    "<div style=\"background-image:url('http://evil.test/x')\">x</div>",
    '<input type="image" src="http://evil.test/x">',
    '<video src="http://evil.test/v" poster="http://evil.test/p"></video>',
    '<audio src="http://evil.test/a">',
    '<img srcset="http://evil.test/x 2x">',
    '<link rel="stylesheet" href="http://evil.test/s.css">',
    '<base href="http://evil.test/">',
    '<meta http-equiv="refresh" content="0;url=http://evil.test/">',
    '<iframe src="http://evil.test/"></iframe>',
    "<svg><image href='http://evil.test/x'/></svg>",
    '<button data-commandlinker-command="terminal:create-new">x</button>',
    "<!-- <img src=http://evil.test/x> -->",
    "![x](http://evil.test/x.png)",
    "![x](<http://evil.test/x.png> 'title')",
    "![x](//evil.test/x.png)",
    "![x](plot.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x](data:text/html;base64,PHN2Zz4=)",
    "[![x](http://evil.test/x.png)](http://good.test)",
    "![x][r]\n\n[r]: http://evil.test/x.png",
    "![r]\n\n[r]: http://evil.test/x.png",
    "![x\ny](http://evil.test/x.png)",
    "[r\n]: http://evil.test/x.png\n\n![r\n]",
    "!<http://evil.test/x.png>",
    "!\\[x](http://evil.test/x.png)",
    "\\![x](javascript:alert(1))",
    "[x](javascript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](JaVaScRiPt&colon;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](/lab/tree/secret)",
    "<javascript:alert(1)>",
    "$\\href{javascript:alert(1)}{x}$",
    "$$\n\\href{javascript:alert(1)}{x} ![y](http://evil.test/x)\n$$",
    "$<img src=http://evil.test/x>$",
    "\\begin{a}\n\n```\n\\end{a}\n<img src=http://evil.test/x>\n```",
    "$$\n\n```\n$$\n<img src=http://evil.test/x>\n```",
    "text\n    ```\n\n<img src=http://evil.test/x>\n    ```",
    "foo ` bar\nx `<img src=http://evil.test/x>` y",
    "| a ` | b |\n|---|---|\n| `x | <img src=http://evil.test/x>` | 2 |",
    "> ```\n<img src=http://evil.test/x>\n> ```",
    "> ```\n> x\n\n<img src=http://evil.test/x>",
    "- ```\n<img src=http://evil.test/x>\n- ```",
    "~~~\n```\n~~~\n<img src=http://evil.test/x>\n```",
    "````\n```\n<img src=http://evil.test/x>\n````\n<img src=http://evil.test/x>",
    "``` `x`\n<img src=http://evil.test/x>\n```",
    "```mermaid\ngraph TD; A[<img src=http://evil.test/x>]\n```",
    "[^1]: <img src=http://evil.test/x>",
    "\\\\[<img src=http://evil.test/x>\\\\]",
    "~~~`\n```\n~~~\n<img src=http://evil.test/x>",
    "- - ~~~\n\n```\n~~~\n<img src=http://evil.test/x>",
    "$[$](javascript:alert(1)) `[`](javascript:alert(1))",
    "$$\\\\[$$](javascript:alert(1))",
    "a\u2028<img src=http://evil.test/x>",
]


class Found(HTMLParser):
    """The tags of a page and whatever could load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not ALLOWED_TAG.fullmatch(tag):
            self.bad.append(tag)
        for name, value in attrs:
            self._attribute(tag, name, value or "")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if tag == "a" and name == "href":
            self.links.append(value)
            if not value.startswith(("http://", "https://", "mailto:", "#")):
                self.bad.append(f"href={value}")
        elif tag == "img" and name == "src":
            self.bad += [] if value.startswith("data:image/png;base64,") else [f"src={value}"]
        elif name not in ALLOWED_ATTRIBUTES and (name, value[:10]) != ("style", "text-align"):
            self.bad.append(f"{tag} {name}={value}")


def rendered(text: str) -> Found:
    found = Found()
    found.feed(markdown2html_mistune(safe_markdown(text)))
    return found


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_in_a_payload_loads_or_runs(payload: str) -> None:
    for text in (payload, f"before {payload} after", f"- {payload}", f"> {payload}"):
        assert rendered(text).bad == []


FRAGMENTS = st.sampled_from(
    [*PAYLOADS]
    + list("`~$[]()!<>\\|*_-#:\n \t")
    + ["```", "~~~", "$$", "\n\n", "\n    ", "\n> ", "\n- ", "1. ", "![", "](", "][", "\\[", "\\("]
    + ["<img src=http://evil.test/x>", "http://evil.test/x", "\\begin{a}", "\\end{a}", "a", "|---|"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENTS, max_size=25))
def test_no_mixture_of_markup_loads_or_runs_anything(pieces: list[str]) -> None:
    assert rendered("".join(pieces)).bad == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert rendered(text).bad == []
    safe_markdown(text).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\n\n**bold** *it* `code` ~~no~~", "# Title\n\n**bold** *it* `code` ~~no~~"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("`df['a'][0]` and `a < b`", "`df['a'][0]` and `a < b`"),
        ("`x <b>`", "<code>x &#60;b&#62;</code>"),
        ("a < b", "a &lt; b"),
        ("costs $5 and $10", "costs &#36;5 and &#36;10"),
        ("area $x^2 < y$", "area $x^2 \\lt  y$"),
        (r"\(a\) and \[b\]", "$a$ and $$b$$"),
        ("\\[\na<b\n\\]", "$$\na\\lt b\n$$"),
        ("$$\nno end", "&#36;&#36;\nno end"),
        ("$$x$$", "$$x$$"),
        (r"$\begin{a}x$", r"$begin{a}x$"),
        (r"$\begin{a}x\end{a}$", r"$\begin{a}x\end{a}$"),
        ("- [ ] todo [1] [^2]", "- [ ] todo [1] [^2]"),
        (r"1\. not a list \* \q", r"1&#46; not a list &#42; &#92;q"),
        ("end\\", "end&#92;"),
        ("50 ``` of", "50 &#96;&#96;&#96; of"),
        (f"![plot]({PNG})", f"![plot]({PNG})"),
        ("hey! a", "hey! a"),
        ("> quote\n> more", "> quote\n> more"),
        ("```py\nx<y\n```", "```py\nx<y\n```"),
        ("```\nno end", "```\nno end\n```"),
        ("a\n```{.python}\nb\n```\nc", "a\n\n```text\nb\n```\n\nc"),
    ],
)
def test_ordinary_markdown_stays_what_it_is(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected


def test_code_in_a_list_comes_out_at_the_margin_and_the_text_after_it_too() -> None:
    text = "1. step\n   ```py\n   if x:\n       y\n   ```\n   then\nnext\n- ```sql\n  select\n  ```"
    assert safe_markdown(text) == (
        "1. step\n\n```py\nif x:\n    y\n```\n\nthen\nnext\n- \n\n```sql\nselect\n```"
    )


def test_a_link_shows_where_it_leads() -> None:
    assert safe_markdown("[docs](https://example.com/a(b)?x=1&y=2 'title')") == (
        "[docs](https://example.com/a%28b%29?x=1&amp;y=2) (example.com)"
    )


def test_a_link_that_is_left_out_says_what_it_was() -> None:
    assert safe_markdown("[a](javascript:x) [b](../c)") == (
        "a (link removed: javascript) b (link removed: a file)"
    )


def test_a_link_without_text_shows_its_host() -> None:
    assert safe_markdown("[](https://example.com)") == (
        "[example.com](https://example.com) (example.com)"
    )


def test_a_picture_that_is_left_out_says_where_it_was() -> None:
    assert safe_markdown("![cat](http://evil.test/c.png)") == "*cat (not loaded: evil.test)*"
    assert safe_markdown("![](c.png)") == "*picture (not loaded: a file)*"


def test_bare_addresses_are_spelled_in_ascii() -> None:
    text = "see https://g\u043eogle.com/x, www.example.com. <https://\u00e9.test/> https://[x"
    assert safe_markdown(text) == (
        "see https://xn--gogle-jye.com/x, http://www.example.com. https://xn--9ca.test/ "
        "https://&#91;x"
    )


def test_terminal_escapes_and_marks_that_reorder_text_are_taken_out() -> None:
    osc52 = "\x1b]52;c;ZXZpbA==\x07"
    text = f"{osc52}a\x1b[31mred\x1b[0m\x9b31mb\u202egnp.exe\u202c\x07\r\nc\rd\ud800"
    assert plain_text(text) == "aredbgnp.exe\nc\nd\ufffd"


def test_code_cannot_close_its_fence() -> None:
    assert fenced("a\n```\nb", "python") == "````python\na\n```\nb\n````"
    assert fenced("x") == "```\nx\n```"


def test_text_can_be_shown_as_it_is() -> None:
    text = "a_b *c* <d> [e](f) `g` | h ~i~ $j$ &amp; \\k #l"
    found = markdown2html_mistune(as_text(text))
    assert "a_b *c* &lt;d&gt; [e](f) `g` | h ~i~ $j$ &amp;amp; \\k #l" in found


def test_quotes_do_not_nest_without_end() -> None:
    assert rendered(">" * 3_000 + " <img src=http://evil.test/x>").bad == []


def test_a_huge_line_is_shown_as_text_and_pictures() -> None:
    line = "`<b> " * 10_000
    assert safe_inline(line) == as_text(line)
    picture = f"![plot]({PNG[:-1]}{'A' * 40_000})"
    assert safe_inline(f"<b>{picture}*") == f"&#60;b&#62;{picture}&#42;"


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("unit", ["`", "[", "![a](", "$", "\\[", "\\(", "<", "> ", "```", "- ~~~"])
def test_a_lot_of_the_same_takes_no_more_than_a_moment(unit: str, end: str) -> None:
    text = f"{unit}{end}" * (20_000 if end else 19_000 // len(unit))
    quick(lambda: safe_markdown(text), 4)


@pytest.mark.parametrize(
    ("address", "href", "host"),
    [
        ("https://Example.COM:8080/a b?q=1#f", "https://example.com:8080/ab?q=1#f", "example.com"),
        ("http://user:pw@evil.test/x", "http://evil.test/x", "evil.test"),
        ("https://good.test@evil.test", "https://evil.test", "evil.test"),
        ("mailto:a.b@example.com", "mailto:a.b@example.com", "a.b@example.com"),
        ("HTTPS://\u0430pple.com/", "https://xn--pple-43d.com/", "xn--pple-43d.com"),
        ("http://x.test/`_*$[]", "http://x.test/%60_%2A%24%5B%5D", "x.test"),
    ],
)
def test_an_address_is_made_plain(address: str, href: str, host: str) -> None:
    link = safe_link(address)
    assert link is not None
    assert (link.href, link.host) == (href, host)


@pytest.mark.parametrize(
    "address",
    ["", "x", "//evil.test", "ftp://x.test", "http:x", "http://", "http://[::1]/", "http://a:b/"]
    + ["mailto:a@b?subject=x", "javascript:x", "http://" + "a" * 3_000, "http://a\u2044b.test..x/"],
)
def test_other_addresses_are_no_links(address: str) -> None:
    assert safe_link(address) is None


def test_an_address_that_is_no_link_is_named_by_its_kind() -> None:
    assert host_of("javascript:x") == "javascript"
    assert host_of("../x.png") == "a file"
    assert host_of("http://x.test/y") == "x.test"
