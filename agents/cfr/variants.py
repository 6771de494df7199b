"""The members of the CFR family as one record of numbers.

On iteration *t* every variant adds the new regrets to the old ones, multiplies positive totals by
``t**alpha / (t**alpha + 1)`` and the negative ones by ``t**beta / (t**beta + 1)``, plays in
proportion to what is positive, and lets its policy count ``(t - delay)**averaging`` times in the
average:

==============  =====  =====  =========
name            alpha  beta   averaging
==============  =====  =====  =========
``cfr``         inf    inf    0
``cfr+``        inf    -inf   1
``linear``      1      1      1
``discounted``  1.5    0      2
``pcfr+``       inf    -inf   2
==============  =====  =====  =========

* ``cfr``: M. Zinkevich and others, "Regret minimization in games with incomplete information"
  (2007);
* ``cfr+``: O. Tammelin, "Solving large imperfect information games using CFR+" (2014);
* ``linear`` and ``discounted``: N. Brown and T. Sandholm, "Solving imperfect-information games via
  discounted regret minimization" (2019);
* ``pcfr+``: G. Farina, C. Kroer and T. Sandholm, "Faster game solving via predictive Blackwell
  approachability" (2021).

``pcfr+`` is predictive: it plays in proportion to the regrets it would have if the last ones came
once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import inf, isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype

from common.errors import OptionError, nearest
from envs.core.compiling import helper
from envs.core.records import record

AVERAGING = MappingProxyType({"uniform": 0.0, "linear": 1.0, "quadratic": 2.0})

SETTINGS = record(
    alpha=np.float64,
    beta=np.float64,
    averaging=np.float64,
    delay=np.int64,
    is_predictive=np.int64,
    is_alternating=np.int64,
)
SETTINGS_TYPE = from_dtype(SETTINGS)[::1]


@dataclass(frozen=True)
class Variant:
    """How regrets are kept and policies averaged."""

    alpha: float = inf
    """Discount of positive regrets; infinity keeps them whole."""
    beta: float = inf
    """Discount of negative regrets; minus infinity forgets them."""
    averaging: float = 0.0
    """Power of the iteration number that a policy counts for in the average."""
    delay: int = 0
    """Iterations that are left out of the average."""
    is_predictive: bool = False
    is_alternating: bool = True
    """Update the players in turn, each against the others' newest policies, or all at once."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.averaging < 0 or isnan(self.averaging):
            raise OptionError(f"averaging must be 0 or more, not {self.averaging}")
        if self.delay < 0:
            raise OptionError(f"delay must be 0 or more, not {self.delay}")
        if isnan(self.alpha) or isnan(self.beta):
            raise OptionError("alpha and beta must be numbers; inf and -inf are")

    def record(self) -> npt.NDArray[Any]:
        """As one record, for compiled code."""
        settings = np.zeros(1, SETTINGS)
        for name, value in asdict(self).items():
            settings[name] = value
        return settings


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "cfr": Variant(),
        "cfr+": Variant(beta=-inf, averaging=1.0),
        "linear": Variant(alpha=1.0, beta=1.0, averaging=1.0),
        "discounted": Variant(alpha=1.5, beta=0.0, averaging=2.0),
        "pcfr+": Variant(beta=-inf, averaging=2.0, is_predictive=True),
    }
)


def make_variant(name: str | Variant, **changes: Any) -> Variant:
    """A variant by name, with some of its numbers changed; averaging may be a word.

    >>> make_variant("cfr+", averaging="quadratic", delay=10).averaging
    2.0
    """
    if isinstance(name, Variant):
        variant = name
    elif name in VARIANTS:
        variant = VARIANTS[name]
    else:
        raise OptionError(f"unknown variant '{name}': {nearest(name, VARIANTS)}")
    known = [field.name for field in fields(Variant)]
    for key in changes:
        if key not in known:
            raise OptionError(f"unknown setting '{key}': {nearest(key, known)}")
    power = changes.get("averaging")
    if isinstance(power, str):
        if power not in AVERAGING:
            raise OptionError(f"unknown averaging '{power}': {nearest(power, AVERAGING)}")
        changes["averaging"] = AVERAGING[power]
    return replace(variant, **changes)


@helper
def discount(t, exponent):
    """What regrets are multiplied by on iteration ``t``."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf:
        return 0.0
    power = np.float64(t) ** exponent
    return power / (power + 1.0)


@helper
def average_weight(t, settings):
    """How much the policy of iteration ``t`` counts in the average."""
    if t <= settings.delay:
        return 0.0
    return np.float64(t - settings.delay) ** settings.averaging


@helper
def numbers_of(t, settings):
    """What iteration ``t`` works with.

    How much its policy counts, what positive and negative regrets are multiplied by, and how much
    of the last regrets is expected to come again.
    """
    keep_positive, keep_negative = discount(t, settings.alpha), discount(t, settings.beta)
    expected = 1.0 if settings.is_predictive else 0.0
    return average_weight(t, settings), keep_positive, keep_negative, expected
