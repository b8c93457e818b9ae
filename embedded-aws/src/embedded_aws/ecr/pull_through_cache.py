"""ECR's pull through cache rules, which moto does not have.

ECR API reference and user guide "Sync an upstream registry with an Amazon ECR private registry":
one rule for each prefix of 2 to 30 characters in a registry, at most 50 of them; only certain
upstreams, of which those of the second table need a secret. Inferred: the exact words. Nothing is
pulled here.
"""

import re
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing, table

# A rule, as DescribePullThroughCacheRules returns it.
Rule = dict[str, Any]

_MAXIMUM = 50
_rules = table("ecr", "pull_through_cache_rules")
_OPEN = {
    "public.ecr.aws": "ecr-public",
    "quay.io": "quay",
    "registry.k8s.io": "k8s",
}
_WITH_SECRET = {
    "cgr.dev": "chainguard",
    "ghcr.io": "github-container-registry",
    "registry-1.docker.io": "docker-hub",
    "registry.gitlab.com": "gitlab-container-registry",
}
_AZURE = re.compile(r"[a-z0-9]+\.azurecr\.(io|us)")
_ECR = re.compile(r"[0-9]{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")


@action("ecr", "CreatePullThroughCacheRule")
def create_pull_through_cache_rule(call: Call) -> Rule:
    """Create a rule."""
    prefix = call.params["ecrRepositoryPrefix"]
    if prefix in _rules(call):
        raise Refusal(
            "PullThroughCacheRuleAlreadyExistsException",
            f"The pull through cache rule with prefix '{prefix}' already exists in the registry "
            f"with id '{call.account}'",
        )
    if len(_rules(call)) >= _MAXIMUM:
        raise Refusal(
            "LimitExceededException",
            f"The maximum of {_MAXIMUM} pull through cache rules in a registry is reached.",
        )
    rule: Rule = {
        **call.params,
        "upstreamRegistry": _upstream(call),
        "registryId": call.account,
        "createdAt": datetime.now(UTC),
    }
    _rules(call)[prefix] = rule
    return rule


@action("ecr", "DescribePullThroughCacheRules")
def describe_pull_through_cache_rules(call: Call) -> dict[str, Any]:
    """Describe the rules of the named prefixes, or all."""
    prefixes = call.params.get("ecrRepositoryPrefixes", sorted(_rules(call)))
    return {"pullThroughCacheRules": [_find(call, prefix) for prefix in prefixes]}


@action("ecr", "DeletePullThroughCacheRule")
def delete_pull_through_cache_rule(call: Call) -> Rule:
    """Delete a rule; the repositories created by it stay."""
    rule = _find(call, call.params["ecrRepositoryPrefix"])
    del _rules(call)[rule["ecrRepositoryPrefix"]]
    return rule


def _find(call: Call, prefix: str) -> Rule:
    return existing(
        _rules(call).get(prefix),
        "PullThroughCacheRuleNotFoundException",
        f"Pull through cache rule with prefix '{prefix}' not found in the registry with id "
        f"'{call.account}'",
    )


def _upstream(call: Call) -> str:
    """Return the kind of the upstream registry, after checking the rule."""
    url = call.params["upstreamRegistryUrl"]
    if url in _OPEN:
        kind, needs = _OPEN[url], None
    elif url in _WITH_SECRET or _AZURE.fullmatch(url):
        kind, needs = _WITH_SECRET.get(url, "azure-container-registry"), "credentialArn"
    elif _ECR.fullmatch(url):
        # A registry of another account is read with a role.
        kind, needs = "ecr", None if url.startswith(call.account) else "customRoleArn"
    else:
        raise Refusal(
            "UnsupportedUpstreamRegistryException",
            f"The upstream registry '{url}' is not supported.",
        )
    if needs and needs not in call.params:
        raise Refusal(
            "InvalidParameterException", f"{needs} is required for the upstream registry '{url}'."
        )
    if call.params.get("upstreamRegistry", kind) != kind:
        raise Refusal(
            "InvalidParameterException",
            f"upstreamRegistry '{call.params['upstreamRegistry']}' does not match '{url}'.",
        )
    return kind
