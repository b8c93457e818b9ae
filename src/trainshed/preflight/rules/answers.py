"""Findings about a rule itself: it could not be checked."""

from trainshed.findings import Severity
from trainshed.findings.rule import describe

LACKS_PERMISSION = describe(
    "TS-ACC-001",
    command="preflight",
    title="A check was not made, because a permission is missing",
    when="AWS denies a call",
    why="""
What was not checked may be wrong. The finding names the rule and the IAM action; the other checks
are made all the same. `trainshed preflight --print-policy` prints a policy with all actions.
""",
    sources=("https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html",),
    severity=Severity.WARNING,
)
NOT_ANSWERED = describe(
    "TS-ACC-002",
    command="preflight",
    title="A check was not made, because AWS did not answer",
    when="a call is refused for another reason, throttled again and again, or takes too long",
    why="""
What was not checked may be wrong. Throttled calls are tried again, by boto3's standard mode, before
this finding is given; a slow call holds up no other.
""",
    sources=("https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html",),
    severity=Severity.WARNING,
)
