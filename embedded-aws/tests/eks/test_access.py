"""Who may use the API server of a cluster, which is a real one."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from botocore.credentials import Credentials
from eks_bench import EksBench, until
from kube_bench import asked, credentials_of, own_credentials, token

from embedded_aws.embedded import EmbeddedAws

pytestmark = pytest.mark.server
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/{}/pods"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKS{}Policy"
POD = {
    "metadata": {"name": "one"},
    "spec": {
        "containers": [{"name": "one", "image": "one"}],
        "automountServiceAccountToken": False,
    },
}


@pytest.fixture(scope="module")
def kube(kubernetes_aws: EmbeddedAws) -> EksBench:
    """What has a cluster, of which the account is an administrator."""
    bench = EksBench(kubernetes_aws)
    assert bench.create_cluster()["status"] == "ACTIVE"
    return bench


@pytest.fixture
def role(kube: EksBench) -> str:
    """A role of people, without an access entry."""
    return kube.role("ec2.amazonaws.com")


def ask(
    kube: EksBench, who: Credentials, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    return asked(kube.described(), token(kube.aws, kube.name, who), method, path, body)


def refusal(kube: EksBench, bearer: str) -> int:
    status, _ = asked(kube.described(), bearer, "GET", NODES)
    return status


def entry(kube: EksBench, role: str, **fields: Any) -> Credentials:
    """Give a role an access entry, and return credentials of a session of it."""
    kube.eks.create_access_entry(clusterName=kube.name, principalArn=role, **fields)
    return credentials_of(kube.aws, role)


def _is_there(kube: EksBench, path: str) -> bool:
    return ask(kube, own_credentials(kube.aws), "GET", path)[0] == 200


def give(kube: EksBench, role: str, policy: str, *namespaces: str) -> None:
    scope = {"type": "namespace" if namespaces else "cluster", "namespaces": list(namespaces)}
    kube.eks.associate_access_policy(
        clusterName=kube.name,
        principalArn=role,
        policyArn=POLICY.format(policy),
        accessScope=scope,
    )


def test_its_certificate_is_signed_by_its_authority_and_its_maker_is_an_administrator(
    kube: EksBench,
) -> None:
    status, nodes = ask(kube, own_credentials(kube.aws), "GET", NODES)

    assert (status, nodes["kind"]) == (200, "NodeList")


def test_it_is_of_the_version_of_the_cluster(kube: EksBench) -> None:
    _, version = ask(kube, own_credentials(kube.aws), "GET", "/version")

    assert f"{version['major']}.{version['minor']}" == kube.described()["version"]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"headers": {}}, id="the name of the cluster is not signed"),
        pytest.param({"headers": {"x-k8s-aws-id": "another"}}, id="of another cluster"),
        pytest.param({"query": "?Action=AssumeRole&Version=2011-06-15"}, id="another call"),
        pytest.param(
            {"query": "?Action=GetCallerIdentity&Version=2011-06-15&x=y"}, id="another parameter"
        ),
        pytest.param({"query": "x?Action=GetCallerIdentity&Version=2011-06-15"}, id="a path"),
    ],
)
def test_a_token_that_eks_would_not_take_is_refused(
    kube: EksBench, changed: dict[str, Any]
) -> None:
    bearer = token(kube.aws, kube.name, own_credentials(kube.aws), **changed)

    assert refusal(kube, bearer) == 401


def test_a_token_with_a_wrong_secret_is_refused(kube: EksBench) -> None:
    forged = Credentials(own_credentials(kube.aws).access_key, "wrong")

    assert refusal(kube, token(kube.aws, kube.name, forged)) == 401


@pytest.mark.parametrize("bearer", ["k8s-aws-v1.", "k8s-aws-v1.%%", "k8s-aws-v2.aHR0cDovLw", "x"])
def test_what_is_no_token_is_refused(kube: EksBench, bearer: str) -> None:
    assert refusal(kube, bearer) == 401


def test_a_token_is_taken_for_15_minutes(kube: EksBench, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    for minutes in (14, 16):
        made = datetime.now(UTC) - timedelta(minutes=minutes)
        with monkeypatch.context() as patched:
            patched.setattr("botocore.auth.get_current_datetime", lambda made=made: made)
            bearer = token(kube.aws, kube.name, own_credentials(kube.aws))
        answers.append(refusal(kube, bearer))

    assert answers == [200, 401]


def test_a_role_without_an_access_entry_is_refused(kube: EksBench, role: str) -> None:
    assert ask(kube, credentials_of(kube.aws, role), "GET", NODES)[0] == 401


def test_a_session_is_called_as_its_entry_says(kube: EksBench, role: str) -> None:
    kube.eks.create_access_entry(
        clusterName=kube.name, principalArn=role, kubernetesGroups=["trainers"]
    )
    who = credentials_of(kube.aws, role, "me@here")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    _, answer = ask(kube, who, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)

    user = answer["status"]["userInfo"]
    name = role.rpartition("/")[2]
    assert user["username"] == f"arn:aws:sts::123456789012:assumed-role/{name}/me-here"
    assert user["groups"] == ["trainers", "system:authenticated"]


def test_an_entry_alone_allows_nothing(kube: EksBench, role: str) -> None:
    who = entry(kube, role)

    assert ask(kube, who, "GET", PODS.format("default"))[0] == 403


def test_a_policy_of_a_namespace_allows_nothing_elsewhere(kube: EksBench, role: str) -> None:
    who = entry(kube, role)
    give(kube, role, "Edit", "train-*")
    owner = own_credentials(kube.aws)
    for name in ("train-a", "other"):
        made = ask(kube, owner, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert made[0] == 201
        # Before, no pod is taken.
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        until(partial(_is_there, kube, account))

    assert [ask(kube, who, "POST", PODS.format(name), POD)[0] for name in ("train-a", "other")] == [
        201,
        403,
    ]
    assert ask(kube, who, "GET", NODES)[0] == 403


@pytest.mark.parametrize(
    ("policy", "may", "may_not"),
    [
        ("View", "GET /api/v1/namespaces/default/pods", "GET /api/v1/namespaces/default/secrets"),
        ("Edit", "GET /api/v1/namespaces/default/secrets", "GET /api/v1/nodes"),
        (
            "Admin",
            "GET /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            "GET /apis/rbac.authorization.k8s.io/v1/clusterroles",
        ),
        ("AdminView", "GET /api/v1/nodes", "POST /api/v1/namespaces"),
    ],
)
def test_a_policy_allows_what_its_table_says(
    kube: EksBench, role: str, policy: str, may: str, may_not: str
) -> None:
    who = entry(kube, role)
    give(kube, role, policy)

    def status(called: str) -> int:
        method, path = called.split()
        body = {"metadata": {"name": "mine"}} if method == "POST" else None
        return ask(kube, who, method, path, body)[0]

    assert [status(may), status(may_not)] == [200, 403]


def test_no_policy_but_the_administrators_knows_custom_resources(kube: EksBench, role: str) -> None:
    definition = {
        "metadata": {"name": "trainings.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "trainings", "kind": "Training"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    owner, path = own_credentials(kube.aws), "/apis/example.com/v1/namespaces/default/trainings"
    assert ask(kube, owner, "POST", crds, definition)[0] == 201
    until(lambda: ask(kube, owner, "GET", path)[0] == 200)
    who = entry(kube, role)
    give(kube, role, "Admin")

    assert ask(kube, who, "GET", path)[0] == 403


def test_what_is_taken_away_is_soon_refused(kube: EksBench, role: str) -> None:
    who = entry(kube, role)
    give(kube, role, "View")
    path = PODS.format("default")
    assert ask(kube, who, "GET", path)[0] == 200

    kube.eks.disassociate_access_policy(
        clusterName=kube.name, principalArn=role, policyArn=POLICY.format("View")
    )

    until(lambda: ask(kube, who, "GET", path)[0] == 403)
    kube.eks.delete_access_entry(clusterName=kube.name, principalArn=role)
    until(lambda: ask(kube, who, "GET", path)[0] == 401)


def test_a_version_that_is_not_built_is_refused(kubernetes_aws: EmbeddedAws) -> None:
    bench = EksBench(kubernetes_aws)

    refused = bench.refusal(bench.eks.create_cluster, **bench.cluster_fields(version="1.33"))

    assert "UnsupportedOperation" in refused
    assert "1.33" in refused


def test_its_api_server_ends_with_the_cluster(kubernetes_aws: EmbeddedAws) -> None:
    bench = EksBench(kubernetes_aws)
    cluster = bench.create_cluster()
    bearer = token(kubernetes_aws, bench.name, own_credentials(kubernetes_aws))
    assert asked(cluster, bearer, "GET", NODES)[0] == 200

    bench.eks.delete_cluster(name=bench.name)

    until(lambda: bench.name not in bench.eks.list_clusters()["clusters"])
    with pytest.raises(OSError, match="refused"):
        asked(cluster, bearer, "GET", NODES)
