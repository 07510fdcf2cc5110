"""Texts that programs stumble over: of all control characters, of unusual Unicode, and of other languages' syntax."""

import unicodedata
from collections.abc import Iterator
from random import Random

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
SEPARATORS = ["\u2028", "\u2029"]
BLANKS = [" ", "\u00a0", "\u1680", "\u2000", "\u2003", "\u2009", "\u200a", "\u202f", "\u205f", "\u3000", "\ufeff"]
FORMATS = [chr(code) for code in (0x00AD, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F))]
FORMATS += [chr(code) for code in (*range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC), 0xE0001, 0xE0020, 0xE007F)]
NONCHARACTERS = [chr(code) for code in (*range(0xFDD0, 0xFDD4), 0xFFFE, 0xFFFF, 0x1FFFE, 0x1FFFF, 0x10FFFE, 0x10FFFF)]
PRIVATE = ["\ue000", "\uf8ff", "\U000f0000", "\U0010fffd"]
_WORDS = (
    "null NULL Null nil None none undefined true True TRUE false yes no on off NaN nan NAN -nan inf Infinity -Infinity "
    "-inf NA N/A n/a #N/A #REF! #DIV/0! nullptr void missing constructor __proto__ hasOwnProperty toString prototype "
    "CON PRN AUX NUL COM1 LPT1 default select from table user primary order group ctid oid rowid _rowid_ id xmin"
)
_NUMBERS = (
    "0 -0 +0 00 007 1 +1 -1 1. .5 1.0 1.00 1e5 1E5 1e400 1e-400 0x10 0b11 0o17 1_000 1,000 1,5 1.000,5 "
    "1/2 1e 0.1e1 --1 "
    "9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 1.7976931348623157e308 1e309 "
    "\u0661\u0662\u0663 \uff11\uff12 \u00b2 \u00bd \u2167 \u4e09 1\u00a0000 \u22121 2024-05-01 "
    "2024-05-01T12:30 2024-02-31 "
    "0001-01-01 9999-12-31T23:59:59Z 12:30 1d 1f 1L 5% $5 0.1.2"
)
INJECTIONS = [
    "'", '"', "''", '""', "`", "\\", "\\\\", "\\'", "\\0", "\\u0000", "\\x00", "\\n", "%", "%%", "%s", "%(a)s",
    "%n%n", "{}", "{0}", "{a}", "{{7*7}}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "{%raw%}", "$a", ":a", "?", "@a",
    "1=1", "--", "/*", "*/", ";", "'; DROP TABLE datasets; --", "' OR '1'='1", '" OR ""="',
    "1; SELECT pg_sleep(9)", "') UNION SELECT 1 --", "$$ $$", "E'\\\\047'", "x'00'", "[a]", "$(reboot)",
    "`reboot`", "; reboot", "| reboot", "&& reboot", "> /dev/null", "~", "*", "!", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "]]>", "<!--", "-->", "<![CDATA[", "&amp;", "&#0;", "&lt",
    "javascript:alert(1)", "../../../etc/passwd", "..\\..\\windows\\win.ini", "/etc/passwd", "C:\\",
    "file:///", "a/b", "..", ".", "%2e%2e%2f", "%00", "%0d%0a", "a%", "%zz", "\r\nX-Injected: 1", "a\r\nb",
    "a\nb", "a\rb", "a\tb", "\tb", "a\n", "=1+1", "+1+1", "-1+1", "@SUM(1)", "=cmd|' /C calc'!A0",
    "=HYPERLINK(\"http://example.org\")", "\t=1", "\r=1", ";", ",", "a,b", "a;b", "a|b", 'a"b', '"a"', '"a',
    'a""b', "a,\"b\"", "#", "//", "a:b", "a=b", "a&b=c", "a?b", "a#b", "a@1", "a+b", "a b", " a", "a ", "  ",
    "__import__('os').system('id')", '"""', "'''", '\\"""', "\\N{DIGIT ONE}", "f'{1}'", "\\", "eval(1)",
    "${jndi:ldap://example.org/a}", "() { :; }; echo", "*)(uid=*", "{\"a\":1}", "[1]", "[]", "{\"$ne\":null}",
    "---\na: 1", "!!python/object", "column_1", "probability_a", "label", "support", "error", "mean", "row",
    "rows", "names", "columns",
]  # fmt: skip
UNICODE = [
    "\u202eabc", "\u202dabc\u202c", "\u2066a\u2069", "a\u200bb", "\u200b", "\u200d", "\ufeffa", "a\ufeff",
    "a\u00adb", "\u0301", "e\u0301", "\u00e9", "Z" + "\u0335\u0321\u0489" * 30, "\u1100\u1161\u11a8", "\uac01",
    "\u212b", "\u00c5", "A\u030a", "\ufb01", "\u00df", "\u1e9e", "\u0130", "\u0131", "I\u0307", "\u01c5",
    "\u03c2", "\u0149", "\ufdfa", "\U0001d552", "\U00020bb7", "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f3f3\ufe0f\u200d\U0001f308",
    "\U0001f44d\U0001f3fd", "1\ufe0f\u20e3", "\U0001f1e9\U0001f1ea",
    "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627",
    "\u0645abc\u0631", "\u4f60\u597d", "\u3053\u3093", "\u0e01\u0e33", "\u0915\u094d\u0937", "\u13a0\uab70",
    "\u0430\u0440\u0440\u04cf\u0435", "\U00010400\U00010428", "\uffa0", "\u3164", "\u115f", "\u034f", "\u17b4",
    "\u00b5\u03bc", "\u2126\u03a9", "\ufffd", "\ufffc", "\U000e0001", "\ufe0f", "\u0338=", "\u00a0a\u00a0",
    "\u3000a",
]  # fmt: skip
LONG = [
    "a" * 63,
    "a" * 64,
    "b" * 199,
    "b" * 200,
    "b" * 201,
    "\U0001f600" * 200,
    "\U0001f600" * 201,
    "e\u0301" * 100,
    "x" * 1_999,
]
LONG += ["x" * 2_000, "x" * 2_001, "y" * 5_000, "\u00e9" * 30_000, "z" * 99_999, "\U0001f600" * 100_000, "z" * 100_001]
SEED = 7


def _random(seed: int, count: int) -> Iterator[str]:
    """Texts of characters of all planes, without surrogates, which no UTF-8 has."""
    random = Random(seed)
    for _ in range(count):
        codes = (
            random.choice((random.randrange(0x300), random.randrange(0x11_0000))) for _ in range(random.randint(1, 30))
        )
        yield "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


def _corpus() -> list[str]:
    alone = [*CONTROLS, *SEPARATORS, *BLANKS, *FORMATS, *NONCHARACTERS, *PRIVATE]
    within = [f"a{one}b" for one in alone]
    every = [*alone, *within, *_WORDS.split(), *_NUMBERS.split(" "), *INJECTIONS, *UNICODE, *LONG, *_random(SEED, 200)]
    return [*dict.fromkeys(every)]


TEXTS = _corpus()
"""All of them, each once, none empty."""


def is_plain(text: str) -> bool:
    """Return whether a text has no control characters, and no separators of lines and paragraphs."""
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)


def is_storable(text: str) -> bool:
    """Return whether a text may be a cell: without NUL, of at most 100,000 characters."""
    return "\0" not in text and len(text) <= 100_000


def is_name(text: str) -> bool:
    """Return whether a text may name a column."""
    return 0 < len(text) <= 200 and is_plain(text)
