"""What others wrote commands neither the terminal nor the CI system, in whatever is printed.

CI systems obey lines of the output of a job:
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs (`##[` anywhere)
https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
from all_commands import commands
from command_line import Answer
from hypothesis import given
from hypothesis import strategies as st

from trainshed.cli.output import print_facts, print_records, say
from trainshed.cli.progress import progress
from trainshed.printable import printable

Command = Callable[..., Answer]

# A line of its own for GitHub, also after spaces; colors and the title of a terminal, in 7 and in
# 8 bits; a section of GitLab; what turns the direction of text; markup of rich.
HOSTILE = (
    "a\n::error file=a::forged\r  ::add-mask::forged ##[error]x \x1b[31m\x1b]0;t\x07\x9b2J\x7f"
    "\nsection_start:1:a\r\x1b[0K\u2028::group::\u202e[bold]b[/bold][/]"
)
CLUSTER = """name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
image: {repository: train, tag: "1"}
"""
_OBEYED = re.compile(r"^\s*::[a-z]|##\w*\[", re.MULTILINE | re.IGNORECASE)
_CONTROL = re.compile(r"[^\t\n\x20-\x7e\xa0-\u200d\u2010-\u2027\u202f-\u2065\u206a-\U0010ffff]")


def assert_harmless(printed: str) -> None:
    assert not _CONTROL.search(printed)
    assert not _OBEYED.search(printed)


def parameters(command: Any) -> Iterator[list[str]]:
    """Yield arguments that give each option of a command a hostile value."""
    for parameter in command.params:
        for name in getattr(parameter, "opts", ())[:1]:
            if name.startswith("--") and not parameter.is_flag:
                yield [name, HOSTILE]


@pytest.mark.parametrize(
    ("words", "command"),
    [pytest.param(*each, id=" ".join(each[0])) for each in commands()],
)
def test_no_argument_of_a_command_comes_back_raw(
    trainshed: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    command: Any,
) -> None:
    monkeypatch.chdir(tmp_path)

    # Two arguments are too many for most commands, so that they end at once.
    answers = [
        trainshed(*words, *options, *rest)
        for options in ([], *parameters(command))
        for rest in ([HOSTILE], [HOSTILE, HOSTILE])
    ]

    for answer in answers:
        assert answer.code and answer.err
        assert_harmless(answer.out + answer.err)


@pytest.fixture
def hostile_aws(trainshed: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An AWS whose every answer is a refusal in words that are hostile."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            # XML cannot have control characters of 7 bits.
            text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "", HOSTILE)
            error = f"<Error><Code>{text}</Code><Message>{text}</Message></Error>"
            body = f"<Response><Errors>{error}</Errors>{error}</Response>".encode()
            if "json" in self.headers.get("Content-Type", "") or self.path.startswith("/v1/"):
                body = json.dumps({"__type": HOSTILE, "message": HOSTILE}).encode()
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "words",
    [
        "job list TrainCluster",
        "job submit TrainCluster -- true",
        "job why 0d0d0d0d-0000-4000-8000-000000000000",
        "job logs 0d0d0d0d-0000-4000-8000-000000000000",
        "job cancel 0d0d0d0d-0000-4000-8000-000000000000",
        "preflight TrainCluster",
        "teardown TrainCluster --yes",
        "ami list",
        "ami prune",
        "ami rollback stable --cell neuron/ecs",
        "container list TrainCluster",
        "catalogue sync",
    ],
)
def test_no_answer_of_aws_comes_back_raw(
    trainshed: Command,
    hostile_aws: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters/train.yaml").write_text(CLUSTER)

    answer = trainshed(*words.split())

    assert answer.code and "forged" in answer.out + answer.err
    assert_harmless(answer.out + answer.err)


@pytest.mark.parametrize("form", [[], ["--json"], ["--sarif"]], ids=["text", "json", "sarif"])
def test_no_name_in_a_template_comes_back_raw(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    resource = {"Type": "AWS::EC2::Instance", "Properties": {"InstanceType": "dl1.24xlarge"}}
    (tmp_path / "a.json").write_text(json.dumps({"Resources": {HOSTILE: resource}}))

    answer = trainshed("lint", "a.json", *form)

    assert answer.code == 1
    assert_harmless(answer.out + answer.err)
    if form:
        assert any(HOSTILE in text for text in texts(answer.json))
    else:
        assert r"a\n::error file=a::forged\r" in answer.out


def texts(value: Any) -> list[str]:
    """Return all texts of what was JSON."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for each in value.values() for text in texts(each)]
        case list():
            return [text for each in value for text in texts(each)]
    return []


@pytest.mark.parametrize("words", ["check", "explain", "cost show", "preflight", "lint"])
def test_no_name_of_a_file_comes_back_raw(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    folder = tmp_path / "clusters\n::error::forged \x1b[31m"
    folder.mkdir()
    # Linux takes any byte in a name but two.
    (folder / "\udcff##[x.yaml").write_text("name: x\n")
    monkeypatch.chdir(tmp_path)
    file = f"{folder.name}/\udcff##[x.yaml"

    answer = trainshed(*words.split(), file)

    assert answer.code == 2 and "forged" in answer.err
    assert_harmless(answer.out + answer.err)


def test_no_key_of_a_cluster_file_comes_back_raw(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(CLUSTER + f"tags: {json.dumps({HOSTILE: HOSTILE})}\n")

    answer = trainshed("check", "a.yaml")

    assert answer.code == 2 and "forged" in answer.err
    assert_harmless(answer.out + answer.err)


def test_no_cell_heading_or_title_of_a_table_is_raw(capsys: pytest.CaptureFixture[str]) -> None:
    print_records([{"a": HOSTILE}], columns=["a"], headings={"a": HOSTILE}, title=HOSTILE)
    print_facts({HOSTILE: [HOSTILE]}, heading=HOSTILE, values=HOSTILE)

    printed = capsys.readouterr().out

    assert_harmless(printed)
    # Not as markup, which would be gone.
    assert printed.count("[bold]b[/bold]") == 7


def test_no_step_of_a_long_command_is_raw(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as step:
        step(HOSTILE)

    assert_harmless(capsys.readouterr().err)


def test_no_step_is_raw_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress() as step:
        step(HOSTILE)
        step("last")

    shown = capsys.readouterr().err

    assert "[/bold][/]" in shown and "last" in shown
    # Rich's own escapes are there: it draws the line anew.
    assert "\x1b" in shown
    assert not {"\x1b]", "\x9b", "\x07", "\u202e"} & {*shown, *re.findall("\x1b.", shown)}


@given(st.lists(st.sampled_from([*HOSTILE, "::", "error", "##", "[", " ", "\t", "é", "→"])))
def test_printable_text_is_one_harmless_line(parts: list[str]) -> None:
    line = printable("".join(parts))

    assert "\n" not in line
    assert_harmless(line)


@pytest.mark.parametrize(
    "text",
    [
        "AWS::EC2::Instance in arn:aws:iam::123456789012:role/x, open to ::/0 and 2000::/3",
        "a\ttab, „quotes“, 1,200 GiB → 2,400 GiB, 日本語, 👩‍🔬, # and ## of Markdown",
        r"C:\new [bold] {x: [y]}",
    ],
)
def test_ordinary_text_is_printed_as_it_is(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text)

    assert capsys.readouterr().out == f"{text}\n"


def test_typer_itself_would_print_it_raw(capsys: pytest.CaptureFixture[str]) -> None:
    # What the tests above look for is there without our part.
    typer.echo(HOSTILE)

    with pytest.raises(AssertionError):
        assert_harmless(capsys.readouterr().out)
