"""Which tests of the core take minutes together, and leave a change's own check to the others."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

THREE_CLASSES = ("test_algorithms", "test_several_latents", "test_input_widths")
"""Three latents maximise_bound in a hundred rounds a step: what holds for three classes holds for two as well."""

OF_THREE_CLASSES = {
    "test_no_step_lowers_the_objective_of_its_phase[three classes-sequential]",
    "test_classes_that_lie_apart_end_with_finite_weights_and_hardly_a_doubt[three classes-sequential]",
    "test_the_objective_never_falls_and_the_fit_ends[three classes-gaussian-sequential-0]",
}
"""Properties of three classes, which need no repetition for other numbers of them."""

DISPERSION = ("test_re_estimation", "test_algorithms", "test_single", "test_sequential")
"""A dispersion is searched for at each step: one prior or algorithm at least is tried for it."""

OF_DISPERSION = (
    "flat-negative_binomial",
    "by row-negative_binomial",
    "negative_binomial-sequential",
    "gaussian-single-0",
)
"""Which these are."""

LONG = {
    "test_no_objective_falls_within_a_phase",
    "test_the_fixed_point_of_re_estimation_is_where_the_objective_rests",
    "test_wherever_a_training_is_broken_off_it_ends_with_the_same_model[widths by evidence, then folds]",
    "test_pooled_figures_of_numbers_are_those_of_whole_trainings_by_hand[width searched]",
    "test_of_several_latents_each_point_has_that_of_its_own[independent]",
    "test_of_classes_reported_together_the_temperature_is_that_of_folds[categorical]",
    "test_three_classes_are_chosen_among_with_a_model_for_each",
}


@pytest.hookimpl(tryfirst=True)  # before they are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and (item.name in LONG or is_long(item.path.stem, item.name)):
            item.add_marker(pytest.mark.thorough)


def is_long(file: str, name: str) -> bool:
    """True for a case that costs seconds, and of which a smaller one stays."""
    of_three = file in THREE_CLASSES and "[three classes" in name and name not in OF_THREE_CLASSES
    of_dispersion = file in DISPERSION and "negative_binomial" in name
    return of_three or (of_dispersion and not any(case in name for case in OF_DISPERSION))
