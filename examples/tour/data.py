"""The generated data of the README and of pages, with known noise: `python -m examples.tour.data` writes its files."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

DIRECTORY = Path(__file__).parent

KIOSK, KIOSK_LATER = DIRECTORY / "kiosk.csv", DIRECTORY / "kiosk-later.csv"
DAYS, LATER_DAYS = 150, 60
LITRES_BY_WEATHER = {"sunny": 12.0, "cloudy": 0.0, "rain": -14.0}
"""The difference from a cloudy day."""

MOTOR, MOTOR_LATER = DIRECTORY / "motor.csv", DIRECTORY / "readings.csv"
MOTOR_READINGS = 300
LATER_READINGS = (
    {"load": 0.5, "amperes": 6.0, "celsius": 46.0},
    {"load": 0.2, "amperes": 8.5, "celsius": 41.0},
    {"load": 0.3, "amperes": 4.4, "celsius": 62.0},
)
"""A usual reading, a current that is too high for its load, and a motor that is too hot for its current."""

PUMP, PUMP_REQUEST = DIRECTORY / "pump.csv", DIRECTORY / "pump.json"
PUMP_MINUTES = 300
PUMP_SWITCHES = {41: 55.0, 102: -30.0, 180: 45.0, 251: -70.0}
"""The minutes at which stages of the pump are switched on or off, and the change of power in watts."""
WATTS_PER_BAR = 8.0

SCREENING = DIRECTORY / "screening.csv"
PEOPLE_PER_CLASS = 120
MARKER = {"no": (4.0, 1.0), "yes": (6.0, 1.2)}
"""Mean and standard deviation of a marker in the blood of healthy and of ill people."""

STOP = DIRECTORY / "stop.csv"
ARRIVALS = 200
BUSES = ((10.0, 2.5), (40.0, 2.5))
"""The minute of each bus, and the mean time by which people arrive before it."""

SPOT = DIRECTORY / "spot.png"


def kiosk_days(count: int = DAYS, seed: int = 7) -> list[dict[str, float | str]]:
    """Days of a kiosk: litres = 45 + 30 tanh((temperature - 20)/6) + weather + 10 on holidays + N(0, 3^2)."""
    random = np.random.default_rng(seed)
    temperature = np.round(random.uniform(5, 35, count), 1)
    weather = random.choice(list(LITRES_BY_WEATHER), count)
    holiday = random.random(count) < 0.3
    by_weather = [LITRES_BY_WEATHER[name] for name in weather]
    litres = 45 + 30 * np.tanh((temperature - 20) / 6) + by_weather + 10 * holiday
    litres = np.round(litres + random.normal(0, 3.0, count), 1)
    return [
        {"temperature": float(t), "weather": str(w), "holiday": "true" if h else "false", "litres": float(s)}
        for t, w, h, s in zip(temperature, weather, holiday, litres, strict=True)
    ]


def motor_readings() -> list[dict[str, float]]:
    """Readings of a motor on a usual day: the current depends on the load, the temperature on the current."""
    random = np.random.default_rng(11)
    load = random.uniform(0.1, 0.9, MOTOR_READINGS)
    amperes = 2.0 + 8.0 * load + random.normal(0.0, 0.25, MOTOR_READINGS)
    celsius = 35.0 + 0.35 * amperes**2 + random.normal(0.0, 1.0, MOTOR_READINGS)
    return [
        {"load": float(part), "amperes": float(current), "celsius": float(heat)}
        for part, current, heat in zip(np.round(load, 3), np.round(amperes, 2), np.round(celsius, 1), strict=True)
    ]


def pump_readings() -> list[dict[str, float]]:
    """The power of a pump by the minute: switched stages, a motor that warms up and cools, and the pressure."""
    random = np.random.default_rng(7)
    minute = np.arange(PUMP_MINUTES)
    pressure = np.round(random.uniform(2.0, 6.0, PUMP_MINUTES), 2)
    stages = sum(watts * (minute >= at) for at, watts in PUMP_SWITCHES.items())
    warmth = 12.0 * np.exp(-(((minute - 150.0) / 60.0) ** 2))
    watts = np.round(60.0 + stages - warmth + WATTS_PER_BAR * pressure + random.normal(0.0, 2.0, PUMP_MINUTES), 1)
    return [
        {"minute": int(at), "pressure": float(bar), "watts": float(power)}
        for at, bar, power in zip(minute, pressure, watts, strict=True)
    ]


def screened_people() -> list[dict[str, float | str]]:
    """A study of an illness: as many ill people as healthy ones; the marker is N(4, 1) or N(6, 1.2^2), any age."""
    random = np.random.default_rng(11)
    people: list[dict[str, float | str]] = []
    for _ in range(PEOPLE_PER_CLASS):
        for ill, (mean, sd) in MARKER.items():
            marker, age = round(float(random.normal(mean, sd)), 2), int(random.integers(20, 80))
            people.append({"marker": marker, "age": age, "ill": ill})
    return people


def arrivals() -> list[dict[str, float | str]]:
    """The minutes at which people arrive at a bus stop: most shortly before a bus, a fifth at any time of the hour."""
    random = np.random.default_rng(5)
    minutes: list[float] = []
    while len(minutes) < ARRIVALS:
        bus, spread = BUSES[int(random.integers(len(BUSES)))]
        minute = random.uniform(0.0, 60.0) if random.random() < 0.2 else bus - random.exponential(spread)
        minutes += [round(float(minute), 1)] if minute >= 0.0 else []
    return [{"minute": minute} for minute in minutes]


def spot() -> Image.Image:
    """An image of 48 lines of 64 pixels, a spot above stripes, as in docs/how-to/images.md."""
    y, x = np.mgrid[:48, :64]
    shades = 120 + 80 * np.exp(-((x - 20) ** 2 + (y - 14) ** 2) / 50) + 40 * (y > 28) * np.sin(0.6 * x)
    return Image.fromarray(np.round(shades).astype(np.uint8))


def write(rows: Sequence[Mapping[str, float | str]], path: Path) -> None:
    """Write rows to a CSV file, under a header of the names of their columns."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    write(kiosk_days(), KIOSK)
    write(kiosk_days(LATER_DAYS, 8), KIOSK_LATER)
    write(motor_readings(), MOTOR)
    write(LATER_READINGS, MOTOR_LATER)
    write(pump_readings(), PUMP)
    write(screened_people(), SCREENING)
    write(arrivals(), STOP)
    spot().save(SPOT)
