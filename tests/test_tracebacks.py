"""Exceptions as a model reads them; the tracebacks are shaped as IPython 8 and 9 print them."""

from __future__ import annotations

from cellwright.record.outputs import ErrorOutput
from cellwright.text.truncation import estimate_tokens
from cellwright.tools.summaries import summarise_error

RULE = "-" * 75
SITE = "/env/lib/python3.11/site-packages"


def heading(name: str) -> str:
    return f"\x1b[31m{name}\x1b[39m" + " " * 10 + "Traceback (most recent call last)"


def library_frame(file: str, line: int, name: str) -> str:
    body = "".join(f"   {n} some library code\n" for n in range(line - 3, line))
    return f"File {SITE}/{file}:{line}, in {name}\n{body}--> {line}     raise KeyError(key)\n"


CELL = """\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[1]\x1b[39m\x1b[32m, line 4\x1b[39m
      1 import pandas as pd
      2 df = pd.DataFrame({'a':[1,2]})
      3 x = 1
----> 4 df['price'].mean()
      5 y = 2
"""
PANDAS = ErrorOutput(
    "KeyError",
    "'price'",
    (
        RULE,
        heading("KeyError"),
        library_frame("pandas/core/indexes/base.py", 3816, "Index.get_loc(self, key)"),
        "File pandas/_libs/index.pyx:172, in pandas._libs.index.IndexEngine.get_loc()\n"
        "--> 172 'Could not get source, probably due dynamically evaluated source code.'\n",
        "\x1b[31mKeyError\x1b[39m: 'price'",
        "\nThe above exception was the direct cause of the following exception:\n",
        heading("KeyError"),
        CELL,
        library_frame("pandas/core/frame.py", 4330, "DataFrame.__getitem__(self, key)"),
        library_frame("pandas/core/indexes/base.py", 3823, "Index.get_loc(self, key)"),
        "KeyError: 'price'",
    ),
)


def error(name: str, message: str, *traceback: str) -> ErrorOutput:
    return ErrorOutput(name, message, (RULE, heading(name), *traceback, f"{name}: {message}"))


def test_a_pandas_error_costs_at_most_sixty_six_tokens() -> None:
    read = summarise_error(PANDAS)
    assert estimate_tokens(read) <= 66
    assert read == (
        "KeyError: 'price'\n"
        "Cell In[1], line 4\n"
        "  2 df = pd.DataFrame({'a':[1,2]})\n"
        "  3 x = 1\n"
        "> 4 df['price'].mean()\n"
        "  5 y = 2\n"
        "(2 library frames to pandas/core/indexes/base.py:3823 in Index.get_loc)"
    )


def test_the_message_is_never_cut_before_two_thousand_characters() -> None:
    assert summarise_error(error("ValueError", "m" * 2_000)).startswith(
        "ValueError: " + "m" * 2_000
    )
    read = summarise_error(ErrorOutput("ValueError", "m" * 2_500))
    assert read == f"ValueError: {'m' * 2_000} [… 500 more characters of the message …]"


def test_a_message_of_several_lines_is_said_once() -> None:
    read = summarise_error(
        error("ValueError", "bad\nmulti line", "Cell In[1], line 1\n----> 1 f()\n")
    )
    assert read == "ValueError: bad\nmulti line\nCell In[1], line 1\n> 1 f()"


def test_an_earlier_exception_of_the_chain_is_one_line() -> None:
    chained = ErrorOutput(
        "ValueError",
        "no",
        (
            heading("ZeroDivisionError"),
            "Cell In[6], line 2\n      1 try:\n----> 2     1/0\n",
            "ZeroDivisionError: division by zero",
            "\nDuring handling of the above exception, another exception occurred:\n",
            heading("ValueError"),
            "Cell In[6], line 4\n----> 4     raise ValueError('no')\n",
            "ValueError: no",
        ),
    )
    last = summarise_error(chained).splitlines()[-1]
    assert last == "after ZeroDivisionError: division by zero (Cell In[6], line 2)"


def test_a_cause_outside_the_persons_code_is_named_without_a_place() -> None:
    chained = ErrorOutput(
        "ValueError",
        "no",
        (
            library_frame("lib/x.py", 9, "f()"),
            "OSError: disk",
            "The above exception was the direct cause of the following exception:",
            "Cell In[6], line 4\n----> 4     g()\n",
            "ValueError: no",
        ),
    )
    assert summarise_error(chained).endswith("after OSError: disk")


def test_notes_of_an_exception_are_kept() -> None:
    noted = ErrorOutput(
        "ValueError", "x", (RULE, "Cell In[8], line 1\n----> 1 f()\n", "ValueError: x", "try y")
    )
    assert summarise_error(noted) == "ValueError: x\ntry y\nCell In[8], line 1\n> 1 f()"


def test_of_a_deep_recursion_the_first_and_last_frames_stay() -> None:
    frames = tuple(
        f"Cell In[7], line {n}, in r(n)\n----> {n} def r(n): return r(n+1)\n" for n in range(1, 900)
    )
    read = summarise_error(error("RecursionError", "maximum recursion depth exceeded", *frames))
    assert "(… 893 more frames …)" in read
    assert read.count("Cell In[7]") == 6
    assert "line 899 in r" in read


