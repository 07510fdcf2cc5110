"""Check of the time of regular expressions, which must be linear, by their parse trees.

A backtracking matcher takes more than linear time where a text can be read in two ways that both repeat: in the
automaton of the pattern there are two states p and q and a text that leads from p to p, from p to q and from q to q
(Weber and Seidl, 1991, on the degree of ambiguity of finite automata). Adjacent and nested repeats that share a
character are the usual cases. A search begins at each character, as after a repeat of any.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import product
from typing import Literal

op = import_module("re._constants")
parser = import_module("re._parser")

Use = Literal["match", "search"]
Tree = Iterable[tuple[object, object]]

OTHERS = "\u00a0\u00b2\u0130\u0131\u017f\u0660\u2028\u2029\u212a\u2212\u2603\u4e00\U0001f600"
ALL = frozenset(map(chr, range(256))) | frozenset(OTHERS)
"""The characters that stand for all: those of Latin-1, and letters, digits, blanks and others beyond."""

MAX_COPIES = 3
"""The copies of what a bounded repeat holds: more have the same ambiguity."""

START = "start"
END = "end"
LINE = "line"
BOUNDARY = "boundary"
CONDITION = "condition"

_AT = {
    op.AT_BEGINNING: START,
    op.AT_BEGINNING_STRING: START,
    op.AT_END: END,
    op.AT_END_STRING: END,
    op.AT_BOUNDARY: BOUNDARY,
    op.AT_NON_BOUNDARY: CONDITION,
}


@dataclass(frozen=True)
class Part:
    """A part of a pattern: its first and last states, each with what must not follow, and the same of each empty match.

    A requirement is a set of characters that must not be read next, and of names of conditions.
    """

    first: tuple[tuple[int, frozenset[str]], ...] = ()
    last: tuple[tuple[int, frozenset[str]], ...] = ()
    empty: tuple[frozenset[str], ...] = (frozenset(),)


@dataclass
class Automaton:
    """The states of a pattern, each of which reads a character of its set, and its transitions, some of them twice."""

    flags: int
    sets: list[frozenset[str]] = field(default_factory=list)
    next: dict[int, list[tuple[int, frozenset[str]]]] = field(default_factory=lambda: defaultdict(list))
    """The states that follow a state, each with the characters that it reads then."""

    def state(self, characters: frozenset[str]) -> int:
        self.sets.append(characters)
        return len(self.sets) - 1

    def link(self, last: Part, first: Part) -> None:
        for (before, after), (state, given) in product(last.last, first.first):
            required = after | given
            if START not in required:
                self.next[before].append((state, self.sets[state] - required))

    def sequence(self, parts: Iterable[Part]) -> Part:
        result = Part()
        for part in parts:
            self.link(result, part)
            first, last = result.first, part.last
            first += tuple((state, given | empty) for state, given in part.first for empty in result.empty)
            last += tuple((state, after | empty) for state, after in result.last for empty in part.empty)
            result = Part(first, last, _few(one | two for one, two in product(result.empty, part.empty)))
        return result

    def part(self, tree: Tree) -> Part:
        return self.sequence(self._item(kind, value) for kind, value in tree)

    def _item(self, kind: object, value: object) -> Part:
        if kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT} and isinstance(value, tuple):
            low, high, content = value
            return self._repeat(low, high, content, is_possessive=kind is op.POSSESSIVE_REPEAT)
        if kind is op.SUBPATTERN and isinstance(value, tuple):
            _, added, removed, content = value
            kept, self.flags = self.flags, (self.flags | added) & ~removed
            part = self.part(content)
            self.flags = kept
            return part
        if kind is op.BRANCH and isinstance(value, tuple):
            return _either([self.part(content) for content in value[1]])
        if kind in {op.ASSERT, op.ASSERT_NOT} and isinstance(value, tuple):
            return self._condition(*value, is_negative=kind is op.ASSERT_NOT)
        if kind is op.AT:
            is_line = self.flags & re.MULTILINE and value in {op.AT_BEGINNING, op.AT_END}
            name = CONDITION if value is op.AT_END else LINE
            return Part(empty=(frozenset({name if is_line else _AT[value]}),))
        if kind is op.ATOMIC_GROUP:
            raise ValueError("an atomic group that is no repeat of one set of characters is not known here")
        state = self.state(characters(kind, value, self.flags))
        return Part(((state, frozenset()),), ((state, frozenset()),), ())

    def _repeat(self, low: int, high: object, content: Tree, *, is_possessive: bool) -> Part:
        single = self._single(content)
        if is_possessive and single is None:
            raise ValueError("a possessive repeat of more than one set of characters is not known here")
        n_required = min(low, MAX_COPIES)
        parts = [self.part(content) for _ in range(n_required)]
        if high == op.MAXREPEAT:
            more = self.part(content) if not parts else parts[-1]
            self.link(more, more)
            optional = [Part(more.first, more.last, ())] if not parts else []
        else:
            optional = [self.part(content) for _ in range(min(int(str(high)) - low, MAX_COPIES))]
        rest = Part()
        for part in reversed(optional):  # X(X(X)?)?, so that a text is read by one of them alone
            both = self.sequence((part, rest))
            rest = Part(both.first, both.last)
        result = self.sequence((*parts, rest))
        if not is_possessive or single is None:
            return result
        last = tuple((state, after | single) for state, after in result.last)
        return Part(result.first, last, tuple(empty | single for empty in result.empty))

    def _single(self, content: Tree) -> frozenset[str] | None:
        """Return the characters of a content that reads one, None for another content."""
        items = list(content)
        if len(items) != 1 or items[0][0] not in {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}:
            return None
        return characters(*items[0], self.flags)

    def _condition(self, direction: int, content: Tree, *, is_negative: bool) -> Part:
        """Return the part of a look at what follows, which reads it and ends there, or at what is before."""
        single = self._single(content)
        if direction < 0:
            return Part()
        if single is not None:
            return Part(empty=(frozenset({CONDITION}) | (single if is_negative else ALL - single),))
        return Part(first=self.part(content).first, empty=(frozenset({CONDITION}),))


def _either(parts: Sequence[Part]) -> Part:
    return Part(
        tuple(one for part in parts for one in part.first),
        tuple(one for part in parts for one in part.last),
        _few(empty for part in parts for empty in part.empty),
    )


def _few(empties: Iterable[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Return empty matches, of equal ones two, which are as ambiguous as more."""
    counts = Counter(empties)
    return tuple(empty for empty, count in counts.items() for _ in range(min(count, 2)))


