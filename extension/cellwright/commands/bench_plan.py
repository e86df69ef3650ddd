"""What a benchmark runs, written down beside its results, so that it can be gone on with."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cellwright.bench.interpreters import KernelChoice, absolute_interpreter
from cellwright.bench.suites import Suite
from cellwright.bench.suites.opening import PUBLIC, open_suite
from cellwright.errors import SetupError
from cellwright.kernels.provisioner import MODULES
from cellwright.record.values import from_dict, to_dict

CONFIG = "config.yaml"


@dataclass(frozen=True)
class Plan:
    """What is run."""

    suite: str
    data: str = ""
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    epochs: int = 1
    limit: int = 0
    """0: all samples."""
    only: tuple[str, ...] = ()
    """Indices; empty: all."""
    python: str = ""
    """Interpreter of the kernels; empty: ours."""
    kernels: str = "fork"
    """``fork`` or ``fresh``."""
    warm: tuple[str, ...] = ()
    """Modules that forked kernels have imported; empty: the usual ones."""
    gateway_url: str = ""
    """Where the kernels run; empty: here."""
    gateway_kernel: str = ""
    environment_names: tuple[str, ...] = ()
    """Variables that the kernels are given beside those that all of them are; never values."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """In place of the samples' own, by the names of ``settings.Limits``."""
    judge: str = ""
    """The model that checks ask; empty: none."""

    @property
    def kernel_choice(self) -> KernelChoice:
        """Which kernels the samples run in, where they run here."""
        return KernelChoice(self.python, self.kernels == "fork", self.warm or MODULES)


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options of ``bench run`` mean."""
    return Plan(
        suite=options.suite if options.suite in PUBLIC else _absolute(options.suite),
        data=_absolute(options.data),
        agents=tuple(_absolute_agent(name) for name in options.agent),
        models=tuple(options.model),
        epochs=options.epochs,
        limit=options.limit or 0,
        only=tuple(options.only),
        python=absolute_interpreter(options.python or ""),
        kernels=options.kernels,
        warm=tuple(options.warm),
        gateway_url=options.gateway_url or "",
        gateway_kernel=options.gateway_kernel or "",
        environment_names=tuple(options.env),
        limits=_limits(options),
        judge=options.judge or "",
    )


def write_plan(root: Path, plan: Plan) -> None:
    """Write it into the folder of the results."""
    root.mkdir(parents=True, exist_ok=True)
    # JSON is YAML as well.
    (root / CONFIG).write_text(json.dumps(to_dict(plan), indent=2) + "\n", encoding="utf-8")


def read_plan(root: Path) -> Plan:
    """The plan of a benchmark.

    Raises:
        SetupError: The folder is none of a benchmark.
    """
    try:
        plan: Plan = from_dict(Plan, json.loads((root / CONFIG).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SetupError(
            f"{str(root)!r} is no folder of a benchmark: {error}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        ) from error
    return plan


def chosen_suite(plan: Plan) -> Suite:
    """The samples of the plan.

    Raises:
        SetupError: There is no such suite or sample.
    """
    suite = open_suite(plan.suite, Path(plan.data) if plan.data else None)
    items = suite.items
    if plan.only:
        items = tuple(item for item in items if str(item.index) in plan.only)
        missing = set(plan.only) - {str(item.index) for item in items}
        if missing:
            raise SetupError(
                f"The suite {suite.name!r} has no sample {sorted(missing)[0]!r}.",
                hint=f"It has {len(suite.items)}, such as {suite.items[0].index!r}.",
            )
    chosen = items[: plan.limit] if plan.limit else items
    if plan.limits:
        chosen = tuple(
            replace(item, limits=replace(item.limits, **plan.limits))  # type: ignore[arg-type]
            for item in chosen
        )
    return replace(suite, items=chosen)


def _limits(options: argparse.Namespace) -> dict[str, float]:
    given = {
        "step_limit": options.max_steps,
        "cell_limit": options.max_cells,
        "token_limit": options.max_tokens,
        "cost_limit_dollars": options.budget,
        "wall_seconds": options.max_seconds,
        "output_limit_bytes": options.max_output,
        "memory_limit_bytes": options.max_memory,
    }
    return {name: value for name, value in given.items() if value is not None}


def _absolute(name: str | None) -> str:
    """A file or folder as it is found from anywhere; another name as it is."""
    return str(Path(name).resolve()) if name and Path(name).exists() else name or ""


def _absolute_agent(name: str) -> str:
    kind, colon, file = name.partition(":")
    return f"{kind}:{_absolute(file)}" if colon else name
