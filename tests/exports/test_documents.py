"""A document is read back as it was written: each likelihood, kernel, prior and dictionary, to the last bit."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from pydantic import JsonValue

from app.errors import MalformedBodyError, TooLargeError
from app.exports import formats
from app.exports.formats import RENDERINGS
from app.registry.version_repository import REPORT
from app.tasks.supervised import checked
from relevance_bayes.core.basis import SingleFunctions
from relevance_bayes.core.models.pool import members_of
from relevance_bayes.documents import schema as npz
from relevance_bayes.documents.parts import ModelPart, SinglePart
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import DOCUMENT, SupervisedDocument, document_of, version_of
from relevance_bayes.documents.validation import supervised_faults
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import validate
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.supervised.report import SupervisedReport
from tests.exports.trained import CASES, block, predicted, trained

MEBIBYTE = 2**20


def read(text: bytes) -> ExportedSupervised:
    back = version_of(DOCUMENT.validate_json(text, strict=True))
    assert isinstance(back, ExportedSupervised)
    return back


def through_json(made: ExportedSupervised) -> ExportedSupervised:
    return read(RENDERINGS["json"].render(made))


def through_npz(made: ExportedSupervised) -> ExportedSupervised:
    text, arrays = formats.read(RENDERINGS["npz"].render(made), max_bytes=MEBIBYTE)
    full = formats.with_arrays(json.loads(text), arrays)
    return read(json.dumps(full).encode())


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_what_comes_back_predicts_the_same_to_the_last_bit(name: str) -> None:
    made = trained(name)
    rows = block(made.predictor.encoding.inputs, 30, 5)
    expected = predicted(made, rows)
    assert len(expected) >= 3
    for back in (through_json(made), through_npz(made)):
        found = predicted(back, rows)
        assert found.keys() == expected.keys()
        for member, numbers in expected.items():
            np.testing.assert_array_equal(found[member], numbers, err_msg=member)
        assert back.report == made.report
        assert (back.model, back.number, back.created_at) == (made.model, made.number, made.created_at)


@pytest.mark.parametrize("required", ["json", "npz"])
def test_the_same_version_gives_the_same_bytes_and_so_does_what_came_back(required: str) -> None:
    made = trained("bent, additive, free")
    render = RENDERINGS["json" if required == "json" else "npz"].render
    assert render(made) == render(replace(made)) == render(through_json(made)) == render(through_npz(made))


@pytest.mark.parametrize(("factor", "refused"), [(1.0, []), (1.001, ["/model/noise_sd"])])
def test_the_noise_of_a_process_through_all_rows_is_that_of_its_kernel_matrix(
    factor: float, refused: list[str]
) -> None:
    made = through_json(trained("all rows"))
    model = made.predictor.model
    assert model.noise_sd is not None
    forged = replace(made.predictor, learned=replace(model, noise_sd=factor * model.noise_sd))
    assert [fault.pointer for fault in supervised_faults(forged, made.report.task)] == refused


@pytest.mark.parametrize("name", ["hurdle, independent", "hurdle, process"])
def test_a_hurdle_is_imported_with_no_fault(name: str) -> None:
    assert checked(through_json(trained(name)), "twin", ImportedFrom("small", 1, "00")).predictor is not None


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/model/zero/likelihood", {"type": "poisson"}),
        ("/model/positive/likelihood", {"type": "gaussian", "noise_sd": "learned"}),
        ("/model/positive/noise_sd", None),
        ("/model/positive/rows", 10_000),
        ("/target", {"scale": 2.0}),
    ],
)
def test_a_hurdle_of_other_parts_is_refused_with_their_place(pointer: str, value: JsonValue) -> None:
    document = json.loads(RENDERINGS["json"].render(trained("hurdle, process")))
    *places, last = pointer.strip("/").split("/")
    part = document
    for place in places:
        part = part[place]
    part[last] = part[last] | value if pointer == "/target" and isinstance(value, dict) else value
    with pytest.raises(InvalidRequestError) as refused:
        checked(read(json.dumps(document).encode()), "twin", ImportedFrom("small", 1, "00"))
    assert pointer in {fault.pointer for fault in refused.value.faults}


def test_every_kind_of_function_is_among_the_versions_that_are_tested() -> None:
    functions = [
        one for name in CASES for model in members_of(trained(name).predictor.learned) for one in model.functions
    ]
    kinds = {type(getattr(one, "of", one)) for one in functions}
    assert kinds == set(SingleFunctions.__args__)
    documents = [document_of(trained(name)) for name in CASES]
    models = [document.model for document in documents if isinstance(document, SupervisedDocument)]
    assert len(models) == len(CASES)
    parts = {
        type(getattr(one, "of", one)) for model in models if isinstance(model, ModelPart) for one in model.functions
    }
    assert parts == set(SinglePart.__args__)


def test_figures_that_are_no_finite_numbers_stay_behind() -> None:
    made = trained("constant")
    spec = made.report.plan.spec
    report = replace(
        made.report,
        metrics={"holdout": {"rmse": 0.5, "r2": float("-inf")}},
        alternatives=(),
        plan=replace(made.report.plan, compared_models=(spec,)),
    )
    back = through_json(replace(made, report=report)).report
    assert back == replace(report, metrics={"holdout": {"rmse": 0.5}})


def test_the_archive_is_one_that_numpy_opens_without_pickle() -> None:
    made = trained("gaussian learned, process")
    with np.load(io.BytesIO(RENDERINGS["npz"].render(made)), allow_pickle=False) as opened:
        np.testing.assert_array_equal(opened["model/mean"], made.predictor.model.mean)
        np.testing.assert_array_equal(opened["model/covariance"], made.predictor.model.covariance)
        reported = json.loads(opened["document.json"])
    assert reported["model"]["mean"] == {"array": "model/mean"}
    assert reported["format"] == "relevance-version"


OTHERS = {
    "sums": {"products": [[1.5, 0.25], [0.25, 2.0]], "rows": 12},
    "groups": {"column": "subject", "levels": ["a", "b"]},
    "source": {"partition": {"number": 3}},
}
"""Members that a later release may write."""


@pytest.mark.parametrize("name", ["gaussian learned, process", "hurdle, process"])
def test_unknown_members_of_sums_groups_and_the_source_are_kept_and_ignored(name: str) -> None:
    made = trained(name)
    document = json.loads(RENDERINGS["json"].render(made))
    later = document | {**OTHERS, "source": document["source"] | OTHERS["source"]}
    imported = checked(read(json.dumps(later).encode()), "twin", ImportedFrom("small", 1, "00"))
    stored = REPORT.read(REPORT.write(imported.report))
    assert isinstance(stored, SupervisedReport)
    again = replace(made, model="twin", number=2, report=stored, predictor=imported.predictor)
    for text in (
        RENDERINGS["json"].render(again),
        RENDERINGS["json"].render(through_npz(again)),
        RENDERINGS["json"].render(npz.read(RENDERINGS["npz"].render(again))),
    ):
        rendered = json.loads(text)
        assert [rendered[place] for place in ("sums", "groups")] == [OTHERS["sums"], OTHERS["groups"]]
        assert rendered["source"] == later["source"] | {"model": "twin", "version": 2}
        rows = block(made.predictor.encoding.inputs, 30, 5)
        found = predicted(read(text), rows)
        for member, numbers in predicted(made, rows).items():
            np.testing.assert_array_equal(found[member], numbers, err_msg=member)


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [
        ("sums", [1.0], "/sums"),
        ("groups", {"name": "a\0b"}, "/groups/name"),
        ("source", {"size": 2**63}, "/source/size"),
        ("trials", {}, "/trials"),
        ("report", {"others": {}}, "/report/others"),
    ],
)
def test_members_that_can_not_be_kept_are_refused_with_their_place(place: str, value: JsonValue, pointer: str) -> None:
    document = json.loads(RENDERINGS["json"].render(trained("constant")))
    changed = document[place] | value if isinstance(value, dict) and place in document else value
    with pytest.raises(InvalidRequestError) as refused:
        version_of(validate(DOCUMENT, document | {place: changed}))
    assert pointer in {fault.pointer for fault in refused.value.faults}


def test_the_lists_of_unknown_members_may_be_arrays_of_the_archive() -> None:
    made = trained("constant")
    document = document_of(replace(made, report=replace(made.report, others={"sums": {"products": [1.5, 2.0]}})))
    assert isinstance(document, SupervisedDocument)
    sums: dict[str, object] = {"products": np.array([1.5, 2.0])}
    back = npz.read(npz.write(replace(document, sums=sums)))
    assert back.report.others == {"sums": {"products": [1.5, 2.0]}}


# What is no such archive


def archive(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("__", ".").replace("_", "/"), content)
    return sink.getvalue()


def npy(array: object, *, allow_pickle: bool = False) -> bytes:
    sink = io.BytesIO()
    np.lib.format.write_array(sink, np.asarray(array), version=(1, 0), allow_pickle=allow_pickle)
    return sink.getvalue()


def test_an_archive_that_unpacks_to_more_than_may_be_is_refused_before_it_has() -> None:
    bomb = archive(document__json=b"{}", model_mean__npy=bytes(200 * MEBIBYTE))
    assert len(bomb) < MEBIBYTE
    with pytest.raises(TooLargeError, match="once decompressed"):
        formats.read(bomb, max_bytes=MEBIBYTE)


def test_many_members_are_refused() -> None:
    many = archive(**{f"m{number}": b"" for number in range(formats.MAX_MEMBERS + 1)})
    with pytest.raises(TooLargeError, match="members"):
        formats.read(many, max_bytes=MEBIBYTE)


@pytest.mark.parametrize("shape", [(3,), (5,), (10**13,), (10**9, 10**9)])
def test_a_header_that_lies_about_its_size_is_refused_without_allocating_it(shape: tuple[int, ...]) -> None:
    sink = io.BytesIO()
    np.lib.format.write_array_header_1_0(sink, {"descr": "<f8", "fortran_order": False, "shape": shape})
    lying = archive(document__json=b"{}", model_mean__npy=sink.getvalue() + bytes(32))
    with pytest.raises(MalformedBodyError):
        formats.read(lying, max_bytes=MEBIBYTE)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, None], dtype=object),
        np.array(["a"]),
        np.zeros(2, ">f8"),
        np.zeros(2, np.float32),
        np.zeros((1, 1, 1)),
        np.array(1.0),
        np.array([np.nan]),
        np.array([np.inf]),
        np.zeros(1, [("a", "<f8")]),
    ],
    ids=["objects", "texts", "other end", "short", "cube", "one", "nan", "infinity", "fields"],
)
def test_an_array_of_another_kind_is_refused(array: object) -> None:
    content = npy(array, allow_pickle=True)
    with pytest.raises((InvalidRequestError, MalformedBodyError)):
        formats.read(archive(document__json=b"{}", model_mean__npy=content), max_bytes=MEBIBYTE)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", archive(other=b"")], ids=["", "cut", "text", "no"])
def test_what_is_no_archive_of_ours_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        formats.read(data, max_bytes=MEBIBYTE)


def test_an_archive_that_is_packed_otherwise_is_refused() -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("document.json", b"{}")
    with pytest.raises(MalformedBodyError, match=r"'document\.json' has an unsupported compression"):
        formats.read(sink.getvalue(), max_bytes=MEBIBYTE)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array",
        npy([1.0])[:20],
        npy([1.0]).replace(b"\x01\x00", b"\x02\x00", 1),
        npy([1.0]).replace(b"{", b"(", 1),
    ],
    ids=["none", "text", "cut", "another version", "header"],
)
def test_an_array_that_can_not_be_read_is_refused(content: bytes) -> None:
    with pytest.raises(MalformedBodyError, match=r"'model/mean\.npy' can't be read as npy of version 1\.0"):
        formats.read(archive(document__json=b"{}", model_mean__npy=content), max_bytes=MEBIBYTE)


def test_an_archive_cut_off_or_changed_anywhere_is_refused_or_read_as_it_states() -> None:
    full = RENDERINGS["npz"].render(trained("constant"))
    for end in range(0, len(full), 97):
        with pytest.raises(MalformedBodyError):
            formats.read(full[:end], max_bytes=MEBIBYTE)


@pytest.mark.parametrize(
    ("document", "arrays"),
    [
        ({"model": {"mean": {"array": "model/alpha"}}}, {"model/alpha": [1.0]}),
        ({"model": {"mean": {"array": "model/mean"}}}, {}),
        ({"model": {}}, {"model/mean": [1.0]}),
    ],
)
def test_arrays_and_their_places_belong_together(document: JsonValue, arrays: dict[str, JsonValue]) -> None:
    with pytest.raises(InvalidRequestError, match="array"):
        formats.with_arrays(document, arrays)
