"""The options of every table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.files import DataFolder

Engines = Literal["all", "ours", "peers"]


@dataclass(frozen=True)
class Options:
    """`repeats` of the papers' 100 draws, official `splits`, `draws` of pure noise, fits timed `rounds` times.

    The tables of accuracy take `accuracy_draws` and `real_splits` of real sets of regression, keep peers' figures in
    `peers_cache`, and measure all `engines` or ours alone; of public tables also the peers alone, on `table_splits`
    splits of each. `quick` makes them small. Those of the papers and of time keep each draw's figures in `draws_file`
    and take them from there. Those of hostile clients measure `against` too. Of the public tables those named in
    `tables` are measured, all where none is.
    """

    data: DataFolder
    repeats: int = 100
    splits: int = 10
    draws: int = 20
    rounds: int = 5
    processes: int = 2
    accuracy_draws: int = 20
    real_splits: int = 5
    table_splits: int = 10
    quick: bool = False
    engines: Engines = "all"
    peers_cache: Path | None = None
    draws_file: Path | None = None
    against: Path | None = None
    tables: tuple[str, ...] = ()
