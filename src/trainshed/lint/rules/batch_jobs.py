"""Job definitions and queues of AWS Batch whose jobs fail, hang or never start."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.catalogue.batch import LONGEST_UPDATE_MINUTES
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.lint.batch_parts import (
    COMPUTE_ENVIRONMENT,
    JOB_DEFINITION,
    JOB_QUEUE,
    capacity_block,
    containers,
    efa_of_nodes,
    instance_types,
    is_multi_node,
    node_ranges,
)
from trainshed.lint.cloudformation import CloudFormationDocument, resources
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, LintedFile, Unknown
from trainshed.lint.parts import known_types
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import TemplateResource, TemplateValue

_MULTI_NODE = "https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html"
_EFA = "https://docs.aws.amazon.com/batch/latest/userguide/efa.html"
_RETRIES = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
_VERBS = "/dev/infiniband/"
_DEVICES = ", ".join(f"{{HostPath: /dev/infiniband/uverbs{n}}}" for n in range(4))


def _definition(container: str, *, nodes: str = "0:", more: str = "") -> dict[FileKind, str]:
    """Return an example: a definition of multi-node jobs."""
    return resources_example(f"""
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: multinode
      Timeout: {{AttemptDurationSeconds: 86400}}
      {more}
      NodeProperties:
        MainNode: 0
        NumNodes: 4
        NodeRangeProperties:
          - TargetNodes: "{nodes}"
            Container:
              Image: my-image
              InstanceType: p4d.24xlarge
              {container}
""")


def _types(container: TemplateValue, definition: TemplateResource) -> tuple[InstanceType, ...]:
    return tuple(known_types(instance_types(container, definition)))


@rule(
    "TS-JOB-001",
    over=in_files(resources(JOB_DEFINITION)),
    example=resources_example("""
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: container
      ContainerProperties: {Image: my-image}
      Timeout: {AttemptDurationSeconds: 864000}
"""),
)
def longer_than_an_update(definition: TemplateResource) -> Iterator[Violation]:
    """A job should not be allowed to run longer than AWS Batch waits for it."""
    seconds = read(definition.get("Timeout", "AttemptDurationSeconds").whole())
    if seconds and seconds.value > LONGEST_UPDATE_MINUTES * 60:
        yield Violation(
            path=seconds.path,
            message=f"jobs may run {seconds.value // 3600} hours, but when the compute "
            "environment's infrastructure changes AWS Batch ends them after "
            f"{LONGEST_UPDATE_MINUTES // 60}",
            remedy="deploy such changes while no job runs",
        )


@rule(
    "TS-JOB-022",
    title="A multi-node job has no time-out",
    why="""
A multi-node job ends when its main node ends. When another node dies, AWS Batch does nothing: the
others may wait for it forever, and all nodes are paid for. Only a time-out ends such a job.
""",
    sources=(
        _MULTI_NODE,
        "https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html",
    ),
    over=in_files(resources(JOB_DEFINITION)),
    example={
        kind: text.replace("      Timeout: {AttemptDurationSeconds: 86400}\n", "")
        for kind, text in _definition(
            f"LinuxParameters: {{SharedMemorySize: 65536, Devices: [{_DEVICES}]}}\n"
            "              Ulimits: [{Name: memlock, SoftLimit: -1, HardLimit: -1}]"
        ).items()
    },
)
def no_time_out(definition: TemplateResource) -> Iterator[Violation]:
    """A job that hangs should end."""
    if not is_multi_node(definition):
        return
    if read(definition.get("Timeout", "AttemptDurationSeconds").reference()) is None:
        yield Violation(
            path=definition.path,
            message=f"{definition.logical_id} has no time-out: a job whose nodes wait for a lost "
            "one runs on",
            remedy="set Timeout.AttemptDurationSeconds to the longest time that a job may take",
        )


@rule(
    "TS-JOB-023",
    title="The number of nodes of a job cannot be chosen when it is submitted",
    severity=Severity.INFO,
    why="""
`numNodes` of a submitted job must fit the node ranges of its definition. A closed range such as
`0:3` is for four nodes and no other number; an open one, `0:`, is for any. CDK's
`MultiNodeContainer` writes closed ranges.
""",
    sources=(_MULTI_NODE, "https://github.com/aws/aws-cdk/issues/29415"),
    over=in_files(resources(JOB_DEFINITION)),
    example=_definition("Vcpus: 96", nodes="0:3"),
)
def closed_range(definition: TemplateResource) -> Iterator[Violation]:
    """The last node range should be open."""
    if not is_multi_node(definition):
        return
    targets = [read(each.get("TargetNodes").text()) for each in node_ranges(definition)]
    closed = [each for each in targets if each and not each.value.strip().endswith(":")]
    if targets and len(closed) == len(targets):
        last = closed[-1]
        yield Violation(
            path=last.path,
            message=f"the nodes {last.value!r} of {definition.logical_id} are a fixed number",
            remedy="end the last range with a colon, for instance 0:",
        )


@rule(
    "TS-JOB-024",
    title="A job is tried again whatever it failed with",
    why="""
