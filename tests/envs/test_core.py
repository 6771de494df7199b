"""The core by itself: generators, keys, options, the table of functions, the code cache."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common.errors import IllegalActionError, MasqueradeError, OptionError, UnknownNameError
from envs import GAMES, make_game
from envs.core.batch import Batch
from envs.core.engine import random_playouts
from envs.core.game import Game
from envs.core.kernels import Kernels, OptionalKernels
from envs.core.position import Position
from envs.core.rng import below, fill_streams, first_key, fold, new_rng, next_word, stream, uniform
from tests.support.option_sets import OPTION_SETS, build, every_option_set, name
from tests.support.tree_counts import count_tree

PROJECT = Path(__file__).resolve().parents[2]


# ---- generators ----------------------------------------------------------------------------------


def test_the_generator_is_xoshiro256_plus_plus() -> None:
    # First outputs of the authors' C code from the state 1, 2, 3, 4.
    expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    rng = np.array([1, 2, 3, 4], np.uint64)
    assert [int(next_word(rng)) for _ in expected] == expected


def test_draws_are_uniform() -> None:
    rng = new_rng(0)
    counts = np.bincount([below(rng, 6) for _ in range(6000)], minlength=6)
    assert ((counts - 1000) ** 2 / 1000).sum() < 30  # chi-square, 5 degrees: p < 2e-5
    draws = np.array([uniform(rng) for _ in range(4000)])
    assert ((draws >= 0) & (draws < 1)).all()
    assert abs(draws.mean() - 0.5) < 0.03


def test_the_same_seed_gives_the_same_draws_and_no_seed_gives_others() -> None:
    assert (new_rng(5) == new_rng(5)).all()
    assert (new_rng(5) != new_rng(6)).any()
    assert (new_rng() != new_rng()).any()
    assert (new_rng(-1) != new_rng(1)).any()
    assert (new_rng(int(np.int64(5))) == new_rng(np.int64(5))).all()


def test_streams_differ_by_name_and_by_game_number() -> None:
    names = [("chance",), ("choice",), ("agent", 0), ("agent", 1)]
    assert len({stream(0, *name).tobytes() for name in names}) == len(names)
    rngs = np.empty((1000, 4), np.uint64)
    fill_streams(stream(0, "chance"), np.arange(1000), rngs)
    assert len({row.tobytes() for row in rngs}) == 1000
    later = np.empty((10, 4), np.uint64)
    fill_streams(stream(0, "chance"), np.arange(500, 510), later)
    assert (later == rngs[500:510]).all()


# ---- keys ----------------------------------------------------------------------------------------


def test_keys_depend_on_player_tokens_and_order() -> None:
    keys = {
        int(fold(fold(first_key(p), a), b))
        for p in range(3)
        for a in range(1, 9)
        for b in range(1, 9)
    }
    assert len(keys) == 3 * 64
    assert fold(first_key(0), 0) == first_key(0), "what is not noticed leaves no trace"
    assert fold(first_key(0), -5) != fold(first_key(0), 5)


# ---- options and ids -----------------------------------------------------------------------------


def test_an_unknown_game_option_or_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'liars_dice_v0'"):
        make_game("liar_dice_v0")
    with pytest.raises(OptionError, match="did you mean 'num_players'"):
        make_game("kuhn_v0", players=3)
    with pytest.raises(OptionError, match="did you mean 'openspiel'"):
        make_game("liars_dice_v0", preset="open_spiel")


@pytest.mark.parametrize("value", [1, 6, 2.0, "3", True, None])
def test_an_option_out_of_range_names_the_range(value: object) -> None:
    with pytest.raises(OptionError, match="num_players must be a whole number from 2 to 5, not"):
        make_game("kuhn_v0", num_players=value)


@pytest.mark.parametrize("game_id", GAMES)
def test_every_option_is_described(game_id: str) -> None:
    rows = make_game(game_id).Options.describe()
    assert rows
    assert all(all(cell for cell in row) for row in rows)


@every_option_set
def test_games_are_equal_by_class_and_options_and_survive_pickling(game: Game) -> None:
    import pickle

    twin = pickle.loads(pickle.dumps(game))
    assert twin == game
    assert hash(twin) == hash(game)
    assert repr(twin) == repr(game)
    assert (twin.rules == game.rules).all()
    assert game != make_game("kuhn_v0", num_players=4)


@every_option_set
def test_every_action_has_words_that_parse_back(game: Game) -> None:
    position = game.new_position()
    assert all(position.action_text(outcome) for outcome in position.legal_actions())
    position.play_chance(new_rng(0))
    for action in position.legal_actions():
        assert position.parse_action(position.action_text(action)) == action
        assert position.parse_action(f" {action} ") == action
    with pytest.raises(IllegalActionError, match=f"is no (legal )?action of {game.id}"):
        position.parse_action("nonsense")


@every_option_set
def test_the_pieces_of_an_observation_fit_together(game: Game) -> None:
    position = game.new_position()
    position.play_chance(new_rng(0))
    pieces = game.observation_fields(position.observation(0))
    assert [piece.name for piece in game.fields] == list(pieces)
    assert sum(len(piece) for piece in pieces.values()) == game.observation_size
    assert all(piece.meaning for piece in game.fields)


# ---- the table of functions ----------------------------------------------------------------------


def test_a_game_without_all_ten_functions_is_refused() -> None:
    table = make_game("kuhn_v0").kernels
    functions = {name: getattr(table, name) for name in ("new", "turn")}
    with pytest.raises(TypeError, match="missing chance, determinize"):
        Kernels(**functions)


def test_a_function_with_the_wrong_signature_is_refused() -> None:
    table = make_game("kuhn_v0").kernels
    with pytest.raises(TypeError, match="'turn' must be compiled as"):
        table.but(turn=table.legal)


def test_rules_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        make_game("kuhn_v0").rules[0] = 3


# ---- playouts, trees, batches --------------------------------------------------------------------


def test_playouts_from_a_root_stay_below_it() -> None:
    game = make_game("kuhn_v0")
    position = game.replay([2, 0, 1])  # king against jack, and a bet
    result = random_playouts(game, 4000, new_rng(0), root=position.state)
    assert result.num_steps == 4000
    # The jack folds (+1) or calls (+2), each half of the time.
    assert abs(result.mean_returns[0] - 1.5) < 5 * result.standard_errors[0]
    with pytest.raises(ValueError, match="at least 1"):
        random_playouts(game, 0, new_rng(0))


@pytest.mark.parametrize("row", [row for row in OPTION_SETS if row[0] == "no_thanks_v0"], ids=name)
def test_a_playout_of_its_own_draws_and_counts_as_the_loop_does(
    row: tuple[str, dict[str, Any]],
) -> None:
    game = build(row)
    assert game.optional.has_playout
    without = copy(game)
    vars(without)["optional"] = OptionalKernels()
    own, plain = new_rng(0), new_rng(0)
    found = random_playouts(game, 200, own)
    expected = random_playouts(without, 200, plain)
    assert found.num_steps == expected.num_steps
    assert (found.mean_returns == expected.mean_returns).all()
    assert (own == plain).all()


def test_a_tree_that_is_too_large_is_refused() -> None:
    with pytest.raises(MasqueradeError, match="more than 1,000 nodes"):
        count_tree(make_game("leduc_v0"), max_nodes=1000)


def test_a_batch_refuses_what_it_cannot_do() -> None:
    game = make_game("leduc_v0")
    with pytest.raises(ValueError, match="at least 1 row"):
        Batch(game, 0, new_rng(0))
    batch = Batch(game, 2, new_rng(0))
    rows = np.arange(2)
    batch.begin(rows, rows)
    with pytest.raises(ValueError, match="not recorded"):
        batch.history(0)
    with pytest.raises(ValueError, match="not recorded"):
        batch.views(rows).tokens(0)
    with pytest.raises(ValueError, match="need 2 actions"):
        batch.step(rows, np.array([1]))
    with pytest.raises(IllegalActionError, match="row 1: action 0"):
        batch.step(rows, np.array([1, 0]))
    assert (batch.turns == 0).all(), "one illegal action and none is played"


def test_a_recorded_batch_replays() -> None:
    game = make_game("leduc_v0")
    batch = Batch(game, 1, new_rng(0), has_record=True)
    row = np.zeros(1, np.int64)
    batch.begin(row, row)
    batch.step(row, np.array([2]))
    assert game.replay(batch.history(0)).turn == batch.turns[0] == 1


# ---- the code cache ------------------------------------------------------------------------------


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(PROJECT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )


MANY_LEGAL = """
import numpy as np
from envs.core.rng import random_legal
from envs.core.rng import new_rng
mask, rng = np.zeros(2000, np.int8), new_rng(0)
mask[:200] = 1  # so few of so many that they must be counted, to more than an int8 holds
print(all(mask[random_legal(mask, rng)] for _ in range(100)))
"""


def test_a_random_choice_among_very_many_is_legal_in_plain_python_too() -> None:
    finished = run(MANY_LEGAL, NUMBA_DISABLE_JIT="1")
    assert (finished.stdout, finished.stderr) == ("True\n", "")


def test_compiled_code_is_cached_by_its_sources(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from envs.core.warming import is_compiled; "
        "path = Path('envs/core/rng.py').resolve(); before = is_compiled(path); "
        "import envs.core.rng, numba; "
        "print(numba.config.CACHE_DIR or 'untouched', before, is_compiled(path))"
    )
    first = run(code, MASQUERADE_CACHE=str(tmp_path))
    assert "compiling envs/core/ once" in first.stderr
    told = first.stdout.split()
    assert told[0] == "untouched", "Numba's setting for everybody else stays as it was"
    assert told[1:] == ["False", "True"], "a file is warm once it is compiled"
    assert first.stderr.count("\n") == 1, "a folder of many files is announced once"
    folders = set(tmp_path.iterdir())
    assert all(list(folder.rglob("*.nbc")) for folder in folders)
    second = run(code, MASQUERADE_CACHE=str(tmp_path))
    assert second.stderr == ""
    assert set(tmp_path.iterdir()) == folders


def test_no_other_thread_compiles_into_the_folder_of_this_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Games have functions of equal names, so one would play by the rules of another."""
    from envs.core import compiling

    if compiling.JIT_DISABLED:
        pytest.skip("nothing is compiled")
    events: list[tuple[str, str]] = []

    class Lock:
        def __enter__(self) -> None:
            events.append(("locked", compiling.config.CACHE_DIR))

        def __exit__(self, *reason: object) -> None:
            events.append(("open", compiling.config.CACHE_DIR))

    def njit(*arguments: Any, **options: Any) -> Any:
        events.append(("compiled", compiling.config.CACHE_DIR))
        return lambda function: function

    monkeypatch.setattr(compiling, "global_compiler_lock", Lock())
    monkeypatch.setattr(compiling, "cache_folder", lambda source: tmp_path)
    monkeypatch.setattr(compiling.numba, "njit", njit)
    before = compiling.config.CACHE_DIR
    compiling.compiled(None)(lambda: None)
    assert events == [("locked", before), ("compiled", str(tmp_path)), ("open", before)]


