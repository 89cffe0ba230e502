"""Arguments that are refused, by name, and those that must not be silently wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from tests.interop.cases import load
from tests.interop.torch.package import Functions, leaves, same, tensors, torch

ONES = torch.ones(7, dtype=torch.float64)
BAD: dict[str, tuple[Any, str]] = {
    "half": (ONES.half(), r"qd: expected float32 or float64, found torch\.float16: convert"),
    "bfloat16": (ONES.bfloat16(), r"qd: expected float32 or float64, found torch\.bfloat16"),
    "integers": (ONES.long(), r"qd: expected float32 or float64, found torch\.int64"),
    "booleans": (ONES.bool(), r"qd: expected float32 or float64, found torch\.bool"),
    "complex": (ONES.cdouble(), r"qd: .*found torch\.complex128: pass its real part"),
    "sparse": (ONES.to_sparse(), r"qd: expected a dense tensor, found layout torch\.sparse_coo: .*to_dense"),
    "numpy": (np.ones(7), r"qd: expected a Torch tensor, found ndarray: pass torch\.as_tensor\(qd\)"),
    "list": ([1.0] * 7, "qd: expected a Torch tensor, found list"),
    "number": (1.0, "qd: expected a Torch tensor, found float"),
    "nothing": (None, "qd: expected a Torch tensor, found NoneType"),
    "too short": (ONES[:6], r"qd: expected shape \(\.\.\., 7\), found \(6,\)"),
    "scalar": (ONES[0], r"qd: expected shape \(\.\.\., 7\), found \(\)"),
    "other batch": (ONES.expand(2, 7), r"do not broadcast together: q \(3,\), qd \(2,\)"),
    "elsewhere": (ONES.to("meta"), r"qd: expected a tensor in the CPU's memory, found one on meta.*qd\.cpu"),
}


@pytest.mark.parametrize("kind", BAD)
def test_refused_by_name(kind: str) -> None:
    functions, (q, _, tau) = Functions(load("iiwa14")), tensors("iiwa14", batch=3)
    value, message = BAD[kind]
    with pytest.raises(ArgumentError, match=message):
        functions.forward_dynamics(q, value, tau)
    single = tuple(x.float() for x in (q, tau))
    with pytest.raises(ArgumentError, match=message):
        functions.forward_dynamics(single[0], value, single[1])


def test_a_nested_tensor_and_what_is_no_robot() -> None:
    f, (q, qd, tau) = Functions(load("iiwa14")).forward_dynamics, tensors("iiwa14", batch=3)
    for place in range(3):
        given = [torch.nested.nested_tensor([x, x]) if k == place else x for k, x in enumerate((q, qd, tau))]
        with pytest.raises(ArgumentError, match=r"expected a dense tensor, found a nested one: .*unbind\(\)"):
            f(*given)
    wrong: Any = "iiwa14"
    with pytest.raises(ArgumentError, match="robot: expected a Robot, found str: pass what robomorph"):
        Functions(wrong)


@pytest.mark.parametrize("dt, dtype", [(10**400, "float64"), (1e300, "float32")], ids=["whole", "real"])
def test_numbers_that_no_tensor_holds(dt: float, dtype: str) -> None:
    given = tensors("iiwa14", dtype=dtype)
    with pytest.raises(ArgumentError, match=rf"dt: expected a number that torch\.{dtype} holds"):
        Functions(load("iiwa14")).step(*given, dt)


def test_frames_links_and_wrenches_are_refused_by_name() -> None:
    robot = load("iiwa14")
    functions, (q, qd, tau) = Functions(robot), tensors("iiwa14", batch=3)
    with pytest.raises(ArgumentError, match=r"frame: unknown name 'hand'"):
        functions.forward_kinematics(q, "hand")
    with pytest.raises(ArgumentError, match="frame: expected the name of a link or tool frame, found 3"):
        functions.forward_kinematics(q, 3)
    with pytest.raises(ArgumentError, match=r"f_ext: unknown link 'hand'"):
        functions.forward_dynamics(q, qd, tau, {"hand": torch.ones(6)})
    link = robot.link_names[-1]
    with pytest.raises(
        ArgumentError, match=rf"f_ext\['{link}'\]: expected shape \(\.\.\., 6\), found \(5,\)"
    ):
        functions.forward_dynamics(q, qd, tau, {link: torch.ones(5)})
    with pytest.raises(ArgumentError, match=r"f_ext: expected shape \(\.\.\., \d+, 6\), found \(6,\)"):
        functions.forward_dynamics(q, qd, tau, torch.ones(6))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_go_through(bad: float) -> None:
    """Only to their own row, and into its gradient."""
    robot = load("iiwa14")
    functions, (q, qd, tau) = Functions(robot), leaves(tensors("iiwa14", batch=3))
    with torch.no_grad():
        tau[1, 2] = bad
    found = functions.forward_dynamics(q, qd, tau)
    assert not found[1].isfinite().all()
    clean = robot.forward_dynamics(*(x.detach().numpy()[::2] for x in (q, qd, tau)))
    same(found.detach()[::2].contiguous(), clean)
    with torch.no_grad():
        q[2, 1] = bad
    torch.where(torch.arange(3)[:, None] < 3, functions.forward_dynamics(q, qd, tau), 0.0).sum().backward()
    assert q.grad[0].isfinite().all() and q.grad[2].isnan().any()


@pytest.mark.parametrize("case", ["two balls", "planar", "crane-floating"])
def test_lengths_other_than_one(case: str) -> None:
    robot = load(case)
    f, (q, qd, tau) = Functions(robot).forward_dynamics, tensors(case, batch=3)
    unit = robot._units[-1]
    long = q.clone()
    long[1, unit.start : unit.stop] *= 1.001
    refused = rf"q: joint '{unit.joint}' needs a unit .*found length 1\.001"
    with pytest.raises(ArgumentError, match=refused):
        f(long, qd, tau)
    with pytest.raises(ArgumentError, match=refused):
        torch.func.vmap(torch.func.jacfwd(f))(long, qd, tau)
    with pytest.raises(ArgumentError, match="length 0"):
        f(torch.zeros_like(q), qd, tau)
    long[1, unit.start] = float("nan")
    found = f(long, qd, tau)
    assert found[1].isnan().any() and found[0].isfinite().all() and found[2].isfinite().all()
    bare = robomorph.Robot(robot.model, check_finite=False)
    Functions(bare).forward_dynamics(1.001 * q, qd, tau)  # nobody asked for checks


@pytest.mark.parametrize("case", ["two balls", "planar", "crane-floating"])
def test_wrong_shapes_where_lengths_are_looked_at(case: str) -> None:
    robot = load(case)
    functions, (q, qd, tau) = Functions(robot), tensors(case, batch=3)
    for wrong in (q[..., :3], q[..., :-1], q[0, 0].expand(()), torch.cat([q, q], -1)):
        lead = wrong.shape[:-1]
        with pytest.raises(ArgumentError, match=rf"^q: expected shape \(\.\.\., {robot.nq}\), found"):
            functions.forward_dynamics(wrong, qd[0].expand(*lead, -1), tau[0].expand(*lead, -1))
        with pytest.raises(ArgumentError, match=r"^q: expected shape"):
            functions.mass_matrix(wrong.clone().requires_grad_())


def test_a_change_in_place_after_the_call_is_noticed() -> None:
    f, inputs = Functions(load("iiwa14")).forward_dynamics, leaves(tensors("iiwa14", batch=3))
    moved = inputs[0] * 1.0
    result = f(moved, *inputs[1:])
    moved += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_a_graph_is_used_up_unless_it_is_kept() -> None:
    f, inputs = Functions(load("iiwa14")).forward_dynamics, leaves(tensors("iiwa14"))
    total = f(*inputs).sum()
    total.backward(retain_graph=True)
    first = inputs[0].grad.clone()
    total.backward()
    assert torch.equal(inputs[0].grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        total.backward()


def test_modes_of_torch() -> None:
    """inference_mode, no_grad, autocast, checkpoints, hooks, anomaly detection."""
    f, given = Functions(load("iiwa14")).forward_dynamics, tensors("iiwa14", batch=3)
    expected = load("iiwa14").forward_dynamics(*(x.numpy() for x in given))
    with torch.inference_mode():
        same(f(*given), expected)
        same(f(*(x.clone() for x in given)), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        same(f(*given), expected)
        with pytest.raises(ArgumentError, match=r"qd: .*bfloat16"):
            f(given[0], given[1].float() @ torch.eye(7), given[2])
    inputs = leaves(given)
    plain = torch.autograd.grad(f(*inputs).sum(), inputs)
    again = torch.utils.checkpoint.checkpoint(f, *inputs, use_reentrant=False)
    with torch.autograd.detect_anomaly(check_nan=True):
        for a, b in zip(torch.autograd.grad(again.sum(), inputs), plain, strict=True):
            assert torch.equal(a, b)
    with torch.autograd.graph.save_on_cpu():
        assert torch.equal(torch.autograd.grad(f(*inputs).sum(), inputs)[0], plain[0])
    result = f(*inputs)
    result.register_hook(lambda w: 2 * w)
    assert torch.equal(torch.autograd.grad(result.sum(), inputs[0])[0], 2 * plain[0])


def test_another_default_device() -> None:
    """Numbers and what second derivatives make by themselves are in the CPU's memory all the same."""
    functions, given = Functions(load("iiwa14")), tensors("iiwa14")
    expected = functions.step(*given, 0.01)
    once: Any = lambda q: torch.func.jvp(lambda q: functions.gravity_torque(q).sum(), (q,), (given[1],))[1]  # noqa: E731
    twice: Any = lambda q: torch.func.jvp(once, (q,), (given[2],))[1]  # noqa: E731
    bent = twice(given[0])
    with torch.device("meta"):
        assert all(map(torch.equal, functions.step(*given, 0.01), expected))
        assert torch.equal(twice(given[0]), bent)


