"""Tables of README.md: what was written is read again."""

from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.report import Table


def test_the_rows_of_tables_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("<!-- one -->\n<!-- end -->\n<!-- two -->\n<!-- end -->\n", "utf-8")
    monkeypatch.setattr(report, "README", readme)
    header = ("rows", "error")
    report.write("one", [Table("First", header, (("1,000", "0.2"), ("10,000", "0.1")), ("A note.",))])
    report.write("two", [Table("Second", header, (("5", "–"),))])
    assert report.read("one") == [{"rows": "1,000", "error": "0.2"}, {"rows": "10,000", "error": "0.1"}]
    assert report.read("two") == [{"rows": "5", "error": "–"}]
