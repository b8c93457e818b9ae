"""The tools that judge templates during synthesis, when `trainshed check` asks for them."""

from importlib.metadata import version

import aws_cdk as cdk
from constructs import Construct

from trainshed.checks.templates.asking import ASKED, JUDGED_BY


def add_template_checks(scope: Construct) -> tuple[str, ...]:
    """Have cdk-nag and cdk-preflight judge an app's templates, unless nobody asks for that.

    A plain synthesis does without them: cdk-preflight would add two fifths to its CPU time.

    Returns:
        the tools that judge, with their versions.
    """
    if not scope.node.try_get_context(ASKED):
        return ()
    # Here, because loading them takes time that a plain synthesis need not spend.
    from cdk_nag import AwsSolutionsChecks
    from cdk_preflight import Preflight

    app = scope if cdk.Stage.is_stage(scope) else cdk.Stage.of(scope)
    assert isinstance(app, cdk.Stage), "stacks are in an app"
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    # It enforces, because rules that depend on the region are judged only then.
    Preflight.apply(app)
    return tuple(f"{tool} {version(tool)}" for tool in ("cdk-nag", "cdk-preflight"))


def note_judges(stack: cdk.Stack, judges: tuple[str, ...]) -> None:
    """Write into a stack's metadata which tools judge it: a report names only those that found."""
    if judges:
        stack.node.add_metadata(JUDGED_BY, list(judges))
