"""The nodes that register themselves in the API server of a cluster."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amis import AMAZON_LINUX
from eks_bench import EksBench, until
from kube_bench import asked, own_credentials, token
from node_bench import NodeBench

from embedded_aws.embedded import EmbeddedAws

pytestmark = pytest.mark.server
Ask = Callable[[], dict[str, Any]]
FOLDER = "/var/lib/kubelet/device-plugins"
EFA_PLUGIN = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.20"
SETS = "/apis/apps/v1/namespaces/kube-system/daemonsets"
EFA: list[dict[str, Any]] = [
    {"DeviceIndex": 0, "NetworkCardIndex": 0},
    {"DeviceIndex": 1, "NetworkCardIndex": 0, "InterfaceType": "efa-only"},
]


@pytest.fixture
def nodes(kubernetes_aws: EmbeddedAws) -> Iterator[NodeBench]:
    """What has a cluster, whose control plane ends with the test."""
    found = NodeBench(EksBench(kubernetes_aws))
    yield found
    for name in found.eks.list_nodegroups(clusterName=found.bench.name)["nodegroups"]:
        found.eks.delete_nodegroup(clusterName=found.bench.name, nodegroupName=name)
    until(lambda: not found.eks.list_nodegroups(clusterName=found.bench.name)["nodegroups"])
    found.eks.delete_cluster(name=found.bench.name)


def registered(nodes: NodeBench) -> list[Any]:
    bearer = token(nodes.bench.aws, nodes.bench.name, own_credentials(nodes.bench.aws))
    found: list[Any] = asked(nodes.cluster, bearer, "GET", "/api/v1/nodes")[1]["items"]
    return found


def node(nodes: NodeBench, **fields: Any) -> Any:
    """Create a node group of one node, and return the node once it takes pods."""
    nodes.create(**fields)
    until(lambda: [each for each in registered(nodes) if settled(each)] != [])
    [found] = registered(nodes)
    return found


def settled(found: Any) -> bool:
    taints = [each["key"] for each in found["spec"].get("taints", [])]
    return "node.kubernetes.io/not-ready" not in taints and "providerID" in found["spec"]


def own_template(nodes: NodeBench, kubelet: object = None, **data: Any) -> dict[str, str]:
    """Create a launch template of p5.48xlarge with an AMI of the user's."""
    interfaces: list[dict[str, Any]] = [{**each, "Groups": [nodes.cluster_group]} for each in EFA]
    return nodes.template(
        **{
            "ImageId": AMAZON_LINUX,
            "InstanceType": "p5.48xlarge",
            "NetworkInterfaces": interfaces,
            "UserData": nodes.user_data(kubelet),
            **data,
        }
    )


def test_a_node_is_the_instance(nodes: NodeBench) -> None:
    found = node(nodes, labels={"team": "a"})

    [instance] = nodes.instances()
    zone = instance["Placement"]["AvailabilityZone"]
    assert found["metadata"]["name"] == instance["PrivateDnsName"]
    assert found["spec"]["providerID"] == f"aws:///{zone}/{instance['InstanceId']}"
    labels = found["metadata"]["labels"]
    assert labels["node.kubernetes.io/instance-type"] == "t3.medium"
    assert labels["topology.kubernetes.io/zone"] == zone
    assert labels["eks.amazonaws.com/nodegroup"] == "nodes"
    assert labels["team"] == "a"
    addresses = {each["type"]: each["address"] for each in found["status"]["addresses"]}
    assert addresses["InternalIP"] == instance["PrivateIpAddress"]


def test_a_node_has_what_its_type_has_and_less_for_pods(nodes: NodeBench) -> None:
    status = node(nodes)["status"]

    # 3 interfaces of 6 addresses.
    assert status["capacity"]["pods"] == "17"
    assert status["capacity"]["cpu"] == "2"
    assert status["allocatable"]["cpu"] == "1930m"
    memory, left = (
        int(status[each]["memory"].removesuffix("Mi")) for each in ("capacity", "allocatable")
    )
    assert memory < 4096
    assert memory - left == 255 + 11 * 17 + 100


