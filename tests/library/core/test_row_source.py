from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core import rows as row_source
from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.algorithms.greedy import FindNearest
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.inference.problem import Problem, check_source
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import iterates, learned, pose_rows
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.rows import ArrayRows, InputMoments, PairwiseSum, RowBlock, RowSource, Sampler, n_blocks
from relevance_bayes.core.types import Array
from relevance_bayes.tasks import fit as mapped_rows
from relevance_bayes.tasks.fit import MappedRows
from tests.library.core.drawn import friedman, process_spec
from tests.library.core.sources import generated, partitioned


@dataclass(frozen=True)
class Grouping:
    """Which results were added to which: a sum that keeps its brackets."""

    text: str

    def __add__(self, other: Self, /) -> "Grouping":
        return Grouping(f"({self.text}{other.text})")


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [(1, "0"), (2, "(01)"), (3, "((01)2)"), (6, "(((01)(23))(45))"), (7, "(((01)(23))((45)6))")],
)
def test_blocks_are_added_pairwise_by_their_numbers(blocks: int, expected: str) -> None:
    found = PairwiseSum[Grouping]()
    for number in range(blocks):
        found.add(number, Grouping(str(number)))
    assert found.total(blocks * row_source.BLOCK_ROWS) == Grouping(expected)


@given(st.data())
def test_neither_the_order_nor_the_workers_change_how_blocks_are_added(data: st.DataObject) -> None:
    blocks = data.draw(st.integers(1, 40))
    expected, merged = PairwiseSum[Grouping](), PairwiseSum[Grouping]()
    for number in range(blocks):
        expected.add(number, Grouping(f"{number},"))
    workers = [PairwiseSum[Grouping]() for _ in range(data.draw(st.integers(1, 7)))]
    for number in data.draw(st.permutations(range(blocks))):
        data.draw(st.sampled_from(workers)).add(number, Grouping(f"{number},"))
    for worker in data.draw(st.permutations(workers)):
        merged.merge(worker)
    rows = (blocks - 1) * row_source.BLOCK_ROWS + data.draw(st.integers(1, row_source.BLOCK_ROWS))
    assert merged.total(rows) == expected.total(rows)


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_threads_that_share_the_pieces_of_the_last_blocks_change_no_bracket(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 20)
    rows = ArrayRows(np.zeros((95, 1)), np.zeros(95), threads=threads)
    found = rows.reduce(lambda block: Grouping(f"{block.first}+{len(block)} "), max_rows=8)
    first, second = "((0+8 8+8 )16+4 )", "((20+8 28+8 )36+4 )"
    third, fourth, last = "((40+8 48+8 )56+4 )", "((60+8 68+8 )76+4 )", "(80+8 88+7 )"
    assert found.text == f"((({first}{second})({third}{fourth})){last})"


def test_one_block_is_divided_among_the_threads() -> None:
    """Two pieces wait for each other: in one thread, the barrier would break."""
    both = Barrier(2, timeout=30)

    def waiting(block: RowBlock) -> Grouping:
        both.wait()
        return Grouping(str(block.first))

    found = ArrayRows(np.zeros((10, 1)), np.zeros(10), threads=2).reduce(waiting, max_rows=5)
    assert found == Grouping("(05)")


def test_blocks_that_are_missing_or_come_twice_are_refused() -> None:
    found = PairwiseSum[Grouping]()
    found.add(0, Grouping("0"))
    with pytest.raises(SparseBayesError, match="expected the results of 2 blocks of rows, got 1"):
        found.total(row_source.BLOCK_ROWS + 1)
    with pytest.raises(SparseBayesError, match="each block of rows once"):
        found.add(0, Grouping("0"))


