"""Collective benchmarks: what they printed, and what it says about the nodes."""

from trainshed.collectives.judge import Cluster, judge, network_use, slow_nodes
from trainshed.collectives.model import BenchmarkRun, Operation, Tool
from trainshed.collectives.reader import read_benchmark
from trainshed.collectives.table import UnreadableLog

__all__ = [
    "BenchmarkRun",
    "Cluster",
    "Operation",
    "Tool",
    "UnreadableLog",
    "judge",
    "network_use",
    "read_benchmark",
    "slow_nodes",
]