def test_a_helper_counts_the_same_from_python_as_in_compiled_code() -> None:
    from envs.core.compiling import JIT_DISABLED, helper

    if JIT_DISABLED:
        pytest.skip("nothing is compiled")

    @helper
    def add(record):
        return record.small + record.small  # plain Python would stay within eight bits

    records = np.array([(100,)], np.dtype((np.record, [("small", np.int8)])))
    assert add(records[0]) == 200


def test_a_change_in_another_file_finds_another_folder(tmp_path: Path) -> None:
    from envs.core.compiling import cache_folder

    game, neighbour = tmp_path / "my_game.py", tmp_path / "its_helper.py"
    game.write_text("import its_helper\n")
    neighbour.write_text("one = 1\n")
    before = cache_folder(game)
    neighbour.write_text("one = 2\n")
    cache_folder.cache_clear()
    assert cache_folder(game) != before


def test_compiled_code_depends_on_what_its_file_imports_and_on_nothing_else() -> None:
    from envs.core.compiling import sources_of

    found = {str(path.relative_to(PROJECT)) for path in sources_of(PROJECT / "envs/kuhn/game.py")}
    assert {"envs/kuhn/game.py", "envs/core/rng.py", "envs/core/addresses.py"} <= found
    assert not {"envs/leduc/game.py", "envs/liars_dice/game.py"} & found


