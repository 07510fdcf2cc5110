import json

from app.storage.documents import REPORT
from tests.storage import samples


def test_a_report_comes_back_as_it_was_written() -> None:
    report = samples.new_version().report
    assert REPORT.read(REPORT.write(report)) == report


def test_a_report_from_before_there_were_heavy_tails_has_none() -> None:
    written = json.loads(REPORT.write(samples.new_version().report))
    del written["degrees_of_freedom"], written["outliers"]
    report = REPORT.read(json.dumps(written))
    assert (report.degrees_of_freedom, report.outliers) == (None, ())
