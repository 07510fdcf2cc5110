"""Rows that a version was trained on are recognised in other datasets, on a real database."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.evaluation.jobs import EVALUATION_RESULT, PROMOTION_RESULT
from relevance_bayes.records.evaluations import (
    AnyEvaluationResult,
    AnyPromotionResult,
    EvaluationRequest,
    EvaluationResult,
    PromotionRequest,
    PromotionResult,
)
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tasks.supervised.materialise import EXTRA_COLUMNS, materialise
from relevance_bayes.tasks.supervised.request import GroupSplit, OrderSplit, RandomSplit, Split
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.evaluation.test_promote import holder_of, point
from tests.narrowing import of_kind
from tests.scoring_bench import OWNER, Bench
from tests.small_models import small_version

ROWS, NEW = 60, 35

COLOURS = ("red", "blue")


def rows_of(seed: int, rows: int = ROWS) -> Block:
    """Rows of their own, two of which can't be learned from."""
    draw = np.random.default_rng(seed)
    x, y = draw.normal(size=rows), draw.normal(10.0, 2.0, rows)
    x[3], y[5] = np.nan, np.nan
    colours = draw.integers(0, 2, rows).astype(np.int32)
    return {"x": NumberArray(x), "colour": CategoryArray(colours, COLOURS), "y": NumberArray(y)}


def cells(block: Block) -> tuple[NumberArray, CategoryArray, NumberArray]:
    x, colour, y = (block[name] for name in ("x", "colour", "y"))
    return of_kind(NumberArray, x), of_kind(CategoryArray, colour), of_kind(NumberArray, y)


def joined(first: Block, second: Block) -> Block:
    """The rows of both, in another order."""
    (x, colour, y), (x2, colour2, y2) = cells(first), cells(second)
    numbers = {"x": np.r_[x.values, x2.values], "y": np.r_[y.values, y2.values]}
    order = np.random.default_rng(8).permutation(len(numbers["x"]))
    codes = np.r_[colour.codes, colour2.codes][order]
    return {
        "x": NumberArray(numbers["x"][order]),
        "colour": CategoryArray(codes, COLOURS),
        "y": NumberArray(numbers["y"][order]),
    }


def trained_on(dataset: Dataset, rows: int, split: Split, holdout: float) -> NewSupervisedVersion:
    made = small_version()
    plan = replace(made.report.plan, split=split, holdout=holdout)
    report = replace(made.report, plan=plan, dataset_id=dataset.id, dataset_digest=dataset.digest, rows=rows)
    return replace(made, report=report)


def rows_learned_from(made: NewSupervisedVersion, block: Block, directory: Path) -> tuple[int, ...]:
    """The places of the rows that a fit would learn from, as its file has them."""
    found = materialise(made.report.plan, lambda: iter([(0, block)]), directory, max_cells=10**6)
    numbers = np.fromfile(found.path, "<f8").reshape(-1, found.inputs + EXTRA_COLUMNS)[: found.training, -1]
    return tuple(numbers.astype(int).tolist())


def evaluated(bench: Bench, block: Block, number: int) -> AnyEvaluationResult:
    job_id = bench.queued(EvaluationRequest(bench.dataset(block).id, "small", version=number))
    assert bench.run(job_id)
    return of_kind(EvaluationResult, EVALUATION_RESULT.read_optional(bench.look(job_id).result))


def promoted(bench: Bench, block: Block, version: int = 2) -> AnyPromotionResult:
    job_id = bench.queued(
        PromotionRequest(dataset_id=bench.dataset(block).id, model="small", alias="best", version=version)
    )
    assert bench.run(job_id)
    return of_kind(PromotionResult, PROMOTION_RESULT.read_optional(bench.look(job_id).result))


@pytest.mark.parametrize(
    ("split", "holdout"),
    [(RandomSplit(), 0.0), (RandomSplit(), 0.3), (GroupSplit("x"), 0.3), (OrderSplit("x"), 0.3)],
    ids=["none held out", "at random", "by column", "by order"],
)
def test_an_evaluation_counts_the_rows_that_the_version_learned_from(
    bench: Bench, tmp_path: Path, split: Split, holdout: float
) -> None:
    block = rows_of(1)
    dataset = bench.dataset(block)
    learned = rows_learned_from(trained_on(dataset, 0, split, holdout), block, tmp_path)
    assert (len(learned) < ROWS - 2) == (holdout > 0.0)
    bench.version(trained_on(dataset, len(learned), split, holdout))
    found = evaluated(bench, joined(block, rows_of(2, NEW)), 2)
    assert (found.rows, found.rows_seen_in_training) == (ROWS + NEW - 2, len(learned))
    assert evaluated(bench, rows_of(2, NEW), 2).rows_seen_in_training == 0


def test_a_promotion_leaves_out_the_rows_that_either_learned_from(bench: Bench) -> None:
    blocks = rows_of(1), rows_of(2)
    for block in blocks:
        bench.version(trained_on(bench.dataset(block), ROWS - 2, RandomSplit(), 0.0))
    point(bench, 2)
    found = promoted(bench, joined(joined(*blocks), rows_of(3, NEW)), 3)
    assert found.champion is not None
    assert found.improvement is not None
    assert (found.challenger.rows_seen_in_training, found.champion.rows_seen_in_training) == (ROWS - 2, ROWS - 2)
    assert found.rows_seen_in_training == 2 * (ROWS - 2)
    # The others are the new rows, and those of the two with a missing input; one a dataset has no target.
    assert (found.improvement.rows, found.challenger.rows, found.champion.rows) == (NEW + 1,) * 3
    assert "not known" not in found.reason


def test_a_version_is_never_promoted_by_its_own_training_rows(bench: Bench) -> None:
    block = rows_of(1)
    bench.version(trained_on(bench.dataset(block), ROWS - 2, RandomSplit(), 0.0))
    point(bench, 1)
    found = promoted(bench, block)
    assert (found.moved, found.rows_seen_in_training) == (False, ROWS - 2)
    assert "but only 1 row was compared" in found.reason  # that with a missing input, which neither learned from
    assert holder_of(bench) == (1, None)


def test_training_rows_are_not_known_once_their_dataset_is_deleted(bench: Bench) -> None:
    block = rows_of(1)
    dataset = bench.dataset(block)
    bench.version(trained_on(dataset, ROWS - 2, RandomSplit(), 0.0))
    assert evaluated(bench, block, 2).rows_seen_in_training == ROWS - 2
    with bench.transaction() as tx:
        DatasetRepository(tx).delete(OWNER, dataset.id)
    found = evaluated(bench, block, 2)
    assert (found.rows, found.rows_seen_in_training) == (ROWS - 1, None)


def test_training_rows_of_imported_versions_are_not_known(bench: Bench) -> None:
    block = rows_of(1)
    made = trained_on(bench.dataset(block), ROWS - 2, RandomSplit(), 0.0)
    bench.version(replace(made, report=replace(made.report, imported=ImportedFrom("elsewhere", 1, "0" * 64))))
    assert evaluated(bench, block, 2).rows_seen_in_training is None


def test_rows_that_do_not_add_up_to_those_learned_from_are_not_known(bench: Bench) -> None:
    block = rows_of(1)
    bench.version(trained_on(bench.dataset(block), ROWS - 3, RandomSplit(), 0.0))
    assert evaluated(bench, block, 2).rows_seen_in_training is None
