"""Arrays of every kind and library: taken as what they are, or refused by name."""

from __future__ import annotations

import array
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.runtime.array_kinds import as_array
from robomorph.targets.gpu.cuda import interop
from tests.hostile.targets import FLEXIBLE, TARGETS, kernel, robot, states
from tests.oracle.compare import assert_same_bits

Array = npt.NDArray[Any]
NV = 2


class Exchanged:
    """An array of a library that offers DLPack and nothing else."""

    def __init__(self, values: Array, device: tuple[int, int] = (1, 0)) -> None:
        self.values, self.device = values, device

    def __dlpack__(self, **options: Any) -> Any:
        if self.device[0] not in (1, 3):
            raise BufferError("not here")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Converted:
    """An array of a library that offers a dtype and a conversion (as a column of a table does)."""

    def __init__(self, values: Array) -> None:
        self.values, self.dtype = values, values.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.values if dtype is None else self.values.astype(dtype)


class Tensor(Converted):
    """What a tensor in a graph of derivatives, or on a GPU, does when NumPy asks for it."""

    def __init__(self, values: Array, *, requires_grad: bool = False, device: int = 1) -> None:
        super().__init__(values)
        self.requires_grad, self.device = requires_grad, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.device != 1:
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        return super().__array__(dtype, copy)


class Subclass(np.ndarray):
    pass


def packed(values: Array) -> Array:
    """A field of packed records: unaligned, with a stride."""
    records = np.zeros(values.shape[:-1], [("flag", "u1"), ("x", values.dtype, values.shape[-1:])])
    records["x"] = values
    assert not records["x"].flags.aligned
    return records["x"]


def offset(values: Array) -> Array:
    """Contiguous, one byte off its alignment."""
    view = np.frombuffer(b"\0" + values.tobytes(), values.dtype, offset=1).reshape(values.shape)
    assert view.flags.c_contiguous and not view.flags.aligned
    return view


KINDS: dict[str, Any] = {
    "array": lambda x: x,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "little-endian": lambda x: x.astype(x.dtype.newbyteorder("<")),
    "dlpack": Exchanged,
    "dlpack of pinned memory": lambda x: Exchanged(x, (3, 0)),
    "converted": Converted,
    "tensor": Tensor,
    "subclass": lambda x: x.view(Subclass),
    "memoryview": lambda x: np.ascontiguousarray(x).data,
    "array.array": lambda x: array.array(x.dtype.char, x.tolist()) if x.ndim == 1 else x,
    "list of numpy numbers": lambda x: [x.dtype.type(v) for v in x] if x.ndim == 1 else [list(r) for r in x],
    "tuple of arrays": lambda x: tuple(x) if x.ndim > 1 else x,
    "offset": offset,
    "packed field": packed,
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "Fortran order": np.asfortranarray,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lead", [(), (7,)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_its_dtype(kind: str, lead: tuple[int, ...], dtype: str) -> None:
    args = states("chain", lead, dtype)
    expected = robot("chain").inverse_dynamics(*args)
    found = robot("chain").inverse_dynamics(*(KINDS[kind](x) for x in args))
    assert type(found) is np.ndarray
    assert_same_bits(found, expected, kind)
    # one alone among plain arrays, in every place
    for k in range(3):
        mixed = [KINDS[kind](x) if i == k else x for i, x in enumerate(args)]
        assert_same_bits(robot("chain").inverse_dynamics(*mixed), expected, f"{kind} in place {k}")


@pytest.mark.parametrize("target", FLEXIBLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_of_every_target_take_every_kind(kind: str, dtype: str, target: str) -> None:
    run, args = kernel("chain", "inverse_dynamics", target, dtype), states("chain", (7,), dtype)
    assert_same_bits(run(*(KINDS[kind](x) for x in args)), run(*args), kind)


@pytest.mark.parametrize("kind", ["dlpack", "tensor", "subclass", "memoryview", "converted"])
def test_memory_is_shared_where_it_can_be(kind: str) -> None:
    values = np.zeros((3, NV), np.float32)
    assert np.shares_memory(as_array("q", KINDS[kind](values)), values)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"list of numpy numbers", "tuple of arrays"}))
def test_a_float32_kernel_refuses_float64_of_every_kind(kind: str) -> None:
    run = kernel("chain", "mass_matrix", "cpu", "float32")
    with pytest.raises(ArgumentError, match=r"^q: expected float32 .*found float64"):
        run(KINDS[kind](states("chain")[0] if kind == "array.array" else states("chain", (2,))[0]))


def test_integrate_keeps_float32_of_other_libraries() -> None:
    q, qd, _ = states("chain", (3,), "float32")
    exchanged: Any = Exchanged(q)
    assert robot("chain").integrate(exchanged, Tensor(qd)).dtype == np.float32
    assert robot("chain").difference(q.astype(">f4"), offset(q)).dtype == np.float32


def test_wrenches_of_every_kind() -> None:
    q, qd, qdd = states("chain", (), "float32")
    link = robot("chain").link_names[-1]
    expected = robot("chain").inverse_dynamics(q, qd, qdd, f_ext={link: np.arange(6, dtype=np.float32)})
    assert expected.dtype == np.float32
    for kind, make in KINDS.items():
        wrenches = {link: make(np.arange(6, dtype=np.float32))}
        found = robot("chain").inverse_dynamics(q, qd, qdd, f_ext=wrenches)
        assert_same_bits(found, expected, kind)


