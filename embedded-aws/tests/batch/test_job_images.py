"""Jobs in the file system of their image."""

import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest
from command_bench import until
from image_bench import Layer, push
from image_registry import serving_registry
from job_bench import JobBench, job_aws
from ordinary_user import ordinary_user
from skips import unless

from embedded_aws.batch import job_files
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.ecr.stored_images import StoredImage, StoredPart
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts import command_files
from embedded_aws.hosts.found_images import FoundImage
from embedded_aws.hosts.image_files import ImageFiles, Unpacked, containers_unavailable
from embedded_aws.job_settings import JobSettings

PROGRAMS = ("sh", "cat", "ls", "id", "touch", "sleep", "grep")
CONFIG = {
    "Env": ["FROM_IMAGE=yes", "PATH=/tools", "REPLACED=image"],
    "Entrypoint": ["/tools/sh", "/entrypoint"],
    "Cmd": ["sh", "-c", "echo the own command"],
    "WorkingDir": "/made/for/work",
    "User": "trainer",
}


@pytest.fixture(scope="module", params=["root", "user"])
def starter(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Who starts the embedded AWS: root, or an ordinary user."""
    if request.param == "root":
        unless("docker-registry", root="images have files of many users")
        yield request.param
        return
    unless("docker-registry", networks=True)
    with ordinary_user(tmp_path_factory.mktemp("user")):
        yield request.param


@pytest.fixture(scope="module")
def aws(starter: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """With a registry, and nodes in namespaces."""
    folder = tmp_path_factory.mktemp("images")
    with (
        serving_registry(folder) as registry,
        job_aws(folder, JobSettings(speed=60), registry=registry) as aws,
    ):
        yield aws


@pytest.fixture(scope="module")
def image(aws: EmbeddedAws) -> tuple[str, str]:
    """URI and digest of an image whose second layer changes the first one."""
    base, change = Layer(), Layer()
    for name in PROGRAMS:
        base.add_program(f"tools/{name}", name)
    base.add("etc/passwd", "root:x:0:0::/root:/bin/sh\ntrainer:x:1234:1234::/home/trainer:\n")
    base.add("etc/group", "root:x:0:\ntrainer:x:1234:\ndata:x:77:trainer\n")
    base.add("entrypoint", 'echo entrypoint\nexec "$@"\n', mode=0o755)
    base.add("only/in/image", "of the image", uid=1234, gid=77, mode=0o600)
    base.add("gone").add("emptied/old").add("emptied/kept/old").add("replaced", "old")
    base.add("place", type=tarfile.DIRTYPE, mode=0o777)
    base.add("out", type=tarfile.SYMTYPE, linkname="/etc")
    change.add(".wh.gone").add("emptied/kept/new").add("emptied/.wh..wh..opq")
    change.add("linked", type=tarfile.LNKTYPE, linkname="/only/in/image")
    change.add("replaced", type=tarfile.SYMTYPE, linkname="only/in/image")
    # Lead out of the image, for who follows them from outside.
    change.add("out/written", "inside").add("../../up", "inside").add("etc/hosts", "of the image")
    return push(aws, "train", [base, change], CONFIG)


@pytest.fixture
def bench(aws: EmbeddedAws) -> JobBench:
    return JobBench(aws)


def all_lines(bench: JobBench, job: Any) -> list[str]:
    """What is in a container's log, with the line of the embedded AWS."""
    events = bench.logs.get_log_events(
        logGroupName="/aws/batch/job",
        logStreamName=job["container"]["logStreamName"],
        startFromHead=True,
    )["events"]
    return [event["message"] for event in events]


def test_two_nodes_run_in_the_files_of_the_image(
    bench: JobBench, image: tuple[str, str], starter: str, tmp_path: Path
) -> None:
    uri, digest = image
    groups = ",77(data)" if starter == "root" else ""
    (tmp_path / "secret").touch()
    mounts = Path("/proc/self/mountinfo").read_text()
    script = (
        f"cat /only/in/image; echo; echo $FROM_IMAGE $REPLACED $HOME $PWD; ls {tmp_path} || "
        "echo not there; id; touch /place/$AWS_BATCH_JOB_NODE_INDEX; ls /place; echo /proc/[0-9]*"
    )

    job = bench.run(
        ["sh", "-c", script],
        nodes=2,
        image=uri,
        environment=[{"name": "REPLACED", "value": "job"}],
    )

    assert job["status"] == "SUCCEEDED", job
    for number in range(2):
        first, *rest = all_lines(bench, bench.describe(f"{job['jobId']}#{number}"))
        assert first == f"embedded AWS: in the file system of image {uri}@{digest}"
        [said] = [line for line in rest if "No such file" in line]
        rest.remove(said)
        assert rest[:5] == [
            "entrypoint",
            "of the image",
            "yes job /home/trainer /made/for/work",
            "not there",
            # An ordinary user cannot have further groups.
            f"uid=1234(trainer) gid=1234(trainer) groups=1234(trainer){groups}",
        ]
        # A node of its own changes nothing of the other's.
        assert rest[5:] == [str(number), "/proc/1"]
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_a_container_finds_its_instance_in_the_boards_asset_tag(
    bench: JobBench, image: tuple[str, str]
) -> None:
    script = "id -u; cat /sys/class/dmi/id/board_asset_tag /sys/class/net/lo/mtu"
    script += "; echo $EMBEDDED_AWS_NODE.; touch /sys/class/dmi/id/new"

    job = bench.run(["sh", "-c", script], image=image[0])

    _, user, instance, mtu, variable, refused = bench.lines(job)
    assert user == "1234"
    assert job["container"]["containerInstanceArn"].endswith(f"/{instance}")
    assert (mtu, variable) == ("65536", ".")
    assert refused.endswith(("Read-only file system", "Permission denied"))


def test_layers_change_those_below_and_lead_nowhere_else(
    bench: JobBench, image: tuple[str, str]
) -> None:
    script = "ls /emptied /emptied/kept; ls /gone; cat /replaced /linked /etc/written /up"

    job = bench.run(["sh", "-c", script], image=image[0])

    assert bench.lines(job) == [
        *("entrypoint", "/emptied:", "kept", "/emptied/kept:", "new"),
        *(
            "ls: cannot access '/gone': No such file or directory",
            "of the image" * 2 + "inside" * 2,
        ),
    ]
    assert not Path("/etc/written").exists()


def test_a_container_has_what_docker_mounts_and_no_more_rights(
    bench: JobBench, image: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("shared")
    script = (
        "grep -E ' /(dev/shm|proc/sys|sys|scratch) ' /proc/mounts; echo null >/dev/null; "
        "cat /data/file; "
        "echo; echo new >/data/from-job; touch /sys/x; echo 1 >/proc/sys/kernel/pid_max; "
        "grep CapBnd /proc/self/status; ls /empty; touch /empty/x; grep ip- /etc/hosts"
    )
    mounts = [
        {"sourceVolume": "data", "containerPath": "/data"},
        {"sourceVolume": "none", "containerPath": "/empty", "readOnly": True},
    ]

    job = bench.run(
        ["sh", "-c", script],
        image=image[0],
        user="0",
        volumes=[
            {"name": "data", "host": {"sourcePath": str(tmp_path)}},
            {"name": "none", "host": {"sourcePath": "/no/such/folder"}},
        ],
        mountPoints=mounts,
        linuxParameters={
            "sharedMemorySize": 128,
            "tmpfs": [{"containerPath": "/scratch", "size": 8}],
            "devices": [{"hostPath": "/dev/neuron0"}],
        },
    )

    text = "\n".join(bench.lines(job))
    assert "tmpfs /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=131072k" in text
    assert "tmpfs /scratch tmpfs rw,nosuid,nodev,noexec,relatime,size=8192k" in text
    assert "sysfs /sys sysfs ro," in text and "proc /proc/sys proc ro," in text
    assert text.count("Read-only file system") == 3
    # Docker's documentation: as `docker run` shows it.
    assert "CapBnd:\t00000000a80425fb" in text
    assert "\nshared\n" in text and "ip-10-20-" in text
    assert (tmp_path / "from-job").read_text() == "new\n"


def test_a_read_only_container_can_write_to_its_memory_only(
    bench: JobBench, image: tuple[str, str]
) -> None:
    job = bench.run(
        ["sh", "-c", "touch /place/new; touch /dev/shm/new && ls /place /dev/shm"],
        image=image[0],
        user="0",
        readonlyRootFilesystem=True,
    )

    assert job["status"] == "SUCCEEDED", job
    text = "\n".join(bench.lines(job))
    assert "'/place/new': Read-only file system" in text
    assert text.endswith("/dev/shm:\nnew\n/place:")


def test_without_a_command_the_image_has_its_own(bench: JobBench, image: tuple[str, str]) -> None:
    job = bench.run([], image=image[0])

    assert bench.lines(job) == ["entrypoint", "the own command"]


@pytest.mark.parametrize(
    ("init", "code"), [pytest.param(False, 137, id="kill"), pytest.param(True, 143, id="term")]
)
def test_only_with_an_init_process_sigterm_ends_a_command_that_does_not_wait_for_it(
    aws: EmbeddedAws, bench: JobBench, image: tuple[str, str], init: bool, code: int
) -> None:
    definition = bench.define(
        ["sh", "-c", "echo running; exec sleep 99"],
        image=image[0],
        linuxParameters={"initProcessEnabled": init},
    )
    job = bench.submit(definition)
    bench.wait_for_line(job, "running")

    bench.batch.terminate_job(jobId=job, reason="enough")

    assert bench.wait(job)["container"]["exitCode"] == code


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        pytest.param(
            {"user": "nobody-here"},
            "CannotStartContainerError: unable to find user nobody-here: no matching entries in "
            "passwd file",
            id="user",
        ),
        pytest.param(
            {"image": "{uri}@sha256:" + "0" * 64},
            "CannotPullContainerError: ",
            id="digest",
        ),
    ],
)
def test_what_docker_cannot_start_fails_the_task(
    bench: JobBench, image: tuple[str, str], properties: dict[str, Any], reason: str
) -> None:
    uri = image[0].removesuffix(":1")
    filled: dict[str, Any] = {
        name: value.replace("{uri}", uri) for name, value in properties.items()
    }

    job = bench.run("true", **({"image": image[0]} | filled))

    assert job["statusReason"] == "Task failed to start"
    assert job["container"]["reason"].startswith(reason)


