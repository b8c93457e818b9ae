"""50-eks makes the accelerator's runtime the default in whatever template Canonical's image has."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "packer/scripts/50-eks.sh"
_FUNCTION = re.search(
    r"^make_the_default\(\) \{.*?^\}\n", SCRIPT.read_text(), re.MULTILINE | re.DOTALL
)
RUNC = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "x"\n'
CONTAINERD_1, CONTAINERD_2 = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"


def run(
    folder: Path, template: str, *, runtime: str = "habana", bootstrap: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run the script's own function on a template, beside a bootstrap script."""
    assert _FUNCTION
    (folder / "template").write_text(template)
    (folder / "bootstrap").write_text(bootstrap)
    script = f"""
        set -euo pipefail
        TEMPLATE={folder}/template BOOTSTRAP={folder}/bootstrap
        die() {{ echo "$*"; exit 1; }}
        {_FUNCTION[0]}
        make_the_default {runtime}
    """
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("template", "plugin"),
    [
        pytest.param(
            f'[plugins."{CONTAINERD_1}".containerd]\ndefault_runtime_name = "runc"\n{RUNC}',
            CONTAINERD_1,
            id="default-named",
        ),
        pytest.param(
            f'  [plugins."{CONTAINERD_1}".containerd]\n    discard_unpacked_layers = true\n{RUNC}',
            CONTAINERD_1,
            id="table-without-default",
        ),
        pytest.param(RUNC, CONTAINERD_1, id="no-table"),
        pytest.param(
            f"[plugins.'{CONTAINERD_2}'.containerd.runtimes.runc]\nruntime_type = 'x'\n",
            CONTAINERD_2,
            id="containerd-2",
        ),
    ],
)
@pytest.mark.parametrize(
    ("bootstrap", "systemd"), [("cgroup-driver=cgroupfs \\", False), ("", True)]
)
@pytest.mark.parametrize("runtime", ["habana", "nvidia"])
def test_it_is_the_default_with_the_cgroup_driver_of_the_kubelet(
    tmp_path: Path, template: str, plugin: str, bootstrap: str, systemd: bool, runtime: str
) -> None:
    done = run(tmp_path, template, runtime=runtime, bootstrap=bootstrap)

    assert done.returncode == 0, done
    found = tomllib.loads((tmp_path / "template").read_text())["plugins"][plugin]["containerd"]
    assert found["default_runtime_name"] == runtime
    assert found["runtimes"]["runc"] == {"runtime_type": "x"}
    assert found["runtimes"][runtime]["options"] == {
        "BinaryName": f"/usr/bin/{runtime}-container-runtime",
        "SystemdCgroup": systemd,
    }


def test_a_template_that_is_not_as_expected_stops_the_bake(tmp_path: Path) -> None:
    done = run(tmp_path, "version = 2\n")

    assert done.returncode == 1
    assert "names no runtime runc to put habana beside" in done.stdout
