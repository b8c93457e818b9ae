"""A training of our image's user writes its checkpoint to a file system that FSx has just made.

The real first-boot program mounts a folder that is as the root of a new file system: owned by root,
with mode 0755. A job sees it as it sees the mount of its node. Its container has a user as our
images have (`containers/*/Dockerfile`), and this machine's programs and PyTorch.
"""

import json
import stat
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import skips
from bert_training import SMALL_BATCHES, VARIABLES
from image_bench import Layer, push
from image_registry import serving_registry
from job_bench import JobBench, job_aws
from launched_nodes import LAUNCH
from libraries import needs_libraries
from node_root import NodeRoot, needs_namespaces

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.jobs.sent_files import VARIABLE, pack

ROOT = Path(__file__).parents[2]
USER = 2000
PARAMETERS = {"dns-name": "fs-1.fsx.us-west-2.amazonaws.com", "mount-name": "abcdefgh"}
LUSTRE = {"mount": "/fsx", "dns_name_parameter": "dns-name", "mount_name_parameter": "mount-name"}
PROGRAMS = (Path(sys.prefix), Path(sys.base_prefix), ROOT / "packer", Path("/usr"))

pytestmark = [needs_namespaces, needs_libraries("torch")]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """With a registry, and nodes in namespaces."""
    skips.unless("docker-registry", "ip", "unshare", "nsenter", root="images have files of users")
    folder = tmp_path_factory.mktemp("aws")
    with (
        serving_registry(folder) as registry,
        job_aws(folder, JobSettings(), registry=registry) as aws,
    ):
        yield aws


@pytest.fixture
def file_system(tmp_path: Path) -> Path:
    """A new file system, after a node has mounted it at its boot."""
    node = NodeRoot.make(tmp_path)
    made = node.path / "file-system"
    made.mkdir(mode=0o755)
    (node.path / "fsx").mkdir()
    parameters = [{"Name": name, "Value": value} for name, value in PARAMETERS.items()]
    node.command("aws", f"cat <<'EOF'\n{json.dumps({'Parameters': parameters})}\nEOF")
    node.command("systemctl", "")
    node.command("mount.lustre", "")
    lustre = '[ "$2" != lustre ] || set -- --bind /file-system /fsx'
    node.command("mount", f'{lustre}\nexec /usr/bin/mount "$@"')
    settings = {"region": "us-west-2", "lustre": LUSTRE}
    node.write("etc/trainshed/first-boot.json", json.dumps(settings))
    done = node.program("first-boot")
    assert done.returncode == 0, done.stderr
    return made


def push_image(aws: EmbeddedAws) -> str:
    """Push an image with our images' user, whose programs are mounted; return its URI."""
    layer = Layer()
    for name in ("bin", "lib", "lib64", "sbin"):
        layer.add(name, type=tarfile.SYMTYPE, linkname=f"usr/{name}")
    layer.add("etc/passwd", f"trainshed:x:{USER}:{USER}::/home/trainshed:/bin/sh\n")
    layer.add("tmp", type=tarfile.DIRTYPE, mode=0o1777)
    layer.add("home/trainshed", type=tarfile.DIRTYPE, mode=0o700, uid=USER, gid=USER)
    return push(aws, "train", [layer], {"User": str(USER)})[0]


def mounted(volumes: dict[str, str]) -> dict[str, Any]:
    """Return containerProperties that mount folders of the node, by their places."""
    return {
        "volumes": [
            {"name": f"v{number}", "host": {"sourcePath": source}}
            for number, source in enumerate(volumes.values())
        ],
        "mountPoints": [
            {"sourceVolume": f"v{number}", "containerPath": place}
            for number, place in enumerate(volumes)
        ],
    }


def test_a_training_writes_its_checkpoint_to_a_new_file_system(
    aws: EmbeddedAws, file_system: Path
) -> None:
    bench = JobBench(aws)
    programs = {str(path): str(path) for path in PROGRAMS}
    sent = pack(ROOT / "examples", [Path("bert")])
    path = f"{LAUNCH.parent}:{sys.prefix}/bin:/usr/bin"
    command = (
        *("trainshed-launch", "torchrun", "--nproc-per-node", "1"),
        *("bert/train.py", "--model", "tiny", "--data", "synthetic", *SMALL_BATCHES),
        *("--steps", "1", "--checkpoint-every", "1", "--checkpoint", "/fsx/bert/run1"),
    )

    job = bench.run(
        command,
        nodes=1,
        image=push_image(aws),
        environment=[
            {"name": name, "value": value}
            for name, value in {"PATH": path, VARIABLE: sent.archive, **VARIABLES}.items()
        ],
        **mounted({"/fsx": str(file_system), **programs}),
    )

    said = "\n".join(bench.lines(bench.describe(f"{job['jobId']}#0")))
    assert job["status"] == "SUCCEEDED", said
    written = [file for file in (file_system / "bert/run1").rglob("*") if file.is_file()]
    assert written, said
    assert {file.stat().st_uid for file in written} == {USER}
    assert stat.S_IMODE(file_system.stat().st_mode) == 0o1777
