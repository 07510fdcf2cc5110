"""Every regular expression takes time linear in the length of a text, by its structure rather than by a clock."""

import re
from collections.abc import Iterable, Mapping

import pytest

from app.formats import dates, number_forms
from app.formats import dates as date_forms
from app.formats import number_forms as separators
from relevance_bayes.records.values import DecimalMark, NumberForm, ThousandsMark
from tests.architecture.pattern_sources import Pattern, literals, of_modules, of_page
from tests.architecture.patterns import Use, fault

QUADRATIC = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A number, as it was once read: 30 kB of digits and a letter after them took half a minute."""

MARKS: list[tuple[DecimalMark, ThousandsMark | None]] = [(".", None), (".", ","), (",", "."), (".", " "), (".", "'")]
FORMS = [
    NumberForm(prefix, suffix, decimal, thousands)
    for prefix, suffix in (("", ""), ("", "%"), ("EUR", ""), ("", "kg"))
    for decimal, thousands in MARKS
]

BUILT: Mapping[tuple[str, str], Iterable[Pattern]] = {
    ("app/formats/csv_dialect.py", "b'[\\\\r\\\\n' + re.escape(dialect.delimiter.encode()) + b'] +\\\\\"'"): [
        re.compile(rb"[\r\n" + re.escape(delimiter) + rb"] +\"") for delimiter in (b",", b";", b"\t", b"|")
    ],
    ("app/formats/dates.py", "f'{_DAY_NAME}{pattern}{_CLOCK}'"): date_forms._NAMED,
    (
        "app/formats/dates.py",
        "''.join((DIRECTIVES[part[1]] if len(part) == 2 and part[0] == '%' else re.escape(part) for part in parts))",
    ): [dates._compiled(pattern) for pattern in ("%d.%m.%Y %H:%M:%S.%f %z", "%a %d%b%y %I%M%p", "%A, %d %B %Y")],
    ("app/formats/json_body.py", "b'\\\\{:{0,%d}\\\\}' % max_members"): [re.compile(rb"\{:{0,1000}\}")],
    ("app/formats/number_forms.py", "self._pattern"): [number_forms.Form(form)._compiled for form in FORMS],
    (
        "app/formats/number_forms.py",
        "f'[+-]?[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?'",
    ): [separators._grouped(",", "."), separators._grouped(".", ","), separators._grouped(" ", ".")],
    ("app/http/fast_path.py", "f'{models}/([^/]+)(?:/versions/([^/]+))?/{action}'"): [
        re.compile("/models/([^/]+)(?:/versions/([^/]+))?/predict")
    ],
}
"""Patterns that functions make from their arguments, by the file and the text of the argument."""


@pytest.mark.parametrize(
    ("pattern", "flags", "use"),
    [
        (QUADRATIC, 0, "match"),
        (r"(a+)+", 0, "match"),
        (r"(?:a*)*", 0, "match"),
        (r"(?:a|ab?)*c", 0, "match"),
        (r"(?:[0-9]+,?)*", 0, "match"),
        (r".*word.*", 0, "match"),
        (r"a+b", 0, "search"),
        (r"\b[ab-]+c", 0, "search"),
        (r"a++b", 0, "search"),
        (r" +$", 0, "search"),
        (r"^\s*x", re.MULTILINE, "search"),
        (r"<s>.*?</s>", 0, "search"),
        (r"a(?:a*b)?", 0, "search"),
        (r"K+\u212a*", re.IGNORECASE, "match"),
    ],
)
def test_repeats_that_share_a_character_are_refused(pattern: str, flags: int, use: Use) -> None:
    assert fault(re.compile(pattern, flags), use) is not None


@pytest.mark.parametrize(
    ("pattern", "flags", "use"),
    [
        (QUADRATIC.replace(r"[0-9]+\.?[0-9]*", r"[0-9]+(?:\.[0-9]*)?"), 0, "match"),
        (r"[0-9]++\.?+[0-9]*", 0, "match"),
        (r"(?:[0-9]++,?)*", 0, "match"),
        (r"a+b", 0, "match"),
        (r"a+", 0, "search"),
        (r"\b[ab]+c", 0, "search"),
        (r"(?:a|b)*c", 0, "match"),
        (r"\s*\n", 0, "match"),
        (r"^\s*x", 0, "search"),
        (r"^[ \t]*x", re.MULTILINE, "search"),
        (r"[^\r\n]*(?:\r\n|\n|\r|\Z)", 0, "search"),
        (r"/\*.*?(?:\*/|\Z)", re.DOTALL, "search"),
        (r"<s>[^<]*</s>", 0, "search"),
        (r"[a-z]{1,63}(\.[a-z]{1,63})*", 0, "match"),
    ],
)
def test_repeats_that_share_none_are_not(pattern: str, flags: int, use: Use) -> None:
    assert fault(re.compile(pattern, flags), use) is None


def test_an_unknown_construct_is_no_linear_pattern() -> None:
    for pattern in (r"(a)\1", r"(?>a+b)*", r"(?:ab)*+"):
        with pytest.raises(ValueError, match="known"):
            fault(re.compile(pattern), "match")


def test_the_literals_of_a_script_are_found() -> None:
    script = "const a = b / c / d; // no /x/\nf(/a[/]b\\/+/g, `<p>/no/${x.replace(/y/u, '/n/')}</p>/no/`); return /z/"
    assert list(literals(script)) == [(r"a[/]b\/+", "g"), ("y", "u"), ("z", "")]


def test_every_pattern_of_the_modules_is_linear() -> None:
    sources = list(of_modules())
    assert len(sources) > 80
    assert {(source.path, source.text) for source in sources if source.pattern is None} == set(BUILT)
    found = [(source.path, source.text, source.pattern, source.use) for source in sources if source.pattern is not None]
    found += [(path, text, pattern, "search") for (path, text), patterns in BUILT.items() for pattern in patterns]
    assert [(path, text) for path, text, pattern, use in found if fault(pattern, use) is not None] == []


def test_every_pattern_of_the_page_is_linear() -> None:
    sources = list(of_page())
    assert {source.path.rpartition("/")[2] for source in sources} >= {"router.js", "code.js", "format.js"}
    assert [(one.path, one.text) for one in sources if one.pattern is None or fault(one.pattern, one.use)] == []
