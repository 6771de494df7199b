"""Policies as files and as players: what is kept, what is refused, what is played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.abstraction import probe_encoding
from agents.cfr.evaluation import from_policy, tabulate, to_policy
from agents.cfr.response import expected_values, exploitability
from agents.cfr.solver import CFRSolver
from agents.cfr.tree import GameTree
from agents.games.liars_dice.match import finish_round
from agents.games.liars_dice.round_tree import RoundShape
from agents.games.liars_dice.rounds import RoundSolver
from agents.policy import Policy, PolicyAgent, PolicyError
from arena.match import play_match
from common.errors import MasqueradeError
from envs import make_game
from envs.core.batch import Batch
from envs.core.compiling import compiled
from envs.core.game import Game
from envs.core.kernels import SIGNATURES
from envs.core.rng import new_rng
from envs.kuhn.game import Kuhn
from envs.kuhn.kernels import seen as right_seen
from envs.liars_dice.game import LiarsDice
from tests.support.broken_games import kuhn_with

LEDUC = make_game("leduc_v0")
TREE = GameTree(LEDUC)


@pytest.fixture(scope="module")
def policy() -> Policy:
    solver = CFRSolver(TREE, "cfr+", delay=20)
    solver.run(200)
    return to_policy(
        TREE, solver.average_policy(), solver.is_reached(), variant="cfr+", iterations=200
    )


@pytest.fixture
def path(policy: Policy, tmp_path: Path) -> Path:
    return policy.save(tmp_path / "leduc.npz")


# ---- files ---------------------------------------------------------------------------------------


def test_everything_comes_back(policy: Policy, path: Path) -> None:
    loaded = Policy.load(path, LEDUC)
    for name in ("keys", "firsts", "actions", "probs", "is_reached"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(policy, name))
    assert loaded.exploitability == policy.exploitability
    assert loaded.notes == {"variant": "cfr+", "iterations": 200}
    probs = from_policy(TREE, loaded)
    assert exploitability(TREE, probs) == policy.exploitability


def test_rows_that_are_extracted_in_single_precision_add_up_to_one() -> None:
    """Twelve raises of wild weights: added up in single precision they missed 1 by up to 1e-6."""
    game = LiarsDice(dice=(2, 2), faces=3, single_round=True)
    solver = RoundSolver(RoundShape(game.options, (2, 2)))
    weights = np.random.default_rng(0).uniform(0.0, 1e4, len(solver.arrays.regrets))
    solver.arrays.cumulative_policy[:] = weights
    rows = finish_round(solver, game, least=1e-4).rows
    sums = np.add.reduceat(rows.probs, np.cumsum(rows.sizes) - rows.sizes)
    assert rows.sizes.max() > 8
    assert abs(sums - 1.0).max() < 1e-12


def one_row(game: Game, size: int, factor: float) -> Policy:
    """A table of one row that adds up to ``factor``."""
    return Policy(
        game,
        np.array([5], np.uint64),
        np.array([0, size]),
        np.arange(size, dtype=np.int32),
        np.full(size, factor / size),
        np.ones(1, np.bool_),
    )


@pytest.mark.parametrize(
    ("size", "error", "is_fine"),
    [(2, 9e-7, True), (2, -2e-6, False), (2, 1e-5, False), (40, -2e-6, False)],
)
def test_rounding_is_forgiven_and_nothing_else(
    tmp_path: Path, size: int, error: float, is_fine: bool
) -> None:
    game = make_game("liars_dice_v0")
    path = one_row(game, size, 1.0 + error).save(tmp_path / "rounded.npz")
    if is_fine:
        assert Policy.load(path, game).probs.sum() == pytest.approx(1.0, abs=1e-6)
        return
    with pytest.raises(PolicyError, match="add up to"):
        Policy.load(path, game)


def test_unreached_states_are_marked_and_uniform(policy: Policy) -> None:
    assert 0 < policy.is_reached.sum() < len(policy)
    row = int(np.flatnonzero(~policy.is_reached)[0])
    probs = policy.probs[policy.firsts[row] : policy.firsts[row + 1]]
    assert set(probs.tolist()) == {1.0 / len(probs)}


def test_header_can_be_read_without_us(policy: Policy, path: Path) -> None:
    with np.load(path) as file:
        header = json.loads(bytes(file["header"]))
    assert header["game"] == "leduc_v0"
    assert header["options"] == {"num_players": 2}
    assert header["exploitability"] == policy.exploitability
    assert header["num_infosets"] == 936
    assert header["num_unreached"] == int((~policy.is_reached).sum())


def test_a_folder_gets_a_policy_and_gives_it_back(policy: Policy, tmp_path: Path) -> None:
    written = policy.save(tmp_path / "runs" / "leduc")
    assert written.name == "policy.npz"
    assert len(Policy.load(written.parent, LEDUC)) == 936
    assert [file.name for file in written.parent.iterdir()] == ["policy.npz"]


def with_header(path: Path, **changes: Any) -> None:
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"])) | changes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (make_game("kuhn_v0"), "is for leduc_v0, not for kuhn_v0"),
        (make_game("leduc_v0", num_players=3), "with num_players=2: play it with these options"),
    ],
)
def test_another_game_is_refused(path: Path, game: Game, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy.load(path, game)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 0}, "has version 0, this is version 2: solve the game again"),
        ({"encoding": [0, "abc"]}, "encodes what players see as an older version"),
        ({"checksum": "abc"}, "checksum is wrong"),
        ({"format": "recipe"}, "is no policy file"),
    ],
)
def test_another_version_is_refused(path: Path, changes: dict[str, Any], message: str) -> None:
    with_header(path, **changes)
    with pytest.raises(PolicyError, match=message):
        Policy.load(path, LEDUC)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_refused_in_one_line(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(PolicyError, match="truncated or damaged") as refused:
        Policy.load(path, LEDUC)
    assert "\n" not in str(refused.value)


def test_flipped_bits_are_noticed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(200, len(content) - 200, len(content) // 20):
        flipped = content.copy()
        flipped[place] ^= 0xFF
        path.write_bytes(flipped)
        with pytest.raises(PolicyError) as refused:
            Policy.load(path, LEDUC)
        assert "\n" not in str(refused.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="there is no policy at"):
        Policy.load(tmp_path / "nothing.npz", LEDUC)
    text = tmp_path / "text.npz"
    text.write_text("hello")
    with pytest.raises(PolicyError, match="truncated or damaged"):
        Policy.load(text, LEDUC)
    np.savez(tmp_path / "other.npz", keys=np.arange(3))
    with pytest.raises(PolicyError, match="no policy file"):
        Policy.load(tmp_path / "other.npz", LEDUC)


def test_a_place_that_cannot_be_written_is_refused(policy: Policy, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    with pytest.raises(PolicyError, match="cannot be written"):
        policy.save(blocker / "leduc.npz")


@compiled(SIGNATURES["seen"])
def seen_in_other_words(state, rules, action, player):
    return 7 + right_seen(state, rules, action, player)


def test_the_probe_notices_another_encoding_of_the_same_game() -> None:
    other = kuhn_with(seen=seen_in_other_words)
    assert probe_encoding(Kuhn()) == probe_encoding(Kuhn())
    assert probe_encoding(Kuhn()) != probe_encoding(other())


# ---- tables --------------------------------------------------------------------------------------


def test_tables_and_trees_are_two_names_of_the_same(policy: Policy) -> None:
    probs = from_policy(TREE, policy)
    again = to_policy(TREE, probs, policy.is_reached[np.argsort(np.argsort(TREE.infosets["key"]))])
    np.testing.assert_array_equal(again.probs, policy.probs)
    np.testing.assert_array_equal(again.is_reached, policy.is_reached)
    assert (np.diff(policy.keys.astype(object)) > 0).all()


def without(policy: Policy, rows: np.ndarray) -> Policy:
    """A policy that has forgotten some information sets."""
    is_kept = np.ones(len(policy), bool)
    is_kept[rows] = False
    sizes = np.diff(policy.firsts)
    entries = np.repeat(is_kept, sizes)
    return Policy(
        policy.game,
        policy.keys[is_kept],
        np.concatenate([[0], np.cumsum(sizes[is_kept])]),
        policy.actions[entries],
        policy.probs[entries],
        policy.is_reached[is_kept],
    )


def test_a_policy_with_holes_is_uniform_there(policy: Policy) -> None:
    probs = from_policy(TREE, without(policy, np.array([0])))
    s = int(np.argsort(TREE.infosets["key"])[0])
    own = TREE.sequence_infosets == s
    np.testing.assert_array_equal(probs[own], TREE.uniform()[own])
    np.testing.assert_array_equal(probs[~own], from_policy(TREE, policy)[~own])


def test_policy_and_tree_must_be_of_the_same_game(policy: Policy) -> None:
    with pytest.raises(MasqueradeError, match="not for kuhn_v0"):
        from_policy(GameTree(make_game("kuhn_v0")), policy)


# ---- playing -------------------------------------------------------------------------------------


def test_agent_tells_exactly_its_policy(policy: Policy, path: Path) -> None:
    answer = tabulate(PolicyAgent(LEDUC, path=path), TREE)
    assert answer.is_exact
    np.testing.assert_allclose(answer.probs, from_policy(TREE, policy), atol=1e-12)


def test_agent_acts_as_it_tells(policy: Policy) -> None:
    agent = PolicyAgent(LEDUC, policy=policy)
    batch, rows = Batch(LEDUC, 20_000, chance=new_rng(0)), np.arange(20_000)
    batch.begin(rows, rows)
    views = batch.views(rows)
    told = agent.policy(views).mean(axis=0)
    actions = agent.act(views)
    played = np.bincount(actions, minlength=3) / len(actions)
    # Five standard errors of a share of 20,000.
    np.testing.assert_allclose(played, told, atol=5 * 0.5 / np.sqrt(20_000))
    assert (views.masks[rows, actions] == 1).all()
    assert agent.num_unknown == 0


def test_actions_of_probability_zero_are_never_played() -> None:
    probs = np.zeros(TREE.num_sequences)
    probs[TREE.infosets["first_sequence"]] = 1.0
    agent = PolicyAgent(LEDUC, policy=to_policy(TREE, probs))
    batch, rows = Batch(LEDUC, 500, chance=new_rng(0)), np.arange(500)
    batch.begin(rows, rows)
    views = batch.views(rows)
    np.testing.assert_array_equal(agent.act(views), np.argmax(views.masks, axis=1))


def test_unknown_states_are_played_uniformly_and_counted(policy: Policy) -> None:
    agent = PolicyAgent(LEDUC, policy=without(policy, np.arange(len(policy))))
    batch, rows = Batch(LEDUC, 6000, chance=new_rng(0)), np.arange(6000)
    batch.begin(rows, rows)
    views = batch.views(rows)
    before = views.rngs.copy()
    actions = agent.act(views)
    assert agent.num_unknown == 6000
    assert (views.rngs != before).any(axis=1).all()
    assert set(actions.tolist()) == {1, 2}
    assert abs((actions == 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(6000)
    np.testing.assert_array_equal(agent.policy(views)[0], [0.0, 0.5, 0.5])


def test_a_solved_player_gets_against_a_rule_what_the_tree_says(policy: Policy, path: Path) -> None:
    solved = make_agent(f"cfr:{path}", LEDUC)
    rule = make_agent("leduc_rule", LEDUC)
    result = play_match(LEDUC, [solved, rule], num_games=20_000, seed=1)
    # The expected value is exact: the solved policy in seat 0, the rule in seat 1.
    mixed = from_policy(TREE, policy)
    own = TREE.sequences_of(1)
    mixed[own.start : own.stop] = tabulate(rule, TREE, num_samples=1).probs[own.start : own.stop]
    value = expected_values(TREE, mixed)[0]
    assert value > -0.0857 - 2 * policy.exploitability
    assert abs(result.mean_returns[0] - value) < 2.5 * result.half_widths[0]


def test_agent_needs_a_policy_of_its_game(policy: Policy) -> None:
    with pytest.raises(PolicyError, match="give the path of a policy"):
        PolicyAgent(LEDUC)
    with pytest.raises(PolicyError, match="this policy is for leduc_v0"):
        PolicyAgent(make_game("kuhn_v0"), policy=policy)
