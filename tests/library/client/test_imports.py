import subprocess
import sys

PROGRAM = """
import sys, relevance_bayes.client
absent = {'numpy', 'scipy', 'pyarrow', 'pandas', 'polars', 'asyncio', 'app'}
print(sorted(absent & set(sys.modules)))
"""


def test_a_client_imports_no_arrays_before_it_meets_one_and_nothing_of_the_service() -> None:
    done = subprocess.run((sys.executable, "-c", PROGRAM), capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
