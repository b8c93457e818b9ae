"""What may be wrong with a cluster, shown during synthesis."""

from collections.abc import Iterable

import aws_cdk as cdk

from trainshed.findings import Finding, Severity
from trainshed.printable import printable


def add_findings(stack: cdk.Stack, findings: Iterable[Finding]) -> None:
    """Annotate a stack with findings: the CDK CLI deploys nothing while one is an error.

    What fails no check is left to `trainshed check`: what is good to know, and what the cluster
    file accepts.
    """
    annotations = cdk.Annotations.of(stack)
    for finding in findings:
        message = printable(f"{finding.message}; {finding.remedy}")
        if finding.fails and finding.severity is Severity.ERROR:
            annotations.add_error(f"{finding.rule}: {message}")
        elif finding.fails:
            annotations.add_warning_v2(finding.rule, message)
