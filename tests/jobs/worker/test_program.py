from app.jobs.worker.program import FILES, FITS, program


def test_a_program_is_the_same_at_every_start_and_states_what_it_computes_with() -> None:
    assert program() == program()
    assert "numpy" in program()


def test_fits_and_files_of_predictions_have_programs_of_their_own() -> None:
    assert program(FITS) != program(FILES)
    assert "pyarrow" in program(FILES)
