"""What rules on AWS Batch share."""

from collections.abc import Iterator

from trainshed.catalogue import InstanceType
from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.model import LintedFile, Unknown
from trainshed.lint.nodes_of_template import launch_template_of
from trainshed.lint.parts import efa_interfaces
from trainshed.lint.read import NotDecided, read, value_of
from trainshed.lint.template import TemplateResource, TemplateValue

COMPUTE_ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
JOB_DEFINITION = "AWS::Batch::JobDefinition"
JOB_QUEUE = "AWS::Batch::JobQueue"


def on_ec2(environment: TemplateResource) -> bool:
    """Whether a compute environment is managed and has EC2 instances, as far as is known."""
    managed = value_of(environment.get("Type").text()) or ""
    kind = value_of(environment.get("ComputeResources", "Type").text()) or ""
    return managed.upper() == "MANAGED" and kind.upper() in ("EC2", "SPOT")


def launch_data(document: LintedFile, environment: TemplateResource) -> TemplateValue | None:
    """Return the data of the launch template of a compute environment; None without one.

    Raises:
        NotDecided: it is not in the file.
    """
    assert isinstance(document, CloudFormationDocument)
    specification = environment.get("ComputeResources", "LaunchTemplate")
    if not specification:
        return None
    resource = launch_template_of(document.template, specification)
    if resource is None:
        why = f"the launch template of {environment.logical_id}, which is not in this file"
        raise NotDecided(Unknown(why=why, path=specification.path))
    return resource.get("LaunchTemplateData")


def capacity_block(document: LintedFile, environment: TemplateResource) -> bool:
    """Whether a compute environment is known to be on a Capacity Block."""
    return any(
        group.path == environment.path and value_of(group.purchase) == "capacity-block"
        for group in document.groups
    )


def efa_of_nodes(document: LintedFile, instance: InstanceType) -> int | None:
    """Return how many EFA interfaces the nodes of a type have; None where none are in the file.

    Raises:
        NotDecided: the file does not decide it.
    """
    names = {instance.name, instance.name.partition(".")[0]}
    found = None
    for group in document.groups:
        if group.launch == COMPUTE_ENVIRONMENT:
            types = read(group.instance_types)
            if types and names & set(types.value):
                found = max(found or 0, len(efa_interfaces(group)))
    return found


def is_multi_node(definition: TemplateResource) -> bool:
    """Whether a job definition is known to be of multi-node jobs."""
    return (value_of(definition.get("Type").text()) or "").lower() == "multinode"


def has_multi_node_jobs(document: CloudFormationDocument) -> bool:
    """Whether the template defines multi-node jobs."""
    return any(map(is_multi_node, document.template.of_type(JOB_DEFINITION)))


def node_ranges(definition: TemplateResource) -> tuple[TemplateValue, ...]:
    """Return the node ranges of a multi-node job definition."""
    return definition.get("NodeProperties", "NodeRangeProperties").known_entries()


def containers(definition: TemplateResource) -> Iterator[TemplateValue]:
    """Yield the containers of a job definition: of its nodes, or its own."""
    for node_range in node_ranges(definition):
        if container := node_range.get("Container"):
            yield container
    if container := definition.get("ContainerProperties"):
        yield container


def instance_types(container: TemplateValue, definition: TemplateResource) -> tuple[str, ...]:
    """Return the instance types that a job definition asks for, as far as they are known."""
    named = value_of(container.get("InstanceType").text())
    found = [named] if named else []
    for node_range in node_ranges(definition):
        found += value_of(node_range.get("InstanceTypes").texts()) or ()
    return tuple(dict.fromkeys(found))
