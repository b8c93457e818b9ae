"""What AWS Batch has, in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.JOBS)
def _batch(client: Callable[[str], Any]) -> Iterator[Row]:
    batch = client("batch")
    for environment in batch.describe_compute_environments()["computeEnvironments"]:
        facts = environment["status"]
        # An unmanaged environment has none.
        if resources := environment.get("computeResources"):
            types = ", ".join(resources.get("instanceTypes", [resources["type"]]))
            facts += f": {types}, {resources.get('minvCpus', 0)} to {resources['maxvCpus']} vCPU"
        yield row("compute environment", environment["computeEnvironmentName"], facts)
    for queue in batch.describe_job_queues()["jobQueues"]:
        yield row("job queue", queue["jobQueueName"], f"{queue['status']}, {queue['state']}")
    for definition in batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]:
        name = f"{definition['jobDefinitionName']}:{definition['revision']}"
        facts = definition["type"]
        if nodes := definition.get("nodeProperties"):
            ranges = ", ".join(each["targetNodes"] for each in nodes["nodeRangeProperties"])
            facts += f", {nodes['numNodes']} nodes, range {ranges}"
        yield row("job definition", name, facts)