def characters(kind: object, value: object, flags: int) -> frozenset[str]:
    """Return the characters that an item of a parse tree reads."""
    if kind is op.ANY:
        return ALL if flags & re.DOTALL else ALL - {"\n"}
    if kind is op.IN and isinstance(value, list):
        chosen = frozenset[str]().union(
            *(characters(pair[0], pair[1], flags) for pair in value if pair[0] is not op.NEGATE)
        )
        return ALL - chosen if value[0][0] is op.NEGATE else chosen
    if kind is op.NOT_LITERAL:
        return ALL - characters(op.LITERAL, value, flags)
    if kind is op.LITERAL:
        return _cases(frozenset({chr(int(str(value)))}), flags)
    if kind is op.RANGE and isinstance(value, tuple):
        low, high = value
        return _cases(frozenset(one for one in ALL if low <= ord(one) <= high), flags)
    if kind is op.CATEGORY:
        return _category(str(value), is_ascii=bool(flags & re.ASCII))
    raise ValueError(f"{kind} is not known here")


def _cases(chosen: frozenset[str], flags: int) -> frozenset[str]:
    if not flags & re.IGNORECASE:
        return chosen
    folded = {one.lower() for one in chosen}
    return frozenset(one for one in ALL if one.lower() in folded)


@cache
def _category(name: str, *, is_ascii: bool) -> frozenset[str]:
    text = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.rpartition("_")[2]]
    pattern = re.compile(text, re.ASCII if is_ascii else 0)
    found = frozenset(one for one in ALL if pattern.match(one))
    return ALL - found if "_NOT_" in name else found