def test_the_moments_of_one_block_are_those_of_its_rows_and_of_many_the_same_up_to_rounding() -> None:
    X = np.random.default_rng(0).standard_normal((5_000, 3)) * [1.0, 1e-3, 1e4] + [0.0, 7.0, -1e5]
    one = ArrayRows(X[:4_000], np.zeros(4_000)).reduce(InputMoments.of)
    np.testing.assert_array_equal(one.sd, X[:4_000].std(axis=0))
    many = ArrayRows(X, np.zeros(5_000)).reduce(InputMoments.of)
    np.testing.assert_allclose(many.mean, X.mean(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(many.sd, X.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_inputs_that_are_not_finite_are_found_in_any_block(monkeypatch: pytest.MonkeyPatch, bad: float) -> None:
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 4)
    X, t = np.zeros((10, 2)), np.arange(10.0)
    check_source(generated(X, t))
    X[9, 1] = bad
    with pytest.raises(DataError, match="NaN or infinity"):
        check_source(generated(X, t))


@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 3))
def test_the_nearest_rows_are_those_of_all_distances(rows: int, block_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, points = rng.integers(0, 3, (rows, 2)).astype(np.float64), rng.uniform(0.0, 3.0, (4, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_source, "BLOCK_ROWS", block_rows)
        found = generated(X, np.zeros(rows)).reduce(FindNearest(InputMap.isotropic(2.0), points))
    squares = np.square(points[:, None] - X / 2.0).sum(axis=2)
    np.testing.assert_array_equal(found.rows, squares.argmin(axis=1))


X, T, _ = friedman(9_000, 5)
SPEC = process_spec(GaussianNoise(), inputs=True)


def written(folder: Path) -> MappedRows:
    """The rows in a file beside other numbers."""
    path = folder / "rows"
    path.write_bytes(np.column_stack([X, T, T]).astype("<f8").tobytes())
    return MappedRows(path, X.shape[1] + 2, X.shape[1], T)


def sources(folder: Path) -> dict[str, RowSource]:
    full = ArrayRows(X, T)
    return {
        "three threads": ArrayRows(X, T, threads=3),
        "not in one piece": ArrayRows(np.asfortranarray(X), T),
        "two parts": partitioned(full, 2),
        "seven parts": partitioned(full, 7),
        "mapped": written(folder),
        "generated": generated(X, T),
    }


@pytest.mark.parametrize("max_copied", [0, mapped_rows.MAX_COPIED])
def test_the_inputs_of_some_rows(max_copied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_rows, "MAX_COPIED", max_copied)
    chosen = np.flatnonzero(np.arange(len(X)) % 7)
    for name, source in sources(tmp_path).items():
        np.testing.assert_array_equal(source.take_inputs(chosen), X[chosen], name)


def test_inputs_of_many_rows_are_mapped_from_a_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path)
    assert source.take_inputs(np.arange(8_000)).base is None
    monkeypatch.setattr(mapped_rows, "MAX_COPIED", 79_999)
    assert isinstance(source.take_inputs(np.arange(8_000)).base, np.memmap)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def posed(source: RowSource) -> Problem:
    return pose_rows(source, SPEC, centres=Sampler(source, 0).sample(200))


def fitted(source: RowSource, start: State | None = None) -> Model:
    problem = posed(source)
    *_, last = iterates(problem, SPEC, start)
    return learned(problem, last)


@pytest.fixture
def few_rows_in_each_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are many more than those that are learned from together, and these more than a block."""
    small = {"ROWS_FOR_SCALES": 80, "ROWS_FOR_STARTS": 60, "ROWS_FOR_FUNCTIONS": (80, 100), "MIN_ROWS_TOGETHER": 150}
    for name, value in {**small, "ROWS_PER_FUNCTION": 0, "MAX_CELLS": 0}.items():
        monkeypatch.setattr(tasks, name, value)
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 100)


@pytest.mark.usefixtures("few_rows_in_each_phase")
def test_a_fit_is_the_same_to_the_bit_however_its_rows_are_divided_and_wherever_they_are(tmp_path: Path) -> None:
    expected = fitted(ArrayRows(X, T))
    (kernel, *_) = expected.functions
    assert isinstance(kernel, KernelFunctions)
    assert kernel.size > 5
    for name, source in sources(tmp_path).items():
        assert_same(fitted(source), expected, name)


@pytest.mark.usefixtures("few_rows_in_each_phase")
def test_a_fit_that_goes_on_with_rows_from_elsewhere_ends_with_the_same_bits() -> None:
    problem = posed(ArrayRows(X, T))
    *on_the_way, last = iterates(problem, SPEC)
    phases = {now.state.process.phase: now.state for now in on_the_way if now.state.process}
    for phase in ("functions", "noise", "together", "growth", "rows"):
        assert_same(fitted(generated(X, T), phases[phase]), learned(problem, last), phase)


def assert_same(found: Model, expected: Model, name: str) -> None:
    assert found.evidence == expected.evidence, name
    assert found.noise_sd == expected.noise_sd, name
    for one, other in zip(arrays_of(found), arrays_of(expected), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


def arrays_of(model: Model) -> list[Array]:
    (kernel, *_) = model.functions
    assert isinstance(kernel, KernelFunctions)
    places = [kernel.centres, kernel.rows.astype(np.float64), kernel.input_map.widths]
    return [model.mean, model.covariance, model.alpha, *places]


def test_a_block_knows_which_rows_it_has_and_divides_them_in_order() -> None:
    block = ArrayRows(X, T, np.arange(9_000.0)).block(2)
    assert (block.first, len(block)) == (8_192, 808)
    pieces = block.pieces(500)
    assert [len(piece) for piece in pieces] == [500, 308]
    np.testing.assert_array_equal(np.concatenate([piece.numbers for piece in pieces]), np.arange(8_192, 9_000))
    np.testing.assert_array_equal(np.concatenate([piece.X for piece in pieces]), X[8_192:])
    np.testing.assert_array_equal(pieces[1].weighted(pieces[1].t), np.arange(8_692.0, 9_000.0) * T[8_692:])
    assert n_blocks(9_000) == 3


def test_rows_that_are_generated_can_not_be_had_as_a_whole() -> None:
    source = generated(X, T)
    with pytest.raises(AssertionError, match="at once"):
        source.every()
