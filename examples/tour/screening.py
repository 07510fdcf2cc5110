"""`python -m examples.tour.screening` writes screening.csv: a made-up study of an illness, half of its people ill."""

from pathlib import Path

import numpy as np

from examples.tour.table import write

FILE = Path(__file__).with_name("screening.csv")
OF_EACH = 120

MARKER = {"no": (4.0, 1.0), "yes": (6.0, 1.2)}
"""Mean and sd of a marker in the blood."""


def people() -> list[dict[str, float | str]]:
    """As many ill as healthy; the marker is N(4, 1) or N(6, 1.2^2), the age has nothing to do with it."""
    random = np.random.default_rng(11)
    found: list[dict[str, float | str]] = []
    for _ in range(OF_EACH):
        for ill, (mean, sd) in MARKER.items():
            marker, age = round(float(random.normal(mean, sd)), 2), int(random.integers(20, 80))
            found.append({"marker": marker, "age": age, "ill": ill})
    return found


if __name__ == "__main__":
    write(people(), FILE)
