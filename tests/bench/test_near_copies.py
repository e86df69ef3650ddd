"""Samples that are nearly the same as another, or stand in what an agent may know."""

from __future__ import annotations

from pathlib import Path

from command_line import Shell

from cellwright.bench.near_copies import NearCopy, near_copies, runs_of

ASKED = "Read sales.csv and tell which region sold most in the first quarter of the year 2024."
SAMPLE = "prompt: {prompt}\nchecks:\n  - answer: {answer}\nreference: |\n  {code}\n"


def test_of_two_that_are_nearly_the_same_the_shorter_is_the_copy() -> None:
    texts = {"a": ASKED, "b": ASKED + " Name it.", "c": "How many rows are there?"}
    assert list(near_copies(texts)) == [NearCopy("a", "b", 1.0)]
    assert [copy.sample for copy in near_copies({"a": ASKED, "b": ASKED})] == ["a"]
    assert not list(near_copies({"a": "", "b": ""}))


def test_chinese_is_read_by_characters() -> None:
    assert len(runs_of("2024年哪个地区的销售额最高")) == 8
    asked = "请读取销售表并说出哪个地区的销售额最高"
    assert list(near_copies({"a": asked, "b": asked + "谢谢"}))


def test_a_person_finds_them_in_a_suite_and_in_documents(tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home")})
    suite, library = tmp_path / "suite", tmp_path / "library"
    suite.mkdir()
    library.mkdir()
    code = "df.query('quarter == 1').groupby('region').amount.sum().sort_values().index[-1]"
    for name, prompt in (("one", ASKED), ("two", ASKED.replace("most", "least"))):
        text = SAMPLE.format(prompt=prompt, answer="north", code=code)
        (suite / f"{name}.yaml").write_text(text)
    (library / "notes.md").write_text(f"# Solved\n\n{code}\n")
    (library / "picture.png").write_bytes(b"\x89PNG")
    done = shell.run("bench", "near-copies", "suite", "--in", "library", "--json")
    assert done.code == 0, done.err
    found = {(copy["sample"], Path(copy["other"]).name) for copy in done.document["near_copies"]}
    assert found == {
        ("one", "two"),
        ("one's answer", "notes.md"),
        ("two's answer", "notes.md"),
    }
    for path in suite.iterdir():
        path.write_text("family: same\n" + path.read_text())
    assert "no near copies" in shell.run("bench", "near-copies", "suite").out
    assert "There is no 'gone'" in shell.run("bench", "near-copies", "suite", "--in", "gone").err
