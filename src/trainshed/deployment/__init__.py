"""What a deployment waits for: the resources of a cloud assembly, and the longest chain of them."""

from trainshed.deployment.apart import storage_and_compute
from trainshed.deployment.assembly import Assembly, Resource, read_assembly
from trainshed.deployment.chain import Deployment, Link, Span, StackTime, deployment
from trainshed.deployment.times import ObservedTime, observed_time

__all__ = [
    "Assembly",
    "Deployment",
    "Link",
    "ObservedTime",
    "Resource",
    "Span",
    "StackTime",
    "deployment",
    "observed_time",
    "read_assembly",
    "storage_and_compute",
]