def test_a_program_is_looked_for_in_the_image(bench: JobBench, aws: EmbeddedAws) -> None:
    uri, _ = push(aws, "bare", [Layer().add("a", "a")], {})

    job = bench.run(["python3"], image=uri)

    assert job["container"]["reason"].endswith(
        'exec: "python3": executable file not found in $PATH: unknown'
    )


def test_a_layer_that_is_no_archive_fails_the_pull(bench: JobBench, aws: EmbeddedAws) -> None:
    class Broken(Layer):
        def packed(self) -> bytes:
            # More than a pipe holds.
            return b"no archive" * 200_000

    uri, _ = push(aws, "broken", [Broken()], {})

    job = bench.run("true", image=uri)

    assert job["container"]["reason"].startswith(
        "CannotPullContainerError: Error response from daemon: failed to register layer sha256:"
    )
    assert job["container"]["reason"].endswith("not a gzip file")


def test_an_image_of_which_there_is_only_a_manifest_is_not_used(
    bench: JobBench, aws: EmbeddedAws
) -> None:
    ecr = aws.client("ecr")
    uri = ecr.create_repository(repositoryName=bench.name)["repository"]["repositoryUri"]
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json"}
    ecr.put_image(
        repositoryName=bench.name,
        imageManifest=json.dumps({**index, "manifests": []}),
        imageTag="1",
    )

    job = bench.run("true", image=f"{uri}:1")

    assert all_lines(bench, job) == [
        f"embedded AWS: on this machine's own files, not in {uri}:1: ECR has no layers of it"
    ]


