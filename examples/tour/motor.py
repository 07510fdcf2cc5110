"""`python -m examples.tour.motor` writes motor.csv, a made-up motor on a usual day, and three readings.csv later."""

from pathlib import Path

import numpy as np

from examples.tour.table import write

FILE = Path(__file__).with_name("motor.csv")

READINGS = 300

LATER = Path(__file__).with_name("readings.csv")

LATER_READINGS = (
    {"load": 0.5, "amperes": 6.0, "celsius": 46.0},
    {"load": 0.2, "amperes": 8.5, "celsius": 41.0},
    {"load": 0.3, "amperes": 4.4, "celsius": 62.0},
)
"""A usual one, a current that is too high for its load, and a motor that is too hot for its current."""


def readings() -> list[dict[str, float]]:
    """The load says what the current is, and the current how warm the motor gets."""
    random = np.random.default_rng(11)
    load = random.uniform(0.1, 0.9, READINGS)
    amperes = 2.0 + 8.0 * load + random.normal(0.0, 0.25, READINGS)
    celsius = 35.0 + 0.35 * amperes**2 + random.normal(0.0, 1.0, READINGS)
    return [
        {"load": float(part), "amperes": float(current), "celsius": float(heat)}
        for part, current, heat in zip(np.round(load, 3), np.round(amperes, 2), np.round(celsius, 1), strict=True)
    ]


if __name__ == "__main__":
    write(readings(), FILE)
    write(LATER_READINGS, LATER)
