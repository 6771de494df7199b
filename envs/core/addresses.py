"""Compiled functions as one cheap argument: a table of their addresses.

Numba can be handed functions one by one, but each costs some twenty microseconds on every call to
unbox. :class:`Addresses` is an ``int``, the address of a table of addresses: nothing unboxes
faster. Compiled code reads it like an object with methods, ``table.step(state, rules, action)``,
is compiled once for all tables of a type, and calls with Numba's own convention.

``table.has_NAME`` says in compiled code whether a function is there that may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from envs.core.compiling import JIT_DISABLED

# By the name of a type. They are no part of the type itself, because Numba's cache keeps types with
# every function, and reads them again at every start.
_SIGNATURES: dict[str, Mapping[str, Any]] = {}


class AddressesType(types.Type):
    """The type of a table in compiled code.

    Args:
        name: of the type; there is only one by this name.
        signatures: of its functions, in the order of their addresses.
    """

    def __init__(self, name: str, signatures: Mapping[str, Any]) -> None:
        """Note what the table holds."""
        super().__init__(name=name)
        _SIGNATURES[name] = signatures

    @property
    def signatures(self) -> Mapping[str, Any]:
        """Of its functions."""
        return _SIGNATURES[self.name]


class Addresses(int):
    """Compiled functions, which Python can call as well.

    Args:
        functions: by name; those that are missing get no address.
    """

    numba_type: ClassVar[AddressesType]
    decorator: ClassVar[str] = "@compiled({})"
    """How a function is compiled as it should be, for those who did otherwise."""

    functions: Mapping[str, Callable[..., Any]]

    def __new__(cls, **functions: Callable[..., Any]) -> Self:
        """Note the addresses of functions with the right signatures."""
        signatures = cls.numba_type.signatures
        if not functions.keys() <= signatures.keys():
            extra = ", ".join(sorted(functions.keys() - signatures.keys()))
            raise TypeError(f"expected some of {', '.join(signatures)}: unknown {extra}")
        addresses = np.zeros(len(signatures), np.int64)
        if not JIT_DISABLED:
            for i, (name, signature) in enumerate(signatures.items()):
                if name in functions:
                    addresses[i] = cls._address(name, functions[name], signature)
        # In memory that nobody can write to: whoever could would have compiled code jump anywhere.
        fixed = np.frombuffer(addresses.tobytes(), np.int64)
        table = super().__new__(cls, fixed.ctypes.data)
        table.__dict__.update(functions, functions=functions)
        table.__dict__.update({f"has_{name}": name in functions for name in signatures})
        table.__dict__["_addresses"] = fixed  # which also keeps the memory alive
        return table

    def but(self, **functions: Callable[..., Any]) -> Self:
        """The same table with some of its functions replaced."""
        return type(self)(**{**self.functions, **functions})

    @classmethod
    def _address(cls, name: str, function: Any, signature: Any) -> int:
        overload = getattr(function, "overloads", {}).get(signature.args)
        if overload is None or overload.signature != signature:
            how = cls.decorator.format(name.upper())
            raise TypeError(f"'{name}' must be compiled as {signature}: decorate it with {how}")
        return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name))


@typeof_impl.register(Addresses)  # type: ignore[untyped-decorator]
def _typeof_addresses(value: Addresses, _context: Any) -> AddressesType:
    return value.numba_type


@register_model(AddressesType)
class _AddressesModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [(name, types.voidptr) for name in fe_type.signatures])


@unbox(AddressesType)  # type: ignore[untyped-decorator]
def _unbox_addresses(typ: Any, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.long_as_voidptr(obj)
    void_pointer = c.context.get_value_type(types.voidptr)
    table = c.builder.bitcast(address, void_pointer.as_pointer())
    struct = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    for i, name in enumerate(typ.signatures):
        slot = c.builder.gep(table, [ir.Constant(ir.IntType(64), i)])
        setattr(struct, name, c.builder.load(slot))
    return NativeValue(
        struct._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    )


@infer_getattr
class _AddressesAttributes(AttributeTemplate):
    key = AddressesType

    def generic_resolve(self, typ: Any, name: str) -> Any:  # type: ignore[override]
        if name in typ.signatures:
            return types.FunctionType(typ.signatures[name])
        return types.boolean if name.removeprefix("has_") in typ.signatures else None


@lower_getattr_generic(AddressesType)  # type: ignore[untyped-decorator]
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    struct = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    if name not in typ.signatures:
        return cgutils.is_not_null(builder, getattr(struct, name.removeprefix("has_")))
    kind = types.FunctionType(typ.signatures[name])
    function = cgutils.create_struct_proxy(kind)(context, builder)
    # A first-class function with a "jit address" is called with Numba's own convention: no C
    # wrapper in between.
    null = ir.Constant(context.get_value_type(types.voidptr), None)
    function.c_addr = null
    function.py_addr = null
    function.jit_addr = getattr(struct, name)
    return function._getvalue()
