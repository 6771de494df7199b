"""Whether draws follow the probabilities that were promised."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.special import chdtrc

__all__ = ["fit_p_value"]

_SMALLEST_CELL = 5.0
"""Cells with a smaller expected count are put together: the test does not hold for them."""


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
    return float(chdtrc(len(cells) - 1, statistic))
