"""What a seat may see: whatever is sent to a browser is made here.

Nothing is made from the true state. Boards, pictures, choices and whose turn it is come from a
world that was determinized for the seat, always with the same generator, so they are a function of
what the seat has seen. What it notices of a move is found from the move's token, again in such
worlds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from envs.core.game import Game
from envs.core.kernels import CHANCE, OVER, UNSEEN
from envs.core.rng import new_rng

__all__ = ["ELLIPSIS", "HIDDEN", "Choice", "Entry", "Sight", "look", "notice", "world_of"]

State = npt.NDArray[np.uint8]

HIDDEN = "something hidden"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# More legal actions than these are shown as ranges of amounts.
MAX_BUTTONS = 160
# How many worlds are asked what a token can mean; and how many at most until one has an answer.
NUM_WORLDS = 6
MAX_WORLDS = 60


@dataclass(frozen=True)
class Choice:
    """A legal action in words, or a range of actions that differ by an amount only."""

    action: int
    words: str
    last: int | None = None
    """The last action of a range; they all lie one apart."""
    amount: int | None = None
    """The amount of the first action of a range; each further action is one more."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without what is not there."""
        return {name: value for name, value in asdict(self).items() if value is not None}


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


def look(game: Game, state: State, viewer: int | None) -> Sight:
    """The position as ``viewer`` may see it; ``None`` sees everything, for games without secrets.

    >>> from envs import make_game
    >>> game = make_game("kuhn_v0")
    >>> [choice.words for choice in look(game, game.replay([2, 0]).state, 0).choices]
    ['pass', 'bet']
    """
    seen = state if viewer is None else world_of(game, state, viewer)
    turn = int(game.kernels.turn(seen, game.rules))
    choices = _choices(game, seen) if turn == viewer else []
    return Sight(game.draw(seen, viewer), game.render(seen, viewer), turn, choices)


def _choices(game: Game, world: State) -> list[Choice]:
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    legal = [int(action) for action in np.flatnonzero(mask)]
    if len(legal) <= MAX_BUTTONS:
        return [Choice(action, game.action_text(world, action)) for action in legal]
    found: list[Choice] = []
    for first, last in _runs(legal):
        found += _range(game, world, first, last)
    return found


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Rising numbers as runs of neighbours.

    >>> _runs([0, 1, 5, 6, 7])
    [(0, 1), (5, 7)]
    """
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def _range(game: Game, world: State, first: int, last: int) -> list[Choice]:
    """A run of actions as single ones at its ends and a range of amounts between them."""
    texts = {a: game.action_text(world, a) for a in {*range(first, first + 3), last - 1, last}}
    begin, end = first, last
    # Fold and call stand before the amounts, all-in behind them.
    while begin < end and _amount(texts.get(begin, "")) is None:
        begin += 1
    if _amount(texts[end]) is None or _shape(texts[end]) != _shape(texts[end - 1]):
        end -= 1
    amount = _amount(texts.get(begin, ""))
    if amount is None or _shape(texts[begin]) != _shape(texts[end]) or end - begin < 2:
        return [
            Choice(action, game.action_text(world, action)) for action in range(first, last + 1)
        ]
    single = [Choice(action, texts[action]) for action in range(first, begin)]
    words = _shape(texts[begin])
    after = [Choice(action, texts[action]) for action in range(end + 1, last + 1)]
    return [*single, Choice(begin, words, end, amount), *after]


def _amount(text: str) -> int | None:
    """The number in words that have one.

    >>> _amount("raises to 450"), _amount("folds")
    (450, None)
    """
    numbers = [int(word) for word in text.split() if word.isdecimal()]
    return numbers[0] if len(numbers) == 1 else None


def _shape(text: str) -> str:
    """The words with a gap for the number.

    >>> _shape("raises to 450")
    'raises to {}'
    """
    return " ".join("{}" if word.isdecimal() else word for word in text.split())


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
        texts |= _meanings(game, world, viewer, token)
        enough = 2 if actor == CHANCE else NUM_WORLDS
        if texts and number + 1 >= enough:
            break
    return Entry(actor, _common(texts or _telling(game, state, viewer)))


def _is_open(game: Game, world: State, action: int, players: tuple[int, int], token: int) -> bool:
    """Whether a move looks to the viewer just as it looks to the player who makes it."""
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    seen = game.kernels.seen
    return bool(mask[action]) and all(
        int(seen(world, game.rules, action, player)) == token for player in players
    )


def _meanings(game: Game, world: State, viewer: int, token: int) -> set[str]:
    """The words of everything that could happen in a world and would look like this."""
    kernels, rules = game.kernels, game.rules
    is_chance = int(kernels.turn(world, rules)) == CHANCE
    words = game.chance_text if is_chance else game.action_text
    return {
        words(world, action)
        for action in _candidates(game, world)
        if int(kernels.seen(world, rules, action, viewer)) == token
    }


def _candidates(game: Game, world: State) -> list[int]:
    """What could happen; of thousands of amounts the first and the last ones stand for all.

    An amount that everybody sees is known at once; what is asked here is which of the others it
    was, such as a call that turns up cards, and the server stands still meanwhile.
    """
    mask = np.zeros(game.mask_size, np.int8)
    game.kernels.legal(world, game.rules, mask)
    legal = np.flatnonzero(mask)
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
    kernels, rules = game.kernels, game.rules
    tokens: dict[str, set[int]] = {}
    for number in range(NUM_WORLDS):
        world = world_of(game, state, viewer, number)
        is_chance = int(kernels.turn(world, rules)) == CHANCE
        words = game.chance_text if is_chance else game.action_text
        for action in _candidates(game, world):
            token = int(kernels.seen(world, rules, action, viewer))
            tokens.setdefault(words(world, action), set()).add(token)
    return {text for text, seen in tokens.items() if len(seen) > 1}


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
