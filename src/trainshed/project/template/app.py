"""The CDK app: makes stacks from each file in clusters/."""

import os
import sys

from trainshed.startup import start_fast

start_fast()

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from trainshed.errors import TrainshedError
from trainshed.plan import load_fleet
from trainshed.printable import printable
from trainshed.region import app_region
from trainshed.spec import cluster_files
from trainshed_stacks import add_fleet


def main() -> None:
    """Synthesise the clusters, checked by cdk-nag; `-c clusters=path/or/glob` selects others."""
    app = cdk.App()
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    files = cluster_files(app.node.try_get_context("clusters") or "clusters/*.yaml", "-c clusters=")
    account = os.environ.get("CDK_DEFAULT_ACCOUNT")
    add_fleet(app, load_fleet(files, account=account, region=app_region(os.environ)))
    # Stacks of your own go here.
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except TrainshedError as error:
        message = "\n".join(map(printable, error.lines))
        sys.stderr.write(f"error: {message}\n")
        sys.exit(error.exit_code)
