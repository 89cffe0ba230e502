"""JAX's primitives for kernels: a function, and its derivatives "push" (jvp), "pull" (vjp) and "bend" (hvp).

Operands are arrays of one dtype (*lead, *row) with equal leading dimensions, so batching is free. With x the
arguments, w a weight per result and d, v tangent vectors (q's of nv entries):

    value(x)       results
    push(x, d)     derivatives of the results along d: linear in d, and its transpose is
    pull(x, w)     the gradient of w' results in the tangent space: linear in w, transposed push again
    bend(x, w, v)  the derivative of pull(x, w) along v: linear in v
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir, xla

from robomorph.errors import ArgumentError
from robomorph.interop.jax.callee import Callee
from robomorph.interop.jax.meshes import result_type, vary_alike
from robomorph.interop.jax.target import TARGET, call_on_host, let_call, takes_handler

Arrays = Sequence[Any]


def _primitive(name: str) -> Primitive:
    primitive = Primitive(f"robomorph_{name}")
    primitive.multiple_results = True
    primitive.def_impl(partial(xla.apply_primitive, primitive))
    primitive.def_abstract_eval(_abstract)
    mlir.register_lowering(primitive, _lower, platform="cpu")
    mlir.register_lowering(primitive, _refuse_platform)
    batching.primitive_batchers[primitive] = partial(_batch, primitive)
    return primitive


def bind(primitive: Primitive, *operands: Any, callee: Callee) -> list[Any]:
    """The primitive's results. Not `primitive.bind` itself, which knows nothing of meshes of devices."""
    results: list[Any] = primitive.bind(*vary_alike(operands), callee=callee)
    return results


def _lead(operand: Any, callee: Callee) -> tuple[Any, ...]:
    """The batch dimensions of the first operand."""
    return tuple(operand.shape[: operand.ndim - len(callee.kernel.inputs[0].shape)])


def _abstract(*operands: Any, callee: Callee) -> list[Any]:
    lead, dtype = _lead(operands[0], callee), jnp.dtype(callee.kernel.dtype)
    return [result_type(operands[0], (*lead, *port.shape), dtype) for port in callee.kernel.outputs]


def _batch(primitive: Primitive, operands: Arrays, dims: Sequence[Any], *, callee: Callee) -> Any:
    size = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
    moved = [
        jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
        for x, d in zip(operands, dims, strict=True)
    ]
    results = bind(primitive, *moved, callee=callee)
    return results, [0] * len(results)


def _lower(ctx: Any, *operands: Any, callee: Callee) -> Any:
    if not takes_handler():
        through_python = mlir.lower_fun(partial(_through_python, callee), multiple_results=True)
        return through_python(ctx, *operands)
    rows = 1
    for size in _lead(ctx.avals_in[0], callee):
        rows = rows * size
    let_call(callee, rows if isinstance(rows, int) else None)  # an exported function may leave sizes open
    lowering = jax.ffi.ffi_lowering(TARGET)
    return lowering(ctx, *operands, kernel=callee.digest, label=callee.label)


def _through_python(callee: Callee, *operands: Any) -> Any:
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in _abstract(*operands, callee=callee)]
    return list(jax.pure_callback(partial(call_on_host, callee), tuple(shapes), *operands))


def _refuse_platform(ctx: Any, *operands: Any, callee: Callee) -> Any:
    platforms = ", ".join(ctx.module_context.platforms)
    raise ArgumentError(
        f"{callee.label}: expected JAX's platform cpu, on which robomorph's kernels run, found {platforms}: "
        'move the arguments with jax.device_put(x, jax.devices("cpu")[0])'
    )


VALUE, PUSH, PULL, BEND = (_primitive(name) for name in ("value", "push", "pull", "bend"))
