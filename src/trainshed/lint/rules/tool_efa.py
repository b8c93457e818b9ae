"""EFA, on node groups whose interfaces eksctl or ParallelCluster makes."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.examples import eksctl_example, slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read
from trainshed.lint.tool_groups import Group, has_efa, named_types, tool_groups

_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"


@rule(
    "TS-GRP-001",
    title="EFA is asked for on an instance type that has none",
    severity=Severity.ERROR,
    why="eksctl and ParallelCluster look the type up before they deploy, and refuse it.",
    sources=(_EFA,),
    over=in_files(tool_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: g5.xlarge, efaEnabled: true}]"
    )
    | slurm_example("InstanceType: g5.xlarge, Efa: {Enabled: true}"),
)
def efa_without_card(group: Group) -> Iterator[Violation]:
    """Only types with EFA can be asked for it."""
    if not has_efa(group) or not group.efa:
        return
    for instance in named_types(group):
        if not instance.efa_interfaces_max:
            yield Violation(
                path=group.efa.path,
                message=f"{group.name} asks for EFA, and {instance.name} has no EFA",
                remedy="leave EFA out, or take a type that has it: trainshed catalogue list",
            )


@rule(
    "TS-GRP-002",
    title="Nodes with EFA cards talk over TCP",
    why="""
Without EFA, what nodes exchange goes over TCP and one network card: collectives between nodes reach
a small part of the bandwidth. Nothing fails; a training is only slow. The rule is about types with
several EFA cards: those with one often serve models on single nodes.
""",
    sources=(_EFA,),
    over=in_files(tool_groups),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, maxSize: 4}]"
    )
    | slurm_example("InstanceType: p5.48xlarge, MaxCount: 4"),
)
def efa_cards_unused(group: Group) -> Iterator[Violation]:
    """Several nodes with EFA cards should use them."""
    efa = read(group.efa)
    if not efa or efa.value:
        return
    nodes = read(group.nodes)
    if not nodes or nodes.value < 2:
        return
    for instance in named_types(group):
        if instance.efa_interfaces_max > 1:
            yield Violation(
                path=efa.path,
                message=f"{group.name} may have {nodes.value} nodes, and does not use the "
                f"{instance.efa_interfaces_max} EFA interfaces of {instance.name}",
                remedy="set efaEnabled: true"
                if isinstance(group, EksctlGroup)
                else "set Efa: {Enabled: true} of the compute resource",
            )


@rule(
    "TS-GRP-003",
    title="Nodes of several types share a job over EFA",
    why="""
Both tools give every node as many EFA interfaces as the type with the fewest network cards has, and
a cluster placement group finds capacity for one type more easily than for several. EFA traffic
between P4d, P4de or DL1 and other types is not supported at all.
""",
    sources=(
        _EFA,
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html",
    ),
    over=in_files(tool_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - {name: train, instanceTypes: [p4d.24xlarge, p5.48xlarge], efaEnabled: true}
    """)
    | slurm_example(
        "Instances: [{InstanceType: p4d.24xlarge}, {InstanceType: p5.48xlarge}], "
        "Efa: {Enabled: true}"
    ),
)
def several_types_with_efa(group: Group) -> Iterator[Violation]:
    """Nodes of one job over EFA should be of one type."""
    types = read(group.instance_types) if has_efa(group) else None
    if types and len(set(types.value)) > 1:
        yield Violation(
            path=types.path,
            message=f"{group.name} has EFA, and nodes of {', '.join(types.value)}",
            remedy="name one type; give each other type a group of its own",
        )
