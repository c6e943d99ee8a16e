"""Anybody's own policy: `module:Class`, from the current folder or from wherever Python finds the module.

A class is made anew for every episode, with the episode's seed where it takes an argument. A function that
returns a policy does as well.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.policies.base import Policy, PolicyInfo

_LONGEST_CAUSE = 120


def resolve(name: str) -> PolicyInfo:
    module_name, _, class_name = name.partition(":")
    factory = getattr(_module(name, module_name), class_name, None)
    if factory is None:
        found = [key for key, value in vars(sys.modules[module_name]).items() if callable(getattr(value, "act", None))]
        raise UnknownName(f"policy class in module {module_name!r}", class_name, found, "the module itself")
    if not callable(factory):
        raise BadInput(f"policy {name!r} is a {type(factory).__name__}; name a class, or a function that makes one")
    takes_seed = _takes_argument(name, factory)

    def made(seed: int) -> Policy:
        policy = factory(seed) if takes_seed else factory()
        if not callable(getattr(policy, "act", None)):
            raise BadInput(f"policy {name!r} has no method act(observation); add one that returns an action")
        return policy  # type: ignore[no-any-return]

    about = (inspect.getdoc(factory) or "a policy of your own").split("\n", 1)[0]
    return PolicyInfo(name, about, made, is_guest=True)


def _module(name: str, module_name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # a program's own folder comes first there, and the current one is not in it
        sys.path.append(here)
    try:
        return import_module(module_name)
    except ModuleNotFoundError as fault:
        if fault.name is not None and (module_name == fault.name or module_name.startswith(f"{fault.name}.")):
            raise BadInput(
                f"no policy {name!r}: there is no module {module_name!r}; run where it lies, or put it on PYTHONPATH"
            ) from None
        raise _failed(name, module_name, fault) from None
    except Exception as fault:  # somebody else's code runs here, and may fail in any way
        raise _failed(name, module_name, fault) from None


def _failed(name: str, module_name: str, fault: Exception) -> BadInput:
    cause = " ".join(f"{type(fault).__name__}: {fault}".split())[:_LONGEST_CAUSE]
    return BadInput(f"policy {name!r}: module {module_name!r} cannot be imported: {cause}; mend it and try again")


def _takes_argument(name: str, factory: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = [each for each in parameters if each.kind in positional]
    needed = [each for each in taken if each.default is inspect.Parameter.empty]
    if len(needed) > 1:
        raise BadInput(f"policy {name!r} is made from {len(needed)} arguments; it is given a seed, or nothing")
    return bool(needed) or any(each.name == "seed" for each in taken)
