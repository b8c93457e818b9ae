"""File systems of FSx for Lustre that AWS refuses, or that are not what was meant."""

from collections.abc import Iterator

from trainshed.catalogue.lustre import PEER_PORTS, SERVER_PORT, efa_sizes, sizes, throughputs
from trainshed.findings import Severity, Violation, rule
from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.examples import parallelcluster_example, resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.lustre_of_template import FILE_SYSTEM
from trainshed.lint.model import FileKind, LintedFile, LintedFileSystem, Unknown
from trainshed.lint.parts import lustre_file_systems
from trainshed.lint.read import NotDecided, read
from trainshed.lint.security_rules import Direction, open_by_default, rules_of, security_group
from trainshed.lint.template import Template, TemplateResource

_API = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE_API = (
    "https://docs.aws.amazon.com/fsx/latest/APIReference/"
    "API_CreateFileSystemLustreConfiguration.html"
)
_GROUPS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_PORTS = (SERVER_PORT, *PEER_PORTS)


def _file_system(properties: str, lustre: str, version: str = '"2.15"') -> dict[FileKind, str]:
    return resources_example(f"""
  Data:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      FileSystemType: LUSTRE
      FileSystemTypeVersion: {version}
      {properties}
      SubnetIds: [subnet-11111111]
      LustreConfiguration: {{{lustre}}}
""")


@rule(
    "TS-LUS-009",
    title="The security group of a Lustre file system does not open all ports of Lustre",
    severity=Severity.ERROR,
    why="""
Clients and servers of Lustre talk over TCP port 988 and ports 1018 to 1023, each to the other, so
the ports must be open in both directions. Older texts name 1021 to 1023 only. Without port 988 FSx
refuses to make the file system; without the others, mounts hang or break off under load.
""",
    sources=(_GROUPS,),
    over=in_files(lustre_file_systems),
    example=resources_example("""
  Servers:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: Lustre
      VpcId: vpc-11111111
      SecurityGroupIngress:
        - {IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}
        - {IpProtocol: tcp, FromPort: 1021, ToPort: 1023, CidrIp: 10.0.0.0/16}
  Data:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      FileSystemType: LUSTRE
      FileSystemTypeVersion: "2.15"
      StorageCapacity: 1200
      SubnetIds: [subnet-11111111]
      SecurityGroupIds: [!Ref Servers]
      LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250}
"""),
)
def missing_ports(system: LintedFileSystem, document: LintedFile) -> Iterator[Violation]:
    """All ports of Lustre must be open, in both directions."""
    references = read(system.security_groups)
    if not references or not isinstance(document, CloudFormationDocument):
        return
    groups = [security_group(document.template, each) for each in references.value]
    for direction, words in ((Direction.INGRESS, "in"), (Direction.EGRESS, "out")):
        missing = _closed(document.template, [each for each in groups if each], direction)
        if not missing:
            continue
        if not all(groups):
            why = f"the rules of a security group of {system.name}, which is not in this file"
            raise NotDecided(Unknown(why=why, path=references.path))
        owner = next(each for each in groups if each)
        yield Violation(
            path=owner.path,
            message=f"{owner.logical_id}, of {system.name}, does not let TCP "
            f"{_port_text(missing)} {words}",
            remedy="open TCP 988 and 1018 to 1023 in both directions, for the clients' group and "
            "for the group itself",
        )


def _closed(template: Template, groups: list[TemplateResource], direction: Direction) -> list[int]:
    """Return the ports that no rule opens.

    Raises:
        NotDecided: one may.
    """
    missing = set(_PORTS)
    unknown: Unknown | None = None
    for group in groups:
        if direction is Direction.EGRESS and open_by_default(template, group):
            return []
        for opened in rules_of(template, group, direction):
            if isinstance(opened, Unknown):
                unknown = opened
                continue
            missing -= set(opened.tcp_ports())
            unknown = unknown or next(
                (each for each in (opened.protocol, *opened.ports) if isinstance(each, Unknown)),
                None,
            )
    if missing and unknown:
        raise NotDecided(unknown)
    return sorted(missing)


