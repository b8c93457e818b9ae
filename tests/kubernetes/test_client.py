"""Our client renews its token, and says in words what goes wrong."""

from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from api_servers import ApiServer
from cut_line import cut_line
from lightkube.resources.core_v1 import Namespace, Node

from embedded_aws.kubernetes.certificates import new_authority
from trainshed.kubernetes import client as client_module
from trainshed.kubernetes.client import ApiRefusal, Unreachable, asking, connect
from trainshed.kubernetes.token import Token

pytestmark = pytest.mark.server
LATER = datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture(scope="module")
def good_token(api_server: ApiServer) -> str:
    """The token of a service account that may look at namespaces."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    api_server.call("POST", accounts, {"metadata": {"name": "looker"}})
    roles = "/apis/rbac.authorization.k8s.io/v1"
    rule = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}
    api_server.call(
        "POST", f"{roles}/clusterroles", {"metadata": {"name": "look"}, "rules": [rule]}
    )
    who = {"kind": "ServiceAccount", "name": "looker", "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "look"}
    binding = {"metadata": {"name": "look"}, "roleRef": role, "subjects": [who]}
    api_server.call("POST", f"{roles}/clusterrolebindings", binding)
    made = api_server.call("POST", f"{accounts}/looker/token", {"spec": {}})
    return str(made["status"]["token"])


def one_by_one(*tokens: Token) -> tuple[Callable[[], Token], list[Token]]:
    """Return what makes these tokens, and those that are left."""
    left = [*tokens]
    return lambda: left.pop(0), left


def names(found: Iterable[Namespace]) -> set[str]:
    return {each.metadata.name or "" for each in found if each.metadata}


def test_a_token_that_the_server_no_longer_takes_is_renewed(
    api_server: ApiServer, good_token: str
) -> None:
    renew, left = one_by_one(
        Token(text="expired", expires=LATER), Token(text=good_token, expires=LATER)
    )

    with connect(api_server.cluster, renew) as client:
        found = [names(client.list(Namespace)) for _ in range(2)]

    assert "kube-system" in found[0]
    assert found[0] == found[1]
    assert not left


def test_a_token_is_renewed_before_it_expires(api_server: ApiServer, good_token: str) -> None:
    stale = Token(text=good_token, expires=datetime.now(UTC) - timedelta(seconds=1))
    renew, left = one_by_one(stale, stale, Token(text=good_token, expires=LATER))

    with connect(api_server.cluster, renew) as client:
        for asked in range(4):
            assert "default" in names(client.list(Namespace))
            assert len(left) == max(0, 2 - asked)


@pytest.mark.parametrize(("refusals", "waited"), [(2, 2), (99, 10)], ids=["soon", "never"])
def test_a_server_that_asks_to_be_asked_later_is_asked_again(
    api_server: ApiServer,
    good_token: str,
    monkeypatch: pytest.MonkeyPatch,
    refusals: int,
    waited: int,
) -> None:
    renew, _ = one_by_one(Token(text=good_token, expires=LATER))
    waits: list[int] = []
    send = httpx2.HTTPTransport.handle_request

    def busy(transport: httpx2.HTTPTransport, request: httpx2.Request) -> httpx2.Response:
        if len(waits) == refusals:
            return send(transport, request)
        # As the API server answers while it takes a new definition of a resource.
        message = "storage is (re)initializing"
        status = {"kind": "Status", "reason": "TooManyRequests", "code": 429, "message": message}
        headers = {"Retry-After": "1"}
        return httpx2.Response(429, headers=headers, json=status, request=request)

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", busy)
    monkeypatch.setattr(client_module, "sleep", waits.append)

    with connect(api_server.cluster, renew) as client:
        if refusals > waited:
            with pytest.raises(ApiRefusal, match="initializing"), asking(api_server.cluster):
                names(client.list(Namespace))
        else:
            assert "default" in names(client.list(Namespace))

    assert waits == [1] * waited


def test_credentials_without_an_access_entry_are_told(api_server: ApiServer) -> None:
    renew, _ = one_by_one(*[Token(text="nobody", expires=LATER)] * 2)

    with (
        connect(api_server.cluster, renew) as client,
        pytest.raises(ApiRefusal, match="no access entry names their role; add it") as refused,
        asking(api_server.cluster),
    ):
        names(client.list(Namespace))

    assert refused.value.code == 401


def test_what_a_role_may_not_do_is_told(api_server: ApiServer, good_token: str) -> None:
    renew, _ = one_by_one(Token(text=good_token, expires=LATER))

    with (
        connect(api_server.cluster, renew) as client,
        pytest.raises(
            ApiRefusal, match=r"cannot list resource \"nodes\".*another policy.*kube apply"
        ),
        asking(api_server.cluster),
    ):
        [*client.list(Node)]


def test_a_server_that_is_not_there_is_told_with_its_address(api_server: ApiServer) -> None:
    with cut_line(api_server.control_plane.port) as line:
        gone = replace(api_server.cluster, endpoint=f"https://127.0.0.1:{line.port}")

    with (
        connect(gone, lambda: Token(text="any", expires=LATER)) as client,
        pytest.raises(Unreachable, match=f"cannot be reached at {gone.endpoint}.*public_cidrs"),
        asking(gone),
    ):
        [*client.list(Node)]


def test_a_server_that_is_not_the_clusters_gets_no_token(api_server: ApiServer) -> None:
    other = b64encode(new_authority().certificate.encode()).decode()
    stranger = replace(api_server.cluster, authority=other)

    with (
        connect(stranger, lambda: Token(text="any", expires=LATER)) as client,
        pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"),
        asking(stranger),
    ):
        [*client.list(Node)]
