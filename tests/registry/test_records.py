"""Merge patches of annotations (RFC 7396)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.registry.annotations import ANNOTATION_IN
from app.registry.records import MAX_TAGS, Annotation
from relevance_bayes.records.errors import InvalidRequestError

NAMES = st.sampled_from("abcd")
TAGS = st.dictionaries(NAMES, st.text(max_size=2))
PATCHES = st.fixed_dictionaries(
    {},
    optional={
        "description": st.none() | st.text(max_size=3),
        "tags": st.none() | st.dictionaries(NAMES, st.none() | st.text(max_size=2)),
    },
)


def merged(target: object, patch: object) -> object:
    """RFC 7396, section 2, as it stands there."""
    if not isinstance(patch, dict):
        return patch
    after = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            after.pop(name, None)
        else:
            after[name] = merged(after.get(name), value)
    return after


@given(description=st.none() | st.text(max_size=3), tags=TAGS, sent=PATCHES)
def test_a_patch_does_what_the_rfcs_program_does(
    description: str | None, tags: dict[str, str], sent: dict[str, object]
) -> None:
    document = {"tags": tags} | ({} if description is None else {"description": description})
    required = merged(document, json.loads(json.dumps(sent)))
    assert isinstance(required, dict)
    found = ANNOTATION_IN.validate_python(sent).applied(Annotation(description, tags))
    assert found == Annotation(required.get("description"), required.get("tags", {}))
    assert list(found.tags) == sorted(found.tags) or "tags" not in sent


def test_there_are_so_many_tags_and_no_more() -> None:
    full = Annotation(tags={f"t{number}": "" for number in range(MAX_TAGS)})
    one_more = ANNOTATION_IN.validate_python({"tags": {"x": "1"}})
    with pytest.raises(InvalidRequestError, match="at most 50 tags, got 51"):
        one_more.applied(full)
    assert ANNOTATION_IN.validate_python({"tags": {"x": "1", "t0": None}}).applied(full).tags["x"] == "1"
