"""One statistical test, without a statistics package."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["chi_square_p_value", "fit_p_value"]

_SMALLEST_CELL = 5.0
"""Cells with a smaller expected count are put together: the test does not hold for them."""


def chi_square_p_value(statistic: float, degrees: int) -> float:
    """The probability that a chi-square variable with ``degrees`` exceeds ``statistic``.

    The approximation of Wilson and Hilferty (1931): the cube root of ``X / degrees`` is nearly
    normal with mean ``1 - 2 / (9 degrees)`` and variance ``2 / (9 degrees)``. Good to a few percent
    in the middle; far out in the tail it is too large, at one in a million by a factor of 4 for one
    degree of freedom and less for more. That errs on the side of letting a game pass.

    >>> round(chi_square_p_value(3.841, 1), 2), round(chi_square_p_value(18.307, 10), 2)
    (0.05, 0.05)
    """
    variance = 2.0 / (9.0 * degrees)
    z = ((statistic / degrees) ** (1.0 / 3.0) - (1.0 - variance)) / math.sqrt(variance)
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def fit_p_value(counts: Sequence[int], probs: Sequence[float]) -> float:
    """How likely counts as odd as these are, if they were drawn from ``probs``.

    >>> fit_p_value([100, 100], [0.5, 0.5]) > 0.1, fit_p_value([200, 0], [0.5, 0.5]) < 1e-6
    (True, True)
    """
    total = sum(counts)
    cells: list[tuple[float, float]] = []
    rest_count = rest_expected = 0.0
    for count, prob in sorted(zip(counts, probs, strict=True), key=lambda cell: cell[1]):
        rest_count += count
        rest_expected += total * prob
        if rest_expected >= _SMALLEST_CELL:
            cells.append((rest_count, rest_expected))
            rest_count = rest_expected = 0.0
    if cells and rest_expected > 0.0:
        last_count, last_expected = cells.pop()
        cells.append((last_count + rest_count, last_expected + rest_expected))
    if len(cells) < 2:
        return 1.0
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    return chi_square_p_value(statistic, len(cells) - 1)