def test_from_a_wheel_code_depends_on_our_rooms_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from envs.core import compiling

    files = {
        "envs/__init__.py": "",
        "envs/game.py": "import numba\nfrom numpy import random\nfrom envs.core import rng\n",
        "envs/core/__init__.py": "",
        "envs/core/rng.py": "import numba.core\nimport setuptools\n",
        "numba/__init__.py": "import envs.core.rng\n",
        "numba/core.py": "",
        "numpy/__init__.py": "",
        "numpy/random.py": "",
        "setuptools/__init__.py": "",
        "theirs/__init__.py": "",
        "theirs/game.py": "import numba\nfrom theirs.parts import rules\nimport envs.core.rng\n",
        "theirs/parts/rules.py": "import numpy\n",
    }
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    monkeypatch.setattr(compiling, "_PROJECT", tmp_path)

    def sources(place: str) -> set[str]:
        found = compiling.sources_of(tmp_path / place)
        return {path.relative_to(tmp_path).as_posix() for path in found}

    ours = {"envs/__init__.py", "envs/core/__init__.py", "envs/core/rng.py"}
    assert sources("envs/game.py") == {"envs/game.py", "envs/core/__init__.py", "envs/core/rng.py"}
    theirs = {"theirs/__init__.py", "theirs/game.py", "theirs/parts/rules.py"}
    assert sources("theirs/game.py") - ours == theirs


