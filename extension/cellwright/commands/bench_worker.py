"""One sample on a worker of a cluster, with the worker's own settings, service and key."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cellwright.bench.agents import Agent, model_agent
from cellwright.bench.attempt import InfrastructureError, Laboratory, attempt
from cellwright.bench.dask_pace import ClusterPace, SharedRates
from cellwright.bench.executors import Equipment, Parcel, equipped, unpacked
from cellwright.bench.judge_check import Judging, judge_with
from cellwright.bench.rates import PacedLM, Paces
from cellwright.commands.records import make_redactor
from cellwright.errors import CellwrightError
from cellwright.record.prompts import Parameters
from cellwright.session.services import Service, open_service
from cellwright.settings import from_env
from cellwright.stopping import Stop

GATEWAY_TOKEN = "CELLWRIGHT_GATEWAY_TOKEN"
Key = tuple[Equipment, tuple[tuple[str, str], ...]]


def run_parcel(parcel: Parcel, equipment: Equipment) -> Mapping[str, Any]:
    """Run a sample; ``dask_cluster.Work``."""
    try:
        laboratory = workshop.laboratory(equipment, parcel.environ)
        if parcel.judge:
            judge = workshop.judge(parcel.judge, parcel.shared)
            laboratory = replace(laboratory, rooms=replace(laboratory.rooms, judge=judge))
        known = parcel.replies is not None
        agent = None if known else workshop.agent(parcel.model, parcel.shared)
        with unpacked(parcel, agent) as job:
            return {"sample": attempt(job, laboratory, Stop()).to_dict()}
    except InfrastructureError as error:
        return {"failure": error.word, "text": str(error), "retryable": error.retryable}
    except CellwrightError as error:
        return {"failure": "START_FAILED", "text": str(error), "retryable": False}


class Workshop:
    """What all samples of a worker's process share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = contextlib.ExitStack()
        self._laboratories: dict[Key, Laboratory] = {}
        self._services: dict[str, Service] = {}
        self._paces = Paces()

    def laboratory(self, equipment: Equipment, environ: Mapping[str, str]) -> Laboratory:
        """The kernels that were chosen, warmed once."""
        if equipment.gateway is not None:
            token = os.environ.get(GATEWAY_TOKEN, "")
            equipment = replace(equipment, gateway=replace(equipment.gateway, token=token))
        key = (equipment, tuple(sorted(environ.items())))
        with self._lock:
            if key not in self._laboratories:
                self._end_with_the_process()
                rooms, _ = self._kept.enter_context(equipped(equipment, environ))
                settings = from_env()
                self._laboratories[key] = Laboratory(
                    rooms, make_redactor(settings), settings.prices
                )
            return self._laboratories[key]

    def agent(self, model: str, shared: SharedRates | None) -> Agent:
        """A model as the settings here reach it."""
        service = self._service(model)
        return model_agent(self._paced(service, shared), service.model, service.base_url)

    def judge(self, model: str, shared: SharedRates | None) -> Judging:
        """The model that checks ask, as the settings here reach it."""
        service = self._service(model)
        return judge_with(self._paced(service, shared), Parameters(service.model))

    def _service(self, model: str) -> Service:
        with self._lock:
            if model not in self._services:
                self._end_with_the_process()
                self._services[model] = service = open_service(from_env(), model)
                self._kept.callback(service.close)
            return self._services[model]

    def _paced(self, service: Service, shared: SharedRates | None) -> PacedLM:
        if shared is not None:
            return PacedLM(service.lm, ClusterPace(shared, service.model))
        return self._paces.paced(service.lm, service.model)

    def _end_with_the_process(self) -> None:
        if not self._laboratories and not self._services:
            atexit.register(self._kept.close)


workshop = Workshop()
