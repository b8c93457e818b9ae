"""The largest archive of files fits into the job definition of every type, devices and all."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.jobs.sent_files import MOST_CHARACTERS, VARIABLE
from trainshed.plan import Fleet, load_fleet

# AWS Batch user guide, "Service quotas".
DEFINITION_BYTES = 24 * 1024
CLUSTER = """name: LargeCluster
region: {region}
instance: {{type: {instance_type}, nodes: {{max: 4}}}}
storage: {{lustre: {{}}}}
"""


# Those with most devices: 32 of EFA; 16 of EFA and 16 accelerators.
@pytest.mark.parametrize(
    ("instance_type", "region"),
    [
        ("p5.48xlarge", "us-west-2"),
        ("trn1n.32xlarge", "us-west-2"),
        ("trn2.48xlarge", "us-east-2"),
    ],
)
def test_the_largest_archive_fits_into_a_job_definition(
    instance_type: str, region: str, synthesise: Callable[[Fleet], Path], tmp_path: Path
) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(CLUSTER.format(instance_type=instance_type, region=region))
    folder = synthesise(load_fleet([file]))
    template = json.loads((folder / "LargeCluster.template.json").read_text())

    [definition] = [
        each["Properties"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Batch::JobDefinition"
    ]

    variable = {"name": VARIABLE, "value": "x" * MOST_CHARACTERS}
    size = len(json.dumps([definition, variable], separators=(",", ":")))
    assert size <= DEFINITION_BYTES
