import subprocess
import sys

from app.jobs.worker.pool import FILES, FITS, program


def test_a_program_is_the_same_at_every_start_and_states_what_it_computes_with() -> None:
    assert program() == program()
    assert "numpy" in program()


def test_fits_and_files_of_predictions_have_programs_of_their_own() -> None:
    assert program(FITS) != program(FILES)
    assert "pyarrow" in program(FILES)


LISTS = "import sys, app.tasks; print(*{'/'.join(name.split('.')[:2]) for name in sys.modules})"


def test_programs_have_all_folders_of_the_library_that_tasks_import_but_the_nouns() -> None:
    done = subprocess.run([sys.executable, "-c", LISTS], capture_output=True, text=True, check=True)
    imported = {name for name in done.stdout.split() if name.startswith("relevance_bayes/")}
    assert imported - set(FILES) == {"relevance_bayes/records"}
    assert imported - set(FITS) == {"relevance_bayes/records", "relevance_bayes/documents"}
