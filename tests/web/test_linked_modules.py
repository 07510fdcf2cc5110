"""Modules as one script."""

import re

import pytest

from app.web.report import ENTRY
from app.web.static_files import linked, page

MODULES = {name: file.content.decode() for name, file in page().files.items() if name.endswith(".js")}


def test_a_module_is_a_function_of_what_it_imports_that_returns_its_exports() -> None:
    modules = {
        "main.js": 'import { one as first, two } from "./parts/a.js";\nimport three from "./b.js";\nfirst(two, three);',
        "parts/a.js": 'import c from "../c.js";\nexport const one = c;\nexport async function two() {}\n'
        "export class Three {}\n",
        "b.js": "export default function (n) {}\n",
        "c.js": 'import{x as n}from"./d.js";var m=n,$=n;export{m as default,n as other,$ as $b};',
        "d.js": "export const x = 1;",
        "e.js": "not imported",
    }
    script = linked(modules, "main.js")
    assert 'const { one: first, two: two } = load("parts/a.js");' in script
    assert 'const { default: three } = load("b.js");' in script
    assert 'const { default: c } = load("c.js");' in script
    assert "return { one, two, Three };" in script
    assert "const exportedDefault = function (n) {}\nreturn { default: exportedDefault };" in script
    assert 'const { x: n } = load("d.js");var m=n,$=n;\nreturn { default: m, other: n, $b: $ };' in script
    assert re.findall(r'^"(.+)"\(\) \{$', script, re.MULTILINE) == ["d.js", "c.js", "parts/a.js", "b.js", "main.js"]
    assert re.search(r"\b(import|export)\b", script) is None


def test_a_dynamic_import_stays_lazy_and_types_are_none() -> None:
    modules = {
        "main.js": '/** @type {import("./types.js").T} */\nconst later = () => import("./later.js");\nlater();',
        "later.js": "export const x = 1;",
    }
    script = linked(modules, "main.js")
    assert 'const later = () => Promise.resolve().then(() => load("later.js"));' in script
    assert "types.js" not in script


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('export * from "./a.js";', "export"),
        ('export { a } from "./a.js";', "a.js"),
        ('import * as all from "./a.js";', "import"),
        ('import "./a.js";', "import"),
        ("export let x = 1;", "export"),
        ("const x = import(name);", "import"),
        ("const x = import.meta.url;", "import.meta"),
        ('const x = "</script>";', "</script"),
        ('const x = "<!--";', "<!--"),
    ],
)
def test_other_forms_are_refused(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        linked({"main.js": text, "a.js": "export const a = 1;"}, "main.js")


def test_circles_and_missing_modules_are_refused() -> None:
    circle = {"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'}
    with pytest.raises(ValueError, match=re.escape("a.js imports b.js imports a.js")):
        linked(circle, "a.js")
    with pytest.raises(ValueError, match=re.escape("the module b.js, which a.js imports")):
        linked({"a.js": circle["a.js"]}, "a.js")


def test_the_report_is_linked_of_the_modules_of_the_page() -> None:
    script = linked(MODULES, ENTRY)
    found = re.findall(r'^"([a-z./-]+\.js)"\(\) \{$', script, re.MULTILINE)
    assert {"report/main.js", "views/version.js", "parts/report.js", "vendor/preact.js", "vendor/htm.js"} <= {*found}
    assert len(found) == len({*found}) > 15
    assert {"app.js", "views/home.js"}.isdisjoint(found)
    assert 20_000 < len(script) < 200_000