def _port_text(ports: list[int]) -> str:
    rest = [port for port in ports if port != _PORTS[0]]
    texts = [str(_PORTS[0])] if _PORTS[0] in ports else []
    if rest:
        texts.append(f"{rest[0]} to {rest[-1]}" if len(rest) > 1 else str(rest[0]))
    return " and ".join(texts)


@rule(
    "TS-LUS-010",
    title="FSx has no Lustre file system of this size or throughput",
    severity=Severity.ERROR,
    why="""
FSx takes certain sizes and throughputs only, which depend on the deployment type and the kind of
disk. It refuses others when the stack is deployed.
""",
    sources=(_API, _LUSTRE_API),
    over=in_files(lustre_file_systems),
    example=_file_system(
        "StorageCapacity: 2000", "DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250"
    )
    | parallelcluster_example("""
        Scheduling: {Scheduler: slurm, SlurmQueues: []}
        SharedStorage:
          - Name: data
            MountDir: /fsx
            StorageType: FsxLustre
            FsxLustreSettings: {StorageCapacity: 2000}
    """),
)
def impossible_size(system: LintedFileSystem) -> Iterator[Violation]:
    """Size and throughput must be such as FSx has."""
    deployment, disk = read(system.deployment), read(system.storage_type)
    kind = deployment.value if deployment else "SCRATCH_1"
    storage = disk.value if disk else "SSD"
    throughput, capacity = read(system.throughput), read(system.capacity_gib)
    if storage == "INTELLIGENT_TIERING":
        return
    allowed = throughputs(kind, storage)
    if throughput and throughput.value not in allowed:
        these = ", ".join(map(str, allowed))
        yield Violation(
            path=throughput.path,
            message=f"{kind} on {storage} has no throughput of {throughput.value} MB/s per TiB",
            remedy=f"use one of {these}" if allowed else "leave PerUnitStorageThroughput out",
        )
    made = sizes(kind, storage, throughput.value if throughput else None)
    if capacity and made and not made.has(capacity.value):
        yield Violation(
            path=capacity.path,
            message=f"{kind} on {storage} has no size of {capacity.value} GiB",
            remedy=f"use {', '.join(map(str, made.first))}, or a multiple of {made.step}",
        )


@rule(
    "TS-LUS-011",
    title="The file system is of the first scratch type",
    why="""
`SCRATCH_1` is the default of the API, not the type that FSx advises: it keeps each piece of data
once, does not encrypt what it sends, and takes no data repository association. `PERSISTENT_2` keeps
data when a server fails; `SCRATCH_2` is cheaper than that, and faster than `SCRATCH_1` at its peak.
""",
    sources=(
        _LUSTRE_API,
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
    ),
    over=in_files(lustre_file_systems),
    example=_file_system("StorageCapacity: 1200", "WeeklyMaintenanceStartTime: '7:01:00'"),
)
def first_scratch(system: LintedFileSystem) -> Iterator[Violation]:
    """A file system for training should be of a later type."""
    deployment = read(system.deployment)
    if deployment is None or deployment.value == "SCRATCH_1":
        said = "is SCRATCH_1" if deployment else "has no DeploymentType, which means SCRATCH_1"
        yield Violation(
            path=deployment.path if deployment else system.path,
            message=f"{system.name} {said}: a server that fails takes its data with it",
            remedy="set DeploymentType to PERSISTENT_2, or to SCRATCH_2 for what has a copy",
        )


