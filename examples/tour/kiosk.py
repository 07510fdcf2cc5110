"""`python -m examples.tour.kiosk` writes made-up days of an ice cream kiosk, with known noise: 150, and 60 later."""

from pathlib import Path

import numpy as np

from examples.tour.table import write

FILE = Path(__file__).with_name("kiosk.csv")
LATER = Path(__file__).with_name("kiosk-later.csv")
DAYS, LATER_DAYS = 150, 60
NOISE_SD = 3.0
"""Litres."""

WEATHER = {"sunny": 12.0, "cloudy": 0.0, "rain": -14.0}
"""Litres more than on a cloudy day."""


def days(number: int = DAYS, seed: int = 7) -> list[dict[str, float | str]]:
    """litres = 45 + 30 tanh((temperature - 20)/6) + weather + 10 on holidays + N(0, 3^2)."""
    random = np.random.default_rng(seed)
    temperature = np.round(random.uniform(5, 35, number), 1)
    weather = random.choice(list(WEATHER), number)
    holiday = random.random(number) < 0.3
    litres = 45 + 30 * np.tanh((temperature - 20) / 6) + [WEATHER[name] for name in weather] + 10 * holiday
    litres = np.round(litres + random.normal(0, NOISE_SD, number), 1)
    return [
        {"temperature": float(t), "weather": str(w), "holiday": "true" if h else "false", "litres": float(s)}
        for t, w, h, s in zip(temperature, weather, holiday, litres, strict=True)
    ]


if __name__ == "__main__":
    write(days(), FILE)
    write(days(LATER_DAYS, 8), LATER)
