"""Faults of a job on Amazon EKS: none can be rehearsed so far."""

from collections.abc import Mapping

from trainshed.rehearse.faults import Behaviour, FaultKind

FAULTS: Mapping[FaultKind, Behaviour] = {}
