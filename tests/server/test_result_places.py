"""Where results are looked for, and which lines of them are samples."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from server.small_results import FAILED, sample, shelf, write

from cellwright.bench.results import Failure, ResultFiles
from cellwright.errors import SetupError
from cellwright.server.result_files import NotThereError, ResultIndex, ResultPlaces
from cellwright.server.result_routes import SampleFilter

pytestmark = pytest.mark.server


class TestPlaces:
    def test_results_are_found_the_last_written_first(self, tmp_path: Path) -> None:
        for number, run in enumerate(["runs/a", "runs/b"]):
            files = write(tmp_path, sample(1), run=run)
            os.utime(files.runs, (number + 1_000, number + 1_000))
        found = ResultPlaces(tmp_path).find("runs")
        assert [place.path for place in found.places] == ["runs/b/m/demo", "runs/a/m/demo"]
        assert (found.places[0].agent, found.places[0].suite) == ("m", "demo")
        assert not found.is_cut

    def test_a_benchmark_is_going_then_done_or_left_alone(self, tmp_path: Path) -> None:
        files, places = write(tmp_path, sample(1)), ResultPlaces(tmp_path)
        assert places.get("runs/one/m/demo").state == "going"
        files.sum_up({})
        assert places.get("runs/one/m/demo").state == "done"
        long_ago = time.time() - 10_000
        os.utime(files.overall, (long_ago - 1, long_ago - 1))
        os.utime(files.runs, (long_ago, long_ago))
        assert places.get("runs/one/m/demo").state == "unfinished"

    def test_the_version_is_another_one_when_something_was_added(self, tmp_path: Path) -> None:
        files, places = write(tmp_path, sample(1)), ResultPlaces(tmp_path)
        before = places.get("runs/one/m/demo").version
        files.add_failure(Failure(2, 1, "START_FAILED", "no kernel"))
        assert places.get("runs/one/m/demo").version != before

    @pytest.mark.parametrize(
        "path", ["..", "runs/../..", "/etc", "runs/.hidden", "a\\b", "C:/x", "a\0b", "x" * 1_001]
    )
    def test_no_path_leads_out(self, tmp_path: Path, path: str) -> None:
        places = ResultPlaces(tmp_path / "root")
        for look in (places.find, places.get):
            with pytest.raises(SetupError, match="no folder below"):
                look(path)

    def test_links_are_not_followed_wherever_they_are(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        write(tmp_path / "outside", sample(1))
        inside = write(root, sample(1)).folder
        (root / "runs" / "link").symlink_to(tmp_path / "outside" / "runs" / "one")
        (root / "other").symlink_to(tmp_path / "outside")
        (root / "runs" / "one" / "x" / "demo").mkdir(parents=True)
        (root / "runs" / "one" / "x" / "demo" / "runs.jsonl").symlink_to(inside / "runs.jsonl")
        places = ResultPlaces(root)
        assert [place.path for place in places.find("runs").places] == ["runs/one/m/demo"]
        assert places.find("other").places == ()
        for path in ("runs/link/m/demo", "other/runs/one/m/demo", "runs/one/x/demo"):
            with pytest.raises(NotThereError):
                places.get(path)

    def test_a_link_that_comes_later_is_not_followed_either(self, tmp_path: Path) -> None:
        files, places = write(tmp_path / "root", sample(1)), ResultPlaces(tmp_path / "root")
        place = places.get("runs/one/m/demo")
        secret = tmp_path / "secret.jsonl"
        files.runs.rename(secret)
        files.runs.symlink_to(secret)
        assert places.open(place, "runs.jsonl") is None
        (tmp_path / "root" / "runs").rename(tmp_path / "moved")
        (tmp_path / "root" / "runs").symlink_to(tmp_path / "moved")
        assert places.open(place, "runs.jsonl") is None

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
    def test_a_pipe_of_that_name_makes_nobody_wait(self, tmp_path: Path) -> None:
        files, places = write(tmp_path, sample(1)), ResultPlaces(tmp_path)
        place = places.get("runs/one/m/demo")
        files.runs.unlink()
        os.mkfifo(files.runs)
        assert places.open(place, "runs.jsonl") is None

    def test_hidden_deep_and_too_many_folders_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, sample(1), run="runs/.hidden")
        write(tmp_path, sample(1), run="runs/a/b/c/d")
        assert ResultPlaces(tmp_path).find("runs").places == ()
        for name in "ab":
            write(tmp_path, sample(1), run=f"many/{name}")
        monkeypatch.setattr("cellwright.server.result_files.LISTED", 1)
        found = ResultPlaces(tmp_path).find("many")
        assert (len(found.places), found.is_cut) == (1, True)

    def test_where_contents_are_no_files_there_are_no_results(self) -> None:
        places = ResultPlaces(None)
        assert places.find("runs").places == ()
        with pytest.raises(NotThereError):
            places.get("runs/one/m/demo")


class TestIndex:
    def index(self, files: ResultFiles, index: ResultIndex) -> list[str]:
        with files.runs.open("rb") as file:
            index.refresh(file)
        return list(index.entries)

    def test_a_file_that_has_grown_is_read_on(self, tmp_path: Path) -> None:
        files, index = write(tmp_path, sample(1)), ResultIndex()
        assert self.index(files, index) == ["demo/1/1"]
        first = index.entries["demo/1/1"]
        files.add(sample(2))
        assert self.index(files, index) == ["demo/1/1", "demo/2/1"]
        assert index.entries["demo/1/1"] is first

    def test_a_line_that_is_being_written_waits_for_its_end(self, tmp_path: Path) -> None:
        files, index = write(tmp_path, sample(1), sample(2)), ResultIndex()
        whole = files.runs.read_bytes()
        files.runs.write_bytes(whole[:-20])
        assert self.index(files, index) == ["demo/1/1"]
        with files.runs.open("ab") as file:
            file.write(whole[-20:])
        assert self.index(files, index) == ["demo/1/1", "demo/2/1"]

    def test_a_file_that_was_written_anew_is_read_anew(self, tmp_path: Path) -> None:
        files, index = write(tmp_path, sample(1), sample(2)), ResultIndex()
        self.index(files, index)
        files.rewrite([sample(3)])
        assert self.index(files, index) == ["demo/3/1"]
        index.refresh(None)
        assert index.entries == {}

    def test_what_is_no_sample_is_counted_and_left_out(self, tmp_path: Path) -> None:
        files, index = write(tmp_path, sample(1)), ResultIndex()
        with files.runs.open("a") as file:
            file.write('{"torn\n\n[1]\n{"output": {"cellwright": {"schema": "x", "id": "1"}}}\n')
            file.write('{"index": 1, "output": null}\n')
        files.add(sample(2))
        assert self.index(files, index) == ["demo/1/1", "demo/2/1"]
        assert index.unreadable == 4

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("cost_dollars", float("nan")),
            ("time", {"seconds": "soon"}),
            ("task", {"index": [1], "epoch": "first", "group": 3, "family": {}}),
            ("status", 5),
            ("usage", {"prompt_tokens": "many"}),
            ("retries", None),
            ("id", 7),
            ("scores", [{"name": "n", "value": 1, "passed": "yes"}]),
        ],
    )
    def test_a_record_of_odd_values_breaks_no_list_and_no_sum(
        self, tmp_path: Path, field: str, value: object
    ) -> None:
        files = write(tmp_path, sample(1))
        line = json.loads(files.runs.read_bytes())
        line["output"]["cellwright"] |= {"id": "odd", field: value}
        with files.runs.open("a") as file:
            file.write(json.dumps(line) + "\n")
        here, path = shelf(tmp_path), "runs/one/m/demo"
        answers = [here.numbers(path), here.page(path, SampleFilter(text="question"))]
        answers.append(here.compare(path, path, 0, 10))
        assert "NaN" not in json.dumps(answers)
        assert answers[1]["total"] == 2
        name = answers[1]["samples"][1]["id"]
        assert "NaN" not in json.dumps(here.sample(path, name).to_dict())

    def test_of_a_sample_that_is_there_twice_the_last_counts(self, tmp_path: Path) -> None:
        files, index = write(tmp_path, sample(1, FAILED), sample(2), sample(1)), ResultIndex()
        assert self.index(files, index) == ["demo/1/1", "demo/2/1"]
        assert index.entries["demo/1/1"].outcome.passed

    def test_a_file_that_is_far_too_large_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = write(tmp_path, sample(1))
        monkeypatch.setattr("cellwright.server.result_files.FILE_LIMIT_BYTES", 10)
        with pytest.raises(SetupError, match="MB large"):
            self.index(files, ResultIndex())
