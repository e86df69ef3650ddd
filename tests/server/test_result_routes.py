"""Results of benchmarks below the server's root: summed up, paged, compared, kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pytest
from cpu_time import quick
from jupyter_server.auth import Authorizer
from recorded_runs import analysis_run, record_of
from server.small_results import BROKEN, FAILED, PASSED, sample, shelf, write
from server_client import Answer, Client, with_parameters

from cellwright.bench.results import SHARED_FILE, Failure, ResultFiles
from cellwright.exports.sample import SampleCell, Score
from cellwright.exports.sampling import sample_of
from cellwright.server import record_pages as result_trimming
from cellwright.server.result_files import NotThereError, ResultPlace, ResultPlaces
from cellwright.server.result_routes import ResultCache, SampleFilter
from cellwright.text.redaction import Redactor

pytestmark = pytest.mark.server


async def ask(client: Client, route: str, **parameters: str) -> Answer:
    return await client.call("GET", with_parameters(f"results{route}", **parameters))


class TestNumbers:
    def test_every_mean_has_its_interval(self, tmp_path: Path) -> None:
        samples = [sample(n, PASSED if n % 4 else FAILED, group="ab"[n % 2]) for n in range(8)]
        write(tmp_path, *samples)
        found = shelf(tmp_path).numbers("runs/one/m/demo")
        assert (found["passed"], found["total"], found["models"]) == (6, 8, ["one"])
        for name in ("share", "cost_each", "seconds_each"):
            estimate = found[name]
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert found["share"]["low"] < 0.75 < found["share"]["high"]
        for group in found["by_group"].values():
            assert group["low"] <= group["value"] <= group["high"]
        assert found["agent"] == "m:one"
        assert (found["tokens"], found["epochs"], found["at_k"]) == (120, 1, {})

    def test_with_epochs_there_are_both_at_k_with_intervals(self, tmp_path: Path) -> None:
        scores = {(0, 1): PASSED, (0, 2): FAILED, (1, 1): PASSED, (1, 2): PASSED}
        write(tmp_path, *(sample(n, s, epoch=epoch) for (n, epoch), s in scores.items()))
        found = shelf(tmp_path).numbers("runs/one/m/demo")["at_k"]
        assert found["pass@2"]["value"] == 1.0
        assert found["pass^2"]["value"] == 0.5
        assert found["pass^2"]["low"] < 0.5 < found["pass^2"]["high"]

    def test_points_and_each_check_stand_beside_what_passes(self, tmp_path: Path) -> None:
        half = Score("words", 0.5, False, "half of them")
        write(tmp_path, sample(1, (*PASSED, half)), sample(2, (*FAILED, half)))
        found = shelf(tmp_path).numbers("runs/one/m/demo")
        assert (found["passed"], found["points"]["value"]) == (0, 0.5)
        assert found["points"]["low"] < 0.5 < found["points"]["high"]
        each = found["by_check"]
        assert [(name, each[name]["passed"], each[name]["count"]) for name in each] == [
            ("value", 1, 2),
            ("words", 0, 2),
        ]

    def test_what_could_not_be_run_is_told_apart(self, tmp_path: Path) -> None:
        files = write(tmp_path, sample(1), sample(2, BROKEN))
        for index in (1, 3, 3):
            files.add_failure(Failure(index, 1, "START_FAILED", "no kernel"))
        found = shelf(tmp_path).numbers("runs/one/m/demo")
        assert found["failures"] == {"START_FAILED": 1}
        assert found["not_run"] == [
            {"index": "3", "epoch": 1, "error": "START_FAILED", "info": "no kernel"}
        ]
        assert (found["total"], found["check_errors"]) == (2, 1)

    def test_of_nothing_everything_is_possible(self, tmp_path: Path) -> None:
        files = ResultFiles(tmp_path / "runs" / "one", "m", "demo")
        files.add_failure(Failure(1, 1, "START_FAILED", "no kernel"))
        found = shelf(tmp_path).numbers("runs/one/m/demo")
        assert (found["share"]["low"], found["share"]["high"]) == (0.0, 1.0)
        assert found["cost_each"] is None

    def test_they_are_made_again_only_when_something_changed(self, tmp_path: Path) -> None:
        files, here = write(tmp_path, sample(1)), shelf(tmp_path)
        before = here.numbers("runs/one/m/demo")
        assert here.numbers("runs/one/m/demo") == before
        files.add(sample(2, FAILED))
        after = here.numbers("runs/one/m/demo")
        assert (after["total"], after["version"] == before["version"]) == (2, False)

    def test_what_was_not_looked_at_for_longest_is_forgotten(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cellwright.server.result_routes.SAMPLES_KEPT", 1)
        here = shelf(tmp_path)
        for run in ("runs/a", "runs/b", "runs/c"):
            write(tmp_path, sample(1), sample(2), run=run)
            assert here.numbers(f"{run}/m/demo")["total"] == 2
        assert here.numbers("runs/a/m/demo")["total"] == 2


class TestSamples:
    @pytest.fixture
    def here(self, tmp_path: Path) -> ResultCache:
        write(
            tmp_path,
            sample(1),
            sample(2, FAILED, group="g", status="task limit reached"),
            sample("three", BROKEN, input="About wheat"),
        )
        return shelf(tmp_path)

    @pytest.mark.parametrize(
        ("wanted", "indices"),
        [
            (SampleFilter(), ["1", "2", "three"]),
            (SampleFilter(outcome="passed"), ["1"]),
            (SampleFilter(outcome="failed"), ["2"]),
            (SampleFilter(outcome="unscored"), ["three"]),
            (SampleFilter(status="task limit reached"), ["2"]),
            (SampleFilter(group="g"), ["2"]),
            (SampleFilter(text="about WHEAT"), ["three"]),
            (SampleFilter(text="not 2"), ["2"]),
            (SampleFilter(text="nothing"), []),
        ],
    )
    def test_a_filter_lets_through_what_fits(
        self, here: ResultCache, wanted: SampleFilter, indices: list[str]
    ) -> None:
        page = here.page("runs/one/m/demo", wanted)
        assert [row["index"] for row in page["samples"]] == indices
        assert (page["fitting"], page["total"]) == (len(indices), 3)
        assert page["groups"] == ["g"]
        assert page["statuses"] == ["completed", "task limit reached"]

    def test_pages_follow_each_other_and_are_bounded(self, here: ResultCache) -> None:
        first = here.page("runs/one/m/demo", SampleFilter(count=2))
        assert (len(first["samples"]), first["next"]) == (2, 2)
        second = here.page("runs/one/m/demo", SampleFilter(start=first["next"], count=10**8))
        assert ([row["index"] for row in second["samples"]], second["next"]) == (["three"], None)

    def test_one_sample_comes_whole(self, here: ResultCache) -> None:
        assert here.sample("runs/one/m/demo", "demo/three/1").input == "About wheat"
        with pytest.raises(NotThereError):
            here.sample("runs/one/m/demo", "demo/4/1")

    def test_what_samples_share_is_read_once_for_a_page_of_them_all(self, tmp_path: Path) -> None:
        class CountedPlaces(ResultPlaces):
            opened: list[str] = []

            def open(self, place: ResultPlace, name: str) -> BinaryIO | None:
                self.opened.append(name)
                return super().open(place, name)

        write(tmp_path, *(sample(number) for number in range(5)))
        places = CountedPlaces(tmp_path)
        assert ResultCache(places).leaderboard("runs", Redactor({})).html
        assert places.opened.count(SHARED_FILE) == 1

    def test_five_thousand_samples_are_quick_to_page_and_sum_up(self, tmp_path: Path) -> None:
        files = write(tmp_path, sample(0))
        line = files.runs.read_bytes()
        with files.runs.open("ab") as file:
            for number in range(1, 5_000):
                file.write(line.replace(b"demo/0/1", b"demo/%d/1" % number))
        numbers = quick(lambda: shelf(tmp_path).numbers("runs/one/m/demo"), 10)
        assert numbers["total"] == 5_000
        here = shelf(tmp_path)
        here.numbers("runs/one/m/demo")
        late = SampleFilter(start=4_900)
        assert len(quick(lambda: here.page("runs/one/m/demo", late), 0.5)["samples"]) == 100


class TestComparing:
    def test_what_became_worse_comes_first(self, tmp_path: Path) -> None:
        write(tmp_path, sample(1), sample(2, FAILED), sample(3), sample(4, FAILED), sample(9))
        write(
            tmp_path,
            *(sample(1), sample(2), sample(3, FAILED), sample(4, FAILED), sample(8)),
            agent="n",
        )
        found = shelf(tmp_path).compare("runs/one/m/demo", "runs/one/n/demo", 0, 100)
        assert [(row["index"], row["change"]) for row in found["rows"]] == [
            ("3", "worse"),
            ("2", "better"),
            ("4", "same"),
            ("1", "same"),
        ]
        assert found["rows"][0]["second"] == {
            "id": "demo/3/1",
            "value": 0.0,
            "tries": 1,
            "epoch": 1,
            "status": "completed",
            "why": "it is 1, not 2",
        }
        assert (found["shared"], found["only_first"], found["only_second"]) == (4, 1, 1)
        difference = found["difference"]
        assert difference["low"] < 0 == difference["value"] < difference["high"]

    def test_of_several_tries_the_one_that_failed_is_shown(self, tmp_path: Path) -> None:
        write(tmp_path, sample(1, epoch=1), sample(1, epoch=2))
        write(tmp_path, sample(1, epoch=1), sample(1, FAILED, epoch=2), agent="n")
        (row,) = shelf(tmp_path).compare("runs/one/m/demo", "runs/one/n/demo", 0, 1)["rows"]
        assert (row["second"]["value"], row["second"]["epoch"]) == (0.5, 2)
        assert (row["second"]["id"], row["first"]["id"]) == ("demo/1/2", "demo/1/1")

    def test_it_comes_in_pages_and_follows_what_is_added(self, tmp_path: Path) -> None:
        write(tmp_path, *(sample(n) for n in range(3)))
        other = write(tmp_path, *(sample(n) for n in range(3)), agent="n")
        here, pair = shelf(tmp_path), ("runs/one/m/demo", "runs/one/n/demo")
        first = here.compare(*pair, 0, 2)
        assert (len(first["rows"]), first["next"]) == (2, 2)
        assert [row["index"] for row in here.compare(*pair, 2, 2)["rows"]] == ["2"]
        other.add(sample(1, FAILED))
        assert here.compare(*pair, 0, 2)["rows"][0]["index"] == "1"

    def test_only_the_last_few_comparisons_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cellwright.server.result_routes.COMPARISONS_KEPT", 1)
        write(tmp_path, sample(1))
        write(tmp_path, sample(1, FAILED), agent="n")
        here, pair = shelf(tmp_path), ("runs/one/m/demo", "runs/one/n/demo")
        assert here.compare(*pair, 0, 2)["worse"] == 1
        assert here.compare(pair[1], pair[0], 0, 2)["better"] == 1
        assert here.compare(*pair, 0, 2)["worse"] == 1


class TestTrimming:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        limits = {"WHOLE": 5_000, "TEXT": 1_000, "PICTURE": 2_000}
        for name, limit in limits.items():
            monkeypatch.setattr(result_trimming, f"{name}_CHARACTERS", limit)

    def test_what_is_small_stays(self) -> None:
        value = {"a": [1, None, "x" * 900], "image/png": "y" * 1_900, "b": "data:image/png,xyz"}
        assert result_trimming.trimmed(value) == value

    def test_a_long_text_is_cut_and_says_so(self) -> None:
        found = result_trimming.trimmed({"text": "x" * 3_000})["text"]
        assert found.startswith("x" * 1_000 + "\n… (2,000 more characters")

    def test_half_a_picture_is_none(self) -> None:
        value = {
            "data": {"image/png": "x" * 2_001, "text/html": "<b>"},
            "url": "data:" + "x" * 2_001,
        }
        found = result_trimming.trimmed(value)
        assert found["data"] == {
            "text/html": "<b>",
            "text/plain": "(a picture of 1 kB is left out here)",
        }
        assert found["url"] == ""

    def test_all_together_it_stays_small(self) -> None:
        found = result_trimming.trimmed(["x" * 1_000] * 100)
        assert sum(map(len, found)) < 5_000 + 100 * 300


class OnlyRuns(Authorizer):
    """Lets nobody read files."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "contents"


