"""Derivatives of the primitives: each is another kernel, so none is ever taken of a kernel's inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax.interpreters import ad

from robomorph.errors import DerivativeError
from robomorph.interop.coordinates import bracket_transposed, is_flat, tangent_of
from robomorph.interop.functions import function_named
from robomorph.interop.jax.callee import Callee
from robomorph.interop.jax.primitives import BEND, PULL, PUSH, VALUE, bind

Arrays = Sequence[Any]


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero


def _tangents(callee: Callee, inputs: Arrays, changes: Arrays) -> list[Any]:
    """Changes of the inputs as the kernels take them: q's as a tangent vector."""
    model = callee.kernels.robot.model
    changes = [ad.instantiate_zeros(change) for change in changes]
    return [tangent_of(jnp, model, inputs[0], changes[0]), *changes[1:]]


def _value_jvp(inputs: Arrays, changes: Arrays, *, callee: Callee) -> Any:
    function = function_named(callee.wanted.name)
    if function.undifferentiable:
        raise DerivativeError(
            f"{function.name}: {function.undifferentiable}, or pass its arguments through"
            " jax.lax.stop_gradient where its results are to count as constants"
        )
    along = _tangents(callee, inputs, changes)
    return bind(VALUE, *inputs, callee=callee), bind(PUSH, *inputs, *along, callee=callee.derived("jvp"))


def _push_jvp(operands: Arrays, changes: Arrays, *, callee: Callee) -> Any:
    n = callee.arity
    if not all(map(_is_zero, changes[:n])):
        raise DerivativeError(
            f"second derivatives of {callee.wanted.name} are not available forward over forward: take reverse"
            " mode first, as jax.hessian(f) or jax.jacfwd(jax.grad(f)) do"
        )
    along = [ad.instantiate_zeros(change) for change in changes[n:]]
    return bind(PUSH, *operands, callee=callee), bind(PUSH, *operands[:n], *along, callee=callee)


def _push_transpose(weights: Arrays, *operands: Any, callee: Callee) -> Any:
    n = callee.arity
    weights = [ad.instantiate_zeros(w) for w in weights]
    gradient = bind(PULL, *operands[:n], *weights, callee=callee.derived("vjp"))
    asked = map(ad.is_undefined_primal, operands[n:])
    return [None] * n + [g if wanted else None for g, wanted in zip(gradient, asked, strict=True)]


def _pull_jvp(operands: Arrays, changes: Arrays, *, callee: Callee) -> Any:
    n = callee.arity
    inputs, weights = operands[:n], operands[n:]
    gradient = bind(PULL, *operands, callee=callee)
    terms = []
    if not all(map(_is_zero, changes[:n])):
        along = _tangents(callee, inputs, changes[:n])
        terms.append(bind(BEND, *inputs, *weights, *along, callee=callee.derived("hvp")))
    if not all(map(_is_zero, changes[n:])):
        terms.append(bind(PULL, *inputs, *map(ad.instantiate_zeros, changes[n:]), callee=callee))
    return gradient, [sum(parts[1:], parts[0]) for parts in zip(*terms, strict=True)]


def _pull_transpose(along: Arrays, *operands: Any, callee: Callee) -> Any:
    n = callee.arity
    along = [ad.instantiate_zeros(d) for d in along]
    weights = bind(PUSH, *operands[:n], *along, callee=callee.derived("jvp"))
    return [None] * n + list(weights)


def _bend_jvp(operands: Arrays, changes: Arrays, *, callee: Callee) -> Any:
    n = callee.arity
    if not all(map(_is_zero, changes[:n])):
        raise DerivativeError(f"third derivatives of {callee.wanted.name} are not available")
    inputs, weights, along = operands[:n], operands[n:-n], operands[-n:]
    terms = []
    if not all(map(_is_zero, changes[n:-n])):
        terms.append([*map(ad.instantiate_zeros, changes[n:-n]), *along])
    if not all(map(_is_zero, changes[-n:])):
        terms.append([*weights, *map(ad.instantiate_zeros, changes[-n:])])
    results = [bind(BEND, *inputs, *term, callee=callee) for term in terms]
    return bind(BEND, *operands, callee=callee), [sum(x[1:], x[0]) for x in zip(*results, strict=True)]


def _bend_transpose(along: Arrays, *operands: Any, callee: Callee) -> Any:
    """<u, bend(v)> is the derivative of w' results along u, then along v. Where coordinates simply add, the
    order makes no difference; along rotations it makes that along the bracket [v, u]."""
    n = callee.arity
    if any(map(ad.is_undefined_primal, operands[:-n])):
        raise DerivativeError(f"third derivatives of {callee.wanted.name} are not available")
    inputs, weights = operands[:n], operands[n:-n]
    along = [ad.instantiate_zeros(d) for d in along]
    bent = list(bind(BEND, *inputs, *weights, *along, callee=callee))
    model = callee.kernels.robot.model
    if not is_flat(model):
        gradient = bind(PULL, *inputs, *weights, callee=callee.derived("vjp"))
        bent[0] = bent[0] + bracket_transposed(jnp, model, along[0], gradient[0])
    asked = map(ad.is_undefined_primal, operands[-n:])
    known = [None] * (len(operands) - n)
    return known + [g if wanted else None for g, wanted in zip(bent, asked, strict=True)]


def define_derivatives() -> None:
    """Tells JAX of them; more than once does no harm."""
    ad.primitive_jvps.update({VALUE: _value_jvp, PUSH: _push_jvp, PULL: _pull_jvp, BEND: _bend_jvp})
    ad.primitive_transposes.update({PUSH: _push_transpose, PULL: _pull_transpose, BEND: _bend_transpose})
