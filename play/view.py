"""What a seat may see: whatever is sent to a browser is made here.

Nothing is made from the true state. Boards, pictures, choices and whose turn it is come from a
world that was determinized for the seat, always with the same generator, so they are a function of
what the seat has seen. What it notices of a move is found from the move's token, again in such
worlds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from envs.core.drawing import Layout
from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, UNSEEN
from envs.core.rng import new_rng
from play.messages import Choice

State = npt.NDArray[np.uint8]
Actions = npt.NDArray[np.int64]

HIDDEN = "something hidden"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# More legal actions than these are shown as ranges of amounts.
MAX_BUTTONS = 160
# How many worlds are asked what a token can mean; and how many at most until one has an answer.
NUM_WORLDS = 6
MAX_WORLDS = 60


@dataclass(frozen=True)
class Entry:
    """One line of the game so far, as a seat noticed it."""

    actor: int
    """A seat, or ``CHANCE``."""
    words: str


@dataclass(frozen=True)
class Sight:
    """A position as one seat may see it."""

    svg: str
    text: str
    to_move: int
    """A seat, or ``OVER``."""
    choices: list[Choice]
    """What this seat may do now."""


def world_of(game: Game, state: State, viewer: int, number: int = 0) -> State:
    """A world that ``viewer`` cannot tell from the true one: the same for all that look alike.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> one, two = game.replay([2, 0]), game.replay([2, 1])  # player 1 has the jack, or the queen
    >>> bool((world_of(game, one.state, 0) == world_of(game, two.state, 0)).all())
    True
    """
    world: State = state.copy()
    game.kernels.determinize(world, game.rules, viewer, new_rng(number))
    return world


def look(game: Game, state: State, viewer: int | None, layout: Layout = "wide") -> Sight:
    """The position as ``viewer`` may see it; ``None`` sees everything, for games without secrets.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> [choice.words for choice in look(game, game.replay([2, 0]).state, 0).choices]
    ['pass', 'bet']
    """
    seen = state if viewer is None else world_of(game, state, viewer)
    turn = int(game.kernels.turn(seen, game.rules))
    choices = _choices(game, seen) if turn == viewer else []
    return Sight(game.draw(seen, viewer, layout), game.render(seen, viewer), turn, choices)


def _choices(game: Game, world: State) -> list[Choice]:
    legal = _legal(game, world)
    if len(legal) <= MAX_BUTTONS:
        return _buttons(game, world, legal)
    runs = np.split(legal, np.flatnonzero(np.diff(legal) > 1) + 1)
    return [choice for run in runs for choice in _range(game, world, run)]


def _legal(game: Game, world: State) -> Actions:
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    return np.flatnonzero(mask)


def _buttons(game: Game, world: State, actions: Actions) -> list[Choice]:
    return [Choice(action=int(a), words=game.action_text(world, int(a))) for a in actions]


def _range(game: Game, world: State, run: Actions) -> list[Choice]:
    """Actions in a row as single ones at its ends and a range of amounts between them."""
    begin, end = 0, len(run) - 1
    # Fold and call stand before the amounts, all-in behind them.
    while begin < end and game.amount_of(world, int(run[begin])) is None:
        begin += 1
    if game.amount_of(world, int(run[end])) is None:
        end -= 1
    if end - begin < 2:
        return _buttons(game, world, run)
    found = game.amount_of(world, int(run[begin]))
    assert found is not None
    first, last = int(run[begin]), int(run[end])
    between = Choice(action=first, words=found[1], last=last, amount=found[0])
    after = _buttons(game, world, run[end + 1 :])
    return [*_buttons(game, world, run[:begin]), between, *after]


# ---- what is noticed of a move -------------------------------------------------------------------


def notice(game: Game, state: State, action: int, viewer: int) -> Entry | None:
    """An action that is about to be played, as far as ``viewer`` notices it.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> position = game.new_position()
    >>> notice(game, position.state, 2, viewer=0).words
    'deals K'
    >>> position.apply(2)
    >>> notice(game, position.state, 1, viewer=0).words.partition(" ")[0]
    'deals'
    """
    token = int(game.kernels.seen(state, game.rules, action, viewer))
    if token == UNSEEN:
        return None
    texts: set[str] = set()
    actor = OVER
    for number in range(MAX_WORLDS):
        world = world_of(game, state, viewer, number)
        actor = int(game.kernels.turn(world, game.rules))
        if actor >= 0 and _is_open(game, world, action, (viewer, actor), token):
            return Entry(actor, game.action_text(world, action))
        texts |= {words for words, other in _tokens(game, world, viewer) if other == token}
        enough = 2 if actor == CHANCE else NUM_WORLDS
        if texts and number + 1 >= enough:
            break
    return Entry(actor, _common(texts or _telling(game, state, viewer)))


def _is_open(game: Game, world: State, action: int, players: tuple[int, int], token: int) -> bool:
    """Whether a move looks to the viewer just as it looks to the player who makes it."""
    seen = game.kernels.seen
    return action in _legal(game, world) and all(
        int(seen(world, game.rules, action, player)) == token for player in players
    )


def _tokens(game: Game, world: State, viewer: int) -> list[tuple[str, int]]:
    """What could happen in a world, in words, and as what the viewer would notice it."""
    is_chance = int(game.kernels.turn(world, game.rules)) == CHANCE
    words = game.chance_text if is_chance else game.action_text
    return [
        (words(world, action), int(game.kernels.seen(world, game.rules, action, viewer)))
        for action in _candidates(game, world)
    ]


def _candidates(game: Game, world: State) -> list[int]:
    """What could happen; of thousands of amounts the first and the last ones stand for all.

    An amount that everybody sees is known at once; what is asked here is which of the others it
    was, such as a call that turns up cards, and the server stands still meanwhile.
    """
    legal = _legal(game, world)
    if len(legal) > MAX_BUTTONS and int(game.kernels.turn(world, game.rules)) != CHANCE:
        gaps = np.flatnonzero(np.diff(legal) > 1)
        first, last = np.append(0, gaps + 1), np.append(gaps, len(legal) - 1)
        places = np.concatenate([first, first + 1, first + 2, last - 1, last])
        legal = np.unique(legal[places.clip(0, len(legal) - 1)])
    return [int(action) for action in legal]


def _telling(game: Game, state: State, viewer: int) -> set[str]:
    """The words of actions that look otherwise in other worlds.

    A token may tell so much, as all dice do that a call turns up, that no world drawn before has
    the same: then it was none of the actions that always look alike.
    """
    tokens: dict[str, set[int]] = {}
    for number in range(NUM_WORLDS):
        for words, token in _tokens(game, world_of(game, state, viewer, number), viewer):
            tokens.setdefault(words, set()).add(token)
    return {words for words, seen in tokens.items() if len(seen) > 1}


def _common(texts: set[str]) -> str:
    """What all the texts begin with, word by word.

    >>> _common({"taxi to 4", "taxi to 77"}), _common({"liar"})
    ('taxi to …', 'liar')
    """
    if not texts:
        return HIDDEN
    if len(texts) == 1:
        return next(iter(texts))
    common = []
    for words in zip(*(text.split() for text in sorted(texts)), strict=False):
        if len(set(words)) > 1:
            break
        common.append(words[0])
    return " ".join([*common, ELLIPSIS]) if common else HIDDEN
