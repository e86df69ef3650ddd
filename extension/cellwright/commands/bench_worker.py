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
from cellwright.bench.executors import Equipment, Parcel, equipped, unpacked
from cellwright.bench.rates import Pace, PacedLM
from cellwright.commands.records import make_redactor
from cellwright.errors import CellwrightError
from cellwright.services import open_service
from cellwright.settings import from_env
from cellwright.stopping import Stop

__all__ = ["GATEWAY_TOKEN", "run_parcel"]

GATEWAY_TOKEN = "CELLWRIGHT_GATEWAY_TOKEN"
Key = tuple[Equipment, tuple[tuple[str, str], ...]]


def run_parcel(parcel: Parcel, equipment: Equipment) -> Mapping[str, Any]:
    """Run a sample; ``dask_cluster.Work``."""
    try:
        laboratory = workshop.laboratory(equipment, parcel.environ)
        agent = workshop.agent(parcel.model) if parcel.replies is None else None
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
        self._agents: dict[str, Agent] = {}

    def laboratory(self, equipment: Equipment, environ: Mapping[str, str]) -> Laboratory:
        """The kernels that were chosen, warmed once."""
        if equipment.gateway is not None:
            token = os.environ.get(GATEWAY_TOKEN, "")
            equipment = replace(equipment, gateway=replace(equipment.gateway, token=token))
        key = (equipment, tuple(sorted(environ.items())))
        with self._lock:
            if key not in self._laboratories:
                if not self._laboratories and not self._agents:
                    atexit.register(self._kept.close)
                rooms, _ = self._kept.enter_context(equipped(equipment, environ))
                settings = from_env()
                self._laboratories[key] = Laboratory(
                    rooms, make_redactor(settings), settings.prices
                )
            return self._laboratories[key]

    def agent(self, model: str) -> Agent:
        """A model as the settings here reach it."""
        with self._lock:
            if model not in self._agents:
                service = open_service(from_env(), model)
                self._kept.callback(service.close)
                paced = PacedLM(service.lm, Pace())
                self._agents[model] = model_agent(paced, service.model, service.base_url)
            return self._agents[model]


workshop = Workshop()
