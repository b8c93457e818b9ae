"""An EFS file system that clusters of two zones share, in its template."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainshed.plan import Fleet, load_fleet

CLUSTER = """
name: {name}
region: us-west-2
zone: {zone}
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
network: {{name: shared}}
storage: {{efs: {{name: home, mount: {mount}}}}}
"""


def test_clusters_of_two_zones_have_a_mount_target_each_and_mounts_of_their_own(
    synthesise: Callable[[Fleet], Path], tmp_path: Path
) -> None:
    files = []
    for name, zone, mount in (("Alpha", "usw2-az1", "/home"), ("Beta", "usw2-az4", "/efs")):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(CLUSTER.format(name=name, zone=zone, mount=mount))

    folder = synthesise(load_fleet(files))

    made = of_type(folder / "HomeEfs.template.json", "AWS::EFS::MountTarget")
    assert len({json.dumps(each["SubnetId"]) for each in made}) == 2
    assert len({json.dumps(each["SecurityGroups"]) for each in made}) == 1
    for name, mount in (("Alpha", "/home"), ("Beta", "/efs")):
        [template] = of_type(folder / f"{name}.template.json", "AWS::EC2::LaunchTemplate")
        assert f'\\"mount\\": \\"{mount}\\"' in json.dumps(template).replace("\\\\", "\\")


def of_type(template: Path, resource_type: str) -> list[dict[str, Any]]:
    """Return the properties of a template's resources of a type."""
    resources = json.loads(template.read_text())["Resources"].values()
    return [each["Properties"] for each in resources if each["Type"] == resource_type]
