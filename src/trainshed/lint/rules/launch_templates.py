"""Launch templates that are used in another way than intended."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.batch_parts import COMPUTE_ENVIRONMENT
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import LintedFile, NodeGroup
from trainshed.lint.nodes_of_template import launch_specifications, launch_template_of
from trainshed.lint.parts import node_groups
from trainshed.lint.read import read
from trainshed.lint.template import TemplateResource, TemplateValue
from trainshed.lint.user_data import is_multi_part

_MOVING = ("$Default", "$Latest")


def _specifications(document: LintedFile) -> Iterator[tuple[TemplateResource, TemplateValue]]:
    if isinstance(document, CloudFormationDocument):
        yield from launch_specifications(document.template)


@rule(
    "TS-LTV-001",
    title="The version of the launch template is not a fixed one",
    why="""
CloudFormation makes a new version of a launch template when it changes, and cannot make it the
default. What uses `$Default`, or names no version, goes on launching the first one. With `$Latest`
nothing in the template changes, so CloudFormation does not update what uses it: AWS Batch looks
again only at the next infrastructure update, and an Auto Scaling group launches new nodes beside
old ones. `!GetAtt TEMPLATE.LatestVersionNumber` is a fixed number at each deployment.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_LaunchTemplateSpecification.html",
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-launchtemplate.html",
        "https://github.com/aws/aws-cdk/issues/28137",
    ),
    over=in_files(_specifications),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: p4d.24xlarge}
  Cluster:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: "0"
      MaxSize: "4"
      VPCZoneIdentifier: [subnet-11111111]
      LaunchTemplate: {LaunchTemplateId: !Ref Nodes, Version: $Latest}
"""),
)
def moving_version(
    user: tuple[TemplateResource, TemplateValue], document: LintedFile
) -> Iterator[Violation]:
    """A deployment should launch the template that it has made."""
    resource, specification = user
    assert isinstance(document, CloudFormationDocument)
    read(specification.given)
    version = read(specification.get("Version").reference())
    if (
        version
        and version.value not in _MOVING
        and not version.value.endswith(".DefaultVersionNumber}")
    ):
        return
    template = launch_template_of(document.template, specification)
    attribute = f"!GetAtt {template.logical_id}.LatestVersionNumber" if template else "a number"
    said = f"version {version.value}" if version else "no version, which means $Default,"
    yield Violation(
        path=version.path if version else specification.path,
        message=f"{resource.logical_id} uses {said} of its launch template",
        remedy=f"set Version to {attribute}",
    )


@rule(
    "TS-AMI-012",
    title="The path of an SSM parameter stands where an AMI's id belongs",
    severity=Severity.ERROR,
    why="""
EC2 takes the path as the id of an AMI, and refuses the launch: `InvalidAMIID.Malformed`. A launch
template is made with it all the same, and only its nodes do not come: a job of AWS Batch waits in
`RUNNABLE`. CloudFormation looks a parameter up only where the template says so.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-launch-template.html",
    ),
    over=in_files(node_groups),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        ImageId: /aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id
"""),
)
def literal_path(group: NodeGroup, document: LintedFile) -> Iterator[Violation]:
    """An AMI's id is no path."""
    if not isinstance(document, CloudFormationDocument):
        return  # TS-GRP-005 is about the other kinds
    image = read(group.image)
    if image and image.value.startswith(("/", "ssm:", "{{ssm:")):
        path = image.value.strip("{}").removeprefix("ssm:")
        yield Violation(
            path=image.path,
            message=f"{group.name} has {image.value} as the id of its AMI",
            remedy=f"write {{{{resolve:ssm:{path}}}}}, or a parameter of type "
            "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
        )


@rule(
    "TS-BAT-015",
    title="The user data for AWS Batch is not MIME multi-part",
    severity=Severity.ERROR,
    why="""
AWS Batch adds its own part to the user data of a launch template, by which a node joins the
compute environment. It can do so only when the user data is in the MIME multi-part format;
otherwise the compute environment becomes `INVALID`.
""",
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html",),
    over=in_files(resources(COMPUTE_ENVIRONMENT)),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        UserData:
          Fn::Base64: |
            #!/bin/bash
            mount -a
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
        InstanceTypes: [p4d.24xlarge]
        MaxvCpus: 768
        SecurityGroupIds: [sg-11111111]
        Subnets: [subnet-11111111]
"""),
)
def plain_user_data(environment: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """AWS Batch must be able to add its part."""
    assert isinstance(document, CloudFormationDocument)
    specification = environment.get("ComputeResources", "LaunchTemplate")
    template = launch_template_of(document.template, specification)
    if not template:
        return
    data = read(template.get("LaunchTemplateData", "UserData").reference())
    if data and not is_multi_part(data.value):
        yield Violation(
            path=data.path,
            message=f"the user data of {template.logical_id}, which {environment.logical_id} uses, "
            "is not MIME multi-part",
            remedy="put it into a part of a MIME multi-part file; in CDK use ec2.MultipartUserData",
        )