# --- refused by name -------------------------------------------------------------------------------

ONES = np.ones(NV)
REFUSED: dict[str, tuple[Any, str]] = {
    "requires grad": (
        Tensor(ONES, requires_grad=True),
        r"requires grad.*robomorph\.torch\.Functions.*\.detach\(\)",
    ),
    "on a GPU": (Tensor(ONES, device=2), r"Tensor is in a device's memory.*\.cpu\(\)"),
    "dlpack on a GPU": (Exchanged(ONES, (2, 0)), r"Exchanged is in a device's memory.*\.cpu\(\)"),
    "on another device": (Exchanged(ONES, (8, 0)), r"in a device's memory"),
    "grad in a list": ([Tensor(np.array(1.0), requires_grad=True)] * NV, "requires grad"),
    "float16": (Converted(ONES.astype(np.float16)), "expected float32 or float64, found dtype float16"),
    "bool": (Converted(ONES.astype(bool)), "expected float32 or float64, found dtype bool"),
    "complex": (ONES.astype(complex), "found dtype complex128"),
    "long double": (ONES.astype(np.longdouble), "expected float32 or float64"),
    "records": (np.zeros(NV, [("x", "f8")]), "expected float32 or float64"),
    "objects": (np.array([1.0, None]), "expected float32 or float64, found dtype object"),
    "generator": ((x for x in ONES), "expected float32 or float64 numbers, found generator"),
    "masked": (np.ma.ones(NV), "masked arrays"),
    "no dimension": (np.array(1.0), r"expected shape \(..., 2\), found \(\)"),
    "a NumPy number": (np.float32(1.0), r"expected shape \(..., 2\), found \(\)"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str, target: str) -> None:
    value, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=f"^q: .*{message}"):
        kernel("chain", "mass_matrix", target)(value)


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name_of_the_robot(case: str) -> None:
    value, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=f"^q: .*{message}"):
        robot("chain").mass_matrix(value)
    with pytest.raises(ArgumentError, match=f"^qdd: .*{message}"):
        robot("chain").inverse_dynamics(ONES, ONES, value)


def test_a_cuda_kernel_refuses_a_tensor_that_requires_grad() -> None:
    with pytest.raises(ArgumentError, match=r"requires grad: pass its \.detach\(\)"):
        interop.adopt(Tensor(ONES, requires_grad=True, device=2), None)


def test_whole_numbers_are_float64_as_ever() -> None:
    small, medium = np.ones(NV, np.uint8), np.ones(NV, np.int32)
    values: list[Any] = [np.ones(NV, int), Converted(small), Exchanged(medium)]
    for value in values:
        assert robot("chain").mass_matrix(value).dtype == np.float64


def test_a_matrix_is_a_batch() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[0.1, 0.2]])
    assert robot("chain").mass_matrix(matrix).shape == (1, NV, NV)


# --- Torch itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    args = states("chain", (4,), dtype)
    tensors = [torch.from_numpy(x) for x in args]
    made: Robot = robot("chain")
    found = made.forward_dynamics_gradient(*tensors)
    for ours, theirs in zip(found, made.forward_dynamics_gradient(*args), strict=True):
        assert type(ours) is np.ndarray
        assert_same_bits(ours, theirs, "torch")
    out = torch.empty((4, NV), dtype=tensors[0].dtype)
    with pytest.raises(
        ArgumentError, match=r"^out tau: expected a NumPy array, found Tensor: pass its \.numpy\(\)"
    ):
        kernel("chain", "inverse_dynamics", "cpu", dtype)(*tensors, out=out)
    kernel("chain", "inverse_dynamics", "cpu", dtype)(*tensors, out=out.numpy())
    assert_same_bits(out.numpy(), made.inverse_dynamics(*args), "out")
    turned = tensors[0].T.contiguous().T
    assert not turned.is_contiguous()
    assert_same_bits(made.mass_matrix(turned), made.mass_matrix(args[0]), "not contiguous")


def test_torch_tensors_that_are_refused() -> None:
    torch = pytest.importorskip("torch")
    made = robot("chain")
    cases = {
        r"requires grad.*q\.detach": torch.zeros(NV, requires_grad=True),
        r"requires grad.*q\.detach\(\)": torch.nn.Parameter(torch.zeros(NV)),
        "float16": torch.zeros(NV, dtype=torch.float16),
        "bfloat16": torch.zeros(NV, dtype=torch.bfloat16),
        "complex": torch.zeros(NV, dtype=torch.complex64),
        "in a device's memory": torch.zeros(NV, device="meta"),
        "expected an array of numbers": torch.zeros(NV).to_sparse(),
    }
    for message, tensor in cases.items():
        with pytest.raises(ArgumentError, match=rf"^q: .*({message})"):
            made.mass_matrix(tensor)
    assert made.mass_matrix(torch.zeros(NV, dtype=torch.int32)).dtype == np.float64


def test_reading_arrays_imports_no_other_library() -> None:
    code = (
        "import robomorph, sys; robomorph.load('chain:2').mass_matrix([0, 0]); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "False"
    assert robomorph.__version__
