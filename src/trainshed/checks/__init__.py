"""What may be wrong with a cluster that can be planned: one rule, one function, one page."""

from trainshed.checks.judging import ClusterInFleet, clusters, judge, judge_fleet

__all__ = ["ClusterInFleet", "clusters", "judge", "judge_fleet"]
