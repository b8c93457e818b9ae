"""A habana node joins EKS by Canonical's bootstrap, which configures containerd anew."""

import json
from collections.abc import Iterator

import pytest
from bake_bench import Bakery
from guest_bench import Bench, Guest

pytestmark = pytest.mark.ladder

# As our launch templates call it.
_USER_DATA = """#!/bin/bash
/etc/eks/bootstrap.sh train --apiserver-endpoint https://127.0.0.1:6443 --b64-cluster-ca Q0E= \
  --dns-cluster-ip 10.100.0.10 --ip-family ipv4 \
  --kubelet-extra-args '--node-labels=a=b --register-with-taints=habana.ai/gaudi=present:NoSchedule'
"""


@pytest.fixture(scope="module")
def node(bakery: Bakery, bench: Bench) -> Iterator[Guest]:
    """An instance that has joined."""
    bake = bakery.baked("habana", "eks-1.35")
    guest = bench.launch(bake.image_id, user="ubuntu", UserData=_USER_DATA)
    guest.wait_for_ssh()
    guest.ssh("cloud-init status --wait; systemctl is-system-running --wait || true")
    yield guest
    bench.ec2.terminate_instances(InstanceIds=[guest.instance_id])


def test_habana_is_still_the_default_runtime_and_its_cgroup_driver_is_the_kubelets(
    node: Guest,
) -> None:
    written = node.ssh("cat /etc/containerd/config.toml")

    assert "SANDBOX_IMAGE" not in written
    assert 'default_runtime_name = "habana"' in written.splitlines()
    assert "cgroup-driver=systemd" in node.ssh("cat /var/snap/kubelet-eks/options")
    _, found, habana = written.partition(".runtimes.habana.options]")
    assert found
    assert "SystemdCgroup = true" in habana.splitlines()
    assert node.ssh("systemctl is-active containerd snap.kubelet-eks.daemon").split() == [
        "active",
        "active",
    ]


def test_the_kubelet_is_told_the_taint_and_how_many_pods_gaudis_type_takes(node: Guest) -> None:
    options = node.ssh("cat /var/snap/kubelet-eks/options")

    assert "max-pods=737 " in options
    assert "--register-with-taints=habana.ai/gaudi=present:NoSchedule" in options


def test_the_kubelet_is_that_of_the_image(node: Guest) -> None:
    assert node.ssh("/snap/bin/kubelet-eks.daemon --version") == "Kubernetes v1.35.1"


def test_the_self_test_passes_on_a_node_that_has_joined(node: Guest) -> None:
    result = json.loads(node.ssh("sudo /opt/trainshed/selftest --stage boot --json"))

    assert [each for each in result["components"] if each["state"] == "failed"] == []
