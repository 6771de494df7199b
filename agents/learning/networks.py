"""Networks that rate actions, their gradients, and the optimiser, over flat arrays.

All weights of a network lie in one array, and so do all gradients: copying a network, blending two,
measuring a gradient and a step of the optimiser are one operation each. There are two kinds:

* :class:`PlainNetwork`: fully connected layers, with a gradient written out by hand, because for
  networks of this size the bookkeeping of automatic differentiation takes several times as long as
  the arithmetic (the tests hold it against ``torch.autograd``, and the optimiser against
  ``torch.optim.Adam``);
* :class:`ModuleNetwork`: any ``torch.nn.Module`` of yours, by automatic differentiation. Its class
  is named in the settings, ``network: my_module:MyNetwork``, and made with ``observation_size`` and
  ``num_actions``, with ``network_params`` if there are any, and, if its constructor has parameters
  of these names, with the ``game``, the ``fields`` of the observation that it is shown (their names
  and sizes, in order) and ``history``, how many such observations follow each other::

      class MyNetwork(torch.nn.Module):
          def __init__(self, observation_size, num_actions):
              super().__init__()
              self.layers = torch.nn.Sequential(
                  torch.nn.Linear(observation_size, 64), torch.nn.Tanh(),
                  torch.nn.Linear(64, num_actions))

          def forward(self, observations):  # [n, observation_size] -> [n, num_actions]
              return self.layers(observations)

A checkpoint holds numbers and the name of the class. The class is taken from the configuration, or
from whoever makes the player: code is never imported because a file names it.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from common.errors import MasqueradeError, OptionError, nearest
from common.imports import find_named
from envs.core.game import Game
from envs.core.options import Options, option

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MasqueradeError(
        "a player with a network needs torch: pip install -c constraints.txt -e '.[train]'"
    ) from error


PLAIN = "plain"
"""The name of :class:`PlainNetwork` in settings."""


class NetworkSettings(Options):
    """What a network is like, and what it is shown."""

    network: str = option(
        PLAIN,
        choices=(PLAIN,),
        can_import=True,
        help="fully connected layers, or a torch.nn.Module of yours",
    )
    network_params: dict[str, Any] = Field(
        default={}, description="what a module of yours takes besides its sizes and the game"
    )
    hidden: tuple[int, ...] = option(
        (128, 128), low=1, high=8192, is_list=True, help="units of each hidden layer"
    )
    dueling: bool = option(False, help="one half of the last layer for the value, one for actions")
    history: int = option(1, low=1, high=64, help="the seat's last observations, stacked")
    inputs: tuple[str, ...] = Field(
        default=(), description="fields of the observation it sees, such as own_*; empty: all"
    )

    def __post_init__(self) -> None:
        """Check what no single setting can."""
        super().__post_init__()
        has_layers = self.dueling or self.hidden != type(self).model_fields["hidden"].default
        if self.network != PLAIN and has_layers:
            raise OptionError(f"network '{self.network}' has its own layers: use network_params")
        if self.network == PLAIN and self.network_params:
            raise OptionError("network_params are for a module of yours: set network")
        if self.dueling and self.hidden[-1] < 2:
            raise OptionError("dueling needs a last hidden layer of at least 2 units: widen it")


class Inputs:
    """The named fields of an observation, in the order of the game.

    >>> from envs import make_game
    >>> game = make_game("holdem_v0", preset="thesis")
    >>> Inputs(game).size, Inputs(game, ["own_cards*", "position"]).size
    (330, 62)
    >>> Inputs(game, ["own_card"])
    Traceback (most recent call last):
    ...
    common.errors.OptionError: inputs: holdem_v0 has no field 'own_card': did you mean ...

    Args:
        game: whose observations they are.
        names: fields, with ``*`` for any letters; empty: all of them.
    """

    def __init__(self, game: Game, names: Sequence[str] = ()) -> None:
        """Find the places of the fields."""
        known = [field.name for field in game.fields]
        for name in names:
            if not any(fnmatchcase(field, name) for field in known):
                raise OptionError(
                    f"inputs: {game.id} has no field '{name}': {nearest(name, known)}"
                )
        is_wanted = [not names or any(fnmatchcase(each, name) for name in names) for each in known]
        sizes = [field.size for field in game.fields]
        self._columns = np.flatnonzero(np.repeat(is_wanted, sizes))
        self._has_all = all(is_wanted)
        self.fields = tuple(compress(game.fields, is_wanted))
        """Those that are seen, with their names and sizes."""
        self.size = len(self._columns)
        """How many numbers are left of an observation."""

    def of(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The columns that are seen: [..., observation_size] -> [..., size]."""
        if self._has_all:
            return observations
        return np.ascontiguousarray(observations[..., self._columns])