def test_a_node_of_a_users_ami_is_as_its_node_config_says(nodes: NodeBench) -> None:
    kubelet = {
        "flags": ["--node-labels=a=b,c=d", "--register-with-taints=nvidia.com/gpu=x:NoSchedule"],
        "maxPodsExpression": "((default_enis - 1) * (ips_per_eni - 1)) + 2",
    }
    found = node(nodes, launchTemplate=own_template(nodes, kubelet))

    labels = found["metadata"]["labels"]
    assert (labels["a"], labels["c"]) == ("b", "d")
    assert found["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "x", "effect": "NoSchedule"}
    ]
    assert found["status"]["capacity"]["pods"] == "51"
    # No device plugin runs.
    assert "nvidia.com/gpu" not in found["status"]["capacity"]


def test_a_node_of_ubuntu_is_as_its_script_says(nodes: NodeBench) -> None:
    arguments = "--node-labels=a=b,c=d --register-with-taints=nvidia.com/gpu=x:NoSchedule"
    script = nodes.script(kubelet_extra_args=f"{arguments} --max-pods=51", use_max_pods="false")
    found = node(nodes, launchTemplate=own_template(nodes, UserData=script))

    labels, status = found["metadata"]["labels"], found["status"]
    assert (labels["a"], labels["c"]) == ("b", "d")
    assert found["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "x", "effect": "NoSchedule"}
    ]
    assert status["capacity"]["pods"] == "51"
    memory, left, pages = (
        int(status[each][resource].removesuffix("Mi"))
        for each, resource in (
            ("capacity", "memory"),
            ("allocatable", "memory"),
            ("capacity", "hugepages-2Mi"),
        )
    )
    # For 2 interfaces of 50 addresses, whatever the kubelet is told.
    assert memory - left - pages == 255 + 11 * 100 + 100


def test_the_default_of_most_pods_counts_an_interface_without_addresses(nodes: NodeBench) -> None:
    found = node(nodes, launchTemplate=own_template(nodes))

    assert found["status"]["capacity"]["pods"] == "100"


def plugin(image: str, *tolerated: str, folder: str = FOLDER) -> dict[str, Any]:
    """A DaemonSet of a device plugin, as vendors publish them."""
    labels = {"name": "plugin"}
    container = {
        "name": "plugin",
        "image": image,
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "sockets", "mountPath": FOLDER}],
    }
    pod = {
        "tolerations": [{"key": key, "operator": "Exists"} for key in tolerated],
        "containers": [container],
        "volumes": [{"name": "sockets", "hostPath": {"path": folder}}],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "metadata": {"name": "plugin"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def ask(nodes: NodeBench, method: str, path: str, body: object = None) -> Any:
    bearer = token(nodes.bench.aws, nodes.bench.name, own_credentials(nodes.bench.aws))
    status, found = asked(nodes.cluster, bearer, method, path, body)
    assert status < 300, found
    return found


def pods(nodes: NodeBench, label: str = "name=plugin") -> list[Any]:
    path = f"/api/v1/namespaces/kube-system/pods?labelSelector={label}"
    found: list[Any] = ask(nodes, "GET", path)["items"]
    return found


def allocatable(nodes: NodeBench) -> dict[str, str]:
    [found] = registered(nodes)
    sizes: dict[str, str] = found["status"]["allocatable"]
    return sizes


@pytest.fixture
def tainted(nodes: NodeBench) -> NodeBench:
    """What has a node with EFA, tainted as nodes with accelerators are."""
    kubelet = {"flags": ["--register-with-taints=nvidia.com/gpu=x:NoSchedule"]}
    node(nodes, launchTemplate=own_template(nodes, kubelet))
    return nodes


def test_a_device_plugin_that_tolerates_the_taint_announces_what_is_there(
    tainted: NodeBench,
) -> None:
    ask(tainted, "POST", SETS, plugin(EFA_PLUGIN, "nvidia.com/gpu"))

    until(lambda: allocatable(tainted).get("vpc.amazonaws.com/efa") == "1")
    until(lambda: ask(tainted, "GET", f"{SETS}/plugin")["status"].get("numberReady") == 1)

    ask(tainted, "DELETE", f"{SETS}/plugin")

    until(lambda: allocatable(tainted)["vpc.amazonaws.com/efa"] == "0")
    until(lambda: pods(tainted) == [])


def test_a_device_plugin_without_the_toleration_does_not_run(tainted: NodeBench) -> None:
    ask(tainted, "POST", SETS, plugin(EFA_PLUGIN, "CriticalAddonsOnly"))

    until(lambda: "observedGeneration" in ask(tainted, "GET", f"{SETS}/plugin")["status"])

    assert ask(tainted, "GET", f"{SETS}/plugin")["status"]["desiredNumberScheduled"] == 0
    assert "vpc.amazonaws.com/efa" not in allocatable(tainted)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(plugin(EFA_PLUGIN, "nvidia.com/gpu", folder="/var"), id="another folder"),
        pytest.param(
            plugin("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", "nvidia.com/gpu"), id="AMI"
        ),
        pytest.param(plugin("example.com/trainer:1", "nvidia.com/gpu"), id="another image"),
    ],
)
def test_what_is_no_plugin_of_what_the_node_has_announces_nothing(
    tainted: NodeBench, given: dict[str, Any]
) -> None:
    ask(tainted, "POST", SETS, given)

    until(lambda: [each for each in pods(tainted) if "containerStatuses" in each["status"]] != [])
    assert {"vpc.amazonaws.com/efa", "nvidia.com/gpu"}.isdisjoint(allocatable(tainted))


