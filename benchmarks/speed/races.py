"""All races by name, as a process of their own finds them."""

from benchmarks.speed.defaults import DEFAULTS, DRAWN_TABLES
from benchmarks.speed.mixture import MIXTURE
from benchmarks.speed.sinc import MEETING, SINC

RACES = {race.name: race for race in (SINC, MEETING, MIXTURE, DEFAULTS, DRAWN_TABLES)}
