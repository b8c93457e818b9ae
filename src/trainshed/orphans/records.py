"""Repositories of container images, and log groups, that were kept with what is in them."""

import re
from collections.abc import Iterator

from trainshed.account.billed import log_group_billed, repository_billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import accepting
from trainshed.orchestrators import Orchestrator, traits
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.orphans.unused_stacks import REPOSITORY
from trainshed.teardown.kept import FLOW_LOGS

# CloudFormation names a log group STACK-LOGICALID-RANDOM; logical ids begin with construct ids.
_LOGS = "|".join([*(traits(each).job_logs for each in Orchestrator), FLOW_LOGS])
_LOG_GROUP = re.compile(rf"(?P<stack>[A-Za-z][\w-]*)-(?:{_LOGS})[0-9A-Za-z]*-[0-9A-Za-z]+")


def _repositories(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("ecr", "describe_repositories", "repositories"):
        # Gone meanwhile.
        with accepting("RepositoryNotFoundException"):
            answer = place.region.call(
                "ecr", "list_tags_for_resource", resourceArn=each["repositoryArn"]
            )
            if name := {tag["Key"]: tag["Value"] for tag in answer["tags"]}.get(CLUSTER_TAG):
                yield Candidate(
                    billed=repository_billed(place.region, each),
                    why=f"container images of {name}",
                    kept=True,
                )


def _log_groups(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("logs", "describe_log_groups", "logGroups"):
        if found := _LOG_GROUP.fullmatch(each["logGroupName"]):
            days = each.get("retentionInDays")
            how_long = f"each line is kept for {days} days" if days else "kept for good"
            yield Candidate(
                billed=log_group_billed(each),
                why=f"a log of {found['stack']}; {how_long}",
                kept=True,
            )


RECORD_LOOKS = (
    OrphanSearch(
        at="ECR repositories",
        types=(REPOSITORY,),
        actions=("ecr:DescribeImages", "ecr:DescribeRepositories", "ecr:ListTagsForResource"),
        find=_repositories,
    ),
    OrphanSearch(
        at="log groups",
        types=("AWS::Logs::LogGroup",),
        actions=("logs:DescribeLogGroups",),
        find=_log_groups,
    ),
)
