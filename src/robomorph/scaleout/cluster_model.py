"""A model of a cluster, event by event: how long a job takes with many workers, stragglers and failures.

It is a model and says so: its rates are measured with one and two workers, all the rest is assumed and named.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from robomorph.errors import ArgumentError


@dataclass(frozen=True)
class Cluster:
    """What is assumed of workers and driver; times in s.

    shard: that a worker takes for a shard. start: until a worker takes its first. driver: of the one driver
    for every shard, one after the other. slow_share of all shards take `slow_times` as long. failures: of a
    worker in an hour; its shard is lost and done again, the worker is back after `restart`.
    """

    workers: int
    shard: float
    start: float = 0.0
    driver: float = 0.0
    slow_share: float = 0.0
    slow_times: float = 1.0
    failures: float = 0.0
    restart: float = 0.0

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ArgumentError(f"workers: expected 1 or more, found {self.workers!r}")
        if not self.shard > 0.0:
            raise ArgumentError(f"shard: expected seconds above 0, found {self.shard!r}")
        for name in ("start", "driver", "failures", "restart"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ArgumentError(f"{name}: expected 0 or more, found {getattr(self, name)!r}")
        if not (0.0 <= self.slow_share <= 1.0 and self.slow_times >= 1.0):
            raise ArgumentError(
                f"slow_share, slow_times: expected a share from 0 to 1 and a factor of 1 or more, found "
                f"{self.slow_share!r} and {self.slow_times!r}"
            )


@dataclass(frozen=True)
class Modelled:
    """seconds until the last shard is there; busy: of all workers together, lost work included; lost: shards
    that failures took, all of which were done again."""

    seconds: float
    busy: float
    lost: int


def simulate_cluster(cluster: Cluster, shards: int, seed: int = 0) -> Modelled:
    """The job of so many shards, on paper: a worker that is free gets the next shard as soon as the driver
    has time for it. The same seed gives the same answer."""
    if shards < 1:
        raise ArgumentError(f"shards: expected 1 or more, found {shards!r}")
    # Streams of their own: failures do not change which shards are slow.
    slow = np.random.default_rng([seed, 0]).random(shards) < cluster.slow_share
    rng = np.random.default_rng([seed, 1])
    free = [cluster.start] * cluster.workers  # a heap: when workers are free
    fails = cluster.failures / 3600.0  # a second
    driver, busy, end, lost, left = 0.0, 0.0, 0.0, 0, shards
    while left:
        driver = max(driver, heapq.heappop(free)) + cluster.driver
        takes = cluster.shard * (cluster.slow_times if slow[-left] else 1.0)
        until = rng.exponential(1.0 / fails) if fails else float("inf")
        if until < takes:
            lost, busy = lost + 1, busy + until
            heapq.heappush(free, driver + until + cluster.restart)
            _must_end(lost, shards)
            continue
        left, busy, end = left - 1, busy + takes, max(end, driver + takes)
        heapq.heappush(free, driver + takes)
    return Modelled(end, busy, lost)


def _must_end(lost: int, shards: int) -> None:
    if lost > 100 * shards:
        raise ArgumentError(
            f"failures: workers fail before they end a shard: {lost} of {shards} lost: make shards smaller"
        )


def ideal_seconds(cluster: Cluster, shards: int) -> float:
    """In closed form, without stragglers, failures and a driver that takes time: full rounds of all
    workers."""
    return cluster.start + -(-shards // cluster.workers) * cluster.shard