AWS Batch goes through `EvaluateOnExit` from the first entry on. When none matches, the job is
tried again, as if there were no list: a mistake in the program runs on all nodes, as often as there
are attempts.
""",
    sources=(
        _RETRIES,
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_EvaluateOnExit.html",
    ),
    over=in_files(resources(JOB_DEFINITION)),
    example=resources_example("""
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: container
      ContainerProperties: {Image: my-image}
      RetryStrategy:
        Attempts: 3
        EvaluateOnExit: [{OnStatusReason: "Host EC2*", Action: RETRY}]
"""),
)
def no_final_exit(definition: TemplateResource) -> Iterator[Violation]:
    """What no entry names should end the job."""
    strategy = definition.get("RetryStrategy")
    attempts = read(strategy.get("Attempts").whole())
    entries = read(strategy.get("EvaluateOnExit").entries())
    if not entries or not entries.value or (attempts and attempts.value < 2):
        return
    last = entries.value[-1]
    action = read(last.get("Action").text())
    names = ("OnReason", "OnStatusReason", "OnExitCode")
    conditions = [each.value for name in names if (each := read(last.get(name).text()))]
    if action and action.value.upper() == "EXIT" and set(conditions) <= {"*"}:
        return
    yield Violation(
        path=entries.path,
        message=f"EvaluateOnExit of {definition.logical_id} does not end with an EXIT for "
        "everything else",
        remedy='add a last entry {OnReason: "*", Action: EXIT}',
    )


@rule(
    "TS-JOB-025",
    title="A job does not get the EFA devices of its node",
    severity=Severity.ERROR,
    why="""
A container sees only the devices that its job definition lists. Each EFA interface of a node is one
device, `/dev/infiniband/uverbs0` and on; AWS Batch's page shows the first only. libfabric goes over
TCP without them, and uses a part of the bandwidth with some of them; neither is an error. Where the
nodes are in the template, their launch template says how many EFA interfaces they have.
""",
    sources=(_EFA,),
    over=in_files(resources(JOB_DEFINITION)),
    example=_definition(
        "LinuxParameters:\n                SharedMemorySize: 65536\n"
        "                Devices: [{HostPath: /dev/infiniband/uverbs0}]\n"
        "              Ulimits: [{Name: memlock, SoftLimit: -1, HardLimit: -1}]"
    ),
)
def missing_devices(definition: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """A container needs a device for each EFA interface of its node."""
    for container in containers(definition) if is_multi_node(definition) else ():
        devices = container.get("LinuxParameters", "Devices")
        listed = read(devices.entries())
        paths = {
            path.value
            for each in (listed.value if listed else ())
            if (path := read(each.get("HostPath").text()))
        }
        verbs = [path for path in paths if path.startswith(f"{_VERBS}uverbs")]
        for instance in _types(container, definition):
            wanted = efa_of_nodes(document, instance)
            # A privileged container has all devices of its node.
            privileged = read(container.get("Privileged").flag())
            if not instance.efa_interfaces_max or (privileged and privileged.value):
                continue
            if wanted is None and not verbs:
                why = f"the EFA interfaces of the nodes of {definition.logical_id}, which are not "
                why += "in this file: the job gets no EFA device"
                raise NotDecided(Unknown(why=why, path=container.path))
            if wanted is None:
                wanted = instance.efa_interfaces_max
            if len(verbs) < wanted:
                yield Violation(
                    path=devices.path if devices else container.path,
                    message=f"{definition.logical_id} gives jobs {len(verbs)} of the {wanted} EFA "
                    f"devices of {instance.name}",
                    remedy=f"list {_VERBS}uverbs0 to {_VERBS}uverbs{wanted - 1} in "
                    "LinuxParameters.Devices"
                    if wanted > 1
                    else f"list {_VERBS}uverbs0 in LinuxParameters.Devices",
                )


@rule(
    "TS-JOB-026",
    title="A job with EFA devices may not lock memory",
    severity=Severity.ERROR,
    why="""
