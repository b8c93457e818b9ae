"""The instance types that each orchestrator takes."""

from trainshed.catalogue import AcceleratorFamily, all_types, lookup
from trainshed.spec import Orchestrator

# Kubernetes counts no Qualcomm cards: there is no device plugin that EKS or their maker names.
NOT_TAKEN = {(Orchestrator.EKS, AcceleratorFamily.QUALCOMM)}

TAKEN = [
    (name, orchestrator)
    for orchestrator in Orchestrator
    for name in all_types()
    if (orchestrator, lookup(name).accelerator.family) not in NOT_TAKEN
]
