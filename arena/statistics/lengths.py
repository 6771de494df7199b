"""How long games are: mean, quantiles and a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Lengths", "bin_edges", "measure_lengths"]

Ints = npt.NDArray[np.int64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHARES = {f"{share:g}" for share in QUANTILES}
MAX_BINS = 20


@dataclass(frozen=True)
class Lengths:
    """Actions and chance events of a set of games."""

    games: int
    mean: float
    min: int
    max: int
    quantiles: dict[str, int]
    """For each share of games, such as "0.5", a length that so many do not exceed."""
    edges: tuple[int, ...]
    """Bins of the histogram: number ``i`` holds ``edges[i] <= length < edges[i + 1]``."""
    counts: tuple[int, ...]
    """Games in each bin."""

    def __post_init__(self) -> None:
        """Refuse what a damaged file says."""
        if self.quantiles.keys() != SHARES or len(self.edges) != len(self.counts) + 1:
            raise ValueError("quantiles and bins of lengths")


def bin_edges(lengths: Ints) -> tuple[int, ...]:
    """Equal bins of whole lengths from the shortest game to the longest.

    >>> bin_edges(np.array([3, 4, 5])), bin_edges(np.array([0, 99]))[:3]
    ((3, 4, 5, 6), (0, 5, 10))
    """
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // MAX_BINS)
    return tuple(range(low, high + width + 1, width))


def measure_lengths(lengths: npt.ArrayLike, edges: Sequence[int]) -> Lengths:
    """Describe the lengths of some games.

    >>> measured = measure_lengths([3, 3, 5, 4], edges=(3, 4, 5, 6))
    >>> measured.mean, measured.quantiles["0.5"], measured.counts
    (3.75, 3, (2, 1, 1))
    """
    values = np.asarray(lengths, np.int64).ravel()
    # The smallest length that the share does not exceed: whole, and one that was played.
    found = np.quantile(values, QUANTILES, method="inverted_cdf")
    return Lengths(
        len(values),
        float(values.mean()),
        int(values.min()),
        int(values.max()),
        {f"{share:g}": int(value) for share, value in zip(QUANTILES, found, strict=True)},
        tuple(edges),
        tuple(np.histogram(values, edges)[0].tolist()),
    )
