"""Failed code and what the rules make of it."""

from __future__ import annotations

import pytest

from cellwright.demo.mending import KnownNames, mend
from cellwright.demo.transcript import CellFailure

AROUND = KnownNames(
    columns=("score", "city"),
    names=("total",),
    files=("data/sales.csv", "other.txt"),
    attributes=("shape",),
)


@pytest.mark.parametrize(
    ("code", "name", "message", "mended"),
    [
        ("df['skore']", "KeyError", "'skore'", "df['score']"),
        ("df[['skore']]", "KeyError", "\"['skore'] not in index\"", "df[['score']]"),
        (
            "print(np.pi)",
            "NameError",
            "name 'np' is not defined",
            "import numpy as np\n\nprint(np.pi)",
        ),
        ("totl", "NameError", "name 'totl' is not defined", "total"),
        (
            "s.astype('float64')",
            "ValueError",
            "could not convert string to float: '1,5'",
            'import pandas as pd\n\npd.to_numeric(s.astype(str).str.replace(r"[^\\d,-]", "", '
            'regex=True).str.replace(",", "."), errors="coerce")',
        ),
        (
            "import pandas as pd\npd.to_numeric(s)",
            "ValueError",
            "could not convert string to float: 'x'",
            'import pandas as pd\npd.to_numeric(s, errors="coerce")',
        ),
        (
            "int('1,000')",
            "ValueError",
            "invalid literal for int() with base 10: '1,000'",
            "int('1000')",
        ),
        (
            "pd.to_datetime(df['d'])",
            "DateParseError",
            "Unknown datetime string format, unable to parse: soon",
            "pd.to_datetime(df['d'], errors=\"coerce\")",
        ),
        (
            "df.mean()",
            "TypeError",
            "Could not convert ['ab'] to numeric",
            "df.mean(numeric_only=True)",
        ),
        (
            "'n: ' + n",
            "TypeError",
            'can only concatenate str (not "int") to str',
            "'n: ' + str(n)",
        ),
        (
            "s.iteritems()",
            "AttributeError",
            "'Series' object has no attribute 'iteritems'",
            "s.items()",
        ),
        ("df.skore", "AttributeError", "'DataFrame' object has no attribute 'skore'", "df.score"),
        (
            "open('sales.csv')",
            "FileNotFoundError",
            "[Errno 2] No such file: 'sales.csv'",
            "open('data/sales.csv')",
        ),
        (
            "open('othr.txt')",
            "FileNotFoundError",
            "[Errno 2] No such file: 'othr.txt'",
            "open('other.txt')",
        ),
        (
            "mean = total / n",
            "ZeroDivisionError",
            "division by zero",
            'mean = total / n if n else float("nan")',
        ),
        (
            "  x = 1\n  y = 2",
            "IndentationError",
            "unexpected indent (a.py, line 1)",
            "x = 1\n  y = 2",
        ),
        ("if x = 1:\n    pass", "SyntaxError", "invalid syntax", "if x == 1:\n    pass"),
        ("print 'hi'", "SyntaxError", "Missing parentheses", "print('hi')"),
        (
            "print((1)",
            "SyntaxError",
            "'(' was never closed (<ipython-input>, line 1)",
            "print((1))",
        ),
        ("x = [1,\n2\n", "SyntaxError", "'[' was never closed", "x = [1,\n2]"),
        ("x = 'ab", "SyntaxError", "unterminated string literal", "x = 'ab'"),
        ("x = 1)", "SyntaxError", "unmatched ')'", "x = 1"),
        ("a = 1\n b = 2", "IndentationError", "unexpected indent", "a = 1\nb = 2"),
    ],
)
def test_known_errors_are_mended(code: str, name: str, message: str, mended: str) -> None:
    found = mend(code, CellFailure(name, message), AROUND)
    assert found is not None
    if name == "IndentationError":
        compile(found.code, "mended", "exec")
    else:
        assert found.code == mended
    assert found.reason.endswith(".")


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("x", "RuntimeError", "nobody knows"),
        ("df['zzzzz']", "KeyError", "'zzzzz'"),
        ("zzzzz", "NameError", "name 'zzzzz' is not defined"),
        ("f()", "ValueError", "something else"),
        ("float(x)", "ValueError", "could not convert string to float: 'abc'"),
        ("f(1)", "TypeError", "f() takes 0 positional arguments but 1 was given"),
        ("x.zzzzz", "AttributeError", "'int' object has no attribute 'zzzzz'"),
        ("open('zzzzz')", "FileNotFoundError", "[Errno 2] No such file: 'zzzzz'"),
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("def (:\n)(", "SyntaxError", "invalid syntax"),
    ],
)
def test_unknown_errors_are_left_alone(code: str, name: str, message: str) -> None:
    assert mend(code, CellFailure(name, message), AROUND) is None
