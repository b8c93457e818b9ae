"""What first-boot does to reach an EFA-enabled Lustre file system over EFA.

The program is the real one; `lnet` shows what stands in for the kernel, and by which source.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lnet import add_lnet
from node_root import NodeRoot, needs_namespaces

pytestmark = needs_namespaces

ANSWER = {
    "Parameters": [
        {"Name": "/dns", "Value": "fs-1.fsx.us-west-2.amazonaws.com"},
        {"Name": "/name", "Value": "abcdefgh"},
    ]
}
# Names do not sort as addresses do: rdmap113s0 comes before rdmap79s0.
TRN1 = [(f"rdmap{bus}s0", f"0000:{bus:02x}:1d.0", "efa") for bus in (16, 32, 79, 96, 113, 160)]
P5 = [
    (f"rdmap{bus + number}s0", f"0000:{bus + number:02x}:00.0", "efa")
    for bus in (79, 96, 113, 130, 147, 164, 181, 198)
    for number in range(4)
]


class Node(NodeRoot):
    """A machine with a Lustre client."""

    def prepare(
        self, devices: Sequence[tuple[str, str, str]], interfaces: int, **lnet: Any
    ) -> None:
        """Give it what EFA clients have, and say how many interfaces it is to use."""
        add_lnet(self, devices, **lnet)
        self.command("systemctl", "")
        self.command("udevadm", "")
        self.command("aws", f"cat <<'EOF'\n{json.dumps(ANSWER)}\nEOF")
        self.command("mount.lustre", "")
        # As the real mount does, it loads what was not loaded yet.
        self.command(
            "mount",
            'if [ "$2" = lustre ]; then modprobe lustre || exit 1; echo "mount $*" >>/run/calls;'
            ' set -- -t tmpfs -o mode=0755 none /fsx; fi; exec /usr/bin/mount "$@"',
        )
        lustre = {
            "mount": "/fsx",
            "dns_name_parameter": "/dns",
            "mount_name_parameter": "/name",
            "efa_interfaces": interfaces,
            "wait_seconds": 0,
        }
        settings = {"region": "us-west-2", "lustre": lustre}
        self.write("etc/trainshed/first-boot.json", json.dumps(settings))

    def boot(self) -> "tuple[int, str, str]":
        """Run the program; return its code, what it said and what went wrong."""
        done = self.program("first-boot")
        return done.returncode, done.stdout, done.stderr.strip()

    @property
    def lnet(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.path / "run/lnet.json").read_text())
        return state

    @property
    def calls(self) -> list[str]:
        path = self.path / "run/calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node.make(tmp_path)


def test_the_mount_comes_after_lnet_has_its_efa_interfaces(node: Node) -> None:
    node.prepare(TRN1, 2)

    code, said, error = node.boot()

    assert code == 0, error
    assert node.lnet["nets"] == {"tcp": ["ens5"], "efa": ["rdmap16s0", "rdmap96s0"]}
    assert node.lnet["modules"]["kefalnd"] == {"ipif_name": "ens5"}
    assert (node.lnet["discovery"], node.lnet["udsp"]) == ("1", ["efa"])
    mounted = next(i for i, call in enumerate(node.calls) if call.startswith("mount -t lustre"))
    added = [i for i, call in enumerate(node.calls) if "net add --net efa" in call]
    assert max(added) < mounted
    assert "--peer-credits 32" in node.calls[added[0]]
    assert "/fsx: LNet uses ens5 and, over EFA, rdmap16s0, rdmap96s0" in said


def test_p5_uses_one_device_of_each_pci_bus(node: Node) -> None:
    node.prepare(P5, 8)

    code, _, error = node.boot()

    assert code == 0, error
    assert node.lnet["nets"]["efa"] == [name for name, *_ in P5[::4]]


def test_devices_of_other_drivers_are_not_taken_for_efa(node: Node) -> None:
    nvlink = [("ibp5s0f0", "0000:05:00.0", "mlx5_core"), ("ibp6s0f0", "0000:06:00.0", "mlx5_core")]
    node.prepare([*nvlink, *TRN1], 6)

    code, _, error = node.boot()

    assert code == 0, error
    assert node.lnet["nets"]["efa"] == [name for name, *_ in TRN1]


def test_without_efa_interfaces_lnet_is_left_to_the_mount(node: Node) -> None:
    node.prepare(TRN1, 0)

    code, _, error = node.boot()

    assert code == 0, error
    assert [call for call in node.calls if call.startswith("lnetctl")] == []


def test_a_second_run_adds_nothing_twice(node: Node) -> None:
    node.prepare(TRN1, 2)

    # Each run has mounts of its own, so that the second one mounts again.
    first, second = node.boot(), node.boot()

    assert (first[0], second[0]) == (0, 0), second[2]
    assert node.lnet["nets"] == {"tcp": ["ens5"], "efa": ["rdmap16s0", "rdmap96s0"]}
    assert sum("net add" in call for call in node.calls) == 3
    assert sum("udsp add" in call for call in node.calls) == 1


def test_a_second_boot_sets_everything_up_again(node: Node) -> None:
    node.prepare(TRN1, 2)
    node.boot()
    (node.path / "run/lnet.json").unlink()

    code, _, error = node.boot()

    assert code == 0, error
    assert node.lnet["nets"] == {"tcp": ["ens5"], "efa": ["rdmap16s0", "rdmap96s0"]}


def test_a_tcp_network_of_other_interfaces_is_made_anew(node: Node) -> None:
    node.prepare(TRN1, 2)
    node.shell("modprobe lnet; lnetctl lnet configure; lnetctl net add --net tcp --if ens6")

    code, _, error = node.boot()

    assert code == 0, error
    assert node.lnet["nets"]["tcp"] == ["ens5"]


@pytest.mark.parametrize(
    ("lnet", "instance_type", "message"),
    [
        ({"kefalnd": None}, "trn1.32xlarge", "this AMI has no kernel module kefalnd for EFA"),
        ({"efa": None}, "trn1.32xlarge", "this AMI has no kernel module efa for EFA"),
        ({"efa": "2.12.0g"}, "trn1.32xlarge", "kernel module efa is 2.12.0g, and EFA clients need"),
        ({"efa": ""}, "trn1.32xlarge", "kernel module efa is of no version, and EFA clients need"),
        (
            {"kefalnd": "1.1.0"},
            "p6-b200.48xlarge",
            "kernel module kefalnd is 1.1.0, and EFA clients need 1.1.1",
        ),
    ],
)
def test_an_image_that_cannot_is_reported_before_any_waiting(
    node: Node, lnet: dict[str, str | None], instance_type: str, message: str
) -> None:
    node.prepare(TRN1, 2, **lnet)
    node.write("sys/class/dmi/id/product_name", f"{instance_type}\n")

    code, _, error = node.boot()

    assert code == 1
    assert error.startswith(f"trainshed: ERROR: /fsx: {message}")
    assert "trainshed ami build" in error
    assert not any(call.startswith("mount -t lustre") for call in node.calls)


def test_an_older_kefalnd_will_do_before_p6(node: Node) -> None:
    node.prepare(TRN1, 2, kefalnd="1.1.0")
    node.write("sys/class/dmi/id/product_name", "trn1.32xlarge\n")

    code, _, error = node.boot()

    assert code == 0, error


def test_missing_devices_are_reported_with_their_number(node: Node) -> None:
    node.prepare(TRN1[:1], 2)

    code, _, error = node.boot()

    assert code == 1
    assert error.startswith(
        "trainshed: ERROR: /fsx: this node has 1 EFA devices and 2 are to be used; launch it with"
    )


def test_an_image_without_lnetctl_is_reported(node: Node) -> None:
    node.prepare(TRN1, 2)
    Path(f"{node.path}.local", "bin", "lnetctl").unlink()

    code, _, error = node.boot()

    assert (code, "this AMI has no lnetctl" in error) == (1, True)


def test_what_lnet_refuses_is_reported_in_its_words(node: Node) -> None:
    node.prepare(TRN1, 2)
    (node.path / "sys/class/net/ens5").rmdir()

    code, _, error = node.boot()

    assert code == 1
    assert "`lnetctl net add --net tcp --if ens5` failed" in error
    assert "No such device" in error
    assert len(error.splitlines()) == 1


def test_an_interface_that_stays_down_is_an_error(node: Node) -> None:
    node.prepare(TRN1, 2)
    node.write("run/down/rdmap96s0")

    code, _, error = node.boot()

    assert code == 1
    assert "LNet has not started rdmap96s0; see the kernel's log" in error


@pytest.mark.parametrize(("server_has_efa", "words"), [(True, "over EFA"), (False, "WARNING")])
def test_it_says_whether_the_servers_answer_over_efa(
    node: Node, server_has_efa: bool, words: str
) -> None:
    node.prepare(TRN1, 2)
    if server_has_efa:
        node.write("run/server-has-efa")

    code, said, error = node.boot()

    assert code == 0, error
    _, reported = [line for line in said.splitlines() if "over EFA" in line]
    assert words in reported


# Tuning, with EFA or without.


def test_a_large_client_is_tuned_before_and_after_the_mount(node: Node) -> None:
    node.prepare(TRN1, 0)

    code, said, error = node.boot()

    assert code == 0, error
    assert node.lnet["modules"]["ptlrpc"] == {"ptlrpcd_per_cpt_max": "32"}
    assert [call for call in node.calls if call.startswith("lctl")] == [
        "lctl set_param osc.*OST*.max_rpcs_in_flight=32",
        "lctl set_param mdc.*.max_rpcs_in_flight=64",
        "lctl set_param mdc.*.max_mod_rpcs_in_flight=50",
        "lctl set_param ldlm.namespaces.*.lru_max_age=600000",
        "lctl set_param ldlm.namespaces.*.lru_size=19200",
    ]
    assert "WARNING" not in said


def test_efa_clients_have_the_options_of_the_modules_too(node: Node) -> None:
    node.prepare(TRN1, 2)

    node.boot()

    assert node.lnet["modules"]["ksocklnd"] == {"credits": "2560"}


def test_a_small_client_is_left_as_it_is(node: Node) -> None:
    node.prepare(TRN1, 0, cpus=64, memory_gib=64)

    code, _, error = node.boot()

    assert code == 0, error
    assert node.lnet["modules"]["ptlrpc"] == {}
    assert [call for call in node.calls if call.startswith("lctl")] == []


def test_a_parameter_that_is_refused_ends_nothing(node: Node) -> None:
    node.prepare(TRN1, 0)
    node.command("lctl", "echo 'error: set_param: no such parameter' >&2; exit 2")

    code, said, _ = node.boot()

    assert code == 0
    assert "/fsx: WARNING: osc.*OST*.max_rpcs_in_flight=32 was not set (error: set_param" in said
