"""How freely a model chooses words, as services take it (requirements 000-05, X-12)."""

from __future__ import annotations

import math
from dataclasses import replace

from cellwright.record.prompts import Parameters

TEMPERATURES = (0.0, 2.0)
"""The least and the most that any service takes. Many stop at 1, some models take 1 alone: they
say so, and the value is left out from then on."""


def usable_temperature(temperature: float | None) -> float | None:
    """The nearest temperature that can be sent; None: none is, so the provider's default counts."""
    if temperature is None or math.isnan(temperature):
        return None
    least, most = TEMPERATURES
    return min(most, max(least, temperature))


def usable_parameters(parameters: Parameters) -> Parameters:
    """The parameters with a temperature that can be sent; the same object when it can."""
    usable = usable_temperature(parameters.temperature)
    if usable == parameters.temperature:
        return parameters
    return replace(parameters, temperature=usable)
