"""`trainshed offline`: the commands of the embedded AWS, and stand-ins for what it lacks."""

from typing import Annotated

import typer

from embedded_aws.cli.commands import app as embedded_app
from embedded_aws.cli.commands import asking, connect
from embedded_aws.errors import program
from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.output import say
from trainshed.offline.image import add_image_of
from trainshed.offline.stand_in import add_stand_in
from trainshed.rehearse.rehearsal import job_path

app = typer.Typer(add_completion=False)
app.add_typer(embedded_app)


@app.callback(help="An AWS on this machine: no account, no network, no cost.")
def _prepare(context: typer.Context) -> None:
    """Have messages of the embedded AWS name its commands as typed here, and jobs find ours."""
    before = program.set("trainshed offline")
    context.call_on_close(lambda: program.reset(before))
    context.with_resource(job_path())


@app.command()
def ami(
    accelerator: Annotated[str, typer.Argument(help="habana, neuron or nvidia.")],
    agent: Annotated[
        str, typer.Argument(help="ec2, ecs, or eks-1.35 for one version of Kubernetes.")
    ],
) -> None:
    """Add an AMI to the embedded AWS that looks like a build's, and print its id.

    Nothing is baked into it. `trainshed ami publish` takes it as it takes a real one.
    """
    with asking():
        # Asks for an embedded AWS after it has checked the names.
        say(add_stand_in(lambda service: connect()(service), accelerator, agent))


@app.command()
def image(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
) -> None:
    """Put a stand-in of a cluster's container image into ECR, and print its URI.

    Nothing is in it: jobs of the embedded AWS then run on this machine's own files, but not without
    an image. For those who have no docker, podman or buildah. Its repository must be deployed.
    """
    plan = load_cluster(cluster, clusters, region)
    say(add_image_of(Region(plan.region, connect(plan.region)), plan))
