"""Components through the worker, but for the process: the file, what the child does, and what is recorded."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.errors import TrainingFailedError
from app.jobs.child import FitCheckpoint
from app.jobs.child import run as run_fit
from app.tasks import task_of
from relevance_bayes.core.kernels import Matern32
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.selection import Step, train
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tables.encoding import encode_inputs, raw_cells
from relevance_bayes.tasks.components import fit as child
from relevance_bayes.tasks.components.learning import FOLDS, components, typical_width, usual_densities
from relevance_bayes.tasks.components.request import ComponentsRequest
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.components.training import ComponentsTraining, NewComponentsVersion
from relevance_bayes.tasks.fit import Fitted, Limits
from relevance_bayes.tasks.union import plan
from tests.narrowing import of_kind
from tests.small_tables import DATASET_ID, cut_up, dataset_of, numbers, texts

REQUEST = ComponentsRequest(DATASET_ID)
MANY = 10**9
CUTS = (7, 20)


def table(rows: int = 60) -> Block:
    """Two heaps, each of its own colour, and a row with a gap at the end."""
    random = np.random.default_rng(0)
    heap = np.arange(rows) % 2
    x = 40.0 * heap + random.normal(size=rows)
    size = np.round(random.normal(size=rows), 3)
    return {
        "x": numbers(*x.tolist(), None),
        "size": numbers(*size.tolist(), 1.0),
        "colour": texts(*("blue" if one else "red" for one in heap), "red"),
    }


def reader(block: Block, *ends: int) -> Callable[[], Iterator[tuple[int, Block]]]:
    return lambda: iter(cut_up(block, *ends))


def fit(block: Block, request: ComponentsRequest, directory: Path, max_cells: int = MANY) -> ComponentsTraining:
    dataset = dataset_of(block)
    planned = plan(request, dataset)
    made = task_of(planned).prepare(
        planned,
        dataset,
        reader(block, *CUTS[: block_rows(block) // 20]),
        directory,
        max_cells=max_cells,
    )
    return of_kind(ComponentsTraining, made)


def run(made: ComponentsTraining, block: Block) -> tuple[list[Step], NewComponentsVersion]:
    *steps, last = (found for found in run_fit(made.fit, train, Limits()) if not isinstance(found, FitCheckpoint))
    version = made.version(of_kind(Fitted, last).result, seconds=1.5, holding=lambda row: (0, block))
    return [of_kind(Step, step) for step in steps], version


def test_what_is_recorded_is_what_the_core_finds_of_the_rows_without_gaps(tmp_path: Path) -> None:
    block = table()
    made = fit(block, replace(REQUEST, missing="drop_rows", min_explained_variance=0.8, seed=3), tmp_path)
    steps, version = run(made, block)
    report, predictor = version.report, version.predictor
    assert (report.rows, report.rows_drawn, report.rows_dropped, report.seconds) == (60, 60, 1, 1.5)
    inputs, faults = encode_inputs(predictor.encoding, block)
    assert [fault.row for fault in faults] == [60]
    inputs = np.array(made.made.mapped()[:, :-1])
    np.testing.assert_allclose(inputs[:, list(predictor.encoding.layout.places)].mean(axis=0), 0.0, atol=1e-12)
    width = typical_width(inputs)
    assert report.widths == (InputWidth(None, width),)
    *_, found = components(inputs, report.plan.kernel, InputMap.isotropic(width), explained=0.8, seed=3)
    assert isinstance(found, Components)
    np.testing.assert_array_equal(predictor.components.rows, found.rows)
    np.testing.assert_array_equal(predictor.components.weights, found.weights)
    assert report.functions == len(found.rows) == len(version.vectors)
    assert report.variances == tuple(found.variances.tolist())
    assert (report.noise_variance, report.log_marginal_likelihood) == (found.noise_variance, found.evidence)
    assert report.explained_variance == pytest.approx(1.0 - found.missed(inputs).mean())
    *_, usual = usual_densities(inputs, found, seed=3)
    np.testing.assert_array_equal(predictor.log_densities, usual)
    reported = [made.progress(step) for step in steps]
    assert (reported[0].phase, reported[0].functions) == ("components", 0)
    assert (reported[-1].phase, reported[-1].completed, reported[-1].total) == ("novelty", FOLDS, FOLDS)
    assert reported[-1].functions == report.functions


def test_rows_kept_are_reported_with_their_cells_and_weights(tmp_path: Path) -> None:
    block = table()
    made = fit(block, replace(REQUEST, missing="drop_rows"), tmp_path)
    _, version = run(made, block)
    found = version.predictor.components
    for number, vector in enumerate(version.vectors):
        assert vector.row == int(made.made.mapped()[found.rows[number], -1])
        assert vector.inputs == raw_cells(block, vector.row, block)
        assert (vector.number, vector.kind) == (number + 1, "gaussian")
        assert vector.weight_mean == float(found.weights[number])
        assert vector.alpha == pytest.approx(1.0 / found.weights[number])
        assert 0.0 < vector.gamma <= 1.0


def test_gaps_that_are_filled_drop_no_row(tmp_path: Path) -> None:
    block = table()
    made = fit(block, replace(REQUEST, missing="indicator"), tmp_path)
    assert (made.made.rows, made.made.dropped, made.fit.inputs) == (61, 0, 5)
    _, version = run(made, block)
    assert version.report.rows == 61


def test_a_width_of_each_input_is_one_of_each_of_its_columns(tmp_path: Path) -> None:
    block = {name: column for name, column in table().items() if name != "x"}
    request = replace(REQUEST, inputs=("colour", "size"), width=(2.0, 3.0), kernel=Matern32())
    made = fit(block, request, tmp_path)
    each = {"colour": (2.0, 2.0), "size": (3.0,)}
    assert made.fit.widths == tuple(width for one in made.made.encoding.inputs for width in each[one.name])
    _, version = run(made, block)
    assert version.report.widths == (
        InputWidth("colour=blue", 2.0),
        InputWidth("colour=red", 2.0),
        InputWidth("size", 3.0),
    )
    assert {vector.kind for vector in version.vectors} == {"matern_3_2"}


def test_of_many_densities_so_many_quantiles_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MAX_DENSITIES", 11)
    block = table()
    _, version = run(fit(block, replace(REQUEST, missing="drop_rows"), tmp_path), block)
    kept = version.predictor.log_densities
    assert len(kept) == 11
    monkeypatch.undo()
    _, full = run(fit(block, replace(REQUEST, missing="drop_rows"), tmp_path), block)
    every = full.predictor.log_densities
    assert (kept[0], kept[-1]) == (every[0], every[-1])
    assert kept[5] == pytest.approx(np.median(every))


def test_rows_that_are_too_many_or_too_few_are_refused(tmp_path: Path) -> None:
    block = table()
    with pytest.raises(TrainingFailedError, match="above this service's limit of 100"):
        fit(block, replace(REQUEST, missing="drop_rows"), tmp_path, max_cells=100)
    crossed: Block = {"x": numbers(1.0, None, 3.0), "z": numbers(None, 1.0, 2.0)}
    with pytest.raises(TrainingFailedError, match="one row is left"):
        fit(crossed, replace(REQUEST, missing="drop_rows"), tmp_path)