SlopesOf = Callable[[Tensor], Tensor]


def to_device(array: npt.NDArray[Any], device: str) -> Tensor:
    """Share an array with the processor, or copy it to a graphics card.

    The card fetches it from a pinned copy while the processor goes on; torch keeps that copy until
    it has been fetched, so the array may be written again at once.
    """
    shared = torch.from_numpy(array)
    return shared if device == "cpu" else shared.pin_memory().to(device, non_blocking=True)


def num_weights(input_size: int, num_actions: int, hidden: Sequence[int]) -> int:
    """Of fully connected layers.

    >>> num_weights(4, 3, (8,))
    67
    """
    sizes = [input_size, *hidden, num_actions]
    return sum(sizes[i] * sizes[i + 1] + sizes[i + 1] for i in range(len(sizes) - 1))


class Network(ABC):
    """Rates all actions of a position.

    Args:
        num_weights: of all layers.
        device: where it computes.
    """

    def __init__(self, num_weights: int, device: str) -> None:
        """Make room for weights and gradient."""
        self.device = device
        self.weights = torch.zeros(num_weights, device=device)
        self.gradient = torch.zeros_like(self.weights)
        """What ``differentiate`` has found last."""

    @abstractmethod
    def values(self, inputs: Tensor) -> Tensor:
        """Rate all actions: [n, input_size] -> [n, num_actions], a new array."""

    @abstractmethod
    def differentiate(self, inputs: Tensor, slopes_of: SlopesOf) -> None:
        """Fill ``gradient``, given how the loss changes with each rating.

        Args:
            inputs: [n, input_size].
            slopes_of: gets the ratings, [n, num_actions], and returns the derivative of the loss by
                each of them.
        """

    def values_of(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """``values`` from and to NumPy."""
        found = self.values(to_device(inputs, self.device))
        values: npt.NDArray[np.float32] = found.cpu().numpy()
        return values


class PlainNetwork(Network):
    """Fully connected layers with ReLU, then one value for each action.

    With ``dueling`` (Wang et al., 2016) the last hidden layer is cut in two: one half gives the
    value of the position, the other what each action adds to it, less the mean of these additions.

    >>> network = PlainNetwork(input_size=4, num_actions=3, hidden=(8,), seed=0)
    >>> network.values(torch.ones(2, 4)).shape, network.weights.shape
    (torch.Size([2, 3]), torch.Size([67]))
    """

    def __init__(
        self,
        input_size: int,
        num_actions: int,
        hidden: Sequence[int],
        dueling: bool = False,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        """Draw the first weights from ``seed``."""
        sizes = [input_size, *hidden]
        shapes = [(sizes[i], sizes[i + 1]) for i in range(len(hidden))]
        last = sizes[-1]
        # Value and actions, or actions alone.
        shapes += (
            [(last // 2, 1), (last - last // 2, num_actions)] if dueling else [(last, num_actions)]
        )
        super().__init__(sum(rows * columns + columns for rows, columns in shapes), device)
        self.dueling = dueling
        self._layers = _views(self.weights, shapes)
        self._gradients = _views(self.gradient, shapes)
        self._num_hidden = len(hidden)
        self._draw(seed)

    def _draw(self, seed: int) -> None:
        """Uniform within one over the root of the number of inputs, as torch does it."""
        generator = torch.Generator().manual_seed(seed)
        for layer in self._layers:
            bound = 1.0 / math.sqrt(layer[0].shape[0])
            for weights in layer:
                weights.copy_(
                    torch.empty(weights.shape).uniform_(-bound, bound, generator=generator)
                )

    def values(self, inputs: Tensor) -> Tensor:
        """Rate all actions: [n, input_size] -> [n, num_actions]."""
        return self._rate(self._activations(inputs)[-1])

    def _activations(self, inputs: Tensor) -> list[Tensor]:
        """The inputs and what each hidden layer makes of them."""
        found = [inputs]
        for weight, bias in self._layers[: self._num_hidden]:
            found.append(torch.addmm(bias, found[-1], weight).relu_())
        return found

    def _rate(self, features: Tensor) -> Tensor:
        *value_head, (weight, bias) = self._layers[self._num_hidden :]
        if not value_head:
            return torch.addmm(bias, features, weight)
        half = features.shape[1] // 2
        added = torch.addmm(bias, features[:, half:], weight)
        added -= added.mean(1, keepdim=True)
        return added.add_(torch.addmm(value_head[0][1], features[:, :half], value_head[0][0]))

    def differentiate(self, inputs: Tensor, slopes_of: SlopesOf) -> None:
        """Back through the layers, one product for each."""
        activations = self._activations(inputs)
        features = activations[-1]
        slopes = self._back_through_head(features, slopes_of(self._rate(features)))
        for i in reversed(range(self._num_hidden)):
            # What was cut off at zero has no slope; nobody needs the activations after this.
            slopes.mul_(activations[i + 1].sign_())
            _set_gradient(self._gradients[i], activations[i], slopes)
            if i:
                slopes = torch.mm(slopes, self._layers[i][0].t())

    def _back_through_head(self, features: Tensor, slopes: Tensor) -> Tensor:
        """Gradients of the last layer; returns the slopes of the last hidden layer."""
        weight = self._layers[-1][0]
        if not self.dueling:
            _set_gradient(self._gradients[-1], features, slopes)
            return torch.mm(slopes, weight.t())
        half = features.shape[1] // 2
        of_value = slopes.sum(1, keepdim=True)
        of_actions = slopes - of_value / slopes.shape[1]
        _set_gradient(self._gradients[-2], features[:, :half], of_value)
        _set_gradient(self._gradients[-1], features[:, half:], of_actions)
        value_weight = self._layers[-2][0]
        return torch.cat(
            [torch.mm(of_value, value_weight.t()), torch.mm(of_actions, weight.t())], dim=1
        )


def _views(flat: Tensor, shapes: Sequence[tuple[int, int]]) -> list[tuple[Tensor, Tensor]]:
    """Cut a flat array into the weights ([inputs, outputs]) and biases of layers."""
    layers = []
    start = 0
    for rows, columns in shapes:
        middle, end = start + rows * columns, start + rows * columns + columns
        layers.append((flat[start:middle].view(rows, columns), flat[middle:end]))
        start = end
    return layers


def _set_gradient(layer: tuple[Tensor, Tensor], inputs: Tensor, slopes: Tensor) -> None:
    torch.mm(inputs.t(), slopes, out=layer[0])
    torch.sum(slopes, 0, out=layer[1])


class ModuleNetwork(Network):
    """Any module of torch, by automatic differentiation.

    The module computes in evaluation mode: without dropout and with fixed statistics, so that a
    rating depends on the position alone and a run that is resumed goes on exactly as before.

    >>> network = ModuleNetwork(lambda observation_size, num_actions: nn.Linear(4, 3), 4, 3)
    >>> network.values(torch.ones(2, 4)).shape, network.weights.shape
    (torch.Size([2, 3]), torch.Size([15]))

    Args:
        make: the class of the module.
        input_size: given to it as ``observation_size``.
        num_actions: given to it as well.
        params: whatever else it takes.
        offered: given to it where it has parameters of these names.
        device: where it computes.
        seed: of its first weights.
    """

    def __init__(
        self,
        make: Callable[..., nn.Module],
        input_size: int,
        num_actions: int,
        params: Mapping[str, Any] | None = None,
        device: str = "cpu",
        seed: int = 0,
        offered: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the module and put its weights into one array."""
        named = inspect.signature(make).parameters
        taken = {name: value for name, value in (offered or {}).items() if name in named}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = make(
                observation_size=input_size, num_actions=num_actions, **{**taken, **(params or {})}
            )
        self.module = module.to(device).eval()
        self._params = list(module.parameters())
        # Buffers, such as statistics, are copied and saved with the weights; they have no gradient.
        buffers = [buffer for buffer in module.buffers() if buffer.is_floating_point()]
        parts = [*self._params, *buffers]
        super().__init__(sum(part.numel() for part in parts), device)
        start = 0
        for part in parts:
            end = start + part.numel()
            self.weights[start:end] = part.detach().reshape(-1)
            part.data = self.weights[start:end].view(part.shape)
            start = end
        self._check(input_size, num_actions)

    def _check(self, input_size: int, num_actions: int) -> None:
        found = self.values(torch.zeros(2, input_size, device=self.device))
        if found.shape != (2, num_actions) or not self._params:
            name, shape = type(self.module).__name__, tuple(found.shape)
            raise OptionError(
                f"network {name} must turn [2, {input_size}] into [2, {num_actions}] by weights of "
                f"its own, not into {list(shape)}"
            )

    def values(self, inputs: Tensor) -> Tensor:
        """Rate all actions."""
        with torch.no_grad():
            return self._rate(inputs).clone()

    def _rate(self, inputs: Tensor) -> Tensor:
        rated: Tensor = self.module(inputs)
        return rated

    def differentiate(self, inputs: Tensor, slopes_of: SlopesOf) -> None:
        """Back through the module by autograd."""
        with torch.enable_grad():
            values = self._rate(inputs)
        slopes = slopes_of(values.detach())
        found = torch.autograd.grad(values, self._params, slopes, allow_unused=True)
        start = 0
        for param, gradient in zip(self._params, found, strict=True):
            end = start + param.numel()
            self.gradient[start:end] = 0.0 if gradient is None else gradient.reshape(-1)
            start = end


def find_module(name: str) -> Callable[..., nn.Module]:
    """The class of a module by ``module:Class``; never imported for a name from a file.

    >>> find_module("torch.nn:Linear").__name__
    'Linear'
    """
    found = find_named("network", {}, name)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise OptionError(f"network '{name}' is no torch.nn.Module: derive it from one")
    return found


def make_network(game: Game, settings: NetworkSettings, device: str, seed: int = 0) -> Network:
    """A network as the game and the settings ask for; the seed is that of its first weights."""
    inputs = Inputs(game, settings.inputs)
    sizes = settings.history * inputs.size, game.facts.num_actions
    if settings.network == PLAIN:
        return PlainNetwork(*sizes, settings.hidden, settings.dueling, device, seed)
    module = find_module(settings.network)
    offered = {"game": game, "fields": inputs.fields, "history": settings.history}
    return ModuleNetwork(module, *sizes, settings.network_params, device, seed, offered)


def weights_of(game: Game, settings: NetworkSettings) -> int | None:
    """How many weights the network has; not known of a module of yours."""
    if settings.network != PLAIN:
        return None
    inputs = settings.history * Inputs(game, settings.inputs).size
    return num_weights(inputs, game.facts.num_actions, settings.hidden)


class Adam:
    """Adam (Kingma and Ba, 2015) on one flat array of weights."""

    BETAS = 0.9, 0.999
    EPSILON = 1e-8

    def __init__(self, weights: Tensor) -> None:
        """Begin with no memory of gradients."""
        self.mean = torch.zeros_like(weights)
        self.square = torch.zeros_like(weights)
        self.num_steps = 0

    def step(self, weights: Tensor, gradient: Tensor, learning_rate: float) -> None:
        """Move ``weights`` against the gradient."""
        beta, gamma = self.BETAS
        self.num_steps += 1
        self.mean.lerp_(gradient, 1.0 - beta)
        self.square.mul_(gamma).addcmul_(gradient, gradient, value=1.0 - gamma)
        # Both averages began at zero, and are corrected for it.
        correction = 1.0 - gamma**self.num_steps
        roots = self.square.sqrt().div_(math.sqrt(correction)).add_(self.EPSILON)
        step_size = learning_rate / (1.0 - beta**self.num_steps)
        weights.addcdiv_(self.mean, roots, value=-step_size)


class GradientDescent:
    """Plain steps against the gradient, with the face of :class:`Adam`; it remembers nothing."""

    def __init__(self, weights: Tensor) -> None:
        """There is nothing to begin with."""
        self.mean = torch.zeros(0, device=weights.device)
        self.square = torch.zeros(0, device=weights.device)
        self.num_steps = 0

    def step(self, weights: Tensor, gradient: Tensor, learning_rate: float) -> None:
        """Move ``weights`` against the gradient."""
        self.num_steps += 1
        weights.add_(gradient, alpha=-learning_rate)
