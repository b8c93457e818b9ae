"""The composition root: cluster files in, stacks out."""

import os
import signal
import sys
from pathlib import Path

# Ctrl-C ends a program that does nothing but synthesise at once, without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)
# Runs from a checkout as it is: a lock with hashes cannot name the project itself, so that
# `pip install -r requirements/runtime.txt` does not install it.
ROOT = Path(__file__).parent
sys.path[1:1] = [str(ROOT / source) for source in ("src", "constructs", "stacks")]

from trainshed.startup import meanwhile, start_fast

start_fast()

import aws_cdk as cdk

with meanwhile(cdk.CloudFormationValidatePlugin) as template_checks:
    from trainshed.errors import TrainshedError
    from trainshed.plan import load_fleet
    from trainshed.plan.pipeline import load_ami_pipeline
    from trainshed.printable import printable
    from trainshed.region import app_region
    from trainshed.spec import ami_pipeline_file, cluster_files
    from trainshed_stacks import add_fleet
    from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

from cdk_nag import AwsSolutionsChecks


def main() -> None:
    """Synthesise what the context selects: `-c clusters=path/or/glob`, `-c ami_pipeline=path`."""
    # Stack traces would be of jsii, not of this code; the CDK CLI would show them with failures.
    app = cdk.App(stack_traces=False, context={"aws:cdk:disable-creation-stack-traces": True})
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), template_checks.result())
    clusters, pipeline = map(app.node.try_get_context, ("clusters", "ami_pipeline"))
    account, region = os.environ.get("CDK_DEFAULT_ACCOUNT"), app_region(os.environ)
    files = cluster_files("clusters/*.yaml" if clusters is None else clusters, "-c clusters=")
    add_fleet(app, load_fleet(files, account=account, region=region))
    if file := ami_pipeline_file(pipeline):
        pins = ROOT / "packer" / "pins.json"
        add_ami_pipeline(app, load_ami_pipeline(file, pins=pins, account=account, region=region))
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except TrainshedError as error:
        message = "\n".join(map(printable, error.lines))
        sys.stderr.write(f"error: {message}\n")
        sys.exit(error.exit_code)
