"""`python -m examples.tour.pump` writes pump.csv: the made-up power of a pump, minute by minute for five hours."""

from pathlib import Path

import numpy as np

from examples.tour.table import write

FILE = Path(__file__).with_name("pump.csv")

REQUEST = Path(__file__).with_name("pump.json")

MINUTES = 300

SWITCHED = {41: 55.0, 102: -30.0, 180: 45.0, 251: -70.0}
"""Watts from a minute on: stages of the pump, on and off."""

WATTS_A_BAR = 8.0

NOISE = 2.0


def readings() -> list[dict[str, float]]:
    """Stages that are switched, a motor that warms up and cools, and a pressure that has to be overcome."""
    random = np.random.default_rng(7)
    minute = np.arange(MINUTES)
    pressure = np.round(random.uniform(2.0, 6.0, MINUTES), 2)
    stages = sum(watts * (minute >= at) for at, watts in SWITCHED.items())
    warmth = 12.0 * np.exp(-(((minute - 150.0) / 60.0) ** 2))
    watts = np.round(60.0 + stages - warmth + WATTS_A_BAR * pressure + random.normal(0.0, NOISE, MINUTES), 1)
    return [
        {"minute": int(at), "pressure": float(bar), "watts": float(power)}
        for at, bar, power in zip(minute, pressure, watts, strict=True)
    ]


if __name__ == "__main__":
    write(readings(), FILE)
