"""What a class says of itself, read from its source: nothing is imported or compiled."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["attribute_of", "class_at", "constant_of", "fields_of", "parameters_of", "summary_of"]
__all__ += ["value_of"]

PROJECT = Path(__file__).resolve().parents[1]


def summary_of(place: str) -> str:
    """The first line of the docstring of ``"module:Class"``.

    >>> summary_of("agents.base:RandomAgent")
    'Plays uniformly among the legal actions.'
    """
    module, name = place.split(":")
    found = _find(module, name)
    docstring = ast.get_docstring(found[1]) if found else None
    return (docstring or "").partition("\n")[0]


def attribute_of(place: str, attribute: str) -> Any:
    """A constant of ``"module:Class"``, its own or that of the class it is derived from.

    >>> attribute_of("agents.cfr.learner:CFRLearner", "unit")
    'iterations'
    """
    found = _assigned(place, attribute)
    return found[1].value if found and isinstance(found[1], ast.Constant) else None


def constant_of(place: str, attribute: str) -> Any:
    """What a class or one that it is derived from sets an attribute to; ``None`` if that is hidden.

    >>> constant_of("agents.games.kuhn.rule:KuhnRule", "game_ids")
    ('kuhn_v0',)
    """
    found = _assigned(place, attribute)
    if found is None:
        return None
    module, value = found
    if isinstance(value, ast.Name):
        found = _constant(module, value.id)
        if found is None:
            return None
        module, value = found
    return _literal(value)


def class_at(place: str, attribute: str) -> str | None:
    """The place of the class that a class names in an attribute, its own or an inherited one.

    >>> class_at("envs.kuhn.game:Kuhn", "Options")
    'envs.kuhn.game:KuhnOptions'
    """
    found = _assigned(place, attribute)
    if found is None or not isinstance(found[1], ast.Name):
        return None
    home = _find(found[0], found[1].id)
    return f"{home[0]}:{home[1].name}" if home else None


def fields_of(place: str) -> tuple[str, ...] | None:
    """The fields of a class of ``Options`` with those it is derived from; ``None`` if hidden.

    >>> fields_of("envs.kuhn.game:KuhnOptions")
    ('num_players',)
    """
    if place == "envs.core.options:Options":
        return ()
    module, name = place.split(":")
    found = _find(module, name)
    if found is None:
        return None
    module, node = found
    names: list[str] = []
    for base in node.bases:
        home = _find(module, base.id) if isinstance(base, ast.Name) else None
        above = fields_of(f"{home[0]}:{home[1].name}") if home else None
        if above is None:
            return None
        names += above
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            names += [line.target.id] * ("ClassVar" not in ast.unparse(line.annotation))
    return tuple(dict.fromkeys(names))


def parameters_of(place: str) -> tuple[str, ...] | None:
    """What a class is made with; ``None`` if that is hidden.

    What a constructor takes beyond its own parameters are fields of its ``settings_class``, and
    what the constructor above it takes.

    >>> parameters_of("agents.games.holdem.players:PotOdds")
    ('game', 'num_samples')
    >>> "iterations" in (parameters_of("agents.games.holdem.search:HoldemSearch") or ())
    True
    """
    module, name = place.split(":")
    found = _find(module, name)
    if found is None or found[1].decorator_list:
        return None
    module, node = found
    makers = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    above = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    taken = [a.arg for made in makers for a in (*made.args.args[1:], *made.args.kwonlyargs)]
    if makers and makers[0].args.kwarg is None:
        return tuple(taken)
    settings = class_at(place, "settings_class")
    rest = [fields_of(settings) if settings else None] if makers else []
    rest += [parameters_of(f"{module}:{b.id}") if isinstance(b, ast.Name) else None for b in above]
    if None in rest:
        return None
    return tuple(dict.fromkeys((*taken, *(name for names in rest for name in names or ()))))


def value_of(place: str) -> Any:
    """What ``"module:NAME"`` is set to; ``None`` if that is hidden.

    >>> value_of("arena.workers:EXECUTORS")
    ('processes', 'ray')
    """
    found = _constant(*place.split(":"))
    return _literal(found[1]) if found else None


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def _assigned(place: str, attribute: str) -> tuple[str, ast.expr] | None:
    """The expression that an attribute is set to, and the module in which that stands."""
    module, name = place.split(":")
    found = _find(module, name)
    if found is None:
        return None
    module, node = found
    for line in node.body:
        targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        value = getattr(line, "value", None)
        if value and any(isinstance(t, ast.Name) and t.id == attribute for t in targets):
            return module, value
    for base in node.bases:
        if isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            inherited = _assigned(f"{module}:{base.id}", attribute)
            if inherited:
                return inherited
    return None


def _constant(module: str, name: str) -> tuple[str, ast.expr] | None:
    """What a module sets a name to, by whatever import it came."""
    tree = _read(module)
    for node in tree.body if tree else ():
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if value and any(isinstance(t, ast.Name) and t.id == name for t in targets):
            return module, value
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                if (each.asname or each.name) == name:
                    return _constant(node.module, each.name)
    return None


def _find(module: str, name: str) -> tuple[str, ast.ClassDef] | None:
    """The module in which a class is defined, by whatever import it came, and the class."""
    tree = _read(module)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                if (each.asname or each.name) == name:
                    return _find(node.module, each.name)
    return None


@cache
def _read(module: str) -> ast.Module | None:
    path = PROJECT.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text(encoding="utf-8"))
    return None
