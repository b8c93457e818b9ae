"""Compute environments of AWS Batch that cannot be created or updated."""

from collections.abc import Iterator

from trainshed.checks.software import AMAZON_LINUX_2_END
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.batch_parts import (
    COMPUTE_ENVIRONMENT,
    capacity_block,
    has_multi_node_jobs,
    launch_data,
    on_ec2,
)
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Known, LintedFile
from trainshed.lint.read import read, value_of
from trainshed.lint.template import TemplateResource

_API = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html"
_UPDATES = "https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html"
_MULTI_NODE = "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html"
_CFN = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
    "aws-resource-batch-computeenvironment.html"
)
_JOBS = """
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: multinode
      Timeout: {AttemptDurationSeconds: 86400}
      NodeProperties:
        MainNode: 0
        NumNodes: 4
        NodeRangeProperties:
          - TargetNodes: "0:"
            Container: {Image: my-image, InstanceType: p4d.24xlarge}
"""


def _environment(properties: str, nodes: str, more: str = "") -> dict[FileKind, str]:
    """Return an example: a compute environment."""
    return resources_example(f"""
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      {properties}
      ComputeResources:
        {nodes}
        MaxvCpus: 768
        Subnets: [subnet-11111111]
{more}""")


_MANAGED = "Type: MANAGED\n      ReplaceComputeEnvironment: false"
_NODES = (
    "Type: EC2\n        AllocationStrategy: BEST_FIT_PROGRESSIVE\n"
    "        InstanceTypes: [p4d.24xlarge]\n        InstanceRole: my-profile"
)
_GROUPS = f"{_NODES}\n        SecurityGroupIds: [sg-11111111]"


