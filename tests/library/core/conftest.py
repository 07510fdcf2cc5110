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
)
"""Which these are."""

OF_HEAVY_TAILS = {
    "test_inputs_that_do_not_matter_get_wide[heavy tails]",
    "test_what_is_found_ends_in_fixed_widths_one_for_each_input[heavy tails]",
    "test_columns_that_are_constant_or_repeated_are_learned_with[heavy tails]",
    "test_no_climb_falls_and_it_is_the_evidence_that_rises[heavy tails]",
}
"""Searches of a width for each input under Student-t noise, which take seconds: other noise stays."""

REPETITIONS = {
    "test_a_model_is_what_the_last_state_learned[negative_binomial]",
    "test_a_model_ready_predicts_as_the_model_does[negative_binomial]",
    "test_points_predicted_in_chunks_are_predicted_alike[negative_binomial]",
    "test_the_objective_never_falls_under_hyperpriors[em-flat-negative_binomial]",
    "test_a_resumed_fit_is_the_unbroken_one[heavy tails]",
    "test_a_resumed_fit_ends_with_the_model_of_the_unbroken_one[heavy tails-single]",
    "test_wherever_a_training_is_broken_off_it_ends_with_the_same_model[em]",
    "test_an_uninformative_row_changes_nothing[em]",
    "test_equal_sds_are_a_noise_that_is_known[em-0.1]",
    "test_it_is_the_mean_of_a_million_draws[50]",
    "test_the_score_is_that_of_a_fit_that_has_not_seen_the_tenth[student_t]",
    "test_progress_has_a_first_and_a_last_step_and_never_goes_back[classes-cross validation]",
    "test_the_width_found_lies_in_the_range_and_is_the_one_run[cross validation-classes]",
    "test_inputs_that_do_not_matter_get_wide[classes]",
    "test_noise_of_one_size_is_rarely_taken_for_noise_that_varies[20-1-heavy]",
    "test_noise_of_one_size_is_rarely_taken_for_noise_that_varies[20-1-skewed]",
    "test_noise_in_proportion_is_covered_outside_the_data[0-0.1]",
    "test_noise_in_proportion_is_covered_outside_the_data[0-0.2]",
    "test_noise_in_proportion_is_covered_outside_the_data[1-0.1]",
    "test_the_targets_unit_changes_nothing_but_units[0.01-0.0]",
    "test_the_targets_unit_changes_nothing_but_units[7.0-0.0]",
    "test_the_temperature_is_the_best_of_a_fine_grid[0.5-400]",
    "test_the_temperature_is_the_best_of_a_fine_grid[1.8-400]",
}
"""Cases of tests of which faster ones stay."""

LONG = (
    OF_HEAVY_TAILS
    | REPETITIONS
    | {
        "test_no_objective_falls_within_a_phase",
        "test_the_fixed_point_of_re_estimation_is_where_the_objective_rests",
        "test_wherever_a_training_is_broken_off_it_ends_with_the_same_model[widths by evidence, then folds]",
        "test_pooled_figures_of_numbers_are_those_of_whole_trainings_by_hand[width searched]",
        "test_of_several_latents_each_point_has_that_of_its_own[independent]",
        "test_of_classes_reported_together_the_temperature_is_that_of_folds[categorical]",
        "test_three_classes_are_chosen_among_with_a_model_for_each",
        "test_noise_that_varies_is_compared_where_a_process_would_be_taken",
        "test_computed_columns_need_a_part_of_the_memory_of_stored_ones",
        "test_a_fit_is_the_same_to_the_bit_however_its_rows_are_divided_and_wherever_they_are",
        "test_a_resumed_fit_ends_with_the_model_of_the_unbroken_one[negative_binomial-sequential]",
        "test_a_model_of_the_logarithm_is_compared_too",
        "test_folds_that_are_requested_measure_whole_trainings_of_the_process",
        "test_three_classes_share_few_functions",
        "test_a_fit_that_goes_on_with_rows_from_elsewhere_ends_with_the_same_bits",
        "test_a_training_that_is_broken_off_anywhere_ends_the_same[2]",
        "test_a_training_that_is_broken_off_anywhere_ends_the_same[3]",
        "test_a_training_that_is_stopped_anywhere_is_resumed_to_the_same_model",
        "test_a_training_whose_folds_are_measured_twice_ends_the_same_wherever_it_is_broken_off",
    }
)


@pytest.hookimpl(tryfirst=True)  # before they are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (item.name in LONG or is_long(item.path.stem, item.name)) and HERE in item.path.parents:
            item.add_marker(pytest.mark.thorough)


def is_long(file: str, name: str) -> bool:
    """True for a case that costs seconds, and of which a smaller one stays."""
    of_three = file in THREE_CLASSES and "[three classes" in name and name not in OF_THREE_CLASSES
    of_dispersion = file in DISPERSION and "negative_binomial" in name
    return of_three or (of_dispersion and not any(case in name for case in OF_DISPERSION))
