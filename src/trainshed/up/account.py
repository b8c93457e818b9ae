"""Whether the account can take the cluster: credentials, limits, the CDK's bootstrap."""

from collections.abc import Collection
from datetime import UTC, datetime

from trainshed.findings import Severity
from trainshed.preflight import SharedAnswers, Subject, ask_account, judge_with_account
from trainshed.preflight.rules.bootstrap import BOOTSTRAP_NEEDED, bootstrap_version
from trainshed.preflight.rules.credentials import WHOSE
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site


def look_at_credentials(site: Site) -> Look:
    """Whose they are.

    Raises:
        BadCredentials: AWS takes none of their calls.
    """
    found = ask_account(_subject(site), only={WHOSE}).findings
    if found:
        return Look(state=StepState.BLOCKED, says="\n".join(map(str, found)))
    there = ", of an embedded AWS" if site.is_embedded else ""
    return Look(state=StepState.DONE, says=f"account {site.account} in {site.region.name}{there}")


def look_at_limits(site: Site, mended: Collection[str]) -> Look:
    """Whether the account would refuse the cluster.

    Args:
        site: the cluster and its account.
        mended: ids of findings that other steps mend.
    """
    findings = judge_with_account(_subject(site), (), (), lambda _: None)
    failing = [each for each in findings if each.fails and each.rule not in mended]
    errors = [each for each in failing if each.severity is Severity.ERROR]
    if errors:
        return Look(state=StepState.BLOCKED, says="\n".join(map(str, errors)))
    warnings = len(failing)
    more = f"; {warnings} warning{'s' if warnings > 1 else ''}: {site.ours('preflight')}"
    return Look(state=StepState.DONE, says=f"nothing{more if warnings else ''}")


def look_at_bootstrap(site: Site) -> Look:
    """Whether the CDK can deploy there."""
    version = bootstrap_version(site.region)
    if version is not None and version >= BOOTSTRAP_NEEDED:
        return Look(state=StepState.DONE, says=f"version {version}")
    says = "there is none" if version is None else f"version {version} is too old"
    target = f"aws://{site.account}/{site.region.name}"
    command = f"npx cdk bootstrap {target}"
    return Look(state=StepState.TO_DO, says=says, commands=(command,), minutes=1)


def _subject(site: Site) -> Subject:
    return Subject(plan=site.plan, aws=SharedAnswers(site.region.name), now=datetime.now(UTC))
