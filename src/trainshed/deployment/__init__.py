"""What a deployment waits for: the resources of a cloud assembly, and the longest chain of them."""

from trainshed.deployment.apart import storage_and_compute
from trainshed.deployment.chain import Deployment, Link, Span, StackTime, deployment
from trainshed.deployment.graph import Resource, ResourceGraph, read_graph
from trainshed.deployment.times import ObservedTime, observed_time

__all__ = [
    "Deployment",
    "Link",
    "ObservedTime",
    "Resource",
    "ResourceGraph",
    "Span",
    "StackTime",
    "deployment",
    "observed_time",
    "read_graph",
    "storage_and_compute",
]
