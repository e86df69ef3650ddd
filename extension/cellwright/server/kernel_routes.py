"""The variables of a running kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.errors import KernelNotReadyError, SetupError
from cellwright.kernels.going_back import (
    ChangedFiles,
    KernelSnapshots,
    note_for_model,
    note_of_files,
)
from cellwright.record.outputs import VariableSummary
from cellwright.record.run_record import note_of_files_moved
from cellwright.record.values import to_dict
from cellwright.server.application import Application, KernelAccess
from cellwright.server.kernel_access import open_kernels
from cellwright.server.rest_types import OneVariable, UndoneRun
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.stopping import retry

VARIABLE_NAME = r"([^/]{1,512})"
PATIENCE_SECONDS = 0.5
"""A kernel that has just answered us counts as busy until the server hears that it is not."""


class KernelRoute(Route):
    """A route that asks a kernel; the kernel runs code of ours for it."""

    guest_methods: tuple[str, ...] = ("GET",)
    slow_methods = ("GET", "POST", "DELETE")

    async def kernels(self, kernel_id: str) -> KernelAccess:
        """The way to the kernel.

        Raises:
            Refusal: The server has no such kernel, or this person may not use it.
        """
        await self.check_kernels()
        if kernel_id not in self.kernel_manager:
            raise Refusal(404, f"There is no kernel {kernel_id!r}.", "Start it in the notebook.")
        return open_kernels(self.shared)

    def check_step(self, shared: Application, run_id: str, step: int) -> None:
        """Return if this person may undo a run from one of its cells on.

        A kernel may hold states of runs that are not in this record; those are nobody else's.

        Raises:
            RefusedError: There is no such run for them.
            SetupError: There is no such cell.
        """
        if step < 0:
            raise SetupError(f"There is no cell {step}.", hint="The cells of a run count from 1.")
        if run_id:
            self.check_run(shared, run_id, may_be_gone=True)


class VariablesRoute(KernelRoute):
    """All variables."""

    @web.authenticated
    @authorized
    async def get(self, kernel_id: str) -> None:
        """Name, type and a few words of each."""
        kernels = await self.kernels(kernel_id)

        def variables(_: Application) -> Sequence[VariableSummary]:
            ask = lambda: kernels.variables(kernel_id)  # noqa: E731
            return retry(ask, KernelNotReadyError, PATIENCE_SECONDS)

        self.send(to_dict(await self.answer(variables)))


class VariableRoute(KernelRoute):
    """One variable."""

    @web.authenticated
    @authorized
    async def get(self, kernel_id: str, name: str) -> None:
        """What a model would be told of it."""
        if not name.isidentifier():
            raise Refusal(404, f"There is no variable {name!r}.")
        kernels = await self.kernels(kernel_id)

        def summary(_: Application) -> OneVariable:
            ask = lambda: kernels.variable(kernel_id, name)  # noqa: E731
            return OneVariable(retry(ask, KernelNotReadyError, PATIENCE_SECONDS))

        self.send(to_dict(await self.answer(summary)))


class UndoRoute(KernelRoute):
    """The variables as before a run, or forth again."""

    guest_methods = ()

    @web.authenticated
    @authorized
    async def post(self, kernel_id: str) -> None:
        """Go there, or hear that the user went there; the record and the run's chat are told."""
        given = self.fields(run=str, step=int, restarted=bool, redone=bool)
        run_id, step = given.get("run", ""), given.get("step", 0)
        restarted, redone = given.get("restarted", False), given.get("redone", False)
        kernels = await self.kernels(kernel_id)

        def undo(shared: Application) -> UndoneRun:
            self.check_step(shared, run_id, step)
            if restarted or redone:
                shared.runs.record(run_id)  # one that is not there cannot have been undone
                undone = UndoneRun(
                    run_id, restarted, step if restarted else 0, time.time(), ChangedFiles()
                )
                changes: Mapping[str, int | None] = {run_id: step if restarted else None}
            else:
                kept = shared.settings().snapshots
                go = lambda: kernels.go_back(kernel_id, run_id, kept, step)  # noqa: E731
                gone = retry(go, KernelNotReadyError, PATIENCE_SECONDS)
                snapshot = gone.snapshot
                undone = UndoneRun(
                    snapshot.run_id,
                    not snapshot.is_later,
                    snapshot.undone_from or 0,
                    snapshot.taken_at,
                    gone.files,
                )
                changes = snapshot.changes
            remark = ""
            if restarted:
                remark = "The kernel was restarted, and what had run before ran again."
            elif redone:
                remark = "Its cells are back; the kernel has what they did when they run again."
            shared.runs.set_undone(changes, remark)
            chat_id = shared.chats.chat_of(undone.run)
            if chat_id:
                text = note_for_model(
                    undone.run,
                    is_undone=undone.is_undone,
                    step=undone.step,
                    by_cells=restarted or redone,
                )
                shared.chats.notes.add(chat_id, "user_later", text)
            return undone

        self.send(to_dict(await self.answer(undo)))


