"""The progress of a whole training: the completed share of its time, and the time left.

Work is planned in stages: see `supervised.cost`. A stage whose units are counted is as complete as its count, any other
one as its time shows. A stage that is left out is no longer planned as soon as a later one begins, nor is the part of
a stage that is no longer counted. One that fewer than half of the trainings have is planned where residuals
announce it, or as soon as it begins. The time of a unit follows from the stages that have ended, mostly from
those of the same phase, from the counts of the current one, and from the planned speed as long as these are few.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

from relevance_bayes.core.selection import Step
from relevance_bayes.tasks.supervised.cost import Cost, WorkStage

PRIOR_SHARE = 0.03
"""The share of all work whose planned time counts beside the time that was measured."""

USUAL_ERROR = 0.15
"""The logarithm of measured over planned time up to which the difference is rather that of this stage than of all."""

PRIOR_SHARE_OF_PHASE = 0.1
"""The share of a stage whose time by all stages counts beside that of the stages of the same phase."""

PART_IN_TIME = 0.9
"""The share of a stage that is as complete as its planned time is over: the rest takes longer than planned."""

MAX_SHARE = 0.99
"""The greatest share before the last stage."""

MIN_PACE_OF_RESUMED = 0.25
"""A stage that took less than this share of its planned time in a resumed attempt was read from its log."""


@dataclass(frozen=True)
class WholeProgress:
    """The completed `share` of the time of a job, from 0 to 1, and the `seconds_left`."""

    share: float
    seconds_left: float


class WorkProgress:
    """The progress of one attempt of a training of some cost on a core of some speed.

    `share` is that of the attempt before, below which it does not fall; such an attempt `is_resumed` from its log.
    """

    def __init__(
        self,
        cost: Cost,
        speed: float,
        *,
        share: float = 0.0,
        is_resumed: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stages, self._units = (
            cost.stages,
            [one.expected * one.units if one.chance == 1.0 else 0.0 for one in cost.stages],
        )
        self._planned_pace = cost.seconds_of_a_unit(speed)
        self._share, self._first_share, self._is_resumed, self._clock = share, share, is_resumed, clock
        self._number, self._first_total, self._started = 0, 0, clock()
        self._began = self._counted_at = self._started
        self._count, self._counted_units, self._share_of_step, self._is_complete = 0, 0.0, 0.0, False
        self._measured_units = self._measured_seconds = 0.0
        self._of_phase: dict[tuple[str, ...], tuple[float, float]] = {}

    def after(self, step: Step) -> WholeProgress:
        """Return the progress after a step."""
        now = self._clock()
        self._enter(step, now)
        if step.announced is not None:
            self._plan_alternatives(step.announced)
        completed = self._completed(step, now)
        left = self._seconds_of_current * (1.0 - completed) + self._pace * sum(self._units[self._number + 1 :])
        elapsed = self._began - self._started + completed * self._seconds_of_current
        reached = self._first_share + (1.0 - self._first_share) * elapsed / max(elapsed + left, 1e-9)
        is_last = self._number == len(self._stages) - 1
        self._share = max(self._share, min(reached, 1.0 if is_last else MAX_SHARE))
        return WholeProgress(self._share, left)

    @property
    def _pace(self) -> float:
        """The seconds of a unit."""
        prior = PRIOR_SHARE * sum(self._units)
        units, seconds = self._measured_units + self._counted_units, self._measured_seconds
        if self._counted_units:
            seconds += self._counted_at - self._began
        measured = (seconds / self._planned_pace + prior) / max(units + prior, 1e-9)
        error = log(max(measured, 1e-9))
        return self._planned_pace * exp(error * error**2 / (error**2 + USUAL_ERROR**2))

    @property
    def _seconds_of_current(self) -> float:
        """The seconds of the current stage, mostly by those of its phase before it."""
        units, prior = self._units[self._number], PRIOR_SHARE_OF_PHASE * self._units[self._number]
        before = self._of_phase.get(self._stages[self._number].phases, (0.0, 0.0))
        return units * (before[1] + prior * self._pace) / max(before[0] + prior, 1e-9)

    def _plan_alternatives(self, numbers: tuple[int, ...]) -> None:
        """Plan those alternatives that residuals decide on which they announce, and no others."""
        for place in range(self._number + 1, len(self._stages)):
            stage = self._stages[place]
            if stage.is_raced and stage.chance < 1.0:
                self._units[place] = stage.expected * stage.units if stage.number in numbers else 0.0

    def _enter(self, step: Step, now: float) -> None:
        """Go on to the stage of a step: the first of its phase from the current one on that is not complete."""
        following = range(self._number + self._is_complete, len(self._stages))
        entered = next((place for place in following if self._stages[place].has(step)), self._number)
        if entered == self._number:
            return
        stage, units, seconds = self._stages[entered], self._units[self._number], now - self._began
        is_read = self._is_resumed and seconds < MIN_PACE_OF_RESUMED * units * self._planned_pace
        if not is_read and not self._stages[self._number].is_raced:
            self._measured_units += units
            self._measured_seconds += seconds
            before = self._of_phase.get(self._stages[self._number].phases, (0.0, 0.0))
            self._of_phase[self._stages[self._number].phases] = before[0] + units, before[1] + seconds
        for place in range(self._number + 1, entered):
            self._units[place] = 0.0
        self._units[entered] = self._units[entered] or stage.expected * stage.units
        self._number, self._began, self._counted_at = entered, now, now
        self._first_total, self._count, self._counted_units = 0, 0, 0.0
        self._share_of_step, self._is_complete = 0.0, False

    def _completed(self, step: Step, now: float) -> float:
        """The completed share of the current stage."""
        stage = self._stages[self._number]
        if step.share > self._share_of_step:  # a part of known size: the others take as long
            self._share_of_step = step.share
            if now > self._began and not self._is_resumed:  # by a coarse clock the first may take no time
                self._units[self._number] *= (now - self._began) / max(step.share * self._seconds_of_current, 1e-9)
        if not stage.is_counted or not step.total:
            return _in_time((now - self._began) / max(self._seconds_of_current, 1e-9))
        self._first_total = self._first_total or step.total
        if step.total < self._first_total:
            self._units[self._number] = stage.units * step.total / (stage.total or self._first_total)
        elif stage.total and step.total < stage.total:
            self._units[self._number] = min(self._units[self._number], stage.units * step.total / stage.total)
        reached, following = (_share_of(stage, count, step.total) for count in (step.completed, step.completed + 1))
        if step.completed > self._count:
            self._count, self._counted_at = step.completed, now
            self._counted_units = 0.0 if self._is_resumed else reached * self._units[self._number]
        self._is_complete = step.completed >= step.total
        part = _in_time((now - self._counted_at) / max((following - reached) * self._seconds_of_current, 1e-9))
        return min(reached + part * (following - reached), 1.0)


def _share_of(stage: WorkStage, count: int, total: int) -> float:
    """The share of a stage that is complete with so many of `total`."""
    return stage.before_first * (count > 0) + (1.0 - stage.before_first) * count / total


def _in_time(share: float) -> float:
    """The completed part after a share of the planned time, which may be above 1."""
    return share if share < PART_IN_TIME else 1.0 - (1.0 - PART_IN_TIME) * PART_IN_TIME / share