def test_without_the_vpc_cni_a_node_is_not_ready(kubernetes_aws: EmbeddedAws) -> None:
    nodes = NodeBench(EksBench(kubernetes_aws), bootstrapSelfManagedAddons=False)

    group = nodes.create()

    assert group["status"] == "CREATE_FAILED"
    [issue] = group["health"]["issues"]
    assert issue["code"] == "NodeCreationFailure"
    assert "cni plugin not initialized" in issue["message"]
    until(lambda: [ready(each) for each in registered(nodes)] == ["False"])

    nodes.eks.create_addon(clusterName=nodes.bench.name, addonName="vpc-cni")

    until(lambda: [ready(each) for each in registered(nodes)] == ["True"])
    until(lambda: [settled(each) for each in registered(nodes)] == [True])


def ready(found: Any) -> str:
    conditions = found["status"].get("conditions", [])
    return next((each["status"] for each in conditions if each["type"] == "Ready"), "")


def test_a_pod_beyond_the_addresses_of_its_node_waits(nodes: NodeBench) -> None:
    template = own_template(
        nodes,
        {"flags": ["--max-pods=30"]},
        InstanceType="t3.medium",
        NetworkInterfaces=[{"DeviceIndex": 0, "Groups": [nodes.cluster_group]}],
    )
    node(nodes, launchTemplate=template)
    spec = {"containers": [{"name": "one", "image": "one"}]}
    # 3 interfaces with 5 addresses for pods each, of which coredns takes two.
    body = {
        "metadata": {"name": "many"},
        "spec": {
            "replicas": 14,
            "selector": {"matchLabels": {"name": "many"}},
            "template": {"metadata": {"labels": {"name": "many"}}, "spec": spec},
        },
    }
    ask(nodes, "POST", "/apis/apps/v1/namespaces/kube-system/deployments", body)

    def without_address() -> int:
        states = [
            each["state"]["waiting"]["message"]
            for pod in (*pods(nodes, "name=many"), *pods(nodes, "k8s-app=kube-dns"))
            for each in pod["status"].get("containerStatuses", [])
            if "waiting" in each["state"]
        ]
        return sum("IP address" in each for each in states)

    until(lambda: without_address() == 1)


def test_taints_of_the_node_group_reach_a_node(nodes: NodeBench) -> None:
    taint = {"key": "dedicated", "value": "a", "effect": "NO_EXECUTE"}
    found = node(nodes, taints=[taint])

    assert found["spec"]["taints"] == [{"key": "dedicated", "value": "a", "effect": "NoExecute"}]


def test_a_node_goes_with_its_instance_and_another_comes(nodes: NodeBench) -> None:
    first = node(nodes)["spec"]["providerID"]
    [instance] = nodes.instances()

    nodes.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    # The name, which is that of the address, may be the same.
    until(lambda: [each["spec"].get("providerID") for each in registered(nodes)] != [first])
    until(lambda: [each for each in registered(nodes) if settled(each)] != [])
    assert [each["spec"]["providerID"] for each in registered(nodes)] != [first]


