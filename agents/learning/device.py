"""Where an agent computes: the processor, or a graphics card if there is one.

A run has one device. Whatever is made while it lasts and leaves the choice open, such as past
selves, opponents and their guides, computes where the run does: ``computing_on``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from common.errors import OptionError, nearest, one_line

AUTO, CPU, CUDA = "auto", "cpu", "cuda"
DEVICES = (AUTO, CPU, CUDA)
SMALL = 200_000
"""Weights of a network below which the processor is as quick: a pass takes it less time than a card
needs to be told what to do. Reckoned, not measured."""

_chosen: ContextVar[str] = ContextVar("chosen_device", default=AUTO)


def check_device(device: str) -> str:
    """Refuse an unknown name; whether there is a card is not asked."""
    if device not in DEVICES:
        raise OptionError(f"unknown device '{device}': {nearest(device, DEVICES)}")
    return device


@contextmanager
def computing_on(device: str) -> Iterator[None]:
    """What is made in here and leaves the choice open computes there; ``auto`` changes nothing.

    >>> with computing_on("cpu"), computing_on("auto"):
    ...     chosen_device()
    'cpu'
    """
    if check_device(device) == AUTO:
        yield
        return
    token = _chosen.set(device)
    try:
        yield
    finally:
        _chosen.reset(token)


def chosen_device() -> str:
    """What ``auto`` stands for here; ``auto``, if nobody has chosen."""
    return _chosen.get()


def resolve_device(
    device: str = AUTO, num_weights: int | None = None, is_shown: bool = False
) -> str:
    """``cpu`` or ``cuda``; torch is imported only if it has to be asked.

    A card whose driver does not fit is no card: ``auto`` says so and takes the processor.

    >>> resolve_device("cpu"), resolve_device("auto", num_weights=0)
    ('cpu', 'cpu')

    Args:
        device: one of ``DEVICES``.
        num_weights: of the network that is to compute there, for ``auto``; ``None``: not known.
        is_shown: say so if ``auto`` passes a card over because the network is small.
    """
    if check_device(device) == AUTO:
        device = chosen_device()
    if device == CPU or (device == AUTO and num_weights == 0):
        return CPU
    if device == AUTO and num_weights is not None and num_weights < SMALL:
        if is_shown and _has_card()[0]:
            _tell(
                f"on the processor, which is as quick for a network of {num_weights:,} weights; "
                "--device cuda takes the graphics card"
            )
        return CPU
    has_card, fault = _has_card()
    fault = _fault_of_card() if has_card else fault
    if not has_card and not fault and device == CUDA:
        raise OptionError("device 'cuda' needs a graphics card that torch can see: use auto or cpu")
    if fault and device == CUDA:
        raise OptionError(
            f"device 'cuda' cannot be used ({fault}): use --device cpu, or a driver that fits torch"
        )
    if fault:
        _tell(f"on the processor, for the graphics card cannot be used ({fault})")
    return CUDA if has_card and not fault else CPU


def _has_card() -> tuple[bool, str]:
    """Whether torch sees a card, and what it says of one that it cannot use."""
    try:
        import torch
    except ImportError:
        return False, ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        has_card = bool(torch.cuda.is_available())
    return has_card, "" if has_card or not told else one_line(told[0].message, 200)


def _fault_of_card() -> str:
    """What happens when the card is used for the first time; nothing, if it can be used.

    torch sees a card also where its driver is too old, or all of its memory is taken.
    """
    import torch

    try:
        torch.zeros(1, device=CUDA)
    except (AssertionError, RuntimeError) as error:
        return one_line(error, 200)
    return ""


@cache
def _tell(text: str) -> None:
    """One line, once in a process."""
    print(f"device: {text}", file=sys.stderr, flush=True)