def test_skipped_frames_are_no_part_of_a_body() -> None:
    read = summarise_error(
        error(
            "RecursionError",
            "deep",
            "Cell In[7], line 2\n----> 2 r(0)\n",
            "    [... skipping similar frames: r at line 1 (2960 times)]",
        )
    )
    assert read == "RecursionError: deep\nCell In[7], line 2\n> 2 r(0)"


def test_the_persons_own_modules_show_their_lines_too() -> None:
    header = "File ~/project/cleaning.py:12, in tidy(frame)\n"
    own = f"{header}     11     a = 1\n---> 12     return a / 0\n"
    read = summarise_error(error("ZeroDivisionError", "division by zero", own))
    assert read.endswith("~/project/cleaning.py:12 in tidy\n  11     a = 1\n> 12     return a / 0")


def test_one_library_frame_is_named_and_several_are_counted() -> None:
    frame = library_frame("numpy/core.py", 30, "dot(a, b)")
    one = summarise_error(error("ValueError", "shapes", frame))
    assert one == "ValueError: shapes\n(numpy/core.py:30 in dot)"
    assert "(2 library frames to numpy/core.py:30 in dot)" in summarise_error(
        error("ValueError", "shapes", frame, frame)
    )


def test_library_frames_before_the_persons_callback_keep_their_order() -> None:
    frame = library_frame("pandas/apply.py", 30, "apply(f)")
    cell = "Cell In[2], line 1, in f(x)\n----> 1 def f(x): 1/0\n"
    lines = summarise_error(error("ZeroDivisionError", "z", frame, cell)).splitlines()
    assert lines[1:3] == ["(pandas/apply.py:30 in apply)", "Cell In[2], line 1 in f"]


def test_a_syntax_error_shows_the_line_and_the_caret() -> None:
    shown = "  Cell In[4], line 1\n    x = = 2\n        ^\nSyntaxError: invalid syntax\n"
    read = summarise_error(
        ErrorOutput("SyntaxError", "invalid syntax (3218543084.py, line 1)", (shown,))
    )
    assert read == "SyntaxError: invalid syntax\nCell In[4], line 1\n    x = = 2\n        ^"


def test_plain_python_and_old_ipython_shapes_are_read() -> None:
    plain = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/run.py", line 3, in main\n    go()\n'
        f'  File "{SITE}/x.py", line 9, in go\n    raise KeyError\n'
        "KeyError: 'k'"
    )
    read = summarise_error(ErrorOutput("KeyError", "'k'", tuple(plain.split("\n"))))
    assert read == "KeyError: 'k'\n/home/me/run.py:3 in main\n    go()\n(x.py:9 in go)"
    old = "Input In [3], in <cell line: 6>()\n      5 a\n----> 6 f({})\n"
    assert summarise_error(error("KeyError", "'k'", old)) == (
        "KeyError: 'k'\nInput In [3]\n  5 a\n> 6 f({})"
    )


def test_code_without_a_source_is_named_only() -> None:
    timed = (
        "File <timed eval>:1\n"
        "----> 1 'Could not get source, probably due dynamically evaluated source code.'\n"
    )
    assert summarise_error(error("ZeroDivisionError", "z", timed)) == (
        "ZeroDivisionError: z\n<timed eval>:1"
    )


def test_a_traceback_of_unknown_shape_is_kept_cut_in_the_middle() -> None:
    lines = tuple(f"R says {n}" for n in range(40))
    read = summarise_error(ErrorOutput("Error", "object not found", lines)).splitlines()
    assert read[0] == "Error: object not found"
    assert read[1:7] == [f"R says {n}" for n in range(6)]
    assert read[7] == "(… 28 more lines …)"
    assert read[-1] == "R says 39"
    short = summarise_error(ErrorOutput("SystemExit", "3", ("use %tb to see it", "SystemExit: 3")))
    assert short == "SystemExit: 3\nuse %tb to see it"


def test_long_lines_are_cut_at_180_characters() -> None:
    cell = f"Cell In[2], line 1\n----> 1 f({'x' * 400})\n"
    read = summarise_error(error("ValueError", "v", cell))
    assert max(map(len, read.splitlines())) == 180


def test_an_error_without_message_or_traceback_is_its_name() -> None:
    assert summarise_error(ErrorOutput("AssertionError", "")) == "AssertionError"
    assert summarise_error(error("KeyboardInterrupt", "")) == "KeyboardInterrupt"


def test_an_exception_group_says_its_message_and_its_parts() -> None:
    drawn = (
        "  + Exception Group Traceback (most recent call last):\n"
        "  | ExceptionGroup: several (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | ValueError: a\n"
        "    +---------------- 2 ----------------\n"
        "    | TypeError: b\n"
        "    +------------------------------------"
    )
    read = summarise_error(
        ErrorOutput("ExceptionGroup", "+------------------------------------", (drawn,))
    )
    assert read.startswith("ExceptionGroup: several (2 sub-exceptions)\n")
    assert "| ValueError: a" in read
    assert "| TypeError: b" in read
    assert summarise_error(ErrorOutput("ExceptionGroup", "+----")) == "ExceptionGroup"


def test_our_own_frames_are_not_shown() -> None:
    watch = "/src/extension/cellwright/kernels/cell_watch.py"
    own = f"File {watch}:85, in refuse()\n---> 85 raise EOFError\n"
    cell = "Cell In[1], line 1\n----> 1 input()\n"
    assert summarise_error(error("EOFError", "no", cell, own)) == (
        "EOFError: no\nCell In[1], line 1\n> 1 input()"
    )
