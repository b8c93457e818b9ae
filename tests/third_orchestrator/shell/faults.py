"""Faults of its jobs in a rehearsal: none."""

from collections.abc import Mapping

from trainshed.rehearse.faults import Behaviour, FaultKind

FAULTS: Mapping[FaultKind, Behaviour] = {}
WITHOUT: Mapping[FaultKind, str] = {}
