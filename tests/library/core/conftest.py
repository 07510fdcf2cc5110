"""Which tests of the core take minutes together, and leave a change's own check to the others."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

THREE_CLASSES = ("test_algorithms", "test_several_latents", "test_input_widths")
"""Three latents settle in a hundred rounds a step: what these say of three classes they say of two as well."""

LONG = {
    "test_no_objective_falls_within_a_phase",
    "test_the_fixed_point_of_re_estimation_is_where_the_objective_rests",
    "test_wherever_a_training_is_broken_off_it_ends_with_the_same_model[widths by evidence, then folds]",
    "test_pooled_figures_of_numbers_are_those_of_whole_trainings_by_hand[width searched]",
    "test_of_several_latents_each_point_has_that_of_its_own[independent]",
}


@pytest.hookimpl(tryfirst=True)  # before they are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents:
            continue
        of_three = item.path.stem in THREE_CLASSES and "[three classes" in item.name and "sequential" not in item.name
        if of_three or item.name in LONG:
            item.add_marker(pytest.mark.thorough)
