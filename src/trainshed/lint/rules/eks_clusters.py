"""Clusters of EKS in CloudFormation templates: their subnets, and who administers them."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.control_planes_of_template import CLUSTER
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import LintedFile
from trainshed.lint.read import read, value_of
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import TemplateResource

_ACCESS = "https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html"
_ENTRY = "AWS::EKS::AccessEntry"


@rule(
    "TS-EKS-018",
    title="The control plane is not given subnets in two zones",
    severity=Severity.ERROR,
    why="""
EKS makes no cluster in one zone: it wants subnets in at least two, also where all nodes are in one,
as training wants it. The second subnet can be small (/28), and for the control plane alone; a node
group then names the other one.
""",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",),
    over=in_files(resources(CLUSTER)),
    example=resources_example("""
  Cluster:
    Type: AWS::EKS::Cluster
    Properties:
      RoleArn: arn:aws:iam::123456789012:role/cluster
      AccessConfig: {AuthenticationMode: API, BootstrapClusterCreatorAdminPermissions: false}
      ResourcesVpcConfig: {SubnetIds: [subnet-11111111]}
"""),
)
def one_zone(cluster: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """A control plane needs two zones."""
    assert isinstance(document, CloudFormationDocument)
    listed = read(cluster.get("ResourcesVpcConfig", "SubnetIds").entries())
    if not listed:
        return
    zones = set()
    for each in listed.value:
        name = value_of(each.reference())
        subnet = document.template.resources.get(logical_id(name or "") or "")
        zones.add(value_of(subnet.get("AvailabilityZone").reference()) if subnet else None)
    if len(listed.value) == 1 or (None not in zones and len(zones) == 1):
        yield Violation(
            path=listed.path,
            message=f"{cluster.logical_id} has "
            + ("one subnet" if len(listed.value) == 1 else "subnets in one zone")
            + ", and EKS wants two zones",
            remedy="add a small subnet in another zone, and name only the first one in node groups",
        )


@rule(
    "TS-EKS-019",
    title="Whoever deploys the cluster is its administrator for good",
    why="""
CloudFormation's defaults are those of 2018: who may use the cluster stands in a ConfigMap inside of
it, which no review sees, and the role that creates it, here that of the deployment, is an
administrator whom no access entry shows and, with the ConfigMap alone, nobody can remove. With the
mode `API` all access is by `AWS::EKS::AccessEntry`; without that mode, or `API_AND_CONFIG_MAP`, EKS
refuses access entries. `BootstrapClusterCreatorAdminPermissions` cannot be changed later.
""",
    sources=(
        _ACCESS,
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html",
    ),
    over=in_files(resources(CLUSTER)),
    example=resources_example("""
  Cluster:
    Type: AWS::EKS::Cluster
    Properties:
      RoleArn: arn:aws:iam::123456789012:role/cluster
      ResourcesVpcConfig: {SubnetIds: [subnet-11111111, subnet-22222222]}
"""),
)
def administrator(cluster: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Access is what the template says."""
    assert isinstance(document, CloudFormationDocument)
    access = cluster.get("AccessConfig")
    mode = read(access.get("AuthenticationMode").text())
    creator = read(access.get("BootstrapClusterCreatorAdminPermissions").flag())
    path = access.given.path if access.given else cluster.path
    if not mode or mode.value == "CONFIG_MAP":
        entries = [each.logical_id for each in document.template.of_type(_ENTRY)]
        also = f", and EKS refuses {', '.join(entries)}" if entries else ""
        yield Violation(
            path=mode.path if mode else path,
            message=f"who may use {cluster.logical_id} is in a ConfigMap inside of the cluster"
            + ("" if mode else ", by CloudFormation's default")
            + also,
            remedy="set AuthenticationMode: API, and add AWS::EKS::AccessEntry for each role",
            severity=Severity.ERROR if entries else None,
        )
    if not creator or creator.value:
        yield Violation(
            path=creator.path if creator else path,
            message=f"the role that deploys {cluster.logical_id} is its administrator",
            remedy="set BootstrapClusterCreatorAdminPermissions: false when the cluster is first "
            "made, and add AWS::EKS::AccessEntry for those who administer it",
        )
