"""How lies are counted, and what is made of the counts."""

from __future__ import annotations

from envs.core.options import Options, option

__all__ = ["LieSettings"]

READINGS = ("text", "code")


class LieSettings(Options):
    """Settings of lie profiling.

    The method is known from a text and from a program that do not quite agree; ``reading`` chooses
    one of them for every setting that is not given by itself.
    """

    reading: str = option("text", choices=READINGS, help="profiling as in the text or the code")
    factor: float = option(2.0, low=0.0, high=100.0, help="how strongly calls are favoured")
    highest: str | None = option(
        None,
        choices=("legal", "table"),
        help="boost by the highest value of the legal actions (text) or of the table (code)",
    )
    categories: str | None = option(
        None,
        choices=READINGS,
        help="limits between low, middle and high bids; the code rounds them up",
    )
    reset: int = option(
        100, low=0, high=10**9, help="rounds after which the counts start again; 0: never"
    )
    reset_form: str | None = option(
        None,
        choices=READINGS,
        help="forget all (text), or one round later and keep the ratios for now (code)",
    )
    constant: float | None = option(
        None, low=0.0, high=1.0, help="use this in place of the ratio of lies: an ablation"
    )
    by_opponent: bool = option(False, help="a profile for every opponent instead of one")

    def form_of(self, name: str) -> str:
        """The form of one setting, which follows from ``reading`` unless it is given.

        >>> LieSettings(reading="code", highest="legal").form_of("highest")
        'legal'
        >>> LieSettings(reading="code").form_of("highest")
        'table'
        """
        value = getattr(self, name)
        if value is not None:
            return str(value)
        if name == "highest":
            return "table" if self.reading == "code" else "legal"
        return self.reading
