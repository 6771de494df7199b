"""How lies are counted, and what is made of the counts."""

from __future__ import annotations

from envs.core.options import Options, option

__all__ = ["LieSettings"]

READINGS = ("text", "code")


class LieSettings(Options):
    """Settings of lie profiling.

    The method is known from a text and from a program that do not quite agree; ``lies`` chooses
    one of them for every setting that is not given by itself.
    """

    lies: str = option(
        "off", choices=("off", *READINGS), help="no profile, or profiling as in the text or code"
    )
    lie_factor: float = option(2.0, low=0.0, high=100.0, help="how strongly calls are favoured")
    lie_max: str | None = option(
        None,
        choices=("legal", "table"),
        help="boost by the highest value of the legal actions (text) or of the table (code)",
    )
    lie_categories: str | None = option(
        None,
        choices=READINGS,
        help="limits between low, middle and high bids; the code rounds them up",
    )
    lie_reset: int = option(
        100, low=0, high=10**9, help="rounds after which the counts start again; 0: never"
    )
    lie_reset_form: str | None = option(
        None,
        choices=READINGS,
        help="forget all (text), or one round later and keep the ratios for now (code)",
    )
    lie_constant: float | None = option(
        None, low=0.0, high=1.0, help="use this in place of the ratio of lies: an ablation"
    )
    lie_by_opponent: bool = option(False, help="a profile for every opponent instead of one")

    def reading(self, name: str) -> str:
        """The reading of one setting, which is that of ``lies`` unless it is given.

        >>> LieSettings(lies="code", lie_max="legal").reading("lie_max")
        'legal'
        >>> LieSettings(lies="code").reading("lie_max")
        'table'
        """
        value = getattr(self, name)
        if value is not None:
            return str(value)
        if name == "lie_max":
            return "table" if self.lies == "code" else "legal"
        return self.lies
