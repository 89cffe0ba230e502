"""How the time axis is cut, and what is evaluated where."""

from __future__ import annotations

import numpy as np

from robomorph.planning import nodes
from robomorph.planning.assemble import folded
from robomorph.planning.pieces import cut, make_pieces, within
from robomorph.planning.spline import Spline


def test_knots_refinements_and_windows_cut() -> None:
    pieces = cut(3, 2, [0.25, 1.0 + 1e-12, 2.5, 3.0])
    spans = [(p.interval + p.begin, p.interval + p.end) for p in pieces]
    assert spans == [(0, 0.25), (0.25, 0.5), (0.5, 1), (1, 1.5), (1.5, 2), (2, 2.5), (2.5, 3)]
    assert [within(p, 0.25, 1.5) for p in pieces] == [False, True, True, True, False, False, False]


def test_nodes_of_pieces_are_where_they_say() -> None:
    knot, rng = 0.4, np.random.default_rng(0)
    spline = Spline(rng.normal(size=(6, 2)), 3 * knot)
    found = make_pieces(cut(3, 1, [0.3, 2.9]), knot)
    for e in range(found.count):
        for basis, points in ((found.basis, nodes.lobatto(7)), (found.between, nodes.lobatto(14)[1::2])):
            t = found.start[e] + found.seconds[e] * (1.0 + points) / 2.0
            window = spline.control[found.first[e] : found.first[e] + 4]
            for order in range(3):
                assert np.allclose(basis[e, order] @ window, spline(t, order), rtol=0, atol=1e-10)
    assert np.isclose(found.quadrature.sum(), 3 * knot)


def test_neighbours_on_a_ring_stay_near() -> None:
    for count in (4, 5, 10, 11):
        places = folded(count)
        assert sorted(places) == list(range(count))
        assert max(abs(int(places[k]) - int(places[(k + 1) % count])) for k in range(count)) <= 2
