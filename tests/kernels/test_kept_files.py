"""Files that a run changed, put back as they were before it, in a real kernel."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from kernels.lanes import kernel_environment, run, start_client_lane
from kernels.snapshot_kernel import wait_for

from cellwright.errors import KernelDiedError
from cellwright.kernels import kept_files
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.going_back import explain_missing, find_before, go_to, keep_state

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

RUNS = itertools.count(1)
BINARY = bytes(range(256)) * 300


class Place:
    """A kernel and the folder that it works in."""

    def __init__(self, kernel: FreshKernel, folder: Path) -> None:
        self.kernel, self.folder, self.run_id = kernel, folder, ""

    def begin(self, step: int = 0) -> str:
        """The id of a run that begins."""
        self.run_id = f"run-{next(RUNS)}" if not step else self.run_id
        keep_state(self.kernel, 3, self.run_id, "prompt", step)
        return self.run_id

    def cell(self, code: str) -> None:
        """Run a cell of the run."""
        ran = run(self.kernel, code, timeout_seconds=60)
        assert ran.ended is not None
        assert ran.ended.status == "ok", ran.ended.error

    def ask(self, function: str, run_id: str = "", step: int = 0) -> dict[str, dict[str, str]]:
        """What would be, or was, put back, and what stays and why."""
        answer = self.kernel.ask_snapshots(function, {"run_id": run_id, "step": step})
        return {
            "back": {row["path"]: row["was"] for row in answer["back"]},
            "stays": {row["path"]: row["why"] for row in answer["stays"]},
        }

    def contents(self) -> dict[str, Any]:
        """All that is in the folder: content, permission and time of each file."""
        found: dict[str, Any] = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_symlink():
                found[name] = os.readlink(path)
            elif path.is_dir():
                found[name] = "folder"
            else:
                state = path.stat()
                found[name] = (path.read_bytes(), stat.S_IMODE(state.st_mode), state.st_mtime_ns)
        return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("kept")
    with start_client_lane(folder) as kernel:
        yield Place(kernel, folder)


@pytest.fixture
def place(shared: Place) -> Place:
    """The kernel with an empty folder."""
    for path in shared.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return shared


def fill(folder: Path) -> None:
    """What a person has in their folder."""
    (folder / "sales.csv").write_text("day,sum\n1,10\n2,20\n")
    (folder / "empty.txt").touch()
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "notes.txt").write_text("one\ntwo\n")
    (folder / "deep" / "image.bin").write_bytes(BINARY)
    (folder / "script.sh").write_text("echo hello\n")
    (folder / "script.sh").chmod(0o750)
    (folder / "locked.txt").write_text("only to be read\n")
    (folder / "locked.txt").chmod(0o440)
    (folder / "link").symlink_to("sales.csv")
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("create table items(name)")
        database.execute("insert into items values ('tea')")
    database.close()
    pandas.DataFrame({"a": [1, 2]}).to_parquet(folder / "table.parquet")
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(1, 1_700_000_000_123_456_789))


DAMAGES = {
    "pandas": "import pandas as pd\npd.read_csv('sales.csv').head(1).to_csv('sales.csv')",
    "append": "open('sales.csv', 'a').write('3,30\\n')",
    "write_text": "import pathlib; pathlib.Path('sales.csv').write_text('gone')",
    "same size": "import pathlib; pathlib.Path('sales.csv').write_text('day,sum\\n1,10\\n9,99\\n')",
    "truncate": "import os; os.truncate('deep/image.bin', 10)",
    "ftruncate": "f = open('deep/image.bin', 'r+b'); f.truncate(7); f.close()",
    "delete": "import os; os.remove('sales.csv'); os.unlink('empty.txt')",
    "delete a link": "import os; os.remove('link')",
    "write through a link": "open('link', 'w').write('gone')",
    "rename": "import os; os.rename('sales.csv', 'old.csv')",
    "replace": "import os; os.replace('script.sh', 'sales.csv')",
    "rename a folder": "import os; os.rename('deep', 'deeper')",
    "rmtree": "import shutil; shutil.rmtree('deep')",
    "move": "import shutil; shutil.move('deep/image.bin', 'image.bin')",
    "copy over": "import shutil; shutil.copyfile('script.sh', 'sales.csv')",
    "permissions": "import os; os.chmod('sales.csv', 0o600); os.utime('empty.txt', (5, 5))",
    "delete what cannot be written": "import os; os.remove('locked.txt')",
    "numpy": "import numpy as np; np.arange(9).tofile('deep/image.bin')",
    "memmap": "import numpy as np\nm = np.memmap('deep/image.bin', mode='r+'); m[:] = 0; m.flush()",
    "zip": "import zipfile\nwith zipfile.ZipFile('deep/image.bin', 'w') as z: z.write('sales.csv')",
    "sqlite": "import sqlite3\nc = sqlite3.connect('shop.db')\n"
    "c.execute('drop table items'); c.commit(); c.close()",
    "descriptors": "import os\nf = os.open('deep', os.O_RDONLY)\nos.unlink('image.bin', dir_fd=f)\n"
    "os.close(f)",
    "new files": "import os\nos.makedirs('out/a')\nopen('out/a/x.txt', 'w').write('x')\n"
    "open('y.txt', 'x').close()\nos.symlink('y.txt', 'z')\nos.link('y.txt', 'zz')",
    "atomic": "import os\nopen('tmp', 'w').write('new')\nos.replace('tmp', 'sales.csv')",
    "a folder in place of a file": "import os\nos.remove('sales.csv'); os.mkdir('sales.csv')\n"
    "open('sales.csv/part', 'w').close()",
    "a file in place of a folder": "import shutil\nshutil.rmtree('deep')\n"
    "open('deep', 'w').close()",
    "bytes for a name": "open(b'sales.csv', 'wb').write(b'gone')",
    "rm": "!rm sales.csv deep/er/notes.txt",
    "sed": "!sed -i s/20/99/ sales.csv && chmod 600 script.sh",
    "subprocess": "import subprocess; subprocess.run('echo gone > deep/er/notes.txt', shell=True)",
    "system": "import os; os.system('rm -r deep/er; echo new > made.txt')",
    "shell cell": "%%bash\nmv sales.csv a.csv\nrm link\nmkdir -p b && echo x > b/c",
    "a library that writes in C++": "import pandas as pd\n"
    "pd.read_parquet('table.parquet').head(1).to_parquet('table.parquet')",
    "a fork": "import os\np = os.fork()\nif not p:\n    open('sales.csv', 'w').write('x')\n"
    "    os._exit(0)\nos.waitpid(p, 0)",
}


@pytest.mark.parametrize("code", DAMAGES.values(), ids=DAMAGES)
def test_what_a_run_does_to_files_is_put_back_and_forth(place: Place, code: str) -> None:
    fill(place.folder)
    before = place.contents()
    run_id = place.begin()
    place.cell(code)
    after = place.contents()
    assert after != before
    offered = place.ask("describe_files", run_id)
    assert offered["stays"] == {}
    assert place.ask("put_back", run_id) == offered
    left = place.contents()
    if code == DAMAGES["shell cell"]:
        assert left.pop("b") == "folder"  # what a program made: nobody hears of folders
    assert left == before
    assert place.ask("describe_files", run_id) == {"back": {}, "stays": {}}
    place.ask("put_back")
    forth = place.contents()
    assert {k: v[0] for k, v in forth.items()} == {k: v[0] for k, v in after.items()}


def test_each_run_and_each_step_is_gone_back_to_by_itself(place: Place) -> None:
    file = place.folder / "log.txt"
    file.write_text("0")
    first = place.begin()
    place.cell("open('log.txt', 'a').write('1')")
    place.begin(2)
    place.cell("open('log.txt', 'a').write('2'); open('new.txt', 'w').write('n')")
    place.begin(3)
    place.cell("open('log.txt', 'a').write('3'); open('new.txt', 'a').write('m')")
    second = place.begin()
    place.cell("import os; os.remove('log.txt')")

    assert place.ask("put_back", second)["back"] == {"log.txt": "deleted"}
    assert file.read_text() == "0123"
    assert place.ask("put_back", first, 3)["back"] == {"log.txt": "changed", "new.txt": "changed"}
    assert (file.read_text(), (place.folder / "new.txt").read_text()) == ("012", "n")
    assert place.ask("put_back", first)["back"] == {"log.txt": "changed", "new.txt": "made"}
    assert file.read_text() == "0"
    assert not (place.folder / "new.txt").exists()
    place.ask("put_back")
    assert (file.read_text(), (place.folder / "new.txt").read_text()) == ("012", "n")
    assert place.ask("put_back") == {"back": {}, "stays": {}}, "only the last time is put forth"
    assert place.ask("put_back", first)["back"] == {"log.txt": "changed", "new.txt": "made"}
    place.begin()
    assert place.ask("put_back") == {"back": {}, "stays": {}}, "something was done since"


def test_what_the_person_changed_since_is_left_alone_and_named(place: Place) -> None:
    for name in ("mine.txt", "ours.txt", "gone.txt"):
        (place.folder / name).write_text("before")
    first = place.begin()
    place.cell(
        "for name in ('mine.txt', 'ours.txt', 'made.txt'): open(name, 'w').write('the run')\n"
        "import os; os.remove('gone.txt')"
    )
    for name in ("mine.txt", "made.txt", "gone.txt"):
        (place.folder / name).write_text("my own work")
    changed = dict.fromkeys(("gone.txt", "made.txt", "mine.txt"), "it was changed since")
    assert place.ask("put_back", first) == {"back": {"ours.txt": "changed"}, "stays": changed}
    assert (place.folder / "made.txt").read_text() == "my own work"
    # Between two runs, too.
    place.begin()
    place.cell("open('mine.txt', 'w').write('another run')")
    assert "mine.txt" in place.ask("put_back", first)["stays"]
    assert (place.folder / "mine.txt").read_text() == "another run"
    assert place.ask("put_back", place.run_id)["back"] == {"mine.txt": "changed"}
    assert (place.folder / "mine.txt").read_text() == "my own work"


def test_what_the_person_did_between_two_cells_is_not_the_runs(place: Place) -> None:
    run_id = place.begin()
    place.cell("1")
    (place.folder / "mine.txt").write_text("made meanwhile")
    place.begin(2)
    place.cell("open('made.txt', 'w').close()")
    assert place.ask("put_back", run_id) == {"back": {"made.txt": "made"}, "stays": {}}
    assert (place.folder / "mine.txt").exists()


def test_what_is_not_kept_is_named_with_the_reason(place: Place) -> None:
    large, program, heard = (place.folder / f"{name}.bin" for name in ("large", "program", "heard"))
    for file, size in ((large, 50_000_001), (program, 10_000_001), (heard, 10_000_001)):
        with file.open("wb") as opened:
            opened.truncate(size)
    (place.folder / "table.raw").write_bytes(b"before")
    (place.folder / "book.ipynb").write_text("{}")
    os.mkfifo(place.folder / "pipe")
    run_id = place.begin()
    place.cell(
        "import os, ctypes, subprocess\n"
        "open('large.bin', 'r+b').write(b'x'); open('heard.bin', 'r+b').write(b'x')\n"
        "os.remove('pipe')\n"
        "c = ctypes.CDLL(None)\n"
        "f = c.open(b'table.raw', os.O_WRONLY); c.write(f, b'after!!', 7); c.close(f)"
    )
    place.begin(2)
    place.cell("!echo x >> program.bin; echo x > book.ipynb; echo x > new.ipynb")
    found = place.ask("put_back", run_id)
    assert found["back"] == {"heard.bin": "changed"}
    assert found["stays"] == {
        "large.bin": "it is larger than 50 MB",
        "pipe": "it is no ordinary file",
        "program.bin": "it is larger than 10 MB",
        "table.raw": "a library or a program changed it unseen",
        "book.ipynb": "Jupyter may have saved it meanwhile",
        "new.ipynb": "Jupyter may have saved it meanwhile",
    }
    assert heard.read_bytes() == bytes(10_000_001)


LARGE = 50_000_001
RENAMES = {
    "os.rename": "import os; os.rename('large.bin', 'b')",
    "os.replace": "import os; os.replace('large.bin', 'b')",
    "pathlib": "import pathlib; pathlib.Path('large.bin').rename('b')",
    "shutil.move": "import os, shutil; os.mkdir('in'); shutil.move('large.bin', 'in')",
    "three names": "import os\nos.rename('large.bin', 'a'); os.rename('a', 'b')\n"
    "os.rename('b', 'c')",
    "over a small file": "import os; os.rename('large.bin', 'small.txt')",
    "over a large file, renamed before": "import os\n"
    "os.rename('other.bin', 'c'); os.rename('large.bin', 'other.bin')",
    "the folder": "import os; os.rename('deep', 'deeper')",
    "a program": "!mv large.bin b; mv deep deeper",
    "a link": "import os; os.link('large.bin', 'b'); os.remove('large.bin')",
}


def fill_with_large_files(place: Place) -> None:
    (place.folder / "deep").mkdir()
    for number, name in enumerate(("large.bin", "other.bin", "deep/large.bin")):
        with (place.folder / name).open("wb") as file:
            file.write(bytes([number]))
            file.truncate(LARGE + number)
    (place.folder / "small.txt").write_text("small")
    for path in place.folder.rglob("*"):
        os.utime(path, ns=(1, 1_700_000_000_123_456_789))


def heads(place: Place) -> dict[str, Any]:
    """What is in the folder; of large files the size and how they begin."""
    found = {}
    for path in sorted(place.folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[str(path.relative_to(place.folder))] = (path.stat().st_size, file.read(9))
    return found


@pytest.mark.parametrize("code", RENAMES.values(), ids=RENAMES)
def test_what_was_renamed_and_is_too_large_to_be_copied_is_renamed_back_and_forth(
    place: Place, code: str
) -> None:
    fill_with_large_files(place)
    before = heads(place)
    run_id = place.begin()
    place.cell(code)
    after = heads(place)
    offered = place.ask("describe_files", run_id)
    assert offered["stays"] == {}
    for _ in range(2):
        assert place.ask("put_back", run_id) == offered
        assert heads(place) == before
        place.ask("put_back")
        assert heads(place) == after


KEPT_UNDER_NEW_NAMES = {
    "written to under its new name": (
        "import os; os.rename('large.bin', 'b'); open('b', 'ab').write(b'more')",
        "b",
        "it may hold what large.bin held, which cannot be put back",
    ),
    "copied and deleted, as a move to another disk does": (
        "import os, shutil; shutil.copy2('large.bin', 'b'); os.remove('large.bin')",
        "b",
        "it may hold what large.bin held, which cannot be put back",
    ),
    "over a small file, and the user has the old name again": (
        "import os; os.rename('large.bin', 'small.txt')",
        "small.txt",
        "it may hold what large.bin held, which cannot be put back",
    ),
    "changed places": (
        "import os; os.rename('large.bin', 't')\nos.rename('other.bin', 'large.bin')\n"
        "os.rename('t', 'other.bin')",
        "other.bin",
        "it is larger than 50 MB",
    ),
    "from where nobody looks": (
        "!mv {outside} b",
        "b",
        "it is older than the run: a program may have moved it here",
    ),
}


@pytest.mark.parametrize(
    ("code", "name", "why"), KEPT_UNDER_NEW_NAMES.values(), ids=KEPT_UNDER_NEW_NAMES
)
def test_a_new_name_stays_where_the_old_one_cannot_come_back(
    place: Place, tmp_path: Path, code: str, name: str, why: str
) -> None:
    fill_with_large_files(place)
    if "outside" in code:
        (place.folder / "large.bin").rename(tmp_path / "outside")
    run_id = place.begin()
    place.cell(code.replace("{outside}", str(tmp_path / "outside")))
    if "small" in code:
        (place.folder / "large.bin").write_text("mine")
    moved = heads(place)[name]
    assert place.ask("describe_files", run_id)["stays"][name] == why
    assert place.ask("put_back", run_id)["stays"][name] == why
    assert heads(place)[name] == moved


def test_a_file_from_a_hidden_folder_is_renamed_back(place: Place) -> None:
    (place.folder / ".cache").mkdir()
    (place.folder / ".cache" / "download").write_text("long ago")
    os.utime(place.folder / ".cache" / "download", (1, 1))
    run_id = place.begin()
    place.cell("import os; os.rename('.cache/download', 'data')")
    back = place.ask("put_back", run_id)["back"]
    assert back == {".cache/download": "deleted", "data": "made"}
    assert (place.folder / ".cache" / "download").read_text() == "long ago"


def test_nothing_is_lost_of_a_renamed_folder_with_more_files_than_are_copied(place: Place) -> None:
    (place.folder / "many").mkdir()
    for number in range(2100):
        (place.folder / "many" / f"{number}.txt").write_text(str(number))
    before = heads(place)
    run_id = place.begin()
    place.cell("import os; os.rename('many', 'moved')")
    assert place.ask("put_back", run_id)["stays"] == {}
    assert heads(place) == before


def test_a_name_that_looks_like_an_address_is_a_name(place: Place) -> None:
    (place.folder / "file:x.txt").write_text("before")
    run_id = place.begin()
    place.cell("open('file:x.txt', 'w').write('after')\nopen('file:y.txt', 'w').close()")
    back = place.ask("put_back", run_id)["back"]
    assert back == {"file:x.txt": "changed", "file:y.txt": "made"}
    assert (place.folder / "file:x.txt").read_text() == "before"


def test_some_places_are_no_runs_to_put_back(place: Place, tmp_path: Path) -> None:
    for folder in (".hidden", "__pycache__", "record", "ipython"):
        (place.folder / folder).mkdir()
    (place.folder / "record" / "runs.sqlite").touch()
    names = (".hidden/a", "__pycache__/a", "record/a", "ipython/a", "own.ipynb")
    elsewhere = tmp_path / "there.txt"
    elsewhere.write_text("before")
    run_id = place.begin()
    place.cell(
        f"import os; os.environ['JPY_SESSION_NAME'] = os.path.abspath('own.ipynb')\n"
        "os.environ['IPYTHONDIR'] = os.path.abspath('ipython')\n"
        f"open({str(elsewhere)!r}, 'w').write('after')\n"
        f"open({str(tmp_path / 'new.txt')!r}, 'w').write('after')"
    )
    place.begin(2)
    place.cell(
        f"for name in {names}: open(name, 'w').write('x')\n"
        "del os.environ['JPY_SESSION_NAME'], os.environ['IPYTHONDIR']"
    )
    assert place.ask("put_back", run_id) == {"back": {str(elsewhere): "changed"}, "stays": {}}
    assert elsewhere.read_text() == "before", "it was there before, so it is kept"
    assert (tmp_path / "new.txt").exists(), "what is made elsewhere may be a cache of a library"
    assert all((place.folder / name).exists() for name in names)


def test_the_copies_of_the_oldest_runs_go(place: Place) -> None:
    (place.folder / "a.txt").write_text("0")
    runs = []
    for number in range(4):
        runs.append(place.begin())
        place.cell(f"open('a.txt', 'w').write('{number + 1}')")
    assert place.ask("put_back", runs[0]) == {"back": {}, "stays": {}}
    assert place.ask("put_back", runs[1])["back"] == {"a.txt": "changed"}
    assert (place.folder / "a.txt").read_text() == "1"


def test_when_there_is_no_room_the_older_runs_go_and_what_does_not_fit_is_named(
    place: Place,
) -> None:
    for number in range(7):
        with (place.folder / f"{number}.bin").open("wb") as file:
            file.truncate(45_000_000)
    first = place.begin()
    place.cell("open('0.bin', 'ab').write(b'x'); open('1.bin', 'ab').write(b'x')")
    assert len(place.ask("describe_files", first)["back"]) == 2
    second = place.begin()
    place.cell("for n in range(2, 5): open(f'{n}.bin', 'ab').write(b'x')")
    assert place.ask("describe_files", first) == {"back": {}, "stays": {}}
    place.begin(2)
    place.cell("open('5.bin', 'ab').write(b'x')")
    place.begin(3)
    place.cell("open('6.bin', 'ab').write(b'x')")
    found = place.ask("describe_files", second)
    assert "larger than 200 MB" in found["stays"]["6.bin"]
    assert "5.bin" in found["back"]


def test_the_state_that_is_gone_back_to_knows_what_happened_outside_since(
    fresh: FreshKernel, tmp_path: Path
) -> None:
    place = Place(fresh, tmp_path)
    (place.folder / "a.txt").write_text("before")
    run_id = place.begin()
    place.cell("open('a.txt', 'w').write('after'); x = 1")
    snapshot = find_before(place.kernel, run_id)
    assert snapshot is not None, explain_missing(place.kernel, 3)
    go_to(place.kernel, snapshot)
    assert place.ask("describe_files", run_id)["back"] == {"a.txt": "changed"}
    run(place.kernel, "open('b.txt', 'w').close()")
    assert place.ask("put_back", run_id)["back"] == {"a.txt": "changed"}, "no run is watched"
    assert (place.folder / "a.txt").read_text() == "before"
    later = place.begin()
    place.cell("open('a.txt', 'a').write('!')")
    assert place.ask("put_back", later)["back"] == {"a.txt": "changed"}
    assert (place.folder / "a.txt").read_text() == "before"


def test_a_copy_leaves_locks_alone_and_who_has_the_file_open_sees_what_is_put_back(
    place: Place,
) -> None:
    """To close any handle of a file would release the locks that the kernel has on it."""
    (place.folder / "a.txt").write_text("before")
    run(place.kernel, "import fcntl\nmine = open('a.txt', 'r+'); fcntl.lockf(mine, fcntl.LOCK_EX)")
    run_id = place.begin()
    place.cell("import os; os.truncate('a.txt', 0)")
    code = (
        "import fcntl; file = open('a.txt', 'r+')\n"
        "try: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); print('free')\n"
        "except OSError: print('locked')"
    )
    asked = (
        f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {code!r}]))"
    )
    assert "locked" in run(place.kernel, asked).text
    assert place.ask("put_back", run_id)["back"] == {"a.txt": "changed"}
    assert run(place.kernel, "print(mine.read())").text == "before\n"
    run(place.kernel, "mine.close()")


def test_the_folder_goes_with_the_kernel_and_after_a_kill_with_the_next(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / f"{kept_files.FOLDER}without-a-lock").mkdir()
    environment = {**kernel_environment(), "TMPDIR": str(temporary)}

    def folders() -> list[str]:
        found = (path.name for path in temporary.glob(f"{kept_files.FOLDER}*"))
        return sorted(name for name in found if not name.endswith("without-a-lock"))

    with start_kernel(tmp_path, environment) as lives, start_kernel(tmp_path, environment) as other:
        place = Place(lives, tmp_path)
        run_id = place.begin()
        place.cell("x = 1")
        (left,) = folders()
        assert stat.S_IMODE((temporary / left).stat().st_mode) == 0o700
        # The one that was forked lives on with the folder, and is killed.
        snapshot = find_before(lives, run_id)
        assert snapshot is not None
        go_to(lives, snapshot)
        place.begin()
        Place(other, tmp_path).begin()
        assert len(folders()) == 2
        assert left in folders()
        kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        with pytest.raises(KernelDiedError):
            run(lives, kill)
        assert wait_for(lambda: left not in folders()), "the last of its snapshots removes it"
        (left,) = folders()
        other.ask_snapshots("drop", {})
        with pytest.raises(KernelDiedError):
            run(other, kill)
        assert folders() == [left]
        with start_kernel(tmp_path, environment) as third:
            Place(third, tmp_path).begin()
            assert left not in folders()
            assert len(folders()) == 1
    assert wait_for(lambda: not folders()), "they go with their kernels"


def test_another_kernels_folder_that_goes_while_it_is_looked_at_is_in_nobodys_way(
    tmp_path: Path,
) -> None:
    listed = (
        "import os, tempfile; listdir, gone = os.listdir, {tempfile.gettempdir(): ["
        f"'{kept_files.FOLDER}gone']}}\n"
        "os.listdir = lambda path='.': [*listdir(path), *gone.get(path, ())]"
    )
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        place = Place(kernel, tmp_path)
        (tmp_path / "a.txt").write_text("old")
        place.cell(listed)
        run_id = place.begin()
        place.cell("os.listdir = listdir; n = open('a.txt', 'w').write('new')")
        assert place.ask("put_back", run_id)["back"] == {"a.txt": "changed"}
        assert (tmp_path / "a.txt").read_text() == "old"


def test_what_a_program_left_alone_is_copied_once_a_run(place: Place) -> None:
    fill(place.folder)
    place.begin()
    asked = "print(__import__('sys').modules['_cellwright_kept_files'].folder)"
    store = Path(run(place.kernel, asked).text.strip())
    place.cell("!true")
    copies = sorted(path.name for path in store.iterdir())
    assert len(copies) > 5
    place.begin(2)
    place.cell("!true")
    assert sorted(path.name for path in store.iterdir()) == copies
    place.begin(3)
    place.cell("import os; os.chdir('deep'); os.system('echo x >> ../sales.csv'); os.chdir('..')")
    assert sorted(path.name for path in store.iterdir()) == copies
    assert place.ask("put_back", place.run_id)["back"] == {"sales.csv": "changed"}
    assert (place.folder / "sales.csv").read_text() == "day,sum\n1,10\n2,20\n"
    place.begin()
    assert len(list(store.iterdir())) < len(copies), "no run needs them any more"


def test_a_file_that_is_too_large_to_be_kept_on_the_way_back_stays(place: Place) -> None:
    run_id = place.begin()
    place.cell("f = open('huge.bin', 'w'); f.truncate(1_000_000_001); f.close()")
    assert place.ask("put_back", run_id)["stays"] == {"huge.bin": "it is larger than 1,000 MB"}
    assert (place.folder / "huge.bin").exists()
    # A folder that the run made stays while somebody else's file is in it.
    run_id = place.begin()
    place.cell("import os; os.mkdir('made'); open('made/a', 'w').close()")
    (place.folder / "made" / "mine").touch()
    told = place.ask("put_back", run_id)
    assert told == {"back": {"made/a": "made"}, "stays": {"made": "there are other files in it"}}
    assert [path.name for path in (place.folder / "made").iterdir()] == ["mine"]


TERMINAL = """
from IPython.core.interactiveshell import InteractiveShell
from cellwright.kernels import CellRequest
from cellwright.kernels.going_back import explain_missing, keep_state, put_files_back
from cellwright.kernels.shell import ShellKernel
from cellwright.stopping import Stop
kernel = ShellKernel(InteractiveShell.instance())
keep_state(kernel, 3, "run-1", "prompt")
list(kernel.execute(CellRequest("c", "f = open('a', 'w').close()"), Stop(), lambda output: output))
print(explain_missing(kernel, 3), [file.path for file in put_files_back(kernel, "run-1").back])
"""


def test_files_are_kept_in_a_terminal_where_variables_are_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    program = [sys.executable, "-c", TERMINAL]
    environment = {**kernel_environment(), "TMPDIR": str(tmp_path)}
    said = subprocess.check_output(program, cwd=tmp_path, env=environment, text=True)
    assert "not a kernel of ipykernel ['a']" in said
    assert (tmp_path / "a").read_text() == "before"
    assert list(tmp_path.glob(f"{kept_files.FOLDER}*")) == [], "it goes with the terminal"
