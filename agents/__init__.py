"""The players. ``make_agent("random", game)`` makes one by its id.

What follows a colon belongs to the agent: ``cfr:runs/leduc`` is read from that folder,
``external:./player.py`` is that program. Before the colon must be an id of the table; any class of
yours enters as ``module:Class``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from common.errors import OptionError, UnknownNameError, one_line, reason_of
from common.imports import look_up

if TYPE_CHECKING:
    from agents.base import Agent
    from envs.core.game import Game

__all__ = [
    "AGENTS",
    "BEHAVIOURS",
    "LEARNERS",
    "ON_TOP",
    "OUTSIDE",
    "RESPONDERS",
    "agent_class",
    "make_agent",
    "make_responder",
    "split_name",
    "split_path",
    "without_learner",
]

TRAINED: dict[str, tuple[str, str]] = {
    "cfr": ("agents.cfr.learner:CFRLearner", "agents.policy:PolicyAgent"),
    "cfr_rounds": ("agents.games.liars_dice.learners:RoundsLearner", "agents.policy:PolicyAgent"),
    "mccfr": ("agents.cfr.learner:MCCFRLearner", "agents.policy:PolicyAgent"),
    "mccfr_rounds": (
        "agents.games.liars_dice.learners:SampledRoundsLearner",
        "agents.policy:PolicyAgent",
    ),
    "dqn": ("agents.dqn.learner:DQNLearner", "agents.dqn.agent:DQNAgent"),
    "offline": ("agents.offline.learner:OfflineLearner", "agents.offline.learner:OfflineAgent"),
    "sb3": ("agents.sb3.learner:SB3Learner", "agents.sb3.player:SB3Agent"),
    "q_learning": ("agents.tabular.learner:QLearning", "agents.tabular.learner:QLearningPlayer"),
    "sarsa": ("agents.tabular.learner:Sarsa", "agents.tabular.learner:SarsaPlayer"),
    "expected_sarsa": (
        "agents.tabular.learner:ExpectedSarsa",
        "agents.tabular.learner:ExpectedSarsaPlayer",
    ),
    "double_q": ("agents.tabular.learner:DoubleQ", "agents.tabular.learner:DoubleQPlayer"),
    "q_lambda": ("agents.tabular.learner:QLambda", "agents.tabular.learner:QLambdaPlayer"),
    "sarsa_lambda": (
        "agents.tabular.learner:SarsaLambda",
        "agents.tabular.learner:SarsaLambdaPlayer",
    ),
}
"""What ``train.py`` trains: id -> the learner, and the agent that plays what it has learnt."""

UNTRAINED: dict[str, str] = {
    "random": "agents.base:RandomAgent",
    "external": "agents.processes.external:ExternalAgent",
    "max_n": "agents.max_n.agent:MaxNAgent",
    "paranoid": "agents.max_n.agent:ParanoidAgent",
    "best_reply": "agents.max_n.agent:BestReplyAgent",
    "ismcts": "agents.ismcts.agent:ISMCTSAgent",
    "mo_ismcts": "agents.ismcts.agent:MOISMCTSAgent",
    "pimc": "agents.ismcts.agent:PIMCAgent",
    "flat_mc": "agents.ismcts.agent:FlatMonteCarloAgent",
    "oos": "agents.oos.agent:OOSAgent",
    "online_cfr": "agents.oos.agent:OnlineCFRAgent",
    "openspiel": "agents.processes.openspiel_bot:OpenSpielBot",
    "holdem_call": "agents.games.holdem.players:AlwaysCall",
    "holdem_fold": "agents.games.holdem.players:AlwaysFold",
    "holdem_raise": "agents.games.holdem.players:AlwaysRaise",
    "holdem_tight": "agents.games.holdem.players:Tight",
    "holdem_loose": "agents.games.holdem.players:Loose",
    "holdem_odds": "agents.games.holdem.players:PotOdds",
    "holdem_push": "agents.games.holdem.players:PushFold",
    "holdem_search": "agents.games.holdem.search:HoldemSearch",
    "kuhn_rule": "agents.games.kuhn.rule:KuhnRule",
    "leduc_rule": "agents.games.leduc.rule:LeducRule",
    "liars_dice_rule": "agents.games.liars_dice.rule:LiarsDiceRule",
    "pursuit_greedy": "agents.games.pursuit.simple:PursuitGreedy",
    "pursuit_heuristic": "agents.games.pursuit.simple:PursuitHeuristic",
    "pursuit_belief": "agents.games.pursuit.belief:PursuitBelief",
    "pursuit_capture": "agents.games.pursuit.capture_player:PursuitCapture",
    "pursuit_search": "agents.games.pursuit.search:PursuitSearch",
    "pursuit_foresight": "agents.games.pursuit.belief:PursuitForesight",
    "no_thanks_rule": "agents.games.no_thanks.rules:NoThanksRule",
    "no_thanks_greedy": "agents.games.no_thanks.rules:NoThanksGreedy",
    "no_thanks_sequence": "agents.games.no_thanks.rules:NoThanksSequence",
    "no_thanks_always_pay": "agents.games.no_thanks.rules:NoThanksAlwaysPay",
    "no_thanks_always_take": "agents.games.no_thanks.rules:NoThanksAlwaysTake",
    "no_thanks_slices": "agents.games.no_thanks.slices.agent:SlicesAgent",
    "no_thanks_value": "agents.games.no_thanks.slices.agent:ValueAgent",
    "leaning": "agents.games.liars_dice.wary:LeaningAgent",
    "profiled": "agents.games.liars_dice.wary:ProfiledAgent",
}
"""Who plays as they are: id -> where the class is."""

LEARNERS = {name: learner for name, (learner, _) in TRAINED.items()}
AGENTS = {**UNTRAINED, **{name: player for name, (_, player) in TRAINED.items()}}
"""Every agent: id -> where its class is; imported when asked for."""

SEARCHES = ("agents.ismcts.", "agents.max_n.", "agents.oos.")
"""Families whose players search, in every game."""

OUTSIDE = ("external", "openspiel")
ON_TOP = ("leaning", "profiled")
"""Agents of other programs, and those that are made of a trained one."""


RESPONDERS: dict[str, str] = {"lbr": "agents.games.holdem.lbr:LocalBestResponse"}
"""Agents that answer one other agent, whose policy they are handed, without learning."""


BEHAVIOURS: dict[str, str] = {"holdem_v0": "agents.games.holdem.behaviour:describe"}
"""Games whose players can be described: id -> the function that does it."""


def split_name(text: str) -> tuple[str, str]:
    """Cut ``name=agent`` in two; in ``external:a=b.py`` the sign belongs to the path.

    >>> split_name("zero=random"), split_name("external:a=b.py")
    (('zero', 'random'), ('', 'external:a=b.py'))
    """
    name, equals, rest = text.partition("=")
    if not equals or ":" in name:
        return "", text
    if not name.strip():
        raise OptionError(
            f"agent {one_line(repr(text), 80)} has no name before the sign: write "
            f"'name={one_line(rest, 60) or 'random'}', or the agent alone"
        )
    return name, rest


def without_learner(name: str) -> str:
    """Why a player cannot be trained, with what to do instead; empty for who can, or is unknown.

    >>> without_learner("random")
    "'random' needs no training: it plays as it is, by this name"
    """
    agent_id, _ = split_path(name)
    if agent_id in LEARNERS or agent_id not in {*AGENTS, *RESPONDERS}:
        return ""
    if agent_id in RESPONDERS:
        return f"'{name}' needs no training: evaluate.py best-response takes it with --learner"
    if agent_id in OUTSIDE:
        return f"'{name}' comes from outside and is not trained here: it plays as '{agent_id}:PATH'"
    if agent_id in ON_TOP:
        return (
            f"'{name}' needs no training: it plays on top of a trained player, which "
            f"--param {agent_id}.base=... names"
        )
    return f"'{name}' needs no training: it plays as it is, by this name"


def split_path(text: str) -> tuple[str, str]:
    """Cut ``id:path`` in two; whatever does not begin with a known id has no path.

    >>> split_path("external:./player.py"), split_path("random"), split_path("my.module:Player")
    (('external', './player.py'), ('random', ''), ('my.module:Player', ''))

    Players that search may be called ``search:ismcts`` and so on.

    >>> split_path("search:ismcts"), split_path("search:random")
    (('ismcts', ''), ('search:random', ''))
    """
    agent_id, _, path = text.partition(":")
    place = AGENTS.get(path, "")
    if agent_id == "search" and (place.startswith(SEARCHES) or ".search:" in place):
        return path, ""
    return (agent_id, path) if agent_id in AGENTS else (text, "")


def agent_class(agent_id: str) -> type[Agent]:
    """Find the class of an agent by its id, or any class of yours as ``"module:Class"``."""
    table = {**AGENTS, agent_id: agent_id} if ":" in agent_id else AGENTS
    try:
        found: type[Agent] = look_up("agent", table, agent_id)
    except UnknownNameError:
        raise
    except (Exception, SystemExit) as error:  # whatever somebody's module does
        reason = one_line(error) if isinstance(error, ImportError) else reason_of(error)
        raise UnknownNameError(f"agent '{agent_id}' cannot be found: {reason}") from error
    player = getattr(found, "player_id", "")  # a learner of somebody's says who plays its runs
    if player:
        return agent_class(player)
    if not hasattr(found, "takes"):
        raise UnknownNameError(f"'{agent_id}' is no agent: derive it from agents.base.Agent")
    return found


def make_agent(agent_id: str, game: Game, **params: Any) -> Agent:
    """Make an agent for a game.

    >>> from envs import make_game
    >>> make_agent("random", make_game("kuhn_v0"))
    RandomAgent(kuhn_v0())
    """
    agent_id, path = split_path(agent_id)
    found = agent_class(agent_id)
    if path:
        params = {"path": path, **params}
    if "path" in params and not found.takes("path"):
        raise OptionError(f"agent '{agent_id}' takes no path: write '{agent_id}' alone")
    return found(game, **params)


def make_responder(name: str, game: Game, opponent: Agent) -> Agent:
    """Make an agent that answers ``opponent`` in every other seat."""
    found: Agent = look_up("responder", RESPONDERS, name)(game, opponent)
    return found