def test_gradients_of_some_arguments() -> None:
    f, (q, qd, tau) = Functions(load("iiwa14")).forward_dynamics, tensors("iiwa14", batch=3)
    tau = tau.requires_grad_()
    f(q, qd, tau).sum().backward()
    assert q.grad is None and tau.grad.abs().sum() > 0
    with pytest.raises(RuntimeError, match="does not require grad"):
        f(q, qd, tau.detach()).sum().backward()


def test_batches_of_the_old_kind_are_refused_with_the_way_round() -> None:
    f, inputs = Functions(load("iiwa14")).forward_dynamics, leaves(tensors("iiwa14"))
    weights = torch.eye(7, dtype=torch.float64)
    with pytest.raises(ArgumentError, match=r"take torch\.func\.vmap, jacrev or jacfwd"):
        torch.autograd.grad(f(*inputs), inputs, weights, is_grads_batched=True)


def test_what_a_subclass_of_tensors_does_is_not_passed_by() -> None:
    seen: list[str] = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return super().__torch_function__(func, types, args, kwargs or {})

    f, given = Functions(load("iiwa14")).forward_dynamics, tensors("iiwa14")
    found = f(given[0].as_subclass(Watched), *given[1:])
    assert any("robomorph" in name for name in seen)
    same(found.as_subclass(torch.Tensor), load("iiwa14").forward_dynamics(*(x.numpy() for x in given)))


