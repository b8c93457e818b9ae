"""The logs of a control plane in CloudWatch Logs: those that are enabled."""

import json
from typing import Any

import pytest
from eks_bench import EksBench, until
from kube_bench import asked, own_credentials, token

from embedded_aws.embedded import EmbeddedAws

pytestmark = pytest.mark.server


def test_only_enabled_logs_are_sent_and_the_audit_log_says_who_did_what(
    kubernetes_aws: EmbeddedAws,
) -> None:
    bench = EksBench(kubernetes_aws)
    enabled = {"types": ["audit"], "enabled": True}
    cluster = bench.create_cluster(logging={"clusterLogging": [enabled]})
    logs = kubernetes_aws.client("logs")
    group = f"/aws/eks/{bench.name}/cluster"

    def streams() -> list[str]:
        found = logs.describe_log_streams(logGroupName=group)["logStreams"]
        return sorted(each["logStreamName"].rpartition("-")[0] for each in found)

    def audited() -> list[Any]:
        found = logs.filter_log_events(logGroupName=group, filterPattern="secrets-of-nobody")
        return [json.loads(each["message"]) for each in found["events"]]

    bearer = token(kubernetes_aws, bench.name, own_credentials(kubernetes_aws))
    asked(cluster, bearer, "GET", "/api/v1/namespaces/secrets-of-nobody/secrets")

    until(lambda: audited() != [])
    [event] = audited()
    assert event["verb"] == "list"
    assert event["user"]["username"].startswith("arn:aws:iam::123456789012:")
    assert streams() == ["kube-apiserver-audit"]

    both = {"types": ["api"], "enabled": True}
    bench.eks.update_cluster_config(name=bench.name, logging={"clusterLogging": [both]})
    bench.until_settled()
    # The API server says which address a service has got.
    service = {"metadata": {"name": "one"}, "spec": {"ports": [{"port": 80}]}}
    asked(cluster, bearer, "POST", "/api/v1/namespaces/default/services", service)
    until(lambda: len(streams()) == 2)

    assert streams() == ["kube-apiserver", "kube-apiserver-audit"]
    bench.eks.delete_cluster(name=bench.name)
