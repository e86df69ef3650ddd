"""What a benchmark on a Dask cluster costs its client and its scheduler.

    python benchmarks/cluster.py [--workers 50] [--threads 20] [--samples 5000] [--seconds 10]

The scheduler and the client are real, each in a process of its own. The workers are real Dask
workers, all in one more process, so that a small machine has places for 1,000 samples; the samples
are not: each sleeps for so many seconds and gives back a record as large as that of a sample with
ten tool turns. Processor time is that of each process, so the table says what the client and the
scheduler would cost on a cluster whose workers are elsewhere; samples a second are those of this
machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import multiprocessing
import os
import resource
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SETTINGS = {
    "distributed.admin.system-monitor.interval": "1h",  # each worker has one, in one process
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.scheduler.worker-ttl": None,  # one process has all of them, and little time
}


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def largest_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def serve_scheduler(pipe: Connection) -> None:
    import dask
    from distributed import Scheduler, scheduler

    # All workers are in one process, which has better things to do than to say how it is.
    scheduler.heartbeat_interval = lambda count: 60.0  # type: ignore[attr-defined]
    logging.getLogger("distributed").setLevel(logging.ERROR)

    async def serve() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as found:
            pipe.send(found.address)
            while await asyncio.to_thread(pipe.recv) != "end":
                pipe.send((processor_seconds(), largest_megabytes()))

    with dask.config.set(SETTINGS):
        asyncio.run(serve())


def serve_workers(pipe: Connection, address: str, count: int, threads: int) -> None:
    import dask
    from distributed import Worker

    logging.getLogger("distributed").setLevel(logging.ERROR)

    async def serve() -> None:
        with tempfile.TemporaryDirectory() as folder:
            workers = [
                Worker(
                    address,
                    nthreads=threads,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    memory_limit=0,
                    local_directory=folder,
                )
                for _ in range(count)
            ]
            for start in range(0, count, 50):
                await asyncio.gather(*workers[start : start + 50])
            pipe.send("ready")
            while await asyncio.to_thread(pipe.recv) != "end":
                pipe.send((processor_seconds(), largest_megabytes()))
            os._exit(0)  # a thousand polite farewells take minutes

    with dask.config.set(SETTINGS):
        asyncio.run(serve())


def fake_sample(parcel: Any, equipment: Any, *, seconds: float) -> dict[str, Any]:
    """A sample that sleeps."""
    from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score

    time.sleep(seconds)
    cells = tuple(SampleCell(f"c{n}", "agent", "x = 1\n" * 80, "ok") for n in range(10))
    record = SampleRecord(
        f"{parcel.suite}:{parcel.item.index!r}:{parcel.epoch}",
        task=SampleTask(parcel.suite, parcel.item.index),
        agent=parcel.agent,
        cells=cells,
        status="completed",
        scores=(Score("check", 1.0, passed=True),),
    )
    return {"sample": record.to_dict()}


def measure(address: str, options: argparse.Namespace, used: Any) -> dict[str, float]:
    from functools import partial

    from cellwright.bench.agents import open_agent
    from cellwright.bench.checks import AnswerCheck
    from cellwright.bench.environments import InterpreterChoice
    from cellwright.bench.runner import Cluster, Equipment, Job, Runner
    from cellwright.bench.suites import Item, Suite

    checks = (AnswerCheck(name="answer", value=42),)
    items = tuple(
        Item(n, "What is it?" * 20, checks=checks, reference=("1",)) for n in range(options.samples)
    )
    suite, agent = Suite("measured", items), open_agent("oracle")
    threads: set[str] = set()
    running: list[int] = []

    def look(progress: Any) -> None:
        if progress.done % 200 == 0:
            threads.update(thread.name for thread in threading.enumerate())
            running.append(progress.running)

    with (
        contextlib.closing(Cluster(address)) as cluster,
        tempfile.TemporaryDirectory() as folder,
    ):
        executor = cluster.executor(
            partial(fake_sample, seconds=options.seconds), Equipment(InterpreterChoice())
        )
        before, own, began = used(), processor_seconds(), time.perf_counter()
        ended = Runner(Path(folder), executor, on_progress=look).run(
            Job(suite, item, agent) for item in items
        )
        seconds = time.perf_counter() - began
        own, after = processor_seconds() - own, used()
        lines = sum(1 for path in Path(folder).rglob("runs.jsonl") for _ in path.open())
    if not ended.done == lines == options.samples:
        raise SystemExit(f"{ended.done} ended and {lines} were recorded of {options.samples}")
    return {
        "places": options.workers * options.threads,
        "samples": options.samples,
        "sample_seconds": options.seconds,
        "seconds": seconds,
        "samples_a_second": options.samples / seconds,
        "most_at_a_time": max(running),
        "client_ms_a_sample": 1000 * own / options.samples,
        "scheduler_ms_a_sample": 1000 * (after[0][0] - before[0][0]) / options.samples,
        "workers_ms_a_sample": 1000 * (after[1][0] - before[1][0]) / options.samples,
        "client_cores": own / seconds,
        "client_megabytes": largest_megabytes(),
        "scheduler_megabytes": after[0][1],
        "client_threads": len(threads),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=50)
    parser.add_argument("--threads", type=int, default=20, help="of each worker")
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long a sample takes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    scheduler, theirs = spawn.Pipe()
    workers, their_own = spawn.Pipe()
    first = spawn.Process(target=serve_scheduler, args=(theirs,), daemon=True)
    first.start()
    address = scheduler.recv()
    second = spawn.Process(
        target=serve_workers,
        args=(their_own, address, options.workers, options.threads),
        daemon=True,
    )
    second.start()
    workers.recv()

    def used() -> list[tuple[float, float]]:
        found = []
        for pipe in (scheduler, workers):
            pipe.send("used")
            found.append(pipe.recv())
        return found

    try:
        found = measure(address, options, used)
    finally:
        workers.send("end")
        second.join()
        scheduler.send("end")
        first.join(10)
    if options.json:
        print(json.dumps({"load": os.getloadavg()[0], **found}))
        return
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for name, value in found.items():
        print(f"{name.replace('_', ' '):26}{value:12.2f}")


if __name__ == "__main__":
    main()
