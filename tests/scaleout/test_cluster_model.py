"""The model of a cluster against closed forms, and what must hold of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robomorph.errors import ArgumentError
from robomorph.scaleout.cluster_model import Cluster, ideal_seconds, simulate_cluster
from robomorph.scaleout.scaling import Measured, modelled


@pytest.mark.parametrize("workers", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("shards", [1, 63, 64, 65, 999])
def test_without_troubles_it_is_full_rounds(workers: int, shards: int) -> None:
    cluster = Cluster(workers, 3.0, start=10.0)
    rounds = (shards + workers - 1) // workers
    found = simulate_cluster(cluster, shards)
    assert found.seconds == ideal_seconds(cluster, shards) == 10.0 + 3.0 * rounds
    assert found.busy == 3.0 * shards and found.lost == 0


def test_a_driver_without_time_bounds_it() -> None:
    """With workers enough, shards leave the driver one after the other."""
    found = simulate_cluster(Cluster(1000, 1.0, driver=0.5), 100)
    assert found.seconds == pytest.approx(100 * 0.5 + 1.0)


def test_one_worker_with_stragglers_takes_their_mean() -> None:
    found = simulate_cluster(Cluster(1, 1.0, slow_share=0.25, slow_times=5.0), 20_000, seed=1)
    assert found.seconds == found.busy == pytest.approx(20_000 * 2.0, rel=0.03)


def test_failures_cost_what_renewal_theory_says() -> None:
    """Until t seconds pass without a failure of rate f it takes (e^(f t) - 1) (1/f + restart)."""
    import math

    rate, takes, restart, shards = 36.0 / 3600.0, 30.0, 5.0, 20_000
    found = simulate_cluster(Cluster(1, takes, failures=36.0, restart=restart), shards, seed=3)
    each = (math.exp(rate * takes) - 1.0) * (1.0 / rate + restart)
    assert found.seconds == pytest.approx(shards * each, rel=0.03)


def test_troubles_never_help_and_seeds_repeat() -> None:
    plain = Cluster(50, 2.0)
    slow = replace(plain, slow_share=0.05, slow_times=10.0)
    failing = replace(plain, failures=20.0, restart=30.0)
    least = simulate_cluster(plain, 1000).seconds
    for cluster in (slow, failing):
        assert simulate_cluster(cluster, 1000, seed=5) == simulate_cluster(cluster, 1000, seed=5)
        assert simulate_cluster(cluster, 1000, seed=5) != simulate_cluster(cluster, 1000, seed=6)
        assert simulate_cluster(cluster, 1000, seed=5).seconds > least


def test_the_table_follows_from_what_was_measured() -> None:
    one = Measured(workers=1, rows=800, shards=8, seconds=42.0, shard=5.0, start=2.0, bytes_per_row=100.0)
    found = modelled(one, 0.01, 1_000_000, (10, 100))
    assert found["rows_per_worker_second"] == 20.0 and found["rows_per_shard"] == 1200
    assert found["shards"] == 834 and found["bytes"] == 1e8
    assert found["least_h_by_driver"] == pytest.approx(8.34 / 3600.0)
    first, last = found["table"]
    assert first["ideal_h"] == pytest.approx((2.0 + 84 * 60.0) / 3600.0)
    assert first["ideal_h"] < first["stragglers_h"] < 3 * first["ideal_h"] and last["efficiency"] < 1.0


@pytest.mark.parametrize("odd", [{"workers": 0}, {"shard": 0.0}, {"slow_share": 2.0}, {"failures": -1.0}])
def test_odd_clusters_are_refused(odd: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(odd))):
        Cluster(**{"workers": 2, "shard": 1.0, **odd})  # type: ignore[arg-type]


def test_workers_that_never_end_a_shard_are_told() -> None:
    with pytest.raises(ArgumentError, match="make shards smaller"):
        simulate_cluster(Cluster(2, 1e6, failures=3600.0), 2)
