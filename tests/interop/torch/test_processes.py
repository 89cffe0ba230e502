"""Pickles, copies, modules, threads and processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import robomorph
from tests.interop.cases import load
from tests.interop.torch.package import Functions, leaves, same, tensors, torch


class Twin(torch.nn.Module):
    """A module that holds a robot's functions beside its parameters."""

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self.functions = functions
        self.gain = torch.nn.Parameter(torch.ones(7, dtype=torch.float64))

    def forward(self, q: Any, qd: Any, tau: Any) -> Any:
        return self.functions.forward_dynamics(q, qd, self.gain * tau)


def gradient(functions: Functions) -> Any:
    inputs = leaves(tensors("iiwa14", batch=40))
    return torch.autograd.grad(functions.forward_dynamics(*inputs).sum(), inputs[0])[0].numpy().tobytes()


def test_pickle_and_copy() -> None:
    functions = Functions(load("iiwa14"), threads=2)
    expected = gradient(functions)
    for again in (pickle.loads(pickle.dumps(functions)), copy.copy(functions), copy.deepcopy(functions)):
        assert again.threads == 2 and gradient(again) == expected
    energy = functions.energy(*tensors("iiwa14", "energy"))
    again = pickle.loads(pickle.dumps(energy))
    assert type(again) is type(energy) and again.kinetic == energy.kinetic
    assert repr(functions).startswith("<Torch functions of <Robot")


def test_a_module_is_saved_and_loaded(tmp_path: Path) -> None:
    module = Twin(Functions(load("iiwa14")))
    assert list(module.state_dict()) == ["gain"] and len(list(module.parameters())) == 1
    torch.save(module, tmp_path / "twin.pt")
    again = torch.load(tmp_path / "twin.pt", weights_only=False)
    again.load_state_dict(module.state_dict())
    given = tensors("iiwa14", batch=3)
    expected = load("iiwa14").forward_dynamics(*(x.numpy() for x in given))
    for other in (again, copy.deepcopy(module), module.double()):
        same(other(*given), expected)


def test_threads() -> None:
    functions = Functions(robomorph.load("iiwa14", gravity=(0.0, 0.5, -9.0)))
    with ThreadPoolExecutor(8) as pool:
        found = {f.result() for f in [pool.submit(gradient, functions) for _ in range(40)]}
    assert len(found) == 1


class States(torch.utils.data.Dataset):
    def __init__(self, functions: Functions) -> None:
        self.functions, self.given = functions, tensors("iiwa14", batch=12)

    def __len__(self) -> int:
        return 12

    def __getitem__(self, k: int) -> Any:
        q, qd, tau = leaves([x[k] for x in self.given])
        qdd = self.functions.forward_dynamics(q, qd, tau)
        qdd.sum().backward()
        return torch.stack([qdd.detach(), tau.grad])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize("threads", [1, None])
def test_workers_of_a_data_loader(context: str, threads: int | None) -> None:
    """After kernels and their threads have been at work in this process."""
    functions = Functions(load("iiwa14"), threads=threads)
    functions.forward_dynamics(*tensors("iiwa14", batch=4000))
    states = States(functions)
    expected = torch.stack([states[k] for k in range(12)])
    loader = torch.utils.data.DataLoader(
        states, batch_size=4, num_workers=2, multiprocessing_context=context, timeout=300
    )
    assert torch.equal(torch.cat(list(loader)), expected)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_computes_gradients() -> None:
    functions = Functions(load("iiwa14"))
    expected = gradient(functions)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(gradient, [functions] * 4).get(300) == [expected] * 4
