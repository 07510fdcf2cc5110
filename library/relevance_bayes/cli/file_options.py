"""Options of commands that are declared as the fields of a dataclass."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, ParamSpec, get_origin, get_type_hints

P = ParamSpec("P")


def with_options(command: Callable[P, None]) -> Callable[P, None]:
    """Give a command, in the place of each parameter that is a dataclass, a parameter for each of its options."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    options: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in signature.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            declared = list(declared_options(kind))
            options[name] = kind, [one.name for one in declared]
            parameters += declared
        else:
            parameters.append(parameter)

    @wraps(command)
    def run(*args: P.args, **given: P.kwargs) -> None:
        for name, (make, names) in options.items():
            given[name] = make(**{one: given.pop(one) for one in names})
        command(*args, **given)

    vars(run)["__signature__"] = signature.replace(parameters=parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def declared_options(kind: type) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field of a dataclass that is annotated as an option."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind) if is_dataclass(kind) else ():
        if get_origin(hint := hints[field.name]) is Annotated:
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
