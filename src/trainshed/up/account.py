"""Whether the account can take the cluster: credentials, limits, the CDK's bootstrap."""

from collections.abc import Collection
from datetime import UTC, datetime

from trainshed.aws import BadCredentials, accepting
from trainshed.findings import Severity
from trainshed.preflight import SharedAnswers, Subject, judge_with_account
from trainshed.preflight.rules.bootstrap import BOOTSTRAP_NEEDED, BOOTSTRAP_VERSION
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site


def look_at_credentials(site: Site) -> Look:
    """Whose they are."""
    try:
        account = site.account
    except BadCredentials as error:
        return Look(state=StepState.BLOCKED, says=str(error))
    expected = site.plan.account
    if expected and expected != account:
        return Look(
            state=StepState.BLOCKED,
            says=f"the cluster is for account {expected}, and the credentials are of {account}; "
            "set AWS_PROFILE to a profile of that account, or correct account",
        )
    there = ", of an embedded AWS" if site.is_embedded else ""
    return Look(state=StepState.DONE, says=f"account {account} in {site.region.name}{there}")


def look_at_limits(site: Site, mended: Collection[str]) -> Look:
    """Whether the account would refuse the cluster.

    Args:
        site: the cluster and its account.
        mended: ids of findings that other steps mend.
    """
    subject = Subject(plan=site.plan, aws=SharedAnswers(site.region.name), now=datetime.now(UTC))
    findings = judge_with_account(subject, (), (), lambda _: None)
    failing = [each for each in findings if each.fails and each.rule not in mended]
    errors = [each for each in failing if each.severity is Severity.ERROR]
    if errors:
        return Look(state=StepState.BLOCKED, says="\n".join(map(str, errors)))
    warnings = len(failing)
    more = f"; {warnings} warning{'s' if warnings > 1 else ''}: {site.ours('preflight')}"
    return Look(state=StepState.DONE, says=f"nothing{more if warnings else ''}")


def look_at_bootstrap(site: Site) -> Look:
    """Whether the CDK can deploy there."""
    version = None
    with accepting("ParameterNotFound"):
        answer = site.region.call("ssm", "get_parameter", Name=BOOTSTRAP_VERSION)
        version = int(answer["Parameter"]["Value"])
    if version is not None and version >= BOOTSTRAP_NEEDED:
        return Look(state=StepState.DONE, says=f"version {version}")
    says = "there is none" if version is None else f"version {version} is too old"
    target = f"aws://{site.account}/{site.region.name}"
    return Look(state=StepState.TO_DO, says=says, commands=(f"npx cdk bootstrap {target}",))