@rule(
    "TS-BAT-006",
    title="Security groups stand beside the interfaces of the launch template",
    severity=Severity.ERROR,
    why="""
AWS Batch refuses a compute environment with security groups whose launch template has network
interfaces: "Either compute environment Security Groups or Network Interfaces in Launch template are
exclusively allowed". CDK's `ManagedEc2EcsComputeEnvironment` always writes `SecurityGroupIds`.
""",
    sources=("https://github.com/aws/aws-cdk/issues/21577", _API),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(
        _MANAGED,
        f'{_GROUPS}\n        LaunchTemplate: {{LaunchTemplateId: !Ref Nodes, Version: "1"}}',
        """  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces: [{DeviceIndex: 0, Groups: [sg-11111111]}]
""",
    ),
)
def groups_twice(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Security groups belong on the interfaces, when there are some."""
    groups = environment.get("ComputeResources", "SecurityGroupIds")
    if not groups:
        return
    read(groups.given)
    data = launch_data(document, environment)
    interfaces = read(data.get("NetworkInterfaces").given) if data else None
    if interfaces:
        yield Violation(
            path=groups.path,
            message=f"{environment.logical_id} has SecurityGroupIds, and its launch template has "
            "NetworkInterfaces: AWS Batch refuses both together",
            remedy="leave SecurityGroupIds out, and name the groups in the interfaces; in CDK "
            'add_property_deletion_override("ComputeResources.SecurityGroupIds")',
        )


@rule(
    "TS-BAT-007",
    title="Multi-node jobs get a default security group that lets nothing through",
    why="""
The interface of a multi-node job gets the security groups of the compute environment, and without
them the default group of the VPC. An environment whose launch template has interfaces may have no
groups. CDK's `restrictDefaultSecurityGroup`, which new apps turn on, takes all rules from the
default group: the nodes of a job then reach neither each other nor AWS.
""",
    basis=Basis.INFERRED,
    sources=(
        _MULTI_NODE,
        "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/cx-api/FEATURE_FLAGS.md",
    ),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(
        _MANAGED,
        f'{_NODES}\n        LaunchTemplate: {{LaunchTemplateId: !Ref Nodes, Version: "1"}}',
        """  Network:
    Type: AWS::EC2::VPC
    Properties: {CidrBlock: 10.0.0.0/16}
  Restricted:
    Type: Custom::VpcRestrictDefaultSG
    Properties: {DefaultSecurityGroupId: !GetAtt Network.DefaultSecurityGroup}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces: [{DeviceIndex: 0, Groups: [sg-11111111]}]
"""
        + _JOBS.lstrip("\n"),
    ),
)
def empty_default_group(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Jobs need a security group with rules."""
    if not isinstance(document, CloudFormationDocument) or not has_multi_node_jobs(document):
        return
    restricted = next(document.template.of_type("Custom::VpcRestrictDefaultSG"), None)
    if not restricted or environment.get("ComputeResources", "SecurityGroupIds"):
        return
    data = launch_data(document, environment)
    if data and data.get("NetworkInterfaces") and not _own_rules(document):
        yield Violation(
            path=environment.path,
            message=f"{environment.logical_id} has no SecurityGroupIds, so multi-node jobs get the "
            f"VPC's default group, whose rules {restricted.logical_id} takes away",
            remedy="set restrict_default_security_group=False on the VPC, or give its default "
            "group rules for all traffic of its members and for what jobs reach outside",
        )


def _own_rules(document: CloudFormationDocument) -> bool:
    """Whether the template gives a VPC's default group rules."""
    for inbound in document.template.of_type("AWS::EC2::SecurityGroupIngress"):
        owner = value_of(inbound.get("GroupId").reference()) or ""
        if owner.endswith(".DefaultSecurityGroup}"):
            return True
    return False


@rule(
    "TS-BAT-008",
    title="Multi-node jobs cannot run on this kind of compute environment",
    severity=Severity.ERROR,
    why="""
AWS Batch runs multi-node jobs neither on Spot Instances nor on unmanaged compute environments. A
job in a queue that has no other environment is refused, or waits in `RUNNABLE` forever.
""",
    sources=(_MULTI_NODE, _API),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(_MANAGED, _GROUPS.replace("Type: EC2", "Type: SPOT"), _JOBS.lstrip("\n")),
)
def no_multi_node_jobs(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Multi-node jobs need managed nodes on demand."""
    if not isinstance(document, CloudFormationDocument) or not has_multi_node_jobs(document):
        return
    others = [*document.template.of_type(COMPUTE_ENVIRONMENT)]
    if any(_unfit(each) is None for each in others):
        return
    if found := _unfit(environment):
        what, given = found
        yield Violation(
            path=given.path,
            message=f"{environment.logical_id} is {what}, and the template has a multi-node job "
            "definition",
            remedy="use Type MANAGED, and EC2 in ComputeResources",
        )


def _unfit(environment: TemplateResource) -> tuple[str, Known[str]] | None:
    managed = read(environment.get("Type").text())
    if managed and managed.value.upper() == "UNMANAGED":
        return "unmanaged", managed
    nodes = read(environment.get("ComputeResources", "Type").text())
    if nodes and nodes.value.upper() == "SPOT":
        return "on Spot Instances", nodes
    return None


@rule(
    "TS-BAT-009",
    title="AWS Batch makes no compute environment with this image type",
    severity=Severity.ERROR,
    why="""
Since 2026-06-30 AWS Batch refuses to create compute environments with its own AMIs of Amazon
Linux 2; one with another AMI may have the image type. CDK's `EcsMachineImage` without an image type
writes `ECS_AL2`, unless the flag `@aws-cdk/aws-batch:defaultToAL2023` is on.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html",),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(
        _MANAGED, f"{_GROUPS}\n        Ec2Configuration: [{{ImageType: ECS_AL2}}]"
    ),
)
def ended_image_type(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """The image type must be one that AWS Batch still takes, where it gives the AMI."""
    nodes = environment.get("ComputeResources")
    for image in nodes.get("Ec2Configuration").known_entries():
        kind = read(image.get("ImageType").text())
        if kind and kind.value in ("ECS_AL2", "ECS_AL2_NVIDIA", "EKS_AL2", "EKS_AL2_NVIDIA"):
            if image.get("ImageIdOverride") or nodes.get("ImageId"):
                continue
            data = launch_data(document, environment)
            if data and data.get("ImageId"):
                continue
            later = kind.value.replace("_AL2", "_AL2023")
            yield Violation(
                path=kind.path,
                message=f"{environment.logical_id} has image type {kind.value}, of Amazon Linux 2, "
                f"whose support ended on {AMAZON_LINUX_2_END}",
                remedy=f"set ImageType to {later}",
            )


@rule(
    "TS-BAT-010",
    title="The service role keeps AWS Batch from updating the environment",
    why="""
AWS Batch updates the nodes of a compute environment (AMI, launch template, instance types) in place
only when the environment uses the service-linked role. With a role of its own, such an update is
refused.
""",
    sources=(_UPDATES,),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(
        f"{_MANAGED}\n      ServiceRole: arn:aws:iam::123456789012:role/AWSBatchServiceRole",
        _GROUPS,
    ),
)
def own_service_role(environment: TemplateResource) -> Iterator[Violation]:
    """AWS Batch's own role is the one that can update."""
    role = read(environment.get("ServiceRole").reference())
    if role and "AWSServiceRoleForBatch" not in role.value and on_ec2(environment):
        yield Violation(
            path=role.path,
            message=f"{environment.logical_id} has a ServiceRole of its own, so its nodes cannot "
            "be updated in place",
            remedy="leave ServiceRole out: AWS Batch then uses AWSServiceRoleForBatch",
        )


@rule(
    "TS-BAT-011",
    title="The allocation strategy keeps AWS Batch from updating the environment",
    why="""
With `BEST_FIT`, which is also the default of the API, AWS Batch cannot change the nodes of a
compute environment in place: CloudFormation makes another one and deletes the first, with the jobs
that run there.
""",
    sources=(_UPDATES, _API),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(
        _MANAGED, _GROUPS.replace("AllocationStrategy: BEST_FIT_PROGRESSIVE\n        ", "")
    ),
)
def best_fit(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Environments should be such as can be updated."""
    if not on_ec2(environment) or capacity_block(document, environment):
        return
    strategy = read(environment.get("ComputeResources", "AllocationStrategy").text())
    if strategy is None or strategy.value == "BEST_FIT":
        given = "no AllocationStrategy, which means BEST_FIT" if strategy is None else "BEST_FIT"
        yield Violation(
            path=strategy.path if strategy else (*environment.path, "Properties"),
            message=f"{environment.logical_id} has {given}: its nodes cannot be updated in place",
            remedy="set AllocationStrategy to BEST_FIT_PROGRESSIVE",
        )


@rule(
    "TS-BAT-012",
    title="A change replaces the compute environment, with its running jobs",
    why="""
`ReplaceComputeEnvironment` is true unless the template says otherwise: CloudFormation then makes a
new compute environment for each change of the nodes and deletes the old one, and the jobs that run
there end. With false, AWS Batch updates the environment in place and waits for jobs. When you
change it to false, change nothing else in the same update.
""",
    sources=(_CFN, _UPDATES),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment("Type: MANAGED", _GROUPS),
)
def replaced(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """A change of the nodes should wait for jobs."""
    if not on_ec2(environment) or capacity_block(document, environment):
        return
    replace = read(environment.get("ReplaceComputeEnvironment").flag())
    if replace is None or replace.value:
        said = "is true" if replace else "is not set, which means true"
        yield Violation(
            path=replace.path if replace else (*environment.path, "Properties"),
            message=f"ReplaceComputeEnvironment of {environment.logical_id} {said}: a change of "
            "its nodes ends the jobs that run there",
            remedy="set it to false, in an update of its own, with an UpdatePolicy that gives jobs "
            "time",
        )


@rule(
    "TS-BAT-013",
    title="The compute environment has a name, so it cannot be replaced",
    why="""
CloudFormation replaces a compute environment by making the new one first. With a name of its own,
the new one would be called like the old one, and the update fails.
""",
    sources=(_CFN,),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=_environment(f"{_MANAGED}\n      ComputeEnvironmentName: training", _GROUPS),
)
def named(environment: TemplateResource) -> Iterator[Violation]:
    """CloudFormation should name it."""
    name = read(environment.get("ComputeEnvironmentName").reference())
    if name:
        yield Violation(
            path=name.path,
            message=f"{environment.logical_id} is called {name.value}: an update that replaces it "
            "fails on the name",
            remedy="leave ComputeEnvironmentName out",
        )
