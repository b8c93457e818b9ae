"""What exists in the embedded AWS, read through its APIs."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.plugins import Row, plugins


def inventory(client: Callable[[str], Any]) -> list[Row]:
    """List stacks, networks, compute, storage and ECR repositories, service by service.

    Args:
        client: gives a boto3 client of a service.

    Returns:
        Rows with `kind`, `name` and `facts`; empty when nothing exists.
    """
    questions = (_stacks, _networks, _compute, _batch, _storage, _repositories)
    rows = [row for question in questions for row in question(client)]
    return rows + [row for plugin in plugins() for row in plugin.inventory(client)]


def _row(kind: str, name: str, facts: str) -> Row:
    return {"kind": kind, "name": name, "facts": facts}


def _stacks(client: Callable[[str], Any]) -> Iterator[Row]:
    cloudformation = client("cloudformation")
    for stack in cloudformation.get_paginator("describe_stacks").paginate().search("Stacks[]"):
        pages = cloudformation.get_paginator("list_stack_resources").paginate(
            StackName=stack["StackName"]
        )
        count = sum(len(page["StackResourceSummaries"]) for page in pages)
        yield _row("stack", stack["StackName"], f"{stack['StackStatus']}, resources: {count}")


def _networks(client: Callable[[str], Any]) -> Iterator[Row]:
    ec2 = client("ec2")
    for vpc in ec2.describe_vpcs()["Vpcs"]:
        yield _row("vpc", vpc["VpcId"], vpc["CidrBlock"])
    for subnet in ec2.describe_subnets()["Subnets"]:
        facts = f"{subnet['CidrBlock']} in {subnet['AvailabilityZoneId']}"
        yield _row("subnet", subnet["SubnetId"], facts)
    rules = ec2.describe_security_group_rules()["SecurityGroupRules"]
    for group in ec2.describe_security_groups()["SecurityGroups"]:
        own = [rule for rule in rules if rule["GroupId"] == group["GroupId"]]
        inward = sum(not rule["IsEgress"] for rule in own)
        facts = f"rules in: {inward}, out: {len(own) - inward}; {group['Description']}"
        yield _row("security group", group["GroupId"], facts)


def _compute(client: Callable[[str], Any]) -> Iterator[Row]:
    ec2 = client("ec2")
    for group in ec2.describe_placement_groups()["PlacementGroups"]:
        yield _row("placement group", group["GroupName"], group["Strategy"])
    for template in ec2.describe_launch_templates()["LaunchTemplates"]:
        latest = ec2.describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"], Versions=["$Latest"]
        )["LaunchTemplateVersions"][0]
        interfaces = latest["LaunchTemplateData"].get("NetworkInterfaces", [])
        with_efa = sum("efa" in interface.get("InterfaceType", "") for interface in interfaces)
        facts = (
            f"version {latest['VersionNumber']}: {len(interfaces)} interfaces, {with_efa} with EFA"
        )
        yield _row("launch template", template["LaunchTemplateId"], facts)
    groups = client("autoscaling").get_paginator("describe_auto_scaling_groups").paginate()
    for group in groups.search("AutoScalingGroups[]"):
        facts = f"{len(group['Instances'])} of {group['DesiredCapacity']} instances"
        yield _row("auto scaling group", group["AutoScalingGroupName"], facts)


def _batch(client: Callable[[str], Any]) -> Iterator[Row]:
    batch = client("batch")
    for environment in batch.describe_compute_environments()["computeEnvironments"]:
        facts = environment["status"]
        # An unmanaged environment has none.
        if resources := environment.get("computeResources"):
            types = ", ".join(resources.get("instanceTypes", [resources["type"]]))
            facts += f": {types}, {resources.get('minvCpus', 0)} to {resources['maxvCpus']} vCPU"
        yield _row("compute environment", environment["computeEnvironmentName"], facts)
    for queue in batch.describe_job_queues()["jobQueues"]:
        yield _row("job queue", queue["jobQueueName"], f"{queue['status']}, {queue['state']}")
    for definition in batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]:
        name = f"{definition['jobDefinitionName']}:{definition['revision']}"
        facts = definition["type"]
        if nodes := definition.get("nodeProperties"):
            ranges = ", ".join(each["targetNodes"] for each in nodes["nodeRangeProperties"])
            facts += f", {nodes['numNodes']} nodes, range {ranges}"
        yield _row("job definition", name, facts)


def _storage(client: Callable[[str], Any]) -> Iterator[Row]:
    for system in client("fsx").describe_file_systems()["FileSystems"]:
        lustre = system["LustreConfiguration"]
        facts = f"{lustre['DeploymentType']}, {system['StorageCapacity']} GiB, "
        facts += str(system["Lifecycle"])
        yield _row("lustre file system", system["FileSystemId"], facts)


def _repositories(client: Callable[[str], Any]) -> Iterator[Row]:
    for repository in client("ecr").describe_repositories()["repositories"]:
        facts = f"tags {repository['imageTagMutability'].lower()}"
        yield _row("repository", repository["repositoryName"], facts)