EFA registers memory, which must stay where it is: it is locked. A container without the limit
`memlock` of -1 may lock only little, and libfabric fails to register its buffers.
""",
    sources=(
        _EFA,
        "https://github.com/aws-samples/aws-batch-efa",
    ),
    over=in_files(resources(JOB_DEFINITION)),
    example=_definition(f"LinuxParameters: {{SharedMemorySize: 65536, Devices: [{_DEVICES}]}}"),
)
def no_memlock(definition: TemplateResource) -> Iterator[Violation]:
    """EFA needs locked memory."""
    for container in containers(definition):
        devices = read(container.get("LinuxParameters", "Devices").entries())
        hosts = [read(each.get("HostPath").text()) for each in devices.value] if devices else []
        if not any(host and host.value.startswith(_VERBS) for host in hosts):
            continue
        limits = read(container.get("Ulimits").entries())
        for limit in limits.value if limits else ():
            name, soft = read(limit.get("Name").text()), read(limit.get("SoftLimit").whole())
            if name and name.value == "memlock":
                if soft and soft.value != -1:
                    yield Violation(
                        path=soft.path,
                        message=f"jobs of {definition.logical_id} may lock {soft.value} bytes of "
                        "memory",
                        remedy="set SoftLimit and HardLimit of memlock to -1",
                    )
                break
        else:
            yield Violation(
                path=container.path,
                message=f"{definition.logical_id} has EFA devices, and no memlock limit",
                remedy="add {Name: memlock, SoftLimit: -1, HardLimit: -1} to Ulimits",
            )


@rule(
    "TS-BAT-005",
    over=in_files(resources(JOB_DEFINITION)),
    example=_definition(
        f"LinuxParameters: {{Devices: [{_DEVICES}]}}\n"
        "              Ulimits: [{Name: memlock, SoftLimit: -1, HardLimit: -1}]"
    ),
)
def small_shared_memory(definition: TemplateResource) -> Iterator[Violation]:
    """Each accelerator's process needs some shared memory."""
    for container in containers(definition):
        parameters = container.get("LinuxParameters")
        read(parameters.given)
        size = read(parameters.get("SharedMemorySize").whole())
        for instance in _types(container, definition):
            count = instance.accelerator.count
            if (size.value if size else 64) < count * 1024:
                given = f"{size.value} MiB" if size else "64 MiB, the default of Docker,"
                yield Violation(
                    path=size.path if size else container.path,
                    message=f"{given} of /dev/shm are less than 1 GiB for each of the {count} "
                    f"accelerators of {instance.name}",
                    remedy="set LinuxParameters.SharedMemorySize to an eighth of the container's "
                    "memory, in MiB",
                )


@rule(
    "TS-JOB-027",
    title="A job asks for GPUs of nodes that have none of NVIDIA",
    severity=Severity.ERROR,
    basis=Basis.INFERRED,
    why="""
The resource `GPU` of AWS Batch is NVIDIA's only. Nodes with Gaudi or Neuron accelerators offer
none, so the job waits in `RUNNABLE` forever. Such a job gets its accelerators as devices, or by
the container runtime of the AMI.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/gpu-jobs.html",
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_ResourceRequirement.html",
    ),
    over=in_files(resources(JOB_DEFINITION)),
    example=resources_example("""
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: container
      ContainerProperties:
        Image: my-image
        InstanceType: dl1.24xlarge
        ResourceRequirements: [{Type: GPU, Value: "8"}]
        LinuxParameters: {SharedMemorySize: 65536}
"""),
)
def gpu_of_others(definition: TemplateResource) -> Iterator[Violation]:
    """GPU means NVIDIA."""
    for container in containers(definition):
        for each in container.get("ResourceRequirements").known_entries():
            kind = read(each.get("Type").text())
            for instance in _types(container, definition) if kind and kind.value == "GPU" else ():
                if instance.accelerator.family is not AcceleratorFamily.NVIDIA:
                    yield Violation(
                        path=each.path,
                        message=f"{definition.logical_id} asks for GPUs, and {instance.name} has "
                        f"{instance.accelerator.name}",
                        remedy="remove the requirement, and give the job the devices instead",
                    )


@rule(
    "TS-BAT-014",
    title="The queue cancels jobs that wait for their Capacity Block",
    why="""
Before a Capacity Block begins there is no capacity, and the first job of the queue is to wait. An
action for `CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY` cancels it.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_JobStateTimeLimitAction.html",
    ),
    over=in_files(resources(JOB_QUEUE)),
    example=resources_example("""
  Queue:
    Type: AWS::Batch::JobQueue
    Properties:
      Priority: 1
      ComputeEnvironmentOrder: [{Order: 1, ComputeEnvironment: !Ref Cluster}]
      JobStateTimeLimitActions:
        - Reason: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY
          State: RUNNABLE
          Action: CANCEL
          MaxTimeSeconds: 3600
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      Type: MANAGED
      ComputeResources:
        Type: EC2
        LaunchTemplate: {LaunchTemplateId: !Ref Nodes, Version: "1"}
        MaxvCpus: 768
        Subnets: [subnet-11111111]
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: capacity-block}
"""),
)
def cancels_waiting(queue: TemplateResource, document: LintedFile) -> Iterator[Violation]:
    """Jobs on a Capacity Block wait for it."""
    assert isinstance(document, CloudFormationDocument)
    for order in queue.get("ComputeEnvironmentOrder").known_entries():
        name = logical_id(value_of(order.get("ComputeEnvironment").reference()) or "")
        environment = document.template.resources.get(name or "")
        if not environment or environment.type != COMPUTE_ENVIRONMENT:
            continue
        for action in queue.get("JobStateTimeLimitActions").known_entries():
            reason = read(action.get("Reason").text())
            block = capacity_block(document, environment)
            if block and reason and reason.value.startswith("CAPACITY:"):
                yield Violation(
                    path=reason.path,
                    message=f"{queue.logical_id} cancels jobs that {environment.logical_id}, on a "
                    "Capacity Block, has no capacity for yet",
                    remedy="leave this action out for Capacity Blocks",
                )
