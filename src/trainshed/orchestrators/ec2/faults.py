"""Faults of a job on plain EC2 nodes: none can be rehearsed so far."""

from collections.abc import Mapping

from trainshed.rehearse.faults import Behaviour, FaultKind

FAULTS: Mapping[FaultKind, Behaviour] = {}
WITHOUT: Mapping[FaultKind, str] = {}