def fault(pattern: "re.Pattern[str] | re.Pattern[bytes]", use: Use) -> str | None:
    """Return a text that a pattern may read in two ways that repeat, None for a pattern that takes linear time."""
    flags = pattern.flags | (re.ASCII if isinstance(pattern.pattern, bytes) else 0)
    automaton = Automaton(flags)
    whole = automaton.part(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    twice = _twice(automaton)
    if twice is not None:
        return twice
    searching: set[int] = set()
    if use == "search":
        searching = {_search(automaton, whole)}
    return _ambiguity(automaton, searching, _unfailing(automaton, whole))


def _search(automaton: Automaton, whole: Part) -> int:
    """Return the state of a search, which reads all characters before a match."""
    anywhere = automaton.state(ALL)
    word = _category("WORD", is_ascii=bool(automaton.flags & re.ASCII))
    before = {read: automaton.state(read) for read in (frozenset("\n"), word, ALL - word)}
    automaton.next[anywhere] += [(anywhere, ALL), *((state, read) for read, state in before.items())]
    for state, given in whole.first:
        read = automaton.sets[state] - given
        if LINE in given:
            automaton.next[before[frozenset("\n")]].append((state, read))
        elif BOUNDARY in given:
            automaton.next[before[ALL - word]].append((state, read & word))
            automaton.next[before[word]].append((state, read - word))
        elif START not in given:
            automaton.next[anywhere].append((state, read))
    return anywhere


def _twice(automaton: Automaton) -> str | None:
    """Return a character by which a transition is there twice, in a loop, as of a repeat in a repeat."""
    for before, followers in tuple(automaton.next.items()):
        read: dict[int, frozenset[str]] = defaultdict(frozenset)
        for state, given in followers:
            if read[state] & given and before in _reached(automaton, state):
                return min(read[state] & given)
            read[state] |= given
    return None


def _unfailing(automaton: Automaton, whole: Part) -> frozenset[int]:
    """Return the states from which a match ends whatever follows, so that a search does not begin within it again."""
    ends = {state for state, after in whole.last if not after & {CONDITION, BOUNDARY, LINE}}
    always = {state for state, after in whole.last if not after & {CONDITION, BOUNDARY, LINE, END}}
    found = frozenset(range(len(automaton.sets)))
    while True:
        kept = frozenset(
            state
            for state in found
            if state in always
            or (
                state in ends
                and frozenset[str]().union(*(read for one, read in automaton.next[state] if one in found)) == ALL
            )
        )
        if kept == found:
            return kept
        found = kept


def _ambiguity(automaton: Automaton, searching: set[int], unfailing: frozenset[int]) -> str | None:
    """Return a text that leads from a state to itself, from it to another, and from that one to itself."""
    reached = {state: _reached(automaton, state) for state in range(len(automaton.sets))}
    loops = [state for state, others in reached.items() if state in others]
    for first, last in product(loops, loops):
        if first == last or last not in reached[first]:
            continue
        allowed = frozenset(state for state in reached[last] if last in reached[state])
        if first in searching:
            allowed -= unfailing
        own = frozenset(state for state in reached[first] if first in reached[state])
        between = frozenset(state for state in reached[first] if last in reached[state])
        text = _common(automaton.next, (first, first, last), (first, last, last), (own, between, allowed))
        if text is not None:
            return text
    return None


def _reached(automaton: Automaton, start: int) -> frozenset[int]:
    found: set[int] = set()
    remaining = [start]
    while remaining:
        new = {state for state, read in automaton.next[remaining.pop()] if read} - found
        found |= new
        remaining.extend(new)
    return frozenset(found)


def _common(
    transitions: Mapping[int, Sequence[tuple[int, frozenset[str]]]],
    start: tuple[int, int, int],
    end: tuple[int, int, int],
    allowed: tuple[frozenset[int], frozenset[int], frozenset[int]],
) -> str | None:
    """Return a text that leads three states to three others at once, through allowed ones."""
    if start[2] not in allowed[2]:
        return None
    texts = {start: ""}
    remaining = [start]
    while remaining:
        state = remaining.pop(0)
        for following, read in _steps(transitions, state, allowed):
            text = texts[state] + min(read)
            if following == end:
                return text
            if following not in texts:
                texts[following] = text
                remaining.append(following)
    return None


def _steps(
    transitions: Mapping[int, Sequence[tuple[int, frozenset[str]]]],
    state: tuple[int, int, int],
    allowed: tuple[frozenset[int], frozenset[int], frozenset[int]],
) -> Iterator[tuple[tuple[int, int, int], frozenset[str]]]:
    for (one, of_one), (two, of_two) in product(transitions[state[0]], transitions[state[1]]):
        shared = of_one & of_two
        if not shared or one not in allowed[0] or two not in allowed[1]:
            continue
        for three, of_three in transitions[state[2]]:
            if shared & of_three and three in allowed[2]:
                yield (one, two, three), shared & of_three
