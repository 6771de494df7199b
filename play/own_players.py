"""Players of the user's own: classes, Python files, programs and folders of either.

Only the command line names them, so whatever is imported or started here was asked for by whoever
started the server.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import agent_class, split_path
from agents.base import Agent
from common.errors import MasqueradeError

__all__ = ["find_own"]


def find_own(names: Sequence[str]) -> list[str]:
    """Specifications of what was named on the command line: agents, files or folders of them.

    Args:
        names: ``module:Class``, ``id:path``, a Python file, a program, or a folder of either.
    """
    found: list[str] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file())
            found += [spec for file in files for spec in _from_file(file)]
        elif path.is_file():
            found += _from_file(path)
        else:
            agent_class(split_path(name)[0])  # says what is wrong with it
            found.append(name)
    if names and not found:
        raise MasqueradeError(f"no players in {', '.join(names)}: give agents, programs or folders")
    return found


def _from_file(path: Path) -> list[str]:
    """The agents that a Python file defines, or the program that a file is."""
    if path.suffix == ".py":
        module = _import(path)
        classes = [
            f"{module.__name__}:{name}"
            for name, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, Agent)
            and value.__module__ == module.__name__
            and not inspect.isabstract(value)
        ]
        if classes:
            return classes
    return [f"external:{path}"] if path.stat().st_mode & 0o111 else []


def _import(path: Path) -> Any:
    """A file as a module that processes with the same path can import, too."""
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise MasqueradeError(f"{path} cannot be imported")
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[path.stem]
        raise MasqueradeError(
            f"{path} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module
