"""`python -m examples.tour.stop` writes stop.csv: made-up minutes at which people come to a bus stop."""

from pathlib import Path

import numpy as np

from examples.tour.table import write

FILE = Path(__file__).with_name("stop.csv")
PEOPLE = 200

BUSES = ((10.0, 2.5), (40.0, 2.5))
"""When a bus leaves, and how closely before it people come: minutes."""


def arrivals() -> list[dict[str, float | str]]:
    """Most come shortly before one of two buses, some at any time of the hour."""
    random = np.random.default_rng(5)
    minutes: list[float] = []
    while len(minutes) < PEOPLE:
        bus, spread = BUSES[int(random.integers(len(BUSES)))]
        minute = random.uniform(0.0, 60.0) if random.random() < 0.2 else bus - random.exponential(spread)
        minutes += [round(float(minute), 1)] if minute >= 0.0 else []
    return [{"minute": minute} for minute in minutes]


if __name__ == "__main__":
    write(arrivals(), FILE)
