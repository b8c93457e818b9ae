"""What ParallelCluster's scheduler awsbatch lacks."""

from collections.abc import Iterator

from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.examples import parallelcluster_example
from trainshed.lint.judging import in_files
from trainshed.lint.parallelcluster import (
    BatchNodes,
    ParallelCluster,
    batch_nodes,
    parallelclusters,
)
from trainshed.lint.read import read
from trainshed.lint.tool_groups import named_types

_VALIDATORS = "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/validators/"


@rule(
    "TS-PCL-007",
    title="Nodes with EFA cards are in a queue of AWS Batch, which does not use EFA",
    why="""
With the scheduler `awsbatch` ParallelCluster makes no network interfaces, and so none with EFA:
what nodes exchange goes over TCP and one network card.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/templates/awsbatch_builder.py",
    ),
    over=in_files(batch_nodes),
    example=parallelcluster_example("""
        Scheduling:
          Scheduler: awsbatch
          AwsBatchQueues:
            - Name: train
              ComputeResources: [{Name: nodes, InstanceTypes: [p4d.24xlarge], MaxvCpus: 384}]
    """),
)
def batch_without_efa(nodes: BatchNodes) -> Iterator[Violation]:
    """Jobs over several nodes that need EFA do not belong into awsbatch."""
    types = read(nodes.instance_types)
    for instance in named_types(nodes) if types else ():
        if types and instance.efa_interfaces_max > 1:
            yield Violation(
                path=types.path,
                message=f"{nodes.name} does not use the {instance.efa_interfaces_max} EFA "
                f"interfaces of {instance.name}: with awsbatch there is no EFA",
                remedy="use the scheduler slurm for jobs over several nodes",
            )


@rule(
    "TS-PCL-008",
    title="With awsbatch, jobs do not see FSx for Lustre",
    severity=Severity.ERROR,
    why="""
With the scheduler `awsbatch`, FSx for Lustre is there for the head node at most: what jobs write to
the path of the mount stays on their node, and is lost with it. Versions of ParallelCluster differ
in whether they refuse the file.
""",
    sources=(
        "https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html",
        f"{_VALIDATORS}awsbatch_validators.py",
    ),
    over=in_files(parallelclusters),
    example=parallelcluster_example("""
        Scheduling: {Scheduler: awsbatch, AwsBatchQueues: [{Name: train}]}
        SharedStorage:
          - Name: data
            MountDir: /fsx
            StorageType: FsxLustre
            FsxLustreSettings: {StorageCapacity: 1200}
    """),
)
def lustre_with_batch(cluster: ParallelCluster) -> Iterator[Violation]:
    """Jobs of awsbatch need another file system."""
    scheduler = read(cluster.scheduler) if cluster.lustre_mounts else None
    if scheduler and scheduler.value == "awsbatch":
        for path in cluster.lustre_mounts:
            yield Violation(
                path=path,
                message="a file system of FSx for Lustre, and the scheduler is awsbatch: jobs do "
                "not see it",
                remedy="use the scheduler slurm, or a file system of EFS",
            )
