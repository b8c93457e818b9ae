"""Eksctl cluster files as `trainshed lint` reads them."""

from textwrap import dedent
from typing import Any

from trainshed.documents.problems import Where
from trainshed.documents.yaml import parse_document
from trainshed.lint.eksctl import EksctlCluster, is_eksctl, read_eksctl
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.model import Given, Unknown
from trainshed.lint.reading import Content

_HEAD = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-west-2, version: "1.35"}
"""


# Public and private ones of a VPC that is there.
SUBNETS = """\
vpc:
  id: vpc-1
  subnets:
    public:
      train: {id: subnet-1}
      us-west-2b: {}
    private:
      inner: {id: subnet-2}
"""


def cluster(groups: str) -> EksctlCluster:
    """Read a cluster file that has these lists of node groups."""
    document = parse_document(_HEAD + dedent(groups))
    assert isinstance(document.value, dict)
    assert is_eksctl(document.value)
    where = Where(file="cluster.yaml", positions=document.positions)
    (read,) = read_eksctl(Content(value=document.value, where=where))
    return read


def group(fields: str, *, managed: bool = True) -> EksctlGroup:
    """Read one node group, given as the inside of a flow mapping."""
    kind = "managedNodeGroups" if managed else "nodeGroups"
    (read,) = cluster(f"{kind}: [{{name: train, {fields}}}]").groups
    return read


def value(given: Given[Any]) -> object:
    """Return what a file says; the reason where it says nothing certain."""
    return given.why if isinstance(given, Unknown) else given and given.value
