"""What every table is told."""

from dataclasses import dataclass

from benchmarks.files import DataFolder


@dataclass(frozen=True)
class Options:
    """`repeats` of the papers' 100 draws, official `splits`, `draws` of pure noise, `sizes` timed `rounds` times."""

    data: DataFolder
    repeats: int = 100
    splits: int = 10
    draws: int = 20
    rounds: int = 5
    sizes: tuple[int, ...] = (500, 1_000, 2_000, 4_000)
    processes: int = 2
