"""`embedded-aws`, as it is typed."""

import json
import socket
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from kube_bench import credentials_of

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.lifecycle import Project

Command = Callable[..., Any]


@pytest.fixture
def nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is one without an embedded AWS."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_up_again_says_where_it_is(command: Command, endpoint: str) -> None:
    answer = command("up")

    assert answer.code == 0
    assert f"is up already at {endpoint}" in answer.out


def test_up_with_another_month_is_a_failure_that_says_what_to_do(
    command: Command, endpoint: str
) -> None:
    answer = command("up", "--as-of", "2026-06")

    assert answer.code == 1
    assert "embedded-aws down" in answer.err


def test_status_is_a_table_or_json(command: Command, endpoint: str) -> None:
    table = command("status")
    status = command("status", "--json")

    assert table.code == status.code == 0
    assert endpoint in table.out
    assert status.json["state"] == "running"
    assert status.json["endpoint"] == endpoint
    assert status.json["accounts"] == ["123456789012"]


def test_status_of_nothing_exits_with_1(command: Command, nothing_up: Path) -> None:
    answer = command("status", "--json")

    assert (answer.code, answer.json) == (1, {"state": "down"})


def test_env_can_be_evaluated_by_a_shell(command: Command, endpoint: str) -> None:
    lines = command("env").out

    shell = subprocess.run(
        ["sh", "-uc", f'{lines}\necho "$AWS_ENDPOINT_URL $CDK_DEFAULT_REGION ${{AWS_PROFILE-}}"'],
        env={"AWS_PROFILE": "production"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert shell.stdout == f"{endpoint} us-west-2 \n"


def test_env_as_json_has_null_for_what_is_unset(command: Command, endpoint: str) -> None:
    variables = command("env", "--json").json

    assert variables["AWS_ENDPOINT_URL"] == endpoint
    assert variables["AWS_PROFILE"] is None


def test_env_of_nothing_says_how_to_start(command: Command, nothing_up: Path) -> None:
    answer = command("env")

    assert (answer.code, answer.out) == (1, "")
    assert "embedded-aws up" in answer.err


def test_a_group_of_commands_without_one_is_reported_where_they_are(command: Command) -> None:
    answer = command("guests")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: missing command; see embedded-aws guests --help\n"


def test_inventory_is_of_this_directory_when_the_environment_leads_nowhere(
    command: Command, endpoint: str
) -> None:
    answer = command("inventory", "--json")

    assert (answer.code, answer.json) == (0, [])


def test_roles_of_a_new_account_are_none(command: Command, endpoint: str) -> None:
    answer = command("roles", "--json")

    assert (answer.code, answer.json) == (0, [])


def test_control_sets_faults_and_resets(
    command: Command, nothing_up: Path, clean_aws: EmbeddedAws
) -> None:
    fault = {"service": "ec2", "operation": "DescribeVpcs", "code": "AuthFailure", "count": None}
    ec2 = clean_aws.client("ec2")

    assert command("control", "faults", json.dumps([fault])).code == 0
    with pytest.raises(ClientError, match="AuthFailure"):
        ec2.describe_vpcs()

    assert command("control", "reset").code == 0
    ec2.describe_vpcs()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("faults", "{", "error: this is not JSON: "),
        ("fault", "[]", "error: there is no control POST /_embedded-aws/fault; the controls are: "),
    ],
)
def test_what_a_control_does_not_take_is_one_line(
    command: Command, endpoint: str, name: str, value: str, reason: str
) -> None:
    answer = command("control", name, value)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(reason)
    assert answer.err.count("\n") == 1


def test_credentials_of_another_embedded_aws_are_told_apart(
    command: Command, nothing_up: Path, embedded_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded_aws.lead_here(monkeypatch)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "offline")

    for words in (("inventory",), ("roles",), ("control", "reset")):
        answer = command(*words)

        assert (answer.code, answer.out) == (1, "")
        assert "does not take the credentials of the environment; run eval" in answer.err


def test_a_role_calls_aws_by_commands_and_the_controls_refuse_it(
    command: Command, nothing_up: Path, clean_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    iam = clean_aws.client("iam")
    role = iam.create_role(RoleName="somebody", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [everything]})
    iam.put_role_policy(RoleName="somebody", PolicyName="own", PolicyDocument=policy)
    given = credentials_of(clean_aws, role)
    clean_aws.lead_here(monkeypatch)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", given.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", given.secret_key)
    monkeypatch.setenv("AWS_SESSION_TOKEN", given.token)

    assert command("inventory").code == 0
    for words in (("roles",), ("control", "reset")):
        answer = command(*words)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err == (
            "error: the controls take the credentials that `env` prints, not those of a role\n"
        )
    monkeypatch.setenv("AWS_SESSION_TOKEN", "another")
    assert "does not take the credentials of the environment" in command("inventory").err


