"""Parts of a file that no rule can judge."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import eksctl_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Unknown
from trainshed.lint.read import NotDecided


@rule(
    "TS-FIL-001",
    title="A part of the file is made elsewhere, and is not judged",
    severity=Severity.INFO,
    why="""
Transforms and loops of a template make resources only when CloudFormation processes it. What they
make is not in the file, so no rule sees it. Judge the processed template instead: `aws
cloudformation get-template --template-stage Processed` prints it. The template of a nested stack is
a file of its own: name it, too. What a launch template sets that an eksctl cluster file names is
not in that file, either.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/transform-section-structure.html",
    ),
    over=in_files(lambda document: document.not_judged),
    example={
        FileKind.CLOUDFORMATION: """
Transform: MyMacro
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: p4d.24xlarge}
""",
        **eksctl_example(
            "managedNodeGroups: [{name: train, launchTemplate: {id: lt-1, version: 3}}]"
        ),
    },
)
def not_judged(unknown: Unknown) -> Iterator[Violation]:
    """Whoever reads the findings should know what they are not about."""
    raise NotDecided(unknown)
    yield
