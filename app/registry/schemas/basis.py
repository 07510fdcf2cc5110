"""The API's form of dictionaries, whose groups name their inputs."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from relevance_bayes.core.basis import Basis, Group, Single


class GroupOut(BaseModel):
    """A group: functions of the named inputs only."""

    inputs: Sequence[str]
    of: Single
    type: Literal["group"] = "group"


BasisOut = Single | GroupOut


def shown_bases(bases: Sequence[Basis], inputs: Sequence[str]) -> list[BasisOut]:
    """Return the API's form of a plan's bases, whose groups index its `inputs`."""
    return [
        GroupOut(inputs=[inputs[place] for place in basis.inputs], of=basis.of) if isinstance(basis, Group) else basis
        for basis in bases
    ]
