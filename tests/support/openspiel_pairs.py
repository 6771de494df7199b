"""Games of ours and the same games of OpenSpiel."""

from __future__ import annotations

from typing import Any

BIDDING = {"count_first": "reset-face", "face_first": "reset-quantity"}


def liars_dice_pair(dice: int, faces: int, raising: str) -> tuple[str, dict[str, Any], str]:
    options = {"preset": "openspiel", "dice": dice, "faces": faces, "raising": raising}
    name = f"liars_dice(numdice={dice},dice_sides={faces},bidding_rule={BIDDING[raising]})"
    return "liars_dice_v0", options, name


# (our id, our options, OpenSpiel's name of the same game, random games to play)
PAIRS = [
    *(("kuhn_v0", {"num_players": n}, f"kuhn_poker(players={n})", 300) for n in (2, 3, 4, 5)),
    *(("leduc_v0", {"num_players": n}, f"leduc_poker(players={n})", 400) for n in (2, 3, 4, 5)),
    *(
        (*liars_dice_pair(dice, faces, raising), 200)
        for dice, faces in ((1, 6), (2, 3), (3, 6), (5, 6))
        for raising in BIDDING
    ),
]
