"""How good a whole training is: repeated on each fold's other rows, and measured on the fold."""

from collections.abc import Callable, Generator

from app.sparse_bayes.errors import DataError, NotPositiveDefiniteError
from app.sparse_bayes.pool import LearnedModel, ready_of
from app.sparse_bayes.prediction import Measured
from app.sparse_bayes.selection.rows import Folding, Rows, Step

Learning = Callable[[Rows, Folding], Generator[Step, None, LearnedModel]]
"""A whole training on some rows, which are kept apart so within it too."""


def validated(
    rows: Rows, learning: Learning, *, folds: int, folding: Folding, seed: int
) -> Generator[Step, None, dict[str, float]]:
    """Scores over all rows measured, each of them once, and how many they are, `rows`.

    A fold whose other rows can't be learned from is passed over; without any that can, `rows` of 0 stands alone.
    """
    splits = folding.splits(rows, folds, seed)
    parts: list[Measured] = []
    yield Step("validation", 0, len(splits), "fits")
    for number, (others, fold) in enumerate(splits, start=1):
        if len(fold):
            try:
                model = _exhausted(learning(rows.take(others), folding.take(others)))
            except (DataError, NotPositiveDefiniteError):
                pass
            else:
                measured = rows.take(fold)
                prediction, _ = ready_of(model).predict(measured.X, measured.noise_sd)
                parts.append(Measured.of(prediction, measured.t))
        yield Step("validation", number, len(splits), "fits")
    if not parts:
        return {"rows": 0.0}
    pooled = Measured.joined(parts)
    return {**pooled.scores(), "rows": float(len(pooled.t))}


def _exhausted(steps: Generator[Step, None, LearnedModel]) -> LearnedModel:
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            model: LearnedModel = ended.value
            return model
