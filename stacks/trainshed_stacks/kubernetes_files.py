"""What Kubernetes has for a cluster, as a file beside the templates."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from trainshed.orchestrators import part
from trainshed.plan import Fleet

# In the folder of the cloud assembly.
_FOLDER = "kube"


def write_objects(scope: Construct, fleet: Fleet) -> None:
    """Write the objects of each cluster that has Kubernetes into `kube/CLUSTER.yaml`.

    `trainshed kube apply` applies the same; so may whatever else applies files.

    Args:
        scope: the app, or a stage of it.
        fleet: its clusters.
    """
    clusters = [each for each in fleet.clusters if each.control_plane]
    if not clusters:
        return
    # Here, because loading the types takes time that other clusters need not spend.
    from trainshed.kubernetes.objects import cluster_objects, manifest

    stage = scope if cdk.Stage.is_stage(scope) else cdk.Stage.of(scope)
    assert isinstance(stage, cdk.Stage), "stacks are in an app"
    folder = Path(stage.outdir) / _FOLDER
    folder.mkdir(exist_ok=True)
    for cluster in clusters:
        planned = part(cluster.orchestrator, "kubernetes").planned_objects(cluster)
        text = manifest(cluster_objects(planned))
        (folder / f"{cluster.name}.yaml").write_text(text, encoding="utf-8")