class SnapshotsRoute(KernelRoute):
    """The states that a kernel can be taken back to."""

    @web.authenticated
    @authorized
    async def get(self, kernel_id: str) -> None:
        """All of them; with ``measured``, how much memory they hold, too."""
        measured = self.word("measured") not in ("", "0")
        await self._send(kernel_id, lambda kernels: kernels.snapshots(kernel_id, measured=measured))

    @web.authenticated
    @authorized
    async def delete(self, kernel_id: str) -> None:
        """Forget them, so that their memory is free."""
        await self._send(kernel_id, lambda kernels: kernels.forget_snapshots(kernel_id))

    async def _send(self, kernel_id: str, ask: Callable[[KernelAccess], KernelSnapshots]) -> None:
        kernels = await self.kernels(kernel_id)

        def answer(_: Application) -> KernelSnapshots:
            return retry(lambda: ask(kernels), KernelNotReadyError, PATIENCE_SECONDS)

        self.send(to_dict(await self.answer(answer)))


class FilesBackRoute(KernelRoute):
    """The files as before a run, or forth again."""

    guest_methods = ()

    @web.authenticated
    @authorized
    async def get(self, kernel_id: str) -> None:
        """Which can be put back, and which not: what an undo would say that cannot be done."""
        kernels = await self.kernels(kernel_id)
        run_id, step = self.word("run"), self.word("step")

        def find(shared: Application) -> ChangedFiles:
            before = int(step) if step.isdecimal() else 0
            self.check_step(shared, run_id, before)
            ask = lambda: kernels.files_before(kernel_id, run_id, before)  # noqa: E731
            return retry(ask, KernelNotReadyError, PATIENCE_SECONDS)

        self.send(to_dict(await self.answer(find)))

    @web.authenticated
    @authorized
    async def post(self, kernel_id: str) -> None:
        """Put them there; the run's chat is told."""
        given = self.fields(run=str, step=int)
        run_id, step = given.get("run", ""), given.get("step", 0)
        kernels = await self.kernels(kernel_id)

        def put_back(shared: Application) -> ChangedFiles:
            self.check_step(shared, run_id, step)
            put = lambda: kernels.put_files_back(kernel_id, run_id, step)  # noqa: E731
            files = retry(put, KernelNotReadyError, PATIENCE_SECONDS)
            chat_id = shared.chats.chat_of(files.run_id)
            if files.back:
                paths = [file.path for file in files.back]
                note = note_of_files_moved(paths, is_forth=not run_id)
                shared.runs.add(files.run_id, note)
            if chat_id and files.back:
                text = note_of_files(files, is_forth=not run_id)
                shared.chats.notes.add(chat_id, "user_later", text)
            return files

        self.send(to_dict(await self.answer(put_back)))


ROUTES: RouteTable = (
    (f"kernels/{ROUTE_ID}/files", FilesBackRoute),
    (f"kernels/{ROUTE_ID}/snapshots", SnapshotsRoute),
    (f"kernels/{ROUTE_ID}/undo", UndoRoute),
    (f"kernels/{ROUTE_ID}/variables", VariablesRoute),
    (f"kernels/{ROUTE_ID}/variables/{VARIABLE_NAME}", VariableRoute),
)
