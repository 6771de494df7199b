"""Where an agent computes: the processor, or a graphics card if there is one."""

from __future__ import annotations

from envs.core.errors import OptionError, nearest

__all__ = ["DEVICES", "check_device", "resolve_device"]

DEVICES = ("auto", "cpu", "cuda")


def check_device(device: str) -> str:
    """Refuse an unknown name; whether there is a card is not asked."""
    if device not in DEVICES:
        raise OptionError(f"unknown device '{device}': {nearest(device, DEVICES)}")
    return device


def resolve_device(device: str = "auto") -> str:
    """``cpu`` or ``cuda``; torch is imported only if it has to be asked.

    >>> resolve_device("cpu")
    'cpu'
    """
    if check_device(device) == "cpu":
        return device
    has_card = _has_card()
    if device == "cuda" and not has_card:
        raise OptionError("device 'cuda' needs a graphics card that torch can see: use auto or cpu")
    return "cuda" if has_card else "cpu"


def _has_card() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())
