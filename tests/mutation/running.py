"""Tests that run once for each mutant, in a process forked after all of them are collected."""

import gc
import inspect
import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import process_time
from types import CodeType, FrameType, FunctionType, ModuleType

import pytest

from tests.mutation.mutants import Mutant, mutated_texts

ROOT = Path(__file__).parents[2]

CPU_SECONDS = 300
"""Of the processor, after which a mutant counts as killed: it makes no test slow, but a loop endless."""

Function = tuple[str, int]
"""The qualified name of a function, and its first line."""

Killed = Callable[[Mutant, bool], None]
"""Receives a mutant, and whether a test failed."""

OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed", "0")


def functions(code: CodeType) -> Iterator[tuple[Function, CodeType]]:
    """The functions of compiled code, with those inside of others."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield (one.co_qualname, one.co_firstlineno), one
            yield from functions(one)


@dataclass
class Executed:
    """The functions of a file that a test executes, and its seconds of the processor."""

    path: str
    functions: set[Function] = field(default_factory=set)
    seconds: float = 0.0

    def __enter__(self) -> None:
        self.seconds = -process_time()
        threading.setprofile(self._on)
        sys.setprofile(self._on)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        self.seconds += process_time()

    def _on(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename == self.path:
            self.functions.add((code.co_qualname, code.co_firstlineno))


@dataclass
class Forks:
    """A plugin of pytest: in place of all tests at once, those that execute a mutant's function, for each mutant."""

    path: Path
    waiting: Mapping[Mutant, str]
    killed: Killed
    rest: list[Mutant] = field(default_factory=list)
    """The mutants of what is executed at the import."""
    is_sound: bool = False
    """False where tests fail without a mutant."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests of each mutant."""
        ran = self._unmutated(session)
        self.is_sound = ran is not None
        if ran is None:
            return True
        original = dict(functions(compile(self.path.read_text("utf-8"), str(self.path), "exec")))
        items = {item.nodeid: item for item in session.items}
        for mutant, text in self.waiting.items():
            new = dict(functions(compile(text, str(self.path), "exec")))
            changed = {
                name
                for name, code in new.items()
                if code.co_flags & inspect.CO_OPTIMIZED and original.get(name) != code
            }  # without the bodies of classes
            if not changed:
                self.rest.append(mutant)
                continue
            concerned = [name for name in sorted(ran, key=lambda name: ran[name][0]) if ran[name][1] & changed]
            session.items = [items[name] for name in concerned]
            self.killed(mutant, bool(concerned) and not _passes(partial(self._replace, new, session)))
        return True

    def _unmutated(self, session: pytest.Session) -> dict[str, tuple[float, set[Function]]] | None:
        """The seconds and functions of each test, None where one fails."""
        with NamedTemporaryFile("r+") as file:
            if not _passes(partial(self._record, Path(file.name), session)):
                return None
            found = json.load(file)
        return {name: (seconds, {(one, line) for one, line in names}) for name, (seconds, names) in found.items()}

    def _record(self, file: Path, session: pytest.Session) -> bool:
        ran: dict[str, tuple[float, list[Function]]] = {}
        for number, item in enumerate(session.items):
            executed = Executed(str(self.path))
            with executed:
                _run([*session.items[number : number + 2]], session)
            ran[item.nodeid] = executed.seconds, sorted(executed.functions)
        file.write_text(json.dumps(ran), "utf-8")
        return not session.testsfailed

    def _replace(self, new: Mapping[Function, CodeType], session: pytest.Session) -> bool:
        """Give the functions of the file other code, then run the tests."""
        gc.unfreeze()  # what is imported may be frozen, and is then not listed
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename == str(self.path):
                name = one.__code__.co_qualname, one.__code__.co_firstlineno
                one.__code__ = new.get(name, one.__code__)
        for number in range(len(session.items)):
            _run(session.items[number : number + 2], session)
            if session.testsfailed:
                return False
        return True


def _run(items: Sequence[pytest.Item], session: pytest.Session) -> None:
    """Run the first of the items; what the second shares with it stays."""
    item, after = items[0], items[1] if len(items) > 1 else None
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)


def _passes(call: Callable[[], bool]) -> bool:
    """Return what a call returns in a process of its own; False where that ends otherwise."""
    process = get_context("fork").Process(target=_exit_by, args=(call,))
    process.start()
    process.join()
    return process.exitcode == 0


def _exit_by(call: Callable[[], bool]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os._exit(0 if call() else 1)


class Mutated(SourceFileLoader):
    """A loader of another text than the file's."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text."""
        return self.source_to_code(self.text.encode(), self.path)


@dataclass
class MutantFinder(MetaPathFinder):
    """Finds one module, whose text is a mutant's."""

    name: str
    path: Path
    text: str

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's, None for all others."""
        if fullname != self.name:
            return None
        return spec_from_file_location(fullname, self.path, loader=Mutated(fullname, str(self.path), self.text))


def _imported(finder: MutantFinder, tests: Sequence[str]) -> bool:
    sys.meta_path.insert(0, finder)
    return pytest.main([*OPTIONS, *tests]) == pytest.ExitCode.OK


def _forked(path: str, waiting: Sequence[Mutant], tests: Sequence[str], killed: Killed) -> bool:
    file = ROOT / path
    texts = mutated_texts(path, file.read_text("utf-8"))
    forks = Forks(file, {one: texts[one] for one in waiting}, killed)
    pytest.main([*OPTIONS, *tests], plugins=[forks])
    name = path.removeprefix("library/").removesuffix(".py").replace("/", ".")
    for one in forks.rest:
        call = partial(_imported, MutantFinder(name, file, texts[one]), tests)
        spawned = get_context("spawn").Process(target=_exit_by, args=(call,))
        spawned.start()
        spawned.join()
        killed(one, spawned.exitcode != 0)
    return forks.is_sound


def run(path: str, waiting: Sequence[Mutant], tests: Sequence[str], killed: Killed) -> bool:
    """Run the tests on mutants of a file; return whether they pass without any."""
    return _passes(partial(_forked, path, waiting, tests, killed))