def test_equal_robots_share_kernels_and_others_do_not() -> None:
    first, again = (robomorph.load("iiwa14") for _ in range(2))
    other = robomorph.load("iiwa14", payloads={"lbr_iiwa_link_7": (3.0, (0, 0, 0.1), np.zeros((3, 3)))})
    rooms = [Functions(robot)._room for robot in (first, again, other)]
    assert rooms[0] is rooms[1] is not rooms[2]
    unchecked = Functions(robomorph.load("iiwa14", check_finite=False))._room
    assert unchecked is not rooms[0] and Functions(first, threads=2)._room is not rooms[0]
    given = tensors("iiwa14")
    arrays = [x.numpy() for x in given]
    same(Functions(other).forward_dynamics(*given), other.forward_dynamics(*arrays))
    same(Functions(first).forward_dynamics(*given), first.forward_dynamics(*arrays))


def test_a_robot_that_is_dropped_lives_as_long_as_its_graph() -> None:
    inputs = leaves(tensors("iiwa14"))
    robot = robomorph.load("iiwa14", gravity=(0.0, 0.0, -1.5))
    result = Functions(robot).forward_dynamics(*inputs)
    expected = torch.autograd.grad(Functions(robot).forward_dynamics(*inputs).sum(), inputs)
    del robot
    for a, b in zip(torch.autograd.grad(result.sum(), inputs), expected, strict=True):
        assert torch.equal(a, b)
    gone = Functions(robomorph.load("iiwa14", gravity=(0.0, 0.0, -1.25)))
    key = gone._room.key
    del gone
    with pytest.raises(ArgumentError, match=r"this process has not met: make robomorph\.torch\.Functions"):
        torch.ops.robomorph.call(key, "gravity_torque\x1f", "", [inputs[0].detach()])
