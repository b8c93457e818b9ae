"""Whether the interfaces of the nodes leave a place for that of a job."""

from collections.abc import Iterator

from trainshed.findings import Violation, rule
from trainshed.lint.batch_parts import COMPUTE_ENVIRONMENT
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import NodeGroup
from trainshed.lint.parts import groups_with_interfaces, listed_interfaces, types_of
from trainshed.lint.read import read


@rule(
    "TS-EFA-004",
    over=in_files(groups_with_interfaces),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces:
          - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: interface}
          - {NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: efa-only}
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      Type: MANAGED
      ReplaceComputeEnvironment: false
      ComputeResources:
        Type: EC2
        AllocationStrategy: BEST_FIT_PROGRESSIVE
        LaunchTemplate:
          LaunchTemplateId: !Ref Nodes
          Version: !GetAtt Nodes.LatestVersionNumber
        InstanceTypes: [trn2.3xlarge]
        MaxvCpus: 48
        Subnets: [subnet-11111111]
"""),
)
def no_place_for_the_job(group: NodeGroup) -> Iterator[Violation]:
    """The interface of a multi-node job needs a place on card 0."""
    rows = listed_interfaces(group)
    if group.launch != COMPUTE_ENVIRONMENT or not rows:
        return
    cards = [card.value if (card := read(row.card)) else 0 for row in rows]
    devices = [device.value if (device := read(row.device)) else 0 for row in rows]
    indexes = set(devices)
    lowest_free = min(set(range(len(indexes) + 1)) - indexes)
    for instance in types_of(group):
        slots = instance.network_cards[0].slots
        if cards.count(0) >= slots:
            message = (
                f"the interfaces of {group.name} fill all {slots} places of card 0 of "
                f"{instance.name}: the interface of a multi-node job finds none"
            )
        elif lowest_free >= slots:
            message = (
                f"the interfaces of {group.name} have the device indexes 0 to {lowest_free - 1}, "
                f"and the cards of {instance.name} {slots} places: the interface of a multi-node "
                "job may find none"
            )
        else:
            continue
        listed = read(group.interfaces)
        yield Violation(
            path=listed.path if listed else group.path,
            message=message,
            remedy="use one efa interface on card 0, and efa-only with device index 0 on the "
            "others",
        )
