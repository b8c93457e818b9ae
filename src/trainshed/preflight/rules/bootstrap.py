"""Whether the CDK can deploy there."""

from collections.abc import Iterator

from trainshed.aws import Region, accepting
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts

# Of the default synthesizer, whose templates check it by a rule.
BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
BOOTSTRAP_NEEDED = 6


@rule(
    "TS-ACC-080",
    over=accounts,
    title="The region has no CDK bootstrap, or an old one",
    when="always",
    why="""
`cdk deploy` puts templates and files into what `cdk bootstrap` made. Templates of the current CDK
need version 6 of it or later, and refuse to be deployed without.
""",
    actions=("ssm:GetParameter",),
    sources=("https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html",),
    basis=Basis.OBSERVED,
    severity=Severity.ERROR,
)
def bootstrap(subject: Subject) -> Iterator[Violation]:
    """The bootstrap stack writes its version into a parameter."""
    version = bootstrap_version(subject.aws)
    if version is None or version < BOOTSTRAP_NEEDED:
        has = f"has version {version} of the" if version else "has no"
        account = subject.aws.call("sts", "get_caller_identity")["Account"]
        yield Violation(
            path=(),
            message=f"{subject.plan.region} {has} CDK bootstrap, and version "
            f"{BOOTSTRAP_NEEDED} or later of it is needed",
            remedy=f"npx cdk bootstrap aws://{account}/{subject.plan.region}",
        )


def bootstrap_version(aws: Region) -> int | None:
    """Return the version of the CDK's bootstrap in a region; None without one."""
    with accepting("ParameterNotFound"):
        return int(aws.call("ssm", "get_parameter", Name=BOOTSTRAP_VERSION)["Parameter"]["Value"])
    return None
