from app.worker.program import program


def test_a_program_is_the_same_at_every_start_and_says_what_it_computes_with() -> None:
    assert program() == program()
    assert "numpy" in program()
