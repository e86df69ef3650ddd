"""The smallest task there is: three turns, then done. To try a recorder or an agent with."""

from __future__ import annotations

from typing import Any

from cellwright.bench.task import (
    AgentOutputStatus,
    SampleIndex,
    SampleStatus,
    Session,
    Task,
    TaskOutput,
    TaskSampleExecutionResult,
)

SAMPLES = 10
TURNS = 3


class VirtualTask(Task):
    """Ten samples of three turns each; the score is always 0.4."""

    def __init__(self, name: str = "virtual-task", concurrency: int = 1) -> None:
        super().__init__(name, concurrency)

    def get_indices(self) -> list[SampleIndex]:
        """0 to 9."""
        return list(range(SAMPLES))

    async def start_sample(self, index: SampleIndex, session: Session) -> TaskSampleExecutionResult:
        """Talk for three turns."""
        for turn in range(TURNS):
            output = await session.action({"role": "user", "content": f"Turn {turn}"})
            if output.status == AgentOutputStatus.CANCELLED:
                return TaskSampleExecutionResult(SampleStatus.CANCELLED)
            if output.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
                return TaskSampleExecutionResult(SampleStatus.AGENT_CONTEXT_LIMIT)
        return TaskSampleExecutionResult(SampleStatus.COMPLETED, {"result": "ok"})

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        """The score, whatever happened."""
        return {"score": 0.4}
