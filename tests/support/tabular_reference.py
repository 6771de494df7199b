"""Table learning once more: plain Python over positions, dictionaries, and the textbook's words.

It shares no code with the compiled learners but the games and the generators, so that games can be
compared draw for draw.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.games.liars_dice.lies import LieSettings
from agents.tabular.model import TabularSettings
from envs.core.game import Game
from envs.core.position import Position
from envs.core.rng import seed_stream, stream, uniform

Entry = Hashable


@dataclass
class Profile:
    """Lies by category, with the two readings written out."""

    settings: LieSettings
    bids: dict[str, int] = field(default_factory=lambda: dict.fromkeys("lmh", 0))
    lies: dict[str, int] = field(default_factory=lambda: dict.fromkeys("lmh", 0))
    ratio: dict[str, float] = field(default_factory=lambda: dict.fromkeys("lmh", 0.0))
    rounds: int = 0

    def category(self, count: int, face: int, num_dice: int) -> str:
        if self.settings.reading == "code":
            if count > -(-2 * num_dice // 3) or face > 4:
                return "h"
            return "m" if count > -(-num_dice // 3) or face > 2 else "l"
        if 3 * count > 2 * num_dice or face >= 5:
            return "h"
        return "m" if 3 * count > num_dice or face >= 3 else "l"

    def check(self, bids: list[tuple[int, int]], dice: list[int]) -> None:
        for count, face in bids:
            c = self.category(count, face, len(dice))
            self.bids[c] += 1
            self.lies[c] += dice.count(face) < count
        for c in "lmh":
            if self.bids[c]:
                self.ratio[c] = self.lies[c] / self.bids[c]
        self.rounds += 1
        is_code = self.settings.reading == "code"
        if is_code and self.rounds > self.settings.reset:
            self.rounds = 0
            self.bids, self.lies = dict.fromkeys("lmh", 0), dict.fromkeys("lmh", 0)
        elif not is_code and self.rounds == self.settings.reset:
            self.__init__(self.settings)  # type: ignore[misc]


@dataclass
class Player:
    """One learner: its table, and for each seat what it did last."""

    game: Game
    rule: str
    settings: TabularSettings
    values: dict[Entry, list[float]] = field(default_factory=dict)
    visits: dict[Entry, list[int]] = field(default_factory=dict)
    last: dict[int, Any] = field(default_factory=dict)
    traces: dict[int, dict[Entry, float]] = field(default_factory=dict)
    num_games: int = 0

    def __post_init__(self) -> None:
        given = {k: v for k, v in (self.settings.opponent_model or {}).items() if k != "id"}
        self.profile = Profile(LieSettings.parse(given))
        if self.settings.initial == "abstraction":
            total = sum(self.game.options.dice_by_seat)  # type: ignore[attr-defined]
            for count in range(1, total + 1):
                for face in range(1, 7):
                    self.values["bid", count, face] = [1 / (2 * count)]
                    self.values["liar", count, face] = [1 / (2 * (total - count + 1))]

    def entry(self, position: Position, action: int) -> Entry:
        if self.settings.abstraction == "infoset":
            return (position.turn, *position.tokens(position.turn), action)
        record = self.game.record(position.state)
        if action == self.game.facts.num_actions - 1:
            return ("liar", *self.game.bid(int(record.bid)))  # type: ignore[attr-defined]
        return ("bid", *self.game.bid(action))  # type: ignore[attr-defined]

    def read(self, entry: Entry) -> list[float]:
        first = 0.0 if self.settings.initial == "abstraction" else float(self.settings.initial)
        return self.values.get(entry, [first] * (2 if self.rule == "double_q" else 1))

    def epsilon(self, state: Entry) -> float:
        s = self.settings
        if s.policy == "vdbe":
            return self.values.get(("epsilon", state), [1.0])[0]
        share = min(1.0, self.num_games / (s.exploration_games or math.inf))
        if s.exploration_schedule == "linear":
            return s.exploration + (s.last_exploration - s.exploration) * share
        if s.exploration_schedule == "exponential":
            return float(s.exploration * (s.last_exploration / s.exploration) ** share)
        return s.exploration

    def probs(self, state: Entry, values: dict[int, float]) -> dict[int, float]:
        epsilon, n = self.epsilon(state), len(values)
        best = [a for a in values if values[a] == max(values.values())]
        policy = self.settings.policy
        if policy == "matching":
            total = sum(abs(v) for v in values.values())
            return {a: abs(v) / total for a, v in values.items()}
        if policy == "softmax":
            weights = {a: math.exp((v - max(values.values())) / epsilon) for a, v in values.items()}
            return {a: w / sum(weights.values()) for a, w in weights.items()}
        if policy == "epsilon_other" and n > 1:
            return {
                a: sum((1 - epsilon) if a == b else epsilon / (n - 1) for b in best) / len(best)
                for a in values
            }
        if policy == "epsilon_other":
            return dict.fromkeys(values, 1.0)
        return {a: epsilon / n + (1 - epsilon) * (a in best) / len(best) for a in values}

    def act(self, position: Position, rng: Any) -> int:
        seat = position.turn
        entries = {a: self.entry(position, a) for a in position.legal_actions()}
        values = {a: float(np.mean(self.read(e))) for a, e in entries.items()}
        state = tuple(entries.values())
        adjusted = dict(values)
        self.adjust(position, adjusted)
        probs = self.probs(state, adjusted)
        number, reached, action = uniform(rng), 0.0, -1
        for a, prob in probs.items():
            if prob > 0:
                action, reached = a, reached + prob
                if number < reached:
                    break
        which = int(uniform(rng) < 0.5) if self.rule == "double_q" else 0
        if seat in self.last:
            next_value = self.next_value(entries, values, probs, action, which)
            is_cut = self.rule == "q_lambda" and values[action] < max(values.values())
            self.learn(seat, which, self.reward(position, seat, False), next_value, is_cut)
        self.last[seat] = (entries[action], values[action], position.copy(), state, len(values))
        return action

    def adjust(self, position: Position, values: dict[int, float]) -> None:
        s = self.profile.settings
        has_profile = self.settings.opponent_model is not None
        record = self.game.record(position.state) if has_profile else None
        if record is None or record.bid < 0:
            return
        count, face = self.game.bid(int(record.bid))  # type: ignore[attr-defined]
        highest = max(values.values())
        if s.uses_table_max:
            highest = max(v[0] for v in self.values.values())
        liar = self.game.facts.num_actions - 1
        ratio = self.profile.ratio[self.profile.category(count, face, int(record.num_in_play))]
        ratio = ratio if s.constant is None else s.constant
        values[liar] += s.factor * ratio * highest

    def next_value(
        self,
        entries: dict[int, Entry],
        values: dict[int, float],
        probs: dict[int, float],
        action: int,
        which: int,
    ) -> float:
        if self.rule.startswith("sarsa"):
            return values[action]
        if self.rule in ("q_learning", "q_lambda"):
            return max(values.values())
        if self.rule == "expected_sarsa":
            return sum(probs[a] * values[a] for a in values)
        own = {a: self.read(e)[which] for a, e in entries.items()}
        best = action if own[action] == max(own.values()) else max(own, key=lambda a: own[a])
        return self.read(entries[best])[1 - which]

    def reward(self, position: Position, seat: int, is_over: bool) -> float:
        before = self.last[seat][2]
        if self.settings.reward == "end":
            return float(position.returns()[seat]) if is_over else 0.0
        if self.settings.reward == "change":
            return float(position.returns()[seat] - before.returns()[seat])
        old, new = self.game.record(before.state), self.game.record(position.state)
        if new.num_rounds == old.num_rounds:
            return 0.5
        return 0.0 if new.dice_left[seat] < old.dice_left[seat] else 1.0

    def learn(self, seat: int, which: int, reward: float, next_value: float, is_cut: bool) -> None:
        s = self.settings
        entry, snapshot, _, state, num_legal = self.last[seat]
        self.values.setdefault(entry, list(self.read(entry)))
        visits = self.visits.setdefault(entry, [0, 0])
        visits[which] += 1
        current = snapshot if s.snapshot else self.values[entry][which]
        error = reward + s.discount * next_value - current
        traces = self.traces.setdefault(seat, {})
        if not self.rule.endswith("lambda"):
            traces.clear()
        traces[entry] = 1.0
        for e in traces:
            rate = 1 / self.visits[e][which] if s.learning_rate == "1/n" else s.learning_rate
            self.values[e][which] += float(rate) * traces[e] * error
            traces[e] *= s.discount * (0.8 if s.trace_decay is None else s.trace_decay)
        if is_cut:
            traces.clear()
        if s.policy == "vdbe":
            rate = 1 / visits[which] if s.learning_rate == "1/n" else s.learning_rate
            x = math.exp(-abs(float(rate) * error) / s.vdbe_sensitivity)
            weight = s.vdbe_weight or 1 / num_legal
            old = self.values.get(("epsilon", state), [1.0])[0]
            self.values["epsilon", state] = [weight * (1 - x) / (1 + x) + (1 - weight) * old]

    def end(self, position: Position, seat: int, rng: Any) -> None:
        if seat in self.last and self.settings.final_update:
            which = int(uniform(rng) < 0.5) if self.rule == "double_q" else 0
            self.learn(seat, which, self.reward(position, seat, True), 0.0, True)


def play(game: Game, seats: list[Player], numbers: range, seed: int) -> list[list[float]]:
    """Play games between learners; the returns of each."""
    chance_root, choice_root = stream(seed, "chance"), stream(seed, "choice")
    num_players = game.facts.num_players
    results = []
    for number in numbers:
        chance = np.zeros(4, np.uint64)
        seed_stream(chance_root, number, chance)
        rngs = np.zeros((num_players, 4), np.uint64)
        for seat in range(num_players):
            seed_stream(choice_root, num_players * number + seat, rngs[seat])
        for player in {id(p): p for p in seats}.values():
            player.last, player.traces = {}, {}
            player.num_games += 1
        position = game.new_position(number)
        position.play_chance(chance)
        bids: list[tuple[int, tuple[int, int]]] = []
        while not position.is_over:
            seat = position.turn
            action = seats[seat].act(position, rngs[seat])
            if game.id == "liars_dice_v0" and action != game.facts.num_actions - 1:
                bids.append((seat, game.bid(action)))  # type: ignore[attr-defined]
            elif game.id == "liars_dice_v0":
                shown = [int(d) for d in game.record(position.state).dice.ravel() if d]
                for observer, player in enumerate(seats):
                    player.profile.check([b for who, b in bids if who != observer], shown)
                bids = []
            position.apply(action)
            position.play_chance(chance)
        for seat, player in enumerate(seats):
            player.end(position, seat, rngs[seat])
        results.append([float(r) for r in position.returns()])
    return results
