"""The parts of a report: terminal colours, Markdown and HTML made harmless."""

from __future__ import annotations

from functools import partial

import pytest
from cpu_time import quick
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import PIXEL

from cellwright.exports.html_contents import (
    ansi_html,
    highlighted,
    markdown_html,
    sanitised,
    visible,
)


class TestTerminalText:
    @pytest.mark.parametrize(
        ("text", "drawn"),
        [
            ("plain <b>", "plain &lt;b&gt;"),
            ("\x1b[31mred\x1b[0m off", '<span class="ansi-red">red</span> off'),
            ("\x1b[91mred\x1b[39m off", '<span class="ansi-red">red</span> off'),
            (
                "\x1b[1;34mx\x1b[22my\x1b[m",
                '<span class="ansi-bold ansi-blue">x</span><span class="ansi-blue">y</span>',
            ),
            ("\x1b[38;5;1mx", '<span class="ansi-red">x</span>'),
            ("\x1b[38;5;46mx", '<span class="ansi-green">x</span>'),
            ("\x1b[38;5;240mx", '<span class="ansi-grey">x</span>'),
            ("\x1b[38;2;10;20;250mx", '<span class="ansi-blue">x</span>'),
            ("\x1b[38;2;10mx", '<span class="ansi-grey">x</span>'),
            ("\x1b[38mx", '<span class="ansi-black">x</span>'),
            ("\x1b[48;5;46mx\x1b[7mx", "xx"),
            ("\x1b[999999mx", "x"),
            ("\x1b]0;title\x07a\x1b]8;;http://evil\x1b\\b\x1b[2Jc\x1b(Bd\x1b", "abcd"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("a\x00\u202eb", "a[U+0000][U+202E]b"),
        ],
    )
    def test_colours_are_kept_and_nothing_else(self, text: str, drawn: str) -> None:
        assert ansi_html(text) == drawn

    @given(text=st.text())
    def test_no_text_makes_a_tag_or_an_escape(self, text: str) -> None:
        drawn = ansi_html(text)
        assert "\x1b" not in drawn
        assert drawn.replace('<span class="ansi-', "").replace("</span>", "").count("<") == 0

    def test_what_hides_is_shown(self) -> None:
        assert visible("user\u200b\u2066admin") == "user[U+200B][U+2066]admin"
        assert visible("tab\tand\nline 中文 é") == "tab\tand\nline 中文 é"


class TestCode:
    def test_code_is_coloured_and_escaped(self) -> None:
        assert highlighted("if a < 1:\n    b") == (
            '<span class="c-k">if</span> <span class="c-n">a</span> <span class="c-o">&lt;</span> '
            '<span class="c-mi">1</span><span class="c-p">:</span>\n    <span class="c-n">b</span>'
        )
        assert "</pre>" not in highlighted("'</pre>'")

    @pytest.mark.parametrize("language", ["", "no such language", "mermaid<"])
    def test_an_unknown_language_is_plain(self, language: str) -> None:
        assert highlighted("a < b", language) == "a &lt; b"

    def test_very_long_code_is_plain(self) -> None:
        assert "<" not in highlighted("x = 1\n" * 40_000)

    def test_cell_magics_do_not_break_it(self) -> None:
        assert "ls" in highlighted("%%bash\nls -l")


class TestMarkdown:
    @pytest.mark.parametrize(
        ("text", "drawn"),
        [
            ("# One", "<h3>One</h3>"),
            ("###### Six ##", "<h6>Six</h6>"),
            ("a\nb\n\nc", "<p>a\nb</p>\n<p>c</p>"),
            ("a  \nb", "<p>a<br>b</p>"),
            (
                "**b** *i* _i_ ~~s~~ `c<`",
                "<p><strong>b</strong> <em>i</em> <em>i</em> <s>s</s> <code>c&lt;</code></p>",
            ),
            ("**bold _both_**", "<p><strong>bold <em>both</em></strong></p>"),
            ("snake_case_name 2 * 3 * 4", "<p>snake_case_name 2 * 3 * 4</p>"),
            (r"\*no\* \<b>", "<p>*no* &lt;b&gt;</p>"),
            ("``a`b``", "<p><code>a`b</code></p>"),
            ("---", "<hr>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("1. a\n   more\n2. b", "<ol><li>a\nmore</li><li>b</li></ol>"),
            ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
            ("- [ ] a\n- [x] b", "<ul><li>☐ a</li><li>☑ b</li></ul>"),
            (
                "- a\n  - b\n    - c\n- d",
                "<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>",
            ),
            ("- a\n1. b", "<ul><li>a</li></ul>\n<ol><li>b</li></ol>"),
            ("> a\n> - b", "<blockquote><p>a</p>\n<ul><li>b</li></ul></blockquote>"),
            ("text\n- item", "<p>text</p>\n<ul><li>item</li></ul>"),
            (
                "| a | b |\n|---|:-:|\n| 1 | 2\\|3 |",
                '<div class="table"><table><thead><tr><th>a</th>'
                "<th>b</th></tr></thead><tbody><tr><td>1</td><td>2|3</td></tr></tbody></table></div>",
            ),
            (
                "| a |\n|---|",
                '<div class="table"><table><thead><tr><th>a</th></tr></thead></table></div>',
            ),
            (
                "a | b\n-- | --\n1 | 2 | 3\n4 |",
                '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>'
                "<tr><td>1</td><td>2</td></tr><tr><td>4</td><td></td></tr></tbody></table></div>",
            ),
            (  # as the examples of the GFM specification's section on tables have it
                "| a | b |\n| - | - |\n| 1 | 2 |\nbar\n\nbar",
                '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>'
                "<tr><td>1</td><td>2</td></tr><tr><td>bar</td><td></td></tr></tbody></table></div>"
                "\n<p>bar</p>",
            ),
            (
                "| a | b |\n| - | - |\n| 1 | 2 |\n> bar",
                '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>'
                "<tr><td>1</td><td>2</td></tr></tbody></table></div>"
                "\n<blockquote><p>bar</p></blockquote>",
            ),
            (
                "~~~\n```\n| a | b |\n|---|---|\n| 1 |\n~~~",
                '<pre class="code">```\n| a | b |\n|---|---|\n| 1 |</pre>',
            ),
            ("a | b\nno rule", "<p>a | b\nno rule</p>"),
            ("```\na\n```\nb", '<pre class="code">a</pre>\n<p>b</p>'),
            ("~~~text\na\n```\n~~~", '<pre class="code">a\n```</pre>'),
            ("```\nopen", '<pre class="code">open</pre>'),
            ("```", '<pre class="code"></pre>'),
            ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
            ("a <b>b</b> &lt; &copy;", "<p>a &lt;b&gt;b&lt;/b&gt; &lt; ©</p>"),
            ("<https://a.b/c>", "<p>https://a.b/c</p>"),
            (
                "![p][r] [q][r]\n\n[r]: https://a.b/c",
                '<p><span class="blocked">picture not loaded: p https://a.b/c</span> '
                'q <span class="address">https://a.b/c</span></p>',
            ),
            ("[text](https://a.b/c)", '<p>text <span class="address">https://a.b/c</span></p>'),
            (
                "![p](https://a.b/c.png)",
                '<p><span class="blocked">picture not loaded: p https://a.b/c.png</span></p>',
            ),
            (
                f"![p](data:image/png;base64,{PIXEL})",
                f'<p><img src="data:image/png;base64,{PIXEL}" alt="p"></p>',
            ),
            (
                "![p](data:image/svg+xml;base64,AA==)",
                '<p><span class="blocked">picture not loaded: '
                "p data:image/svg+xml;base64,AA==</span></p>",
            ),
            ("", ""),
        ],
    )
    def test_each_construct_is_drawn(self, text: str, drawn: str) -> None:
        assert markdown_html(text) == drawn

    @pytest.mark.parametrize("sign", ["> ", "- ", "**_", "~~*", "[", "![", "![]("])
    def test_nesting_ends(self, sign: str) -> None:
        drawn = markdown_html(sign * 3_000 + "deep")
        assert "deep" in drawn
        assert drawn.count("<blockquote>") < 50

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from([*"*_`~[]()!<>|#-\\ \n", "a", "1.", "```", "> ", "| a |"])))
    def test_any_text_makes_balanced_harmless_html(self, pieces: list[str]) -> None:
        drawn = markdown_html("".join(pieces))
        again = sanitised(drawn)
        assert drawn.count("<p>") == drawn.count("</p>")
        assert drawn.count("<ul>") == drawn.count("</ul>")
        assert "<a" not in again

    @pytest.mark.parametrize(
        "unit",
        [
            *("*", "**a ", "_a ", "`a ``b ", "[", "![a](", "~~a", "| a ", "> ", "- ", "\\", "<"),
            *("[a](<", "[a]: <b> '", "<!--", "<a ", "1. ", "|a|\n|-|\n"),
        ],
    )
    def test_no_text_makes_it_slow(self, unit: str) -> None:
        for text in (unit * (100_000 // len(unit)), (unit + "\n") * (30_000 // len(unit))):
            quick(partial(markdown_html, text), 5)


class TestSanitiser:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("<p>a<b>c</b></p>", "<p>a<b>c</b></p>"),
            ("<p class=x style='y' id=z title=t data-q=1>a</p>", "<p>a</p>"),
            ("a <br> b <br/> c <hr>", "a <br> b <br> c <hr>"),
            ("<script>x</script><style>y</style>a", "a"),
            ("<script>x", ""),
            ("<svg><p>in</p></svg>out", "out"),
            ("<svg><title>t</svg>out", "out"),
            ("<select><option>o</select>out", "out"),
            ("<link href=x>a<input>b<embed>c", "abc"),
            ("<svg/>a<embed/>b", "ab"),
            ("<unknown>a</unknown>", "a"),
            ("<a href='https://x'>a</a>", "a"),
            ("<p>open <b>both", "<p>open <b>both</b></p>"),
            ("</p></b>a", "a"),
            ("<b><i>a</b>b</i>", "<b><i>a</i></b>b"),
            ("<td colspan=2 rowspan='3'>a</td>", '<td colspan="2" rowspan="3">a</td>'),
            ("<td colspan=0 rowspan=-1>a</td>", "<td>a</td>"),
            ("<td colspan=99999 rowspan=²>a</td>", "<td>a</td>"),
            ("<p colspan=2>a</p>", "<p>a</p>"),
            (
                "<img src='https://x/y.png' alt='a<b'>",
                '<span class="blocked">picture not loaded a&lt;b</span>',
            ),
            (
                f"<img src='data:image/gif;base64,{PIXEL}'>",
                f'<img src="data:image/gif;base64,{PIXEL}" alt="">',
            ),
            ("<!-- c --><!DOCTYPE html><?php x?>a", "a"),
            ("&lt;script&gt; &amp; &copy;", "&lt;script&gt; &amp; ©"),
            ("<div>  \n </div>", ""),
        ],
    )
    def test_only_the_harmless_part_is_left(self, text: str, left: str) -> None:
        assert sanitised(text) == left

    @pytest.mark.parametrize(
        "text",
        ["<a " * 10_000, "<!-- >" * 10_000, "<svg>" * 20_000 + "</b>" * 20_000],
        ids=["unclosed tags", "unclosed comments", "dropped elements"],
    )
    def test_html_that_never_ends_does_not_make_it_slow(self, text: str) -> None:
        quick(partial(sanitised, f"so far {text}"), 5)
        assert sanitised(f"so far {text}").startswith("so far ")

    @pytest.mark.parametrize("span", ["000002" + "9" * 5_000, "0000029999999", "1001"])
    def test_a_cell_spans_no_more_than_a_browser_lets_it(self, span: str) -> None:
        table = "<table><tr><td{}>x</td></tr></table>"
        assert sanitised(table.format(f' colspan="{span}"')) == table.format("")

    def test_a_section_of_another_language_is_a_comment(self) -> None:
        assert sanitised("a<![if !IE]>b<![endif]>c<![x[d]]>") == "abc"

    def test_depth_and_size_are_bounded(self) -> None:
        assert sanitised("<div>" * 1_000 + "x").count("<div>") == 60
        assert len(sanitised("x" * 3_000_000)) == 1_000_000

    @settings(deadline=None)
    @given(st.text(st.sampled_from(list("<>/!-&;='\"abpsvg ")), max_size=60))
    def test_cleaning_again_changes_nothing(self, text: str) -> None:
        once = sanitised(text)
        assert sanitised(once) == once