@rule(
    "TS-LUS-012",
    title="The file system runs an old version of Lustre",
    why="""
Without `FileSystemTypeVersion` FSx takes Lustre 2.10, or 2.12 for `PERSISTENT_2` without a metadata
configuration. Clients of current distributions are of 2.15, and 2.10 takes no data repository
associations. `PERSISTENT_2` does not run 2.10.
""",
    sources=(_API,),
    over=in_files(lustre_file_systems),
    example=_file_system(
        "StorageCapacity: 1200",
        "DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250",
        '"2.12"',
    ),
)
def old_version(system: LintedFileSystem) -> Iterator[Violation]:
    """A new file system should run the current version."""
    version = read(system.version)
    if version and version.value not in ("2.10", "2.12", "2.1"):
        return
    if version is None and read(system.metadata):
        return
    said = f"has version {version.value}" if version else "has no FileSystemTypeVersion"
    yield Violation(
        path=version.path if version else system.path,
        message=f"{system.name} {said} of Lustre",
        remedy='set FileSystemTypeVersion to "2.15"',
    )


@rule(
    "TS-LUS-013",
    title="FSx refuses this file system with EFA",
    severity=Severity.ERROR,
    why="""
A file system that can be reached over EFA must be `PERSISTENT_2` with a metadata configuration, on
SSD or with Intelligent-Tiering, and on SSD its size must be a multiple of a step that depends on
the throughput. EFA cannot be turned on later.
""",
    sources=(_EFA, _LUSTRE_API),
    over=in_files(lustre_file_systems),
    example=_file_system(
        "StorageCapacity: 1200",
        "DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 1000, EfaEnabled: true, "
        "MetadataConfiguration: {Mode: AUTOMATIC}",
    ),
)
def efa_without_its_needs(system: LintedFileSystem) -> Iterator[Violation]:
    """A file system with EFA must have what EFA needs."""
    efa = read(system.efa)
    if not efa or not efa.value:
        return
    deployment, disk = read(system.deployment), read(system.storage_type)
    if deployment is None or deployment.value != "PERSISTENT_2":
        kind = deployment.value if deployment else "SCRATCH_1"
        yield Violation(
            path=efa.path,
            message=f"{system.name} has EFA, and is {kind}",
            remedy="set DeploymentType to PERSISTENT_2",
        )
        return
    if not read(system.metadata):
        yield Violation(
            path=efa.path,
            message=f"{system.name} has EFA, and no metadata configuration",
            remedy="add MetadataConfiguration: {Mode: AUTOMATIC}",
        )
    throughput, capacity = read(system.throughput), read(system.capacity_gib)
    made = efa_sizes(throughput.value) if throughput else None
    if (disk is None or disk.value == "SSD") and made and capacity and not made.has(capacity.value):
        assert throughput
        yield Violation(
            path=capacity.path,
            message=f"{system.name} has EFA, {throughput.value} MB/s per TiB and "
            f"{capacity.value} GiB",
            remedy=f"use a multiple of {made.step} GiB",
        )


@rule(
    "TS-LUS-014",
    title="A deleted or replaced file system takes its data with it",
    why="""
CloudFormation deletes a file system with its stack, and when a change replaces it: a change of its
security groups or subnet does. `DeletionPolicy` and `UpdateReplacePolicy` of `Retain` keep it.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html",
        "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html",
    ),
    over=in_files(lustre_file_systems),
    example={
        kind: text.replace("    DeletionPolicy: Retain\n", "")
        for kind, text in _file_system(
            "StorageCapacity: 1200", "DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250"
        ).items()
    },
)
def deleted_with_its_stack(system: LintedFileSystem, document: LintedFile) -> Iterator[Violation]:
    """Data should outlive its stack."""
    if not isinstance(document, CloudFormationDocument):
        return
    resource = document.template.resources[system.name]
    assert resource.type == FILE_SYSTEM
    for policy, when in (
        ("DeletionPolicy", "with its stack"),
        ("UpdateReplacePolicy", "when a change replaces it"),
    ):
        given = read(resource.attributes.get(policy).text())
        if given is None or given.value == "Delete":
            yield Violation(
                path=given.path if given else resource.path,
                message=f"{system.name} is deleted {when}, and its data with it",
                remedy=f"set {policy}: Retain",
            )
