"""The same tables in a terminal: text boards, words for actions, hints and taking back.

What can be typed is completed by the tab key where the terminal can. Over a pipe every line is a
move or a command, and the end of the input ends the game.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, TextIO

from agents.advice import advise, legal_words, views_of
from common.errors import IllegalActionError, MasqueradeError, nearest
from envs import game_class
from envs.core.game import Game
from envs.core.kernels import CHANCE
from play.advice import verdicts
from play.agents import Thinkers
from play.catalogue import Catalogue
from play.messages import SeatChoice
from play.session import Session, lines_of
from play.table import Table, TableSeat

HELP = """\
type a move by its words or its number, or the beginning of its words; or
  ?         this help and all moves        hint [AGENT]  what an agent would do
  board     the position again             undo          take the last move back
  new       a new game                     review [AGENT] your moves, when the game is over
  log       the game so far                quit          stop"""
COMMANDS = ("board", "help", "hint", "log", "new", "quit", "review", "undo")
"""Each is a method of its name."""
ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
MOST_MOVES = 60
"""That help writes down: with every number of chips there are thousands."""


class Quit(Exception):
    """Nobody wants to play on."""


class Terminal:
    """One person (or several in turn) at a table.

    Args:
        session: the table.
        thinkers: the agents.
        catalogue: who may be asked for advice.
        source: where moves come from.
        out: where the game is shown.
    """

    def __init__(
        self,
        session: Session,
        thinkers: Thinkers,
        catalogue: Catalogue,
        source: TextIO = sys.stdin,
        out: TextIO = sys.stdout,
    ) -> None:
        """The game has been dealt."""
        self.session = session
        self.table = session.table
        self._thinkers = thinkers
        self._catalogue = catalogue
        self._source = source
        self._out = out
        self._num_shown: dict[int, int] = {}
        self._words: dict[int, str] = {}

    def run(self) -> None:
        """Play until somebody quits or the input ends."""
        self._complete()
        try:
            self._begin()
            while True:
                self._agents()
                if self.table.is_over:
                    self._end()
                    self._ask("another game? (new, review, undo, quit) ")
                else:
                    self._turn()
        except Quit:
            self._say("")

    # ---- showing ---------------------------------------------------------------------------------

    def _say(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)

    def _begin(self) -> None:
        facts = self.table.game.facts
        self._num_shown = {}
        self._say(f"{self.session.title}, game {self.table.number + 1}")
        for number, seat in enumerate(self.table.seats):
            role = facts.seats[number].role
            self._say(f"  player {number}: {seat.name}{'' if role == 'player' else f', {role}'}")
        self._say("? for help")

    def _viewer(self) -> int | None:
        """Through whose eyes: whoever is to move, or the only person there is."""
        seats = [number for number, seat in enumerate(self.table.seats) if seat.is_person]
        if self.table.turn in seats:
            return self.table.turn
        return seats[0] if len(seats) == 1 else None

    def _news(self, viewer: int | None) -> None:
        """What has happened since this seat was told last."""
        if viewer is None:
            if self.table.has_people:
                return
            viewer, log = -1, self.table.full_log()
        else:
            log = self.table.log(viewer)
        lines = lines_of(log[self._num_shown.get(viewer, 0) :])
        self._num_shown[viewer] = len(log)
        for actor, words in lines:
            self._say(f"* {words}" if actor == CHANCE else f"* {self._name(actor)}: {words}")

    def _name(self, seat: int) -> str:
        return f"{self.table.seats[seat].name} (player {seat})"

    def _board(self, _rest: str = "") -> None:
        viewer = None if self.table.is_over else self._viewer()
        self._say()
        self._say(self.table.sight(viewer).text)

    def _end(self) -> None:
        self._news(self._viewer())
        if self.table.fault is not None:
            seat, reason = self.table.fault
            self._say(f"{self._name(seat)} forfeits: {reason}")
        self._board()
        self.session.count()
        results = zip(self.table.seats, self.table.returns(), strict=True)
        self._say("the end: " + ", ".join(f"{seat.name} {value:+g}" for seat, value in results))
        unit = self.table.game.facts.unit.name
        for row in self.session.statistics():
            if row["games"] > 1:
                spread = "" if row["half_width"] is None else f" ± {row['half_width']:.3g}"
                words = unit if "/" in unit else f"{unit} a game"
                self._say(
                    f"  {row['name']}: {row['mean']:+.3g}{spread} {words}, {row['games']} games"
                )

    # ---- playing ---------------------------------------------------------------------------------

    def _agents(self) -> None:
        table = self.table
        while not table.is_over and table.turn in table.agents:
            agent = table.agents[table.turn]
            try:
                answer = self._thinkers.answer(agent, table.views())
                table.agent_move(answer.action, answer.rngs)
            except Exception as error:
                table.forfeit(str(error))
            if not table.has_people:
                self._news(None)

    def _turn(self) -> None:
        seat = self.table.turn
        self._news(seat)
        self._board()
        self._words = legal_words(views_of(self.table.position))
        self._ask(f"{self._name(seat)}> ")

    def _ask(self, prompt: str) -> None:
        """Read lines until one of them changes the game."""
        epoch = self.table.epoch
        while self.table.epoch == epoch:
            line = self._read(prompt).strip()
            word, _, rest = line.partition(" ")
            command = ALIASES.get(word.lower(), word.lower())
            try:
                if command in COMMANDS:
                    getattr(self, f"_{command}")(rest.strip())
                elif line and self.table.is_over:
                    self._say(f"the game is over, and '{line}' is no command: ? shows all")
                elif line:
                    self.table.move(self.table.turn, self._parse(line))
            except MasqueradeError as error:
                self._say(str(error))

    def _read(self, prompt: str) -> str:
        if self._source is sys.stdin and sys.stdin.isatty():
            try:
                return input(prompt)
            except EOFError:
                raise Quit from None
        self._out.write(prompt)
        self._out.flush()
        line = self._source.readline()
        if not line:
            raise Quit
        self._say(line.strip())
        return line

    def _parse(self, line: str) -> int:
        """A legal action by its words, its place in the list, or the beginning of its words."""
        wanted = _plain(line)
        exact = [action for action, words in self._words.items() if _plain(words) == wanted]
        begun = [a for a, words in self._words.items() if _plain(words).startswith(wanted)]
        if exact:
            return exact[0]
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self._words):
            return list(self._words)[int(wanted) - 1]
        if len(begun) == 1:
            return begun[0]
        if begun:
            shown = ", ".join(self._words[action] for action in begun[:8])
            raise IllegalActionError(f"'{line}' may be {shown}: type more of it")
        raise IllegalActionError(f"'{line}' is no move here: {nearest(line, self._words.values())}")

    def _complete(self) -> None:
        """Let the tab key complete moves and commands."""
        if self._source is not sys.stdin or not sys.stdin.isatty():
            return
        try:
            import readline
        except ImportError:  # not every system has it
            return

        def complete(text: str, number: int) -> str | None:
            line = readline.get_line_buffer().lower()
            known = [*self._words.values(), *COMMANDS]
            fitting = [words for words in known if words.lower().startswith(line)]
            start = readline.get_begidx()
            return fitting[number][start:] if number < len(fitting) else None

        readline.set_completer(complete)
        readline.parse_and_bind("tab: complete")

    # ---- commands --------------------------------------------------------------------------------

    def _help(self, _rest: str) -> None:
        self._say(HELP)
        if not self.table.is_over:
            moves = [f"{place} {words}" for place, words in enumerate(self._words.values(), 1)]
            more = len(moves) - MOST_MOVES
            rest = [f"and {more} more, up to {moves[-1]}"] if more > 0 else []
            self._say("moves: " + ", ".join(moves[:MOST_MOVES] + rest))

    def _adviser(self, name: str) -> Any:
        game = self.table.game
        spec = name or self._catalogue.advisers(game)[0].spec
        self._catalogue.check(game, spec)
        return spec, self._thinkers.adviser(game, spec)

    def _hint(self, name: str) -> None:
        if self.table.is_over:
            raise MasqueradeError("the game is over: try review")
        spec, agent = self._adviser(name)
        found = advise(agent, self.table.views(), self._words)
        self._say(f"{spec}:")
        for bar in found.bars[:8]:
            value = "" if bar.value is None else f"  {bar.value:+.3g} {found.unit}"
            self._say(f"  {bar.share:6.1%} {'#' * round(24 * bar.share):24} {bar.words}{value}")

    def _log(self, _rest: str) -> None:
        viewer = self._viewer()
        if viewer is not None:
            self._num_shown[viewer] = 0
        self._news(viewer)

    def _new(self, _rest: str) -> None:
        self.session.begin()
        self._begin()

    def _quit(self, _rest: str) -> None:
        raise Quit

    def _review(self, name: str) -> None:
        if not self.table.is_over:
            raise MasqueradeError("a review is given when the game is over")
        spec, agent = self._adviser(name)
        for number, seat in enumerate(self.table.seats):
            if seat.is_person:
                for verdict in verdicts(self.table, number, agent):
                    cost = "" if verdict.cost is None else f", costs {verdict.cost:.3g}"
                    best = f"{verdict.best} {verdict.best_share:.0%}"
                    self._say(f"  {verdict.words}: {spec} {verdict.share:.0%}, most {best}{cost}")

    def _undo(self, _rest: str) -> None:
        people = [number for number, seat in enumerate(self.table.seats) if seat.is_person]
        own = [number for number in people if self.table.last_own(number) is not None]
        if not own:
            raise MasqueradeError("there is nothing to take back yet")
        self.session.take_back(max(own, key=lambda seat: self.table.last_own(seat) or 0))
        self._num_shown = {seat: len(self.table.log(seat)) for seat in self._num_shown if seat >= 0}
        self._say("taken back")


def _plain(text: str) -> str:
    return "".join(text.lower().split())


# ---- from the command line -----------------------------------------------------------------------


def play_in_terminal(
    arguments: argparse.Namespace, choices: list[SeatChoice], game: Game, catalogue: Catalogue
) -> int:
    """Play the game that the command line asks for."""
    thinkers = Thinkers()
    seats = []
    num_people = sum(choice.who != "agent" for choice in choices)
    for number, choice in enumerate(choices):
        if choice.who == "agent":
            catalogue.check(game, choice.agent)
            seats.append(TableSeat(choice.agent, choice.agent))
        else:
            seats.append(TableSeat("you" if num_people == 1 else f"person {number}"))
    agents = {
        number: thinkers.agent(game, seat.agent)
        for number, seat in enumerate(seats)
        if not seat.is_person
    }
    table = Table(game, seats, agents)
    table.begin(arguments.seed)
    session = Session("terminal", table, catalogue.card(game.id).title)
    try:
        Terminal(session, thinkers, catalogue).run()
    finally:
        thinkers.close()
    return 0


def choose_game(catalogue: Catalogue, options: dict[str, Any], name: str | None) -> Game:
    """The game of the command line, or the one that is chosen from a list."""
    if name is None:
        cards = catalogue.games()
        for number, card in enumerate(cards, start=1):
            print(f"{number}. {card.title}: {card.words}", flush=True)
        line = sys.stdin.readline() if not sys.stdin.isatty() else input("which? ")
        wanted = line.strip()
        if not (wanted.isdecimal() and 1 <= int(wanted) <= len(cards)):
            raise MasqueradeError(f"choose a number from 1 to {len(cards)}, not '{wanted}'")
        name = cards[int(wanted) - 1].id
    return game_class(name)(**options)