def test_roles_of_an_aws_that_is_gone_is_one_line(
    command: Command, nothing_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://localhost:{port}")

    answer = command("roles")

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: the embedded AWS does not answer: ")
    assert answer.err.count("\n") == 1


def test_inventory_of_nothing_says_how_to_start_and_asks_no_other_aws(
    command: Command, nothing_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")

    answer = command("inventory")

    assert (answer.code, answer.out) == (1, "")
    assert "embedded-aws up" in answer.err


def test_inventory_of_an_aws_that_is_gone_is_one_line(
    command: Command, nothing_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("localhost", 0)) as free:
        gone = f"http://localhost:{free.getsockname()[1]}"
    for name, value in {
        "AWS_ENDPOINT_URL": gone,
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_ACCESS_KEY_ID": "OFFLINE0123456789012",
        "AWS_SECRET_ACCESS_KEY": "offline",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)

    answer = command("inventory")

    assert answer.code == 1
    assert answer.err.startswith(f"error: the embedded AWS does not answer: {gone}: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "ftp://localhost",
        "localhost:4566",
        "localhost",
        "http://",
        "http://localhost:port",
        "http://localhost:99999",
        "http://[::1",
        "http://local host",
    ],
)
@pytest.mark.parametrize("words", [("inventory",), ("roles",), ("control", "reset")])
def test_what_is_no_url_of_an_aws_is_one_line(
    command: Command,
    nothing_up: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    url: str,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)

    answer = command(*words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: AWS_ENDPOINT_URL is {url!r}, which is no URL of an AWS; ")
    assert answer.err.count("\n") == 1


def test_inventory_tells_apart_what_speaks_no_http(
    command: Command, nothing_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("localhost", 0)) as other:
        url = f"http://localhost:{other.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)

        def answer_once() -> None:
            with other.accept()[0] as connection:
                connection.recv(1)
                connection.sendall(b"SSH-2.0-other\r\n")

        threading.Thread(target=answer_once, daemon=True).start()

        answer = command("inventory")

    assert answer.code == 1
    assert answer.err == (
        f"error: what answers at {url}, which AWS_ENDPOINT_URL names, is no embedded AWS; "
        "unset it\n"
    )


def test_inventory_asks_no_other_server(
    command: Command, nothing_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("localhost", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://localhost:{server.server_port}")

        answer = command("inventory")
        server.shutdown()

    assert answer.code == 1
    assert answer.err == (
        f"error: no embedded AWS is at http://localhost:{server.server_port}, which "
        "AWS_ENDPOINT_URL names; unset it\n"
    )


def test_down_of_nothing_is_clean(command: Command, nothing_up: Path) -> None:
    answer = command("down")

    assert answer.code == 0
    assert "no embedded AWS was up" in answer.out


def test_down_reports_a_crash(command: Command, project: Project, nothing_up: Path) -> None:
    state = json.loads((project.state / "server.json").read_text())
    crashed = Project(nothing_up).state / "server.json"
    crashed.write_text(json.dumps(state | {"started": 0.0}))

    answer = command("down")

    assert answer.code == 0
    assert f"had already ended (process {state['pid']})" in answer.out
    assert not crashed.exists()


def test_types_names_who_makes_each(command: Command) -> None:
    made_by = {row["type"]: row["made_by"] for row in command("types", "--json").json}

    assert made_by["AWS::EC2::PlacementGroup"] == "embedded-aws"
    assert made_by["AWS::Kinesis::Stream"] == "moto"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["up", "--region", "us-wst-2"], "did you mean us-west-2", id="region"),
        pytest.param(["up", "--account", "12"], "account id of 12 digits", id="account"),
        pytest.param(["up", "--as-of", "June"], "write it as YYYY-MM", id="as-of"),
        pytest.param(["up", "--as-of", ""], "write it as YYYY-MM", id="empty-as-of"),
        pytest.param(["up", "--port", "web"], "--port", id="port-not-a-number"),
        pytest.param(["up", "--prot", "1"], "--prot", id="unknown-option"),
        pytest.param(["typs"], "did you mean 'types'", id="unknown-command"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    command: Command, nothing_up: Path, words: list[str], message: str
) -> None:
    answer = command(*words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert message.lower() in answer.err.lower()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["--", "no-such-command"], 127, "command not found", id="not-found"),
        pytest.param(["--", ""], 127, "command not found: ''", id="empty-command"),
        pytest.param(["--", "./plain-file"], 126, "is not executable", id="not-executable"),
        pytest.param(["--", "/"], 126, "/ is not executable; it is a folder", id="folder"),
        pytest.param(["npx", "cdk"], 2, "put `--` before the command", id="no-dashes"),
        pytest.param(["--"], 2, "missing argument", id="no-command"),
    ],
)
def test_what_cannot_be_run_is_reported_in_one_line(
    command: Command, nothing_up: Path, arguments: list[str], code: int, message: str
) -> None:
    (nothing_up / "plain-file").write_text("")

    answer = command("run", *arguments)

    assert answer.code == code
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert message in answer.err
