import numpy as np
import pytest

from benchmarks.tables.generated import GENERATORS, drawn, generated
from benchmarks.tables.splits import TableSplit
from relevance_bayes.core.types import Array


def inputs(split: TableSplit) -> Array:
    return split.table.matrix()


@pytest.mark.parametrize("name", GENERATORS)
def test_a_draw_is_a_function_of_its_number(name: str) -> None:
    one, again, other = drawn(name, 3), drawn(name, 3), drawn(name, 4)
    assert np.array_equal(inputs(one), inputs(again))
    assert np.array_equal(one.table.t, again.table.t)
    assert not np.array_equal(one.table.t, other.table.t)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_row_is_learned_from_or_measured_on_and_has_its_truth(name: str) -> None:
    split = drawn(name, 0)
    assert split.truth is not None
    assert len(split.truth) == split.table.rows == len(split.learned) + len(split.measured)
    assert not set(split.learned.tolist()) & set(split.measured.tolist())


def test_the_task_of_a_generator_is_that_of_its_draws() -> None:
    assert all(source.read(0).table.task == source.task for source in generated())


def test_a_trend_is_measured_beyond_what_was_learned() -> None:
    split = drawn("trend", 0)
    x = inputs(split)[:, 0]
    assert x[split.learned].max() < x[split.measured].min()


def test_four_of_thirty_two_inputs_matter() -> None:
    split = drawn("irrelevant inputs", 0)
    x = inputs(split)
    assert x.shape[1] == 32
    assert split.truth == pytest.approx(np.sin(3.0 * x[:, 0]) + 2.0 * x[:, 1] * x[:, 2] + x[:, 3])


def test_sixty_inputs_come_from_twelve_factors() -> None:
    split = drawn("factors", 0)
    values = np.linalg.svd(inputs(split), compute_uv=False)
    assert inputs(split).shape[1] == 60
    assert len(split.learned) == 130
    assert values[11] > 2.0 * values[12]


def test_probabilities_of_classes_add_to_one_and_are_those_of_the_targets() -> None:
    for name in ("factors", "imbalanced"):
        split = drawn(name, 0)
        assert split.truth is not None
        assert split.truth.sum(axis=1) == pytest.approx(1.0)
        assert split.table.t.mean() == pytest.approx(split.truth[:, 1].mean(), abs=0.05)


def test_about_one_row_in_twenty_is_of_the_rare_class() -> None:
    share = np.mean([drawn("imbalanced", number).table.t.mean() for number in range(5)])
    assert 0.03 <= share <= 0.08


def test_the_noise_grows_along_the_first_input() -> None:
    split = drawn("heteroscedastic", 0)
    assert split.truth is not None
    x, residual = inputs(split)[:, 0], split.table.t - split.truth
    assert residual[x > 0.8].std() > 5.0 * residual[x < 0.2].std()


def test_heavy_tails_have_outliers_and_near_zero_noise_is_near_zero() -> None:
    heavy, near = drawn("heavy tails", 0), drawn("near-zero noise", 0)
    assert heavy.truth is not None
    assert near.truth is not None
    assert np.abs(heavy.table.t - heavy.truth).max() > 10.0 * np.median(np.abs(heavy.table.t - heavy.truth))
    assert (near.table.t - near.truth).std() < 1e-5 * near.truth.std()


def test_duplicates_repeat_sixty_places_with_different_targets() -> None:
    split = drawn("duplicates", 0)
    assert len(np.unique(inputs(split), axis=0)) <= 60
    assert len(np.unique(split.table.t)) == split.table.rows


def test_steps_are_constant_between_their_edges() -> None:
    split = drawn("steps", 0)
    assert split.truth is not None
    assert len(np.unique(split.truth)) <= 12
