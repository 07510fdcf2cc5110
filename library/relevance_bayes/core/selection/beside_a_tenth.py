"""The training of a process that is measured on one tenth of many rows: on the others, then continued on all."""

from collections.abc import Generator
from dataclasses import dataclass

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.selection.ranking import FitContext, RankedFit, Ranking, continued, ranked
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import Score, Validation, score_of
from relevance_bayes.core.selection.validation import measured, table_of_rows
from relevance_bayes.core.spec import Spec


@dataclass(frozen=True, eq=False)
class LearnedBesideATenth:
    """A ranking on nine tenths of the rows, its best fit continued on all, and the figures of the tenth."""

    ranking: Ranking
    continued: RankedFit
    validation: Validation

    @property
    def score(self) -> Score:
        """The score of the tenth."""
        return score_of(self.validation.figures, 1, 1)


def learned_beside_a_tenth(
    rows: Rows, spec: Spec, compared_models: tuple[Spec, ...], split: Split, folding: Folding, on: FitContext
) -> Generator[Step, None, LearnedBesideATenth | None]:
    """The training on all rows but those of a tenth, which it is measured on, continued on all; None where the others
    can't be learned from.

    To begin on all rows again would take twice the time.
    """
    others, fold = split
    try:
        ranking = yield from ranked(rows.take(others), spec, compared_models, folding.take(others), on)
    except (DataError, NotPositiveDefiniteError):
        return None
    yield Step("validation", 0, 1, "fits")
    table = on.fit_log.once(lambda: table_of_rows(ranking.best.model, rows.take(fold)))
    yield Step("validation", 1, 1, "fits")
    best = yield from continued(rows, ranking.best, others, on)
    return LearnedBesideATenth(ranking, best, Validation.of(measured(table, rows.t[fold]), fold))