@pytest.mark.usefixtures("starter")
def test_nothing_is_left_of_a_container_when_the_embedded_aws_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not below the folder of the test, whose path may be too long for a socket.
    with TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        mounts = Path("/proc/self/mountinfo").read_text()
        with (
            serving_registry(tmp_path) as registry,
            job_aws(tmp_path, JobSettings(), registry=registry) as aws,
        ):
            layer = Layer().add_program("bin/sh", "sh").add_program("bin/sleep", "sleep")
            uri, _ = push(aws, "train", [layer], {})
            bench = JobBench(aws)
            seconds = f"6{os.getpid()}"
            job = bench.submit(
                bench.define(f"sleep {seconds} & echo running; wait", nodes=2, image=uri)
            )
            bench.wait_for_line(f"{job}#1", "running")
            processes = until(lambda: _sleeping(seconds), "its processes")

            aws.server.process.kill()

            _, alive = psutil.wait_procs(processes, timeout=20)
            assert alive == []
            until(lambda: not list(Path(folder).iterdir()), "an empty folder")
        assert Path("/proc/self/mountinfo").read_text() == mounts


def _sleeping(seconds: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["sleep", seconds]
    ]


def test_without_overlays_a_container_has_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, root = ImageFiles(tmp_path / "images", lock=0, apart=True), tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "folder/file").write_text("of the image")
    monkeypatch.setattr(ImageFiles, "_has_overlays", False)
    own = tmp_path / "own"
    own.mkdir()

    below = images.place(Unpacked(root=root, config={}), own)

    assert below is None
    (own / "root/folder/file").write_text("changed")
    assert (root / "folder/file").read_text() == "of the image"


def test_who_is_not_root_has_no_containers_on_loopback_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = StoredPart(repository="train", digest="sha256:0", media_type="")
    stored = StoredImage(digest="sha256:1", config=part, layers=[part])
    monkeypatch.setattr(command_files, "find_image", lambda *_: FoundImage(stored=stored))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    containers_unavailable.cache_clear()
    call: Any = None

    files = job_files.job_files(
        call,
        {"image": "train:1", "command": ["true"]},
        ImageFiles(tmp_path, lock=0, apart=False),
        tmp_path,
        tmp_path,
        {},
    )
    why = "containers need root, or hosts with networks of their own"
    with pytest.raises(TaskRefused, match=f"{why}; give it a command"):
        job_files.job_files(
            call,
            {"image": "train:1", "command": []},
            ImageFiles(tmp_path, lock=0, apart=False),
            tmp_path,
            tmp_path,
            {},
        )

    containers_unavailable.cache_clear()
    assert files.said == f"on this machine's own files, not in train:1: {why}"
    assert (files.container, files.words) == (None, ["true"])
