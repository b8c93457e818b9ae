"""What may be wrong with a cluster, as the synthesis says it."""

from collections.abc import Iterable

import aws_cdk as cdk

from trainshed.findings import Finding, Severity


def add_findings(stack: cdk.Stack, findings: Iterable[Finding]) -> None:
    """Annotate a stack with findings: the CDK CLI deploys nothing while one is an error.

    What the cluster file accepts is left to `trainshed check`, which shows it with its reason.
    """
    annotations = cdk.Annotations.of(stack)
    for finding in findings:
        message = f"{finding.message}; {finding.remedy}"
        match finding.severity:
            case _ if finding.accepted:
                continue
            case Severity.ERROR:
                annotations.add_error(f"{finding.rule}: {message}")
            case Severity.WARNING:
                annotations.add_warning_v2(finding.rule, message)
            case Severity.INFO:
                annotations.add_info_v2(finding.rule, message)
