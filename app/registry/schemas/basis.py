"""Dictionaries as they go out: groups by the names of their inputs."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from relevance_bayes.core.basis import Basis, Group, Single


class GroupOut(BaseModel):
    """Functions of these inputs alone."""

    inputs: Sequence[str]
    of: Single
    type: Literal["group"] = "group"


BasisOut = Single | GroupOut


def shown_bases(bases: Sequence[Basis], inputs: Sequence[str]) -> list[BasisOut]:
    """Those of a plan, whose groups count through its `inputs`."""
    return [
        GroupOut(inputs=[inputs[place] for place in basis.inputs], of=basis.of) if isinstance(basis, Group) else basis
        for basis in bases
    ]