@pytest.mark.parametrize(
    "line",
    [
        "import envs.core.rng",
        "    import envs.core.rng as rng, envs.core.kernels  # indented",
        "from envs.core import kernels, rng",
        "from envs.core.rng import below",
        "from envs.core import (\n    kernels,\n    rng,\n)",
    ],
)
def test_every_form_of_import_is_followed(tmp_path: Path, line: str) -> None:
    from envs.core.compiling import _imported

    source = tmp_path / "my_game.py"
    source.write_text(f"import os\n{line}\n")
    assert PROJECT / "envs/core/rng.py" in _imported(source)
    source = tmp_path / "with_types.py"
    source.write_text(f"import os\n\nif TYPE_CHECKING:\n    {line.strip()}\n\nx = 1\n")
    assert PROJECT / "envs/core/rng.py" not in _imported(source)


def test_a_cache_folder_that_cannot_be_made_is_passed_over(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    from envs.core.compiling import _cache_bases, cache_folder

    cache_folder.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASQUERADE_CACHE", str(blocked))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
        assert next(iter(_cache_bases())) == blocked
        assert (
            cache_folder(PROJECT / "envs/kuhn/game.py").parent == tmp_path / "second" / "masquerade"
        )
    cache_folder.cache_clear()


@pytest.mark.parametrize("how", ["open to all", "a link", "ours"])
def test_code_is_not_taken_from_where_others_can_put_it(tmp_path: Path, how: str) -> None:
    """What lies in a cache is run; the folder for temporary files belongs to everybody."""
    from envs.core.compiling import cache_folder

    blocked = tmp_path / "file"
    blocked.write_text("")
    base = tmp_path / f"masquerade-{os.getuid()}"
    if how == "open to all":
        base.mkdir()
        base.chmod(0o777)
    elif how == "a link":
        (tmp_path / "elsewhere").mkdir()
        base.symlink_to(tmp_path / "elsewhere")
    cache_folder.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASQUERADE_CACHE", str(blocked))
        patch.setenv("XDG_CACHE_HOME", str(blocked))
        patch.setattr("tempfile.tempdir", str(tmp_path))
        if how == "ours":
            assert cache_folder(PROJECT / "envs/kuhn/game.py").parent == base
            assert base.stat().st_mode & 0o777 == 0o700
        else:
            with pytest.raises(OSError, match="set MASQUERADE_CACHE"):
                cache_folder(PROJECT / "envs/kuhn/game.py")
    cache_folder.cache_clear()


def test_everything_compiled_is_found_once_and_small_files_come_first() -> None:
    from envs.core.warming import compiled_files

    found = [str(path.relative_to(PROJECT)) for path in compiled_files()]
    assert len(set(found)) == len(found)
    assert {"envs/kuhn/kernels.py", "envs/core/engine.py", "agents/tabular/turns.py"} <= set(found)
    assert "envs/core/compiling.py" not in found
    assert found.index("envs/core/rng.py") < found.index("envs/core/engine.py")
    more = [str(path.relative_to(PROJECT)) for path in compiled_files(["tests/support"])]
    assert set(more) - set(found) >= {"tests/support/broken_games.py"}


def test_a_move_is_checked_without_listing_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # In hold'em there are thousands of bets.
    position = make_game("kuhn_v0").new_position()
    monkeypatch.delattr(Position, "legal_actions")
    for action in (2, np.int64(0), 1):
        position.apply(action)
    assert position.history == [2, 0, 1]
    assert [type(action) for action in position.history] == [int] * 3
    for wrong in (-1, 2, 10**30, 0.0, None, "1"):
        with pytest.raises(IllegalActionError, match="choose from 0"):
            position.apply(wrong)
