"""What there is to train, and what a run would do, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agents.naming import list_games, list_learners

if TYPE_CHECKING:
    from training.config import RunConfig

__all__ = ["list_everything", "plan"]

CONFIGS = Path("configs")


def list_everything() -> str:
    """Games, learners with their settings, and configuration files."""
    lines = ["games", *list_games(), "", "learners", *list_learners(), "", "configs"]
    files = [f"  {path}" for path in config_files()]
    lines += files or [
        f"  none: there is no {CONFIGS}/ here; run it from the folder of the project"
    ]
    lines += ["", "settings of a learner: python train.py --config FILE --dry-run"]
    return "\n".join(lines)


def config_files() -> list[Path]:
    """Every configuration of a run: ``configs/<game>/<agent>.yaml``."""
    return sorted(
        path
        for path in CONFIGS.glob("*/*.yaml")
        if path.parent.name not in ("tournaments", "reproduce", "demo", "populations")
    )


def plan(config: RunConfig, folder: Path, device: str) -> str:
    """The resolved configuration and what would be done."""
    # Imported when needed: compiled code, which a list does without.
    from training.runner import make_learner

    learner = make_learner(config, config.build_game(), device)
    cadences = ", ".join(f"{name} every {every:,}" for name, every in config.train.cadences.items())
    against = ", ".join(entry.name for entry in config.train.opponents)
    settings = "\n".join(
        f"  {name} = {default}: {about} ({allowed})"
        for name, default, allowed, about in type(config.agent.params).describe()
    )
    return "\n".join(
        [
            config.to_yaml(),
            f"settings of {config.agent.id} and their defaults:",
            settings,
            "",
            f"plan: {config.train.steps:,} {learner.unit} of {learner.game!r} against {against}",
            f"      {cadences}; on {learner.task.device}; in {folder}",
        ]
    )
