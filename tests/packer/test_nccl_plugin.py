"""What the self-test of NVIDIA's AMIs says about NCCL's plugin for EFA, by the real ldconfig."""

import base64
import gzip
import json
from pathlib import Path

import pytest
from node_root import RECIPES, NodeRoot, needs_namespaces
from skips import needs
from vendors.efa import LIBRARY

pytestmark = [needs_namespaces, needs("ldconfig")]

NAME = "NCCL plugin for EFA"


def machine(tmp_path: Path, accelerator: str = "nvidia", base: str = "ubuntu-24.04") -> NodeRoot:
    """A machine with EFA's installer in its recipe."""
    made = NodeRoot.make(tmp_path)
    recipe = json.loads((RECIPES / f"{accelerator}-ec2-{base}.json").read_text())
    wanted = {"efa-installer": recipe["components"]["efa-installer"]}
    made.pin(wanted, {"accelerator": accelerator, "base": base, "orchestrator": "ec2"})
    return made


def plugin_state(node: NodeRoot, *, known_folder: str = "", library: str = "") -> tuple[str, str]:
    """Return state and detail after the linker has read its configuration."""
    node.write("etc/ld.so.conf", f"{known_folder}\n")
    if library:
        path = node.write(library, "")
        path.write_bytes(gzip.decompress(base64.b64decode(LIBRARY)))
    ldconfig = "/usr/sbin/ldconfig -X && exec /opt/trainshed/selftest --json"
    done = node.shell(ldconfig)
    found = {each["name"]: each for each in json.loads(done.stdout)["components"]}
    return (found[NAME]["state"], found[NAME]["detail"]) if NAME in found else ("", "")


@pytest.mark.parametrize(
    "folder", ["opt/amazon/ofi-nccl/lib64", "opt/amazon/ofi-nccl/lib/x86_64-linux-gnu"]
)
def test_a_plugin_in_the_linker_s_cache_is_well(tmp_path: Path, folder: str) -> None:
    library = f"{folder}/libnccl-net.so"

    state = plugin_state(machine(tmp_path), known_folder=f"/{folder}", library=library)

    assert state == ("ok", "")


@pytest.mark.parametrize(
    ("known_folder", "library"),
    [
        pytest.param("", "", id="missing"),
        pytest.param("", "opt/amazon/ofi-nccl/lib/libnccl-net.so", id="not-in-the-cache"),
        pytest.param(
            "/opt/amazon/ofi-nccl/lib",
            "opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so",
            id="another-name",
        ),
    ],
)
def test_without_one_that_nccl_finds_the_self_test_fails(
    tmp_path: Path, known_folder: str, library: str
) -> None:
    state, detail = plugin_state(machine(tmp_path), known_folder=known_folder, library=library)

    assert state == "failed"
    assert detail.startswith("the linker's cache has no libnccl-net.so, which EFA's installer ")


def test_other_accelerators_need_none(tmp_path: Path) -> None:
    assert plugin_state(machine(tmp_path, "neuron")) == ("", "")
