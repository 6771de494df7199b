"""What Scotland Yard and the Phantom share: facts, observation, words and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from envs.core.drawing import Layout
from envs.core.facts import Facts, ObservationField, Seat
from envs.core.game import Game
from envs.core.kernels import OVER, Kernels, OptionalKernels
from envs.pursuit import kernels as functions
from envs.pursuit.board import Board
from envs.pursuit.kernels import unknown_choice
from envs.pursuit.options import (
    DETECTIVE_DRAW,
    DETECTIVE_PLACING,
    FUGITIVE,
    FUGITIVE_PLACING,
    MAP_DRAW,
    MAX_KINDS,
    REASONS,
    RULES,
    RULES_SIZE,
    STATE,
    UNLIMITED,
    PursuitOptions,
)
from envs.pursuit.picture import board_text, draw_pursuit, log_text, ticket_text
from envs.pursuit.tables import boards_of, rules_of


class Pursuit(Game):
    """A fugitive, whose place is hidden most of the time, and detectives who hunt him."""

    Options = PursuitOptions
    state_dtype = STATE
    kernels = Kernels.of(functions)
    optional = OptionalKernels.of(functions)
    modelled = optional.but(rollout=unknown_choice)
    options: PursuitOptions
    fugitive_name = "the fugitive"

    # ---- boards and numbers ----------------------------------------------------------------------

    @property
    def boards(self) -> tuple[Board, ...]:
        """The boards it is played on; the first chance event draws one if there are several."""
        return boards_of(self.options)

    def board(self, state: Any) -> Board:
        """The board that a game is played on."""
        return self.boards[int(self.record(state).map)]

    @property
    def header(self) -> Any:
        """The options as the kernels read them."""
        return self.rules[:RULES_SIZE].view(RULES)[0]

    @property
    def ticket_names(self) -> list[str]:
        """Kinds of tickets in the order of the actions."""
        names = [transport.name for transport in self.boards[0].tickets]
        return [*names, "black"] if self.options.black_tickets else names

    def make_rules(self) -> Any:
        """Every option as a number, and all maps."""
        return rules_of(self.options)

    def make_facts(self) -> Facts:
        """The longest game uses every round and every double move."""
        o, r = self.options, self.header
        num_pieces = 1 + o.num_detectives
        num_picks = o.num_detectives if o.moving == "any_order" else 0
        per_round = num_pieces + max(num_picks - 1, 0)
        return Facts(
            num_actions=int(r.pick_action) + num_picks,
            num_chance_outcomes=max(
                int(r.num_slots) if o.starts == "drawn" else 0,
                int(r.num_maps) if r.num_maps > 1 else 0,
            ),
            max_length=1 + num_pieces + o.rounds * per_round + 2 * o.double_moves,
            seats=(
                Seat("fugitive", 0, -1.0, 1.0),
                *[Seat("detective", 1, -1.0, 1.0)] * (int(r.num_players) - 1),
            ),
            objective="win" if o.rewards == "win" else "return",
        )

    def make_fields(self) -> tuple[ObservationField, ...]:
        """Clock, tickets, places and the belief, which is public."""
        r = self.header
        slots, kinds, detectives = int(r.num_slots), int(r.num_kinds), int(r.num_detectives)
        fields = [
            ObservationField("seat", int(r.num_players), "one-hot seat of the viewer"),
            ObservationField("round", 1, "share of the rounds that have begun"),
            ObservationField("unseen", 1, "moves since the fugitive was seen, of 8"),
            ObservationField("reveal", 1, "1 if he shows himself after his next move"),
            ObservationField("doubles", 1, "share of his double moves that are left"),
            ObservationField("in_double", 1, "moves left of a double move, of 2"),
            ObservationField("placing", 1, "1 while starts are chosen"),
            ObservationField("last_ticket", kinds, "one-hot ticket of his last move"),
            ObservationField(
                "to_move", 1 + detectives, "the pieces that may move next, the fugitive first"
            ),
            ObservationField(
                "tickets", (1 + detectives) * kinds, "share of tickets left, by piece and kind"
            ),
            ObservationField("detectives", detectives * slots, "one-hot place of every detective"),
            ObservationField(
                "fugitive", slots, "his place, for himself and for all when he was just seen"
            ),
            ObservationField("last_seen", slots, "one-hot place where he was last seen"),
            ObservationField(
                "belief", slots, "share of the possible histories that lead to each place"
            ),
            ObservationField("possible", slots, "1 for every place where he can be"),
        ]
        if r.shows_map:
            stops = int(r.num_tickets) * slots
            fields.append(
                ObservationField("stops", stops, "1 where a transport stops, by transport")
            )
        return tuple(fields)

    # ---- words -----------------------------------------------------------------------------------

    def action_text(self, state: Any, action: int) -> str:
        """``taxi to 46``, ``start at 46``, ``double`` or ``detective 2``."""
        r = self.header
        if self.record(state).phase in (DETECTIVE_PLACING, FUGITIVE_PLACING):
            return f"start at {action + 1}"
        if action == r.double_action:
            return "double"
        if action >= r.pick_action:
            return f"detective {action - r.pick_action + 1}"
        kind, place = divmod(action, int(r.num_slots))
        return f"{self.ticket_names[kind]} to {place + 1}"

    def chance_text(self, state: Any, outcome: int) -> str:
        """The map, or who starts where."""
        s = self.record(state)
        if s.phase == MAP_DRAW:
            return f"map {self.options.first_map + outcome}"
        who = f"detective {s.piece}" if s.phase == DETECTIVE_DRAW else self.fugitive_name
        return f"{who} starts at {outcome + 1}"

    def knows_place(self, state: Any, viewer: int | None) -> bool:
        """Whether ``viewer`` knows where the fugitive is; nothing may show it to others."""
        s = self.record(state)
        return viewer in (None, FUGITIVE) or int((s.belief > 0.0).sum()) == 1

    def mover(self, state: Any) -> int | None:
        """The piece that is to move or to be placed; nobody's, or any detective's, turn: None."""
        s = self.record(state)
        if s.turn < 0 or (s.turn != FUGITIVE and s.piece == FUGITIVE):
            return None
        return FUGITIVE if s.phase == FUGITIVE_PLACING else int(s.piece)

    def piece_name(self, piece: int) -> str:
        """A piece in words."""
        return f"detective {piece}" if piece else self.fugitive_name

    def status(self, state: Any) -> str:
        """What is happening, in one line that everybody may read."""
        s = self.record(state)
        clock = f"round {s.round_number} of {self.options.rounds}"
        if s.phase == MAP_DRAW:
            return "the map is drawn"
        if s.turn == OVER:
            winner = self.fugitive_name if REASONS[s.reason] in REASONS[3:] else "the detectives"
            return f"{clock}: {REASONS[s.reason]}, {winner} won"
        if s.turn < 0:
            return "start cards are drawn"
        piece = self.mover(state)
        who = "any detective" if piece is None else self.piece_name(piece)
        if s.phase in (DETECTIVE_PLACING, FUGITIVE_PLACING):
            return f"{who} chooses a start"
        return f"{clock}: {who} to move" + (", double move" if s.double else "")

    def render(self, state: Any, viewer: int | None = None) -> str:
        """The board if it is a grid, then pieces, tickets and the travel log."""
        s = self.record(state)
        if s.phase == MAP_DRAW:
            return self.status(state)
        place = int(s.place[FUGITIVE]) if self.knows_place(state, viewer) else -1
        lines = [self.status(state), *board_text(self.board(state), s, place)]
        lines.append(ticket_text(self.fugitive_name, place, s, FUGITIVE, self.ticket_names))
        for piece in range(1, 1 + self.options.num_detectives):
            name = self.piece_name(piece)
            lines.append(ticket_text(name, int(s.place[piece]), s, piece, self.ticket_names))
        lines.append(f"log: {log_text(s, self.ticket_names)}")
        possible = [str(place + 1) for place in np.flatnonzero(s.belief > 0.0)]
        shown = " ".join(possible[:24]) + (" ..." if len(possible) > 24 else "")
        lines.append(f"possible: {len(possible)} places: {shown}" if possible else "possible: -")
        return "\n".join(lines)

    def draw(self, state: Any, viewer: int | None = None, layout: Layout = "wide") -> str:
        """The map with pieces and last moves; tickets and travel log beside it."""
        return draw_pursuit(self, state, viewer)

    def conserved(self, state: Any) -> dict[str, float]:
        """Tickets are never lost: what detectives spend is given, what is used is counted."""
        s, r = self.record(state), self.header
        amounts: dict[str, float] = {}
        passed = s.given if r.do_tickets_pass else np.zeros(MAX_KINDS)
        for kind, name in enumerate(self.ticket_names):
            held = s.tickets[1 : 1 + r.num_detectives, kind]
            if kind < r.num_tickets and r.detective_tickets[kind] != UNLIMITED:
                amounts[f"{name} of detectives"] = float(held.sum() + s.given[kind])
            if r.fugitive_tickets[kind] != UNLIMITED:
                own = s.tickets[FUGITIVE, kind] + s.used[kind] - passed[kind]
                amounts[f"{name} of the fugitive"] = float(own)
        kept = s.place[FUGITIVE] < 0 or s.belief[s.place[FUGITIVE]] > 0.0
        amounts["fugitive outside of his belief"] = float(not kept)
        return amounts
