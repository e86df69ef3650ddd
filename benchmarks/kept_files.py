"""Files that a run damages, put back, and what keeping them costs.

    python benchmarks/kept_files.py damage FOLDER … [--count 40] [--python PATH]
    python benchmarks/kept_files.py cost [--count 9] [--python PATH]

``damage`` takes the files of folders that are not ours, such as the sample data of matplotlib and
numpy's test data. For each of them and each way in which people overwrite, move and delete files, a
kernel's folder is filled with all of them, a run does it in one cell, the variables are undone, and
the files are put back. Every file of the folder is compared with its original: its sha256, its
permissions and its time. What was not put back counts as ``named`` where the person is told so by
name, and as ``missed`` where not; the exit status is 1 where anything was missed.

``cost`` times cells that open many files, with a run that is watched and without one: by the
processor's time in the kernel, which other work of the machine does not change, and by the clock.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from snapshots import Bench

from cellwright.kernels.going_back import find_before, find_files, go_to, keep_state, put_files_back

FOLDER_BYTES = 40_000_000
"""Of the files that a kernel's folder is filled with."""

DAMAGES = {
    "pandas to_csv": "import pandas as pd; pd.DataFrame({'a': [1, 2]}).to_csv(F)",
    "pandas to_parquet": "import pandas as pd; pd.DataFrame({'a': [1, 2]}).to_parquet(F)",
    "pandas to_pickle": "import pandas as pd; pd.DataFrame({'a': [1, 2]}).to_pickle(F)",
    "numpy tofile": "import numpy as np; np.arange(99).tofile(F)",
    "numpy save": "import numpy as np\nwith open(F, 'wb') as f: np.save(f, np.arange(9))",
    "numpy memmap": "import numpy as np\nm = np.memmap(F, mode='r+'); m[:1] ^= 255; m.flush()\n"
    "del m",
    "savefig": "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
    "plt.plot([1]); plt.savefig(F, format='png'); plt.close()",
    "open w": "open(F, 'w').write('gone')",
    "open a": "open(F, 'a').write('more')",
    "json": "import json\nwith open(F, 'w') as f: json.dump({}, f)",
    "zipfile": "import zipfile\nwith zipfile.ZipFile(F, 'w') as z: z.writestr('a', 'b')",
    "gzip": "import gzip\nwith gzip.open(F, 'wb') as f: f.write(b'x')",
    "tarfile": "import tarfile\nwith tarfile.open(F, 'w') as t: t.add(G)",
    "sqlite over it": "import os, sqlite3; os.remove(F)\nc = sqlite3.connect(F)\n"
    "c.execute('create table t(x)'); c.commit(); c.close()",
    "os.truncate": "import os; os.truncate(F, 3)",
    "os.remove": "import os; os.remove(F)",
    "os.rename": "import os; os.rename(F, F + '.old')",
    "os.replace": "import os; os.replace(G, F)",
    "shutil.move": "import shutil, os; os.mkdir('moved'); shutil.move(F, 'moved')",
    "shutil.copy": "import shutil; shutil.copy(G, F)",
    "shutil.rmtree": "import shutil; shutil.rmtree('inner')",
    "pathlib": "import pathlib; pathlib.Path(F).write_bytes(b'x'); pathlib.Path(G).unlink()",
    "fileinput": "import fileinput\nfor line in fileinput.input(F, inplace=True, mode='rb'): pass",
    "chmod and utime": "import os; os.chmod(F, 0o600); os.utime(F, (1, 1))",
    "subprocess": "import subprocess; subprocess.run(['truncate', '-s', '5', F], check=True)",
    "os.system": "import os; os.system(f'echo x >> {F!r}')",
    "!rm": "!rm {F} {G}",
    "!sed -i": "!sed -i 's/[0-9]/0/g' {F}; echo >> {F}",
    "%%bash": '%%bash\nfor f in *; do echo gone > "$f" 2> /dev/null; done; true',
    "%%writefile": "get_ipython().run_cell_magic('writefile', F, 'gone')",
    "another Python": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', 'import sys; open(sys.argv[1], \"w\")', F], check=True)",
    "multiprocessing": "import multiprocessing\n"
    "p = multiprocessing.get_context('fork').Process(target=lambda: open(F, 'w').close())\n"
    "p.start(); p.join()",
    "a thread": "import threading\nt = threading.Thread(target=lambda: open(F, 'w').close())\n"
    "t.start(); t.join()",
    "written in C": "import ctypes, os\nc = ctypes.CDLL(None)\n"
    "f = c.open(F.encode(), os.O_WRONLY | os.O_TRUNC); c.write(f, b'x', 1); c.close(f)",
    "pyarrow's writer": "import pyarrow as pa, pyarrow.parquet\n"
    "pyarrow.parquet.write_table(pa.table({'a': [1]}), pa.PythonFile(open(F, 'wb')))\n",
    "arrow in C++": "import pyarrow as pa, pyarrow.parquet\n"
    "pyarrow.parquet.write_table(pa.table({'a': [1]}), F)",
}


def fingerprint(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Content, permissions and time of each file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            state = path.stat()
            found[str(path.relative_to(folder))] = (digest, state.st_mode, state.st_mtime_ns)
    return found


def originals(folders: list[Path]) -> list[Path]:
    """The files to damage, small ones first, as far as they fit."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    chosen, size = [], 0
    for path in sorted(files, key=lambda path: path.stat().st_size):
        size += path.stat().st_size
        if size > FOLDER_BYTES:
            break
        if path.suffix not in (".py", ".ipynb") and " " not in path.name:
            chosen.append(path)
    return chosen


def damage(options: argparse.Namespace) -> int:
    """Damage files in every way, and compare what undo brings back."""
    files = originals(options.folders)
    step = max(1, len(files) // options.count)
    targets = files[::step][: options.count]
    counts: Counter[tuple[str, str]] = Counter()
    undo_seconds = []
    with Bench(options.python) as bench:
        folder = Path(bench.folder)
        for way, code in DAMAGES.items():
            for number, target in enumerate(targets):
                fill(folder, files)
                before = fingerprint(folder)
                name = f"inner/{target.name}" if number % 2 else target.name
                other = targets[number - 1].name
                bench.run(f"F, G = {name!r}, {other!r}")
                run_id = f"{way} {number}"
                keep_state(bench.kernel, 3, run_id, way)
                bench.run(code)
                after = fingerprint(folder)
                began = time.perf_counter()
                snapshot = find_before(bench.kernel, run_id)
                if snapshot is not None:
                    go_to(bench.kernel, snapshot)
                told = put_files_back(bench.kernel, run_id)
                undo_seconds.append(time.perf_counter() - began)
                now = fingerprint(folder)
                changed = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
                wrong = {n for n in before.keys() | now.keys() if before.get(n) != now.get(n)}
                missed = wrong - {file.path for file in told.stays}
                outcome = "missed" if missed else "named" if wrong else "whole"
                counts[way, outcome if changed else "unchanged"] += 1
                if missed:
                    print(f"missed: {run_id}: {sorted(missed)[:3]}")
                assert find_files(bench.kernel, run_id).back == ()
    for way in DAMAGES:
        told_of = (f"{outcome} {counts[way, outcome]}" for outcome in ("whole", "named", "missed"))
        print(f"{way:20} {'  '.join(told_of)}  unchanged {counts[way, 'unchanged']}")
    total: Counter[str] = Counter()
    for (_, outcome), count in counts.items():
        total[outcome] += count
    print(f"{len(files)} files, {sum(f.stat().st_size for f in files) / 1e6:.1f} MB; {dict(total)}")
    print(f"undo with files: median {1000 * statistics.median(undo_seconds):.0f} ms")
    return 1 if total["missed"] else 0


def fill(folder: Path, files: list[Path]) -> None:
    """The kernel's folder as it is before each run."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    (folder / "inner").mkdir()
    for number, path in enumerate(files):
        for place in (folder, folder / "inner") if number % 2 else (folder / "inner", folder):
            shutil.copyfile(path, place / path.name)


TIMED = """
import time as _time
_began = _time.process_time()
{}
_seconds = _time.process_time() - _began
with open('.hidden/seconds', 'w') as _file: _file.write(str(_seconds))
"""
COSTS = {
    "an ordinary cell": "pass",
    "10,000 files opened to be read": "for n in range(10_000):\n    with open('1.txt'): pass",
    "500 files of 10 kB appended to": "for n in range(500):\n    with open(f'{n}.txt', 'a') as f:\n"
    "        f.write('x')",
    "500 files made": "for n in range(500): open(f'new{n}.txt', 'w').close()",
    "1 MB opened to be changed": "with open('1.bin', 'r+b') as f: f.write(b'x')",
    "10 MB opened to be changed": "with open('10.bin', 'r+b') as f: f.write(b'x')",
    "49 MB opened to be changed": "with open('49.bin', 'r+b') as f: f.write(b'x')",
    "a program beside 1,000 files": "import os; os.system('true')",
}


def cost(options: argparse.Namespace) -> int:
    """Time cells with a run that is watched, and without."""
    with Bench(options.python) as bench:
        folder = Path(bench.folder)
        (folder / ".hidden").mkdir()
        for n in range(1000):
            (folder / f"{n}.txt").write_text("x" * 10_000)
        for size in (1, 10, 49):
            (folder / f"{size}.bin").write_bytes(os.urandom(1_000_000) * size)
        medians: dict[str, list[str]] = {}
        for is_watched in (False, True):
            for name, code in COSTS.items():
                cells, inside = [], []
                for number in range(options.count):
                    if "made" in name:
                        for path in folder.glob("new*"):
                            path.unlink()
                    if is_watched:
                        keep_state(bench.kernel, 3, f"{name} {number}", "cost")
                    began = time.perf_counter()
                    bench.run(TIMED.format(code))
                    cells.append(time.perf_counter() - began)
                    inside.append(float((folder / ".hidden" / "seconds").read_text()))
                told = (f"{1000 * statistics.median(times):.1f}" for times in (inside, cells))
                medians.setdefault(name, []).append(" / ".join(told))
    print("milliseconds, not watched and watched (medians): of the processor inside the cell /")
    print("of the clock with all around it")
    for name, told_of in medians.items():
        print(f"{name:32} {told_of[0]:>16}  {told_of[1]:>16}")
    return 0


def main() -> int:
    """Do one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("damage")
    part.set_defaults(run=damage)
    part.add_argument("folders", type=Path, nargs="+")
    part.add_argument("--count", type=int, default=40, help="so many files are damaged")
    part = parts.add_parser("cost")
    part.set_defaults(run=cost)
    part.add_argument("--count", type=int, default=9)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    return int(options.run(options))


if __name__ == "__main__":
    raise SystemExit(main())
