"""Files as people have them: other separators, encodings, dates, and files that are not there."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from demo_session import Session, value, was_repaired

pytestmark = pytest.mark.kernel
Runner = Callable[[str], str]

READINGS = """\
import datetime, random
chance = random.Random(5)
rows = ["Timestamp;Sensor ID;Temp C;Humidity;Status"]
for hour in range(500):
    moment = datetime.datetime(2026, 3, 1) + datetime.timedelta(hours=hour)
    temperature = f"{20 + 8 * chance.random():.2f}".replace(".", ",") if hour % 50 else ""
    rows.append(f"{moment:%d.%m.%Y %H:%M};s{hour % 3};{temperature};{chance.randint(20, 90)};ok")
open("readings.csv", "w", encoding="utf-8-sig").write("\\n".join(rows))
"""


def test_a_semicolon_file_with_a_byte_order_mark_is_read(session: Session, run: Runner) -> None:
    run(READINGS)
    turn = session.ask("Profile readings.csv")
    assert "**500 rows** and **5 columns**; 10 values are missing" in turn.answer
    assert "- `Timestamp`: dates; all different" in turn.answer
    assert "- `Temp C`: numbers; 10 missing" in turn.answer
    assert was_repaired(turn)


def test_dates_are_drawn_one_by_one_where_no_unit_is_named(session: Session, run: Runner) -> None:
    run(READINGS)
    turn = session.ask("plot temperature over time from readings.csv")
    assert "Temp C by Timestamp" in turn.answer
    assert value(run, "len(temp_c_by_timestamp)") == 500


def test_a_column_is_found_by_a_part_of_its_name(session: Session, run: Runner) -> None:
    run(READINGS)
    shown = session.ask("what is the mean temperature by sensor in readings.csv").results[-1]
    expected = value(run, "float(readings.groupby('Sensor ID')['Temp C'].mean()['s0'])")
    assert isinstance(expected, float)
    assert re.search(rf"s0\s+{expected:.6f}", shown)


def test_day_first_dates_are_recognised_by_the_value_that_cannot_be_a_month(
    session: Session, run: Runner, folder: Path
) -> None:
    (folder / "days.csv").write_text(
        "day,n\n" + "".join(f"{day:02}/02/2026,{day}\n" for day in range(1, 29))
    )
    turn = session.ask("sum of n by month in days.csv")
    assert was_repaired(turn)
    assert re.search(r"2026-02\s+406", turn.results[-1])


def test_dates_of_three_kinds_are_read_one_by_one(session: Session, folder: Path) -> None:
    dates = ["2026-01-05", "2026-01-06", "2026-01-07", "Monday 12 January 2026", "soon"]
    (folder / "mixed.csv").write_text("day,n\n" + "".join(f"{day},1\n" for day in dates))
    turn = session.ask("how many rows per month in mixed.csv")
    assert was_repaired(turn)
    assert re.search(r"2026-01\s+4$", turn.results[-1], re.M)
    assert "'soon' could not be read" in turn.answer


def test_a_decimal_comma_is_read_from_the_value_that_fails(session: Session, folder: Path) -> None:
    (folder / "prices.tsv").write_text("item\tprice\na\t1,25\nb\t1.000,50\nc\t2,25\n")
    assert "**1,004**" in session.ask("total price in prices.tsv").answer


def test_a_file_that_is_not_utf8_is_read_after_the_error(session: Session, folder: Path) -> None:
    (folder / "cities.csv").write_bytes("city,n\nMálaga,3\nKöln,4\n".encode("cp1252"))
    turn = session.ask("which city has the highest n in cities.csv")
    assert "**Köln**" in turn.answer
    assert "UnicodeDecodeError" in turn.results[0]


def test_broken_rows_are_left_out_and_that_is_said(session: Session, folder: Path) -> None:
    (folder / "broken.csv").write_text("a,b\n1,2\n3,4,5\n5,6\n")
    turn = session.ask("total b in broken.csv")
    assert "**8**" in turn.answer
    assert any("some rows are broken" in said for said in turn.said)


def test_a_tab_separated_text_file_comes_apart(session: Session, folder: Path) -> None:
    (folder / "table.txt").write_text("a\tb\n1\t2\n3\t4\n")
    assert "**6**" in session.ask("total b in table.txt").answer


def test_json_lines_are_read(session: Session, folder: Path) -> None:
    (folder / "log.jsonl").write_text('{"level": "info", "ms": 3}\n{"level": "warn", "ms": 5}\n')
    assert "**8**" in session.ask("total ms in log.jsonl").answer


def test_a_misspelled_file_is_found(session: Session) -> None:
    turn = session.ask("how many rows has salse.csv")
    assert "**360**" in turn.answer
    assert "FileNotFoundError" in turn.results[0]
    assert "I take `sales.csv`" in " ".join(turn.said)


def test_a_file_that_is_nowhere_is_not_made_up(session: Session) -> None:
    answer = session.ask("profile weather.csv").answer
    assert answer == "There is no file `weather.csv`, and none with a similar name."


def test_a_file_whose_name_has_blanks_is_read_once_a_list_showed_it(
    session: Session, folder: Path
) -> None:
    (folder / "orders messy.csv").write_text("city,amount\nA,1\nB,2\nA,4\n")
    answer = session.ask("orders messy.csv: mean of amount by city").answer
    advice = "If you mean `orders messy.csv`, put its name in quotes."
    assert answer == f"There is no file `messy.csv`. {advice}"
    assert "several data files" in session.ask("show the data in this folder").answer
    assert "the mean of `amount` by `city`" in (
        session.ask("orders messy.csv: mean of amount by city").answer
    )


def test_a_table_with_more_columns_than_a_model_is_shown_says_what_to_do(
    open_session: Callable[..., Session], run: Runner, folder: Path
) -> None:
    names = [f"sensor_{number:03d}_temperature_celsius" for number in range(241)]
    (folder / "wide.csv").write_text(f"{','.join(names)}\n{','.join('1' * 241)}\n")
    session = open_session(lambda _, arguments: run(arguments["code"])[:4_000])
    answer = session.ask("wide.csv: mean of sensor_001_temperature_celsius").answer
    assert "`wide` has 241 columns, more than I can see at once" in answer
    assert 'few = wide[["…", "…"]]' in answer


def test_a_question_of_a_hundred_pages_is_refused_at_once(session: Session) -> None:
    begun = time.process_time()
    for text in ("ü" * 200_000, "what is the mean " * 12_000, "fix the " * 20_000):
        assert "I read questions of up to 2,000 characters" in session.ask(text).answer
    assert time.process_time() - begun < 20


def test_an_empty_file_is_reported(session: Session, folder: Path) -> None:
    (folder / "empty.csv").write_text("")
    assert (
        "EmptyDataError: No columns to parse from file" in session.ask("profile empty.csv").answer
    )


CHINESE_CITIES = "北京 上海 广州 深圳 杭州 成都 武汉 西安 南京 重庆"
JAPANESE_CITIES = "東京 大阪 名古屋 札幌 福岡 神戸 京都 さいたま 横浜 仙台"


def sales(header: str, cities: str) -> str:
    rows = "".join(f"{city},{amount}\n" for amount, city in enumerate(cities.split() * 3))
    return f"{header}\n{rows}"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (sales("城市,销售额", CHINESE_CITIES), "gbk"),
        (sales("都市,売上", JAPANESE_CITIES), "shift_jis"),
        (sales("城市,销售额", CHINESE_CITIES), "utf-16"),
    ],
)
def test_tables_from_east_asia_are_read_without_mojibake(
    session: Session, folder: Path, text: str, encoding: str
) -> None:
    (folder / "cities.csv").write_bytes(text.encode(encoding))
    turn = session.ask("profile cities.csv")
    assert text[:2] in turn.answer
    assert any("look which encoding it is in" in said for said in turn.said)


def test_what_cannot_be_told_is_refused(session: Session, folder: Path) -> None:
    (folder / "cities.csv").write_bytes("城市,n\n北京,1\n".encode("gbk"))
    turn = session.ask("profile cities.csv")
    assert "encoding that I do not recognise" in turn.answer
    assert "UTF-8" in turn.answer


def test_a_database_and_other_binary_files_are_not_parsed_as_csv(
    session: Session, folder: Path
) -> None:
    with contextlib.closing(sqlite3.connect(folder / "data.csv")) as database:
        database.execute("create table t (a)")
        database.commit()
    (folder / "plain.csv").write_bytes(b"SQLite format 3\0\x01\x02\0\n\0\0\n")
    for name in ("data.csv", "plain.csv"):
        answer = session.ask(f"profile {name}").answer
        assert f"I cannot read `{name}` as a table" in answer
    answer = session.ask(
        "profile it\n\n<files>\ndata.sqlite (8.2 kB, application/vnd.sqlite3)\n</files>"
    ).answer
    assert "application/vnd.sqlite3" in answer


def test_of_a_file_of_gigabytes_the_first_rows_are_read_and_that_is_said(
    session: Session, folder: Path
) -> None:
    (folder / "big.csv").write_text("a,b\n" + "1,2\n" * 10)
    turn = session.ask("profile it\n\n<files>\nbig.csv (2.1 GB)\n  a,b\n</files>")
    assert "nrows=1000000" in turn.codes[0]
    assert "big_sample" in turn.codes[0]
    assert "`big.csv` is large: this is about its first 10 rows." in turn.answer
