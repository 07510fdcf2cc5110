"""Small tables drawn from published generators."""

import csv
import io
import math
from random import Random


def sinc(rows: int, *, seed: int = 1) -> dict[str, list[float]]:
    """sin(x)/x with Gaussian noise of 0.1."""
    random = Random(seed)
    inputs = [round(random.uniform(-10, 10), 3) for _ in range(rows)]
    return {"x": inputs, "y": [round(math.sin(x) / x + random.gauss(0, 0.1), 4) for x in inputs]}


def sum_of_curves(rows: int, *, seed: int = 1) -> dict[str, list[float]]:
    """sin(3 a) + b^2 with Gaussian noise of 0.1."""
    random = Random(seed)
    places = [(round(random.uniform(-1.7, 1.7), 3), round(random.uniform(-1.7, 1.7), 3)) for _ in range(rows)]
    targets = [round(math.sin(3 * a) + b * b + random.gauss(0, 0.1), 4) for a, b in places]
    return {"a": [a for a, _ in places], "b": [b for _, b in places], "y": targets}


def two_moons(rows: int, *, seed: int = 2) -> str:
    """Two half circles as CSV, with a column of text that states on which side a point is."""
    random = Random(seed)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["a", "b", "side", "moon"])
    for row in range(rows):
        angle, upper = random.uniform(0, math.pi), row % 2 == 0
        a = (math.cos(angle) if upper else 1 - math.cos(angle)) + random.gauss(0, 0.1)
        b = (math.sin(angle) if upper else 0.5 - math.sin(angle)) + random.gauss(0, 0.1)
        writer.writerow([f"{a:.3f}", f"{b:.3f}", "left" if a < 0.5 else "right", "up" if upper else "down"])
    return out.getvalue()