@pytest.fixture
def on_spot(nodes: NodeBench) -> NodeBench:
    """What has a node on Spot, with a pod whose object stays when it is deleted."""
    name = node(nodes, capacityType="SPOT")["metadata"]["name"]
    kept = {"name": "kept", "finalizers": ["example.com/kept"]}
    spec = {"nodeName": name, "containers": [{"name": "one", "image": "one"}]}
    ask(nodes, "POST", "/api/v1/namespaces/default/pods", {"metadata": kept, "spec": spec})
    return nodes


def disrupted(nodes: NodeBench) -> list[str]:
    """Return why the pod is disrupted, if it is."""
    found = ask(nodes, "GET", "/api/v1/namespaces/default/pods/kept")["status"].get(
        "conditions", []
    )
    return [each["reason"] for each in found if each["type"] == "DisruptionTarget"]


def test_a_node_at_risk_is_drained_once_another_one_is_ready(on_spot: NodeBench) -> None:
    [instance] = on_spot.instances()
    on_spot.fail_launches("InsufficientInstanceCapacity", "there are none")

    on_spot.bench.aws.notify_spot(instance["InstanceId"], "rebalance")

    scaling = on_spot.described()["resources"]["autoScalingGroups"][0]["name"]
    autoscaling = on_spot.bench.aws.client("autoscaling")
    until(
        lambda: any(
            each["StatusCode"] == "Failed"
            for each in autoscaling.describe_scaling_activities(AutoScalingGroupName=scaling)[
                "Activities"
            ]
        )
    )
    [there] = registered(on_spot)
    assert "unschedulable" not in there["spec"]
    assert disrupted(on_spot) == []

    on_spot.bench.aws.fail()

    until(lambda: len(on_spot.instances()) == 2)
    until(lambda: disrupted(on_spot) == ["EvictionByEvictionAPI"])
    until(lambda: instance["InstanceId"] not in [i["InstanceId"] for i in on_spot.instances()])
    [new] = on_spot.instances()
    until(
        lambda: (
            [each["spec"].get("providerID", "")[-19:] for each in registered(on_spot)]
            == [new["InstanceId"]]
        )
    )


def test_a_node_that_ec2_takes_back_is_drained_at_once(on_spot: NodeBench) -> None:
    [instance] = on_spot.instances()
    on_spot.fail_launches("InsufficientInstanceCapacity", "there are none")

    on_spot.bench.aws.notify_spot(instance["InstanceId"], seconds=600)

    until(lambda: disrupted(on_spot) == ["EvictionByEvictionAPI"])
    assert [each["spec"].get("unschedulable") for each in registered(on_spot)] == [True]
    on_spot.bench.aws.fail()


PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/kube-system/poddisruptionbudgets"


def unwell(nodes: NodeBench, reason: str) -> str:
    """Say of a node of the group what EKS's agent says of a faulty device; return its instance."""
    [instance] = nodes.instances()
    name = instance["PrivateDnsName"]
    condition = {"type": "AcceleratedHardwareReady", "status": "False", "reason": reason}
    bearer = token(nodes.bench.aws, nodes.bench.name, own_credentials(nodes.bench.aws))

    def is_said() -> bool:
        found = ask(nodes, "GET", f"/api/v1/nodes/{name}")
        found["status"]["conditions"].append(condition)
        path = f"/api/v1/nodes/{name}/status"
        # 409: somebody else has changed the node meanwhile.
        return asked(nodes.cluster, bearer, "PUT", path, found)[0] != 409

    until(is_said)
    return str(instance["InstanceId"])


def test_a_node_with_a_faulty_accelerator_is_drained_and_replaced(nodes: NodeBench) -> None:
    node(nodes, nodeRepairConfig={"enabled": True})
    bad = unwell(nodes, "NvidiaXID79Error")

    def well() -> list[Any]:
        there = [each for each in registered(nodes) if settled(each)]
        return [each for each in there if not each["spec"]["providerID"].endswith(bad)]

    until(lambda: well() != [])
    assert registered(nodes) == well()
    assert bad not in [each["InstanceId"] for each in nodes.instances()]
    assert "unschedulable" not in well()[0]["spec"]


def _see_a_pod(nodes: NodeBench, name: str) -> None:
    """Start a pod on the node, and wait until its kubelet says how it is."""
    [there] = registered(nodes)
    spec = {
        "nodeName": there["metadata"]["name"],
        "containers": [{"name": "one", "image": "one"}],
    }
    ask(nodes, "POST", PODS, {"metadata": {"name": name}, "spec": spec})
    until(lambda: "containerStatuses" in ask(nodes, "GET", f"{PODS}/{name}")["status"])