NO_FILES = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}, "authorizer_class": OnlyRuns}
}


class TestRoutes:
    @pytest.fixture(autouse=True)
    def _results(self, jp_root_dir: Path) -> None:
        write(jp_root_dir, sample(1), sample(2, FAILED))
        write(jp_root_dir, sample(1, FAILED), sample(2, FAILED), agent="n")

    async def test_results_are_listed_and_followed(self, client: Client, jp_root_dir: Path) -> None:
        first = (await ask(client, "")).json
        assert sorted(place["path"] for place in first["results"]) == [
            "runs/one/m/demo",
            "runs/one/n/demo",
        ]
        same = (await ask(client, "", since=first["version"])).json
        assert (same["version"], same["results"]) == (first["version"], None)
        write(jp_root_dir, sample(3))
        assert (await ask(client, "", since=first["version"])).json["results"] is not None
        assert (await ask(client, "", folder="elsewhere")).json["results"] == []

    async def test_a_result_is_summed_up_paged_and_compared(self, client: Client) -> None:
        one, other = "runs/one/m/demo", "runs/one/n/demo"
        assert (await ask(client, "/summary", result=one)).json["passed"] == 1
        page = (await ask(client, "/samples", result=one, outcome="failed", start="0")).json
        assert [row["id"] for row in page["samples"]] == ["demo/2/1"]
        sorted_page = (await ask(client, "/samples", result=one, sort="-outcome")).json
        assert [row["passed"] for row in sorted_page["samples"]] == [True, False]
        found = (await ask(client, "/sample", result=one, id="demo/2/1")).json
        assert (found["schema"], found["input"]) == ("cellwright.sample/1", "Question 2")
        assert (await ask(client, "/compare", first=one, second=other)).json["worse"] == 1

    async def test_all_results_of_a_folder_make_one_page(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = (await ask(client, "/leaderboard", folder="runs")).json["html"]
        assert "Behind the first" in page
        assert "<script" not in page
        assert "no results" in (await ask(client, "/leaderboard", folder="other")).json["message"]
        monkeypatch.setattr("cellwright.server.result_routes.LEADERBOARD_SAMPLES", 1)
        assert "smaller folder" in (await ask(client, "/leaderboard", folder="runs")).json["hint"]

    async def test_a_secret_known_by_now_is_not_shown(
        self, client: Client, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = "hush" + "-hush-hush-4711"
        monkeypatch.setenv("MY_SERVICE_TOKEN", secret)
        cell = SampleCell("c", "agent", f"token = '{secret}'")
        write(jp_root_dir, sample(7, cells=(cell,)))
        answer = await ask(client, "/sample", result="runs/one/m/demo", id="demo/7/1")
        assert answer.status == 200
        assert secret.encode() not in answer.body

    @pytest.mark.parametrize(
        ("route", "parameters", "status"),
        [
            ("/summary", {}, 400),
            ("/summary", {"result": "../runs"}, 400),
            ("/summary", {"result": "runs/nothing"}, 404),
            ("", {"folder": "../.."}, 400),
            ("/samples", {"result": "runs/one/m/demo", "start": "-1"}, 400),
            ("/samples", {"result": "runs/one/m/demo", "count": "many"}, 400),
            ("/sample", {"result": "runs/one/m/demo", "id": "demo/9/1"}, 404),
            ("/compare", {"first": "runs/one/m/demo", "second": "runs/x"}, 404),
        ],
    )
    async def test_what_is_not_there_or_not_meant_is_told(
        self, client: Client, route: str, parameters: dict[str, str], status: int
    ) -> None:
        answer = await ask(client, route, **parameters)
        assert answer.status == status
        assert answer.json["message"]

    @pytest.mark.parametrize("jp_server_config", [NO_FILES])
    async def test_who_may_not_read_files_reads_no_results(self, client: Client) -> None:
        assert (await ask(client, "")).status == 403
        answer = await ask(client, "/summary", result="runs/one/m/demo")
        assert (answer.status, answer.json["message"]) == (
            403,
            "You may not read files on this server.",
        )


def test_a_sample_of_a_real_run_reads_the_same(tmp_path: Path) -> None:
    made = sample_of(record_of(analysis_run()), "demo/run/1", whole=True)
    files = write(tmp_path, made)
    (stored,) = files.samples()
    assert shelf(tmp_path).sample("runs/one/m/demo", "demo/run/1") == stored
    assert stored.messages == made.messages


def test_a_sample_can_be_looked_at_without_what_it_shared(tmp_path: Path) -> None:
    long = {"role": "system", "content": "Be brief. " * 100}
    files = write(tmp_path, sample(1, messages=(long,)))
    (tmp_path / "runs" / "one" / "m" / "demo" / "shared.jsonl").unlink()
    found = shelf(tmp_path).sample("runs/one/m/demo", "demo/1/1")
    assert found.messages == ({"role": "system", "content": {}},)
    assert files.runs.exists()
