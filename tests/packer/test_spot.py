"""What a node writes when EC2 says that it takes it back; the metadata service is the test's."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from trainshed.nodes.folders import SPOT, SPOT_NOTICE
from trainshed_node.errors import NodeError
from trainshed_node.instance import is_instance
from trainshed_node.spot import FILE, FOLDER, Metadata, is_on_spot, read_notice, write_notice

ROOT = Path(__file__).parents[2]
TOKEN = "the-token"
# EC2 user guide, "Spot Instance interruption notices", "EC2 instance rebalance recommendations".
ACTION = '{"action": "terminate", "time": "2026-11-28T06:02:00Z"}'
RECOMMENDATION = '{"noticeTime": "2026-11-28T05:59:30Z"}'


@pytest.fixture
def said() -> dict[str, str]:
    """What the metadata service says, by the path below /latest/meta-data/; empty is an error."""
    return {"instance-life-cycle": "spot"}


@pytest.fixture
def metadata(said: dict[str, str]) -> Iterator[Metadata]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            asked = self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
            self._answer(TOKEN if self.path == "/latest/api/token" and asked else None)

        def do_GET(self) -> None:
            if self.headers["X-aws-ec2-metadata-token"] != TOKEN:
                self.send_error(401)
                return
            self._answer(said.get(self.path.removeprefix("/latest/meta-data/")))

        def _answer(self, text: str | None) -> None:
            if not text:
                self.send_error(404 if text is None else 500)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Metadata(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def test_what_ec2_says_becomes_one_line(metadata: Metadata, said: dict[str, str]) -> None:
    assert read_notice(metadata) == ""

    said["events/recommendations/rebalance"] = RECOMMENDATION
    assert read_notice(metadata) == "2026-11-28T06:01:30Z rebalance\n"

    said["spot/instance-action"] = ACTION
    assert read_notice(metadata) == "2026-11-28T06:02:00Z interruption\n"


def test_only_spot_instances_are_taken_back(metadata: Metadata, said: dict[str, str]) -> None:
    assert is_on_spot(metadata)

    said["instance-life-cycle"] = "on-demand"
    assert not is_on_spot(metadata)


def test_a_metadata_service_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NodeError, match="instance-life-cycle: the metadata service does not"):
        is_on_spot(Metadata("http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [("", "the metadata service answers 500"), ("terminate", "is not JSON")],
)
def test_an_answer_that_is_no_notice_is_an_error(
    metadata: Metadata, said: dict[str, str], answer: str, problem: str
) -> None:
    said["spot/instance-action"] = answer

    with pytest.raises(NodeError, match=f"^spot/instance-action: {problem}"):
        read_notice(metadata)


def test_a_machine_that_is_no_instance_asks_nobody() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "packer/files/opt/trainshed/spot-watch"],
        env={"EMBEDDED_AWS_NODE": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("sys/class/dmi/id/board_asset_tag", "i-0123456789abcdef0", True),
        ("sys/class/dmi/id/board_asset_tag", "Default string", False),
        ("sys/hypervisor/uuid", "ec2e1916-9099-7caf-fd21-012345abcdef", True),
        ("sys/hypervisor/uuid", "00000000-0000-0000-0000-000000000000", False),
        ("sys/hypervisor/uuid", "<denied>", False),
        ("sys/class/dmi/id/product_uuid", "EC2E1916-9099-7CAF-FD21-012345ABCDEF", True),
        # In little-endian order.
        ("sys/class/dmi/id/product_uuid", "45E12AEC-DCD1-B213-94ED-012345ABCDEF", True),
        ("sys/class/dmi/id/product_uuid", "4c4c4544-0042-3510-8052-b4c04f4b5132", False),
    ],
)
def test_the_tag_of_nitro_or_a_uuid_says_that_this_is_an_instance(
    tmp_path: Path, path: str, text: str, found: bool
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(f"{text}\n", encoding="ascii")

    assert is_instance({"EMBEDDED_AWS_NODE": str(tmp_path)}) == found


def test_the_file_is_written_once_for_each_notice(tmp_path: Path) -> None:
    write_notice("", tmp_path)
    assert [*tmp_path.iterdir()] == []

    write_notice("one\n", tmp_path)
    first = (tmp_path / FILE).stat().st_ino
    write_notice("one\n", tmp_path)
    assert (tmp_path / FILE).stat().st_ino == first

    write_notice("two\n", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).read_text() == "two\n"


def test_nodes_and_plans_mean_the_same_folder() -> None:
    assert (FOLDER, f"{FOLDER}/{FILE}") == (SPOT, SPOT_NOTICE)