KEEP = {
    "nodeMonitoringCondition": "AcceleratedHardwareReady",
    "nodeUnhealthyReason": "NvidiaXID79Error",
    "minRepairWaitTimeMins": 1,
    "repairAction": "NoAction",
}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        pytest.param({}, "NvidiaXID79Error", id="repair that is off"),
        pytest.param({"enabled": True}, "DCGMError", id="a reason without a repair"),
        pytest.param(
            {"enabled": True, "nodeRepairConfigOverrides": [KEEP]},
            "NvidiaXID79Error",
            id="override",
        ),
        pytest.param(
            {"enabled": True, "maxUnhealthyNodeThresholdPercentage": 50},
            "NvidiaXID79Error",
            id="too many",
        ),
    ],
)
def test_a_node_that_is_not_to_be_repaired_stays(
    nodes: NodeBench, config: dict[str, Any], reason: str
) -> None:
    node(nodes, nodeRepairConfig=config)
    before = unwell(nodes, reason)
    # EKS looks at a node's pods and then at its conditions: often enough by now.
    for number in range(4):
        _see_a_pod(nodes, f"pod{number}")

    [there] = registered(nodes)
    assert there["spec"]["providerID"].endswith(before)
    assert "unschedulable" not in there["spec"]


def test_an_update_drains_a_node_or_fails_unless_it_is_forced(nodes: NodeBench) -> None:
    template = own_template(nodes)
    name = node(nodes, launchTemplate=template)["metadata"]["name"]
    [first] = nodes.instances()
    kept = {"name": "kept", "finalizers": ["example.com/kept"]}
    spec = {"nodeName": name, "containers": [{"name": "one", "image": "one"}]}
    ask(nodes, "POST", PODS, {"metadata": kept, "spec": spec})
    # Of pods of an add-on.
    budget = {"minAvailable": "100%", "selector": {"matchLabels": {"k8s-app": "kube-dns"}}}
    ask(nodes, "POST", BUDGETS, {"metadata": {"name": "all"}, "spec": budget})
    nodes.ec2.create_launch_template_version(
        LaunchTemplateId=template["id"],
        SourceVersion="1",
        LaunchTemplateData={"EbsOptimized": True},
    )

    def update(**more: bool) -> Any:
        begun = nodes.eks.update_nodegroup_version(
            **nodes.named, launchTemplate={**template, "version": "2"}, **more
        )["update"]["id"]
        about = {"name": nodes.bench.name, "nodegroupName": "nodes", "updateId": begun}
        until(lambda: nodes.eks.describe_update(**about)["update"]["status"] != "InProgress")
        return nodes.eks.describe_update(**about)["update"]

    failed = update()

    # The eviction that a budget forbids, again and again, keeps none from others.
    assert disrupted(nodes) == ["EvictionByEvictionAPI"]
    assert [each["errorCode"] for each in failed["errors"]] == ["PodEvictionFailure"]
    assert first["InstanceId"] in [each["InstanceId"] for each in nodes.instances()]
    assert nodes.described()["launchTemplate"]["version"] == "1"

    assert update(force=True)["status"] == "Successful"
    assert first["InstanceId"] not in [each["InstanceId"] for each in nodes.instances()]
    assert nodes.described()["launchTemplate"]["version"] == "2"


def test_a_label_that_the_kubelet_refuses_lets_no_node_join(nodes: NodeBench) -> None:
    kubelet = {"flags": ["--node-labels=node-role.kubernetes.io/train=x"]}

    group = nodes.create(launchTemplate=own_template(nodes, kubelet))

    assert group["status"] == "CREATE_FAILED"
    assert "node-role.kubernetes.io/train" in group["health"]["issues"][0]["message"]
    assert registered(nodes) == []


@pytest.mark.parametrize("expression", ["max_pods.size()", "unknown + 1", "1 +", "9 ** 9"])
def test_an_expression_that_nodeadm_cannot_read_lets_no_node_join(
    nodes: NodeBench, expression: str
) -> None:
    group = nodes.create(launchTemplate=own_template(nodes, {"maxPodsExpression": expression}))

    assert group["status"] == "CREATE_FAILED"
    assert "maxPodsExpression" in group["health"]["issues"][0]["message"]
