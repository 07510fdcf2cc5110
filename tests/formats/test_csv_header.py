"""The first line of a CSV file: names, or a row; where both are possible, it is refused until it is stated."""

import pytest

from app.formats.format import ReadOptions
from relevance_bayes.records.errors import InvalidDataError
from tests.formats.files import read_csv


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("town,1990,2000,2010\nOslo,5,6,7\nRome,8,9,9\n", ["town", "1990", "2000", "2010"]),
        ("town,1990,1995,2005\nOslo,5.5,,7\nRome,8,9,9\n", ["town", "1990", "1995", "2005"]),
        ("who,2021-03-01,2021-04-01,2021-05-01\na,4,5,6\nb,7,8,8\n", ["who", "2021-03-01", "2021-04-01", "2021-05-01"]),
        ("who,2021/03/01,2021/03/02\na,4,5\nb,7,8\n", ["who", "2021/03/01", "2021/03/02"]),
        ("0,1,2,3,kind\n.1,-.5,.3,2.5,red\n.4,.9,.2,.1,blue\n", ["0", "1", "2", "3", "kind"]),
        ("1,2,3,kind\n8.1,-.5,.3,red\n.4,.9,.2,blue\n", ["1", "2", "3", "kind"]),
        ("0,1,2\n5.5,3.25,-1\n4.5,7.75,8\n", ["0", "1", "2"]),
        (",0,1\n0,5.5,3.25\n1,4.5,7.75\n", ["column_1", "0", "1"]),
        ("who,0.05,0.5,0.95\nann,3.5,7,9\nbob,4,8,9.5\n", ["who", "0.05", "0.5", "0.95"]),
        ("flag,name\ntrue,a\nfalse,b\n", ["flag", "name"]),
        ("day,name\n2024-01-01,a\nNA,b\n2024-01-03,c\n", ["day", "name"]),
        ("name,kind\nann,x\nbob,x\n", ["name", "kind"]),
        ("name,kind\n12,kind\n13,x\n", ["name", "kind"]),
    ],
)
def test_names_are_found(content: str, names: list[str]) -> None:
    assert list(read_csv(content)[0]) == names


@pytest.mark.parametrize(
    "content",
    [
        "a,1,2\nb,3,4\nc,5,6\n",
        "1,2,3\n4,5,6\n7,8,9\n",
        "a,2\nb,4\n",
        "a,5.1,3.5\nb,4.9,3.0\nc,5.0,3.1\n",
        "a,7,7\nb,8,9\n",
        "red,0,1,2\nred,4.5,3.5,2.5\nblue,5.5,1.5,.5\n",
        "NA,4\n3,4\n5,6\n",
        "true,a\nfalse,b\ntrue,c\n",
        "p,x,s\nq,x,s\np,y,s\n",
        "ann,0.4,0.6\nbob,0.3,0.7\n",
    ],
)
def test_rows_are_found(content: str) -> None:
    names = list(read_csv(content)[0])
    assert names == [f"column_{position}" for position in range(1, len(names) + 1)]


@pytest.mark.parametrize(
    "content",
    [
        "7,1,2,versicolor\n5,3.5,1.5,setosa\n4,3.5,2.5,virginica\n",
        "x,1,2\ny,2,1\nz,1,2\n",
        "country,2019\nFR,3.5\nDE,2.25\n",
        "ann,x\nbob,x\nann,y\nann,x\n",
    ],
)
def test_a_line_of_two_readings_is_refused_until_one_is_stated(content: str) -> None:
    with pytest.raises(InvalidDataError, match=r'Line 1 has .* set header="true" or header="false"\.$') as refused:
        read_csv(content)
    assert refused.value.faults[0].line == 1
    rows = content.count("\n")
    assert len(read_csv(content, ReadOptions(header=True))[1]) == rows - 1
    assert len(read_csv(content, ReadOptions(header=False))[1]) == rows
