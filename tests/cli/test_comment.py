"""`trainshed comment` against stand-ins of GitHub and GitLab: one comment, and clear refusals."""

import datetime
import ipaddress
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from git_hosts import Account, GitHub, GitLab, Host, Reply, serving

Command = Callable[..., Any]
MARKER = "<!-- trainshed review -->"
REPORT = f"{MARKER}\n# Review\n\nnothing dangerous\n"
OLD = f"{MARKER}\nan older review"
BOT = "github-actions[bot]"
SECRET, READ_ONLY, PERSONAL, JOB = "ghs_secret", "ghs_read_only", "ghp_personal", "glcbt-job"
ACCOUNTS = {
    SECRET: Account(login=BOT),
    READ_ONLY: Account(login=BOT, writes=False),
    PERSONAL: Account(login="alice"),
}
POSTED = ("POST", GitHub.comments)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CI = ("GITHUB_ACTIONS", "GITHUB_TOKEN", "GITHUB_STEP_SUMMARY", "GITLAB_CI")


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *CI, "TRAINSHED_GITLAB_TOKEN", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def report(tmp_path: Path) -> str:
    path = tmp_path / "review.md"
    path.write_text(REPORT)
    return str(path)


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """A job of GitHub Actions about pull request 7."""
    host = GitHub(ACCOUNTS)
    with serving(host) as root:
        for name, value in {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": root,
            "GITHUB_GRAPHQL_URL": f"{root}/graphql",
            "GITHUB_REPOSITORY": "us/training",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_TOKEN": SECRET,
        }.items():
            monkeypatch.setenv(name, value)
        write_event(tmp_path, head="us/training")
        yield host


def write_event(folder: Path, *, head: str | None) -> None:
    repository = head and {"full_name": head}
    event = {"pull_request": {"number": 7, "head": {"repo": repository}}}
    (folder / "event.json").write_text(json.dumps(event))


@pytest.fixture
def gitlab(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitLab]:
    """A job of GitLab CI about merge request 7."""
    host = GitLab(
        {
            SECRET: Account(login="project_42_bot"),
            READ_ONLY: Account(login="project_42_bot", writes=False),
            JOB: Account(login="alice", job=True),
        }
    )
    with serving(host) as root:
        for name, value in {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": root,
            "CI_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.com/us/training",
            "TRAINSHED_GITLAB_TOKEN": SECRET,
        }.items():
            monkeypatch.setenv(name, value)
        yield host


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the command would have slept."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    return slept


def bodies(host: Host) -> list[str]:
    return [note.body for note in host.notes]


def test_the_first_report_is_a_new_comment(trainshed: Command, github: GitHub, report: str) -> None:
    github.add("alice", "please review")

    answer = trainshed("comment", report)

    assert answer.code == 0, answer.err
    assert answer.out == "posted https://github.com/us/training/pull/7#issuecomment-1001\n"
    assert bodies(github) == ["please review", REPORT]
    assert github.asked[-1].headers["X-GitHub-Api-Version"] == "2022-11-28"


def test_the_next_report_replaces_it(trainshed: Command, github: GitHub, report: str) -> None:
    github.add(BOT, f"what does {MARKER} mean?")
    old = github.add(BOT, OLD)

    answer = trainshed("comment", report)

    assert answer.out == f"updated https://github.com/us/training/pull/7#issuecomment-{old.id}\n"
    assert bodies(github) == [f"what does {MARKER} mean?", REPORT]


@pytest.mark.parametrize("before", [99, 100, 250])
def test_it_is_found_on_every_page(
    trainshed: Command, github: GitHub, report: str, before: int
) -> None:
    for number in range(before):
        github.add(None if number % 2 else "alice", f"{number}")
    github.add(BOT, OLD)

    assert trainshed("comment", report).code == 0

    assert bodies(github)[-1] == REPORT
    assert len(github.notes) == before + 1
    reads = [request for request in github.asked if request.method == "GET"]
    assert len(reads) == before // 100 + 1
    assert {request.query["per_page"] for request in reads} == {"100"}


def test_the_comment_of_another_author_stays(
    trainshed: Command, github: GitHub, report: str
) -> None:
    github.add("mallory", OLD)
    github.add(None, OLD)

    assert trainshed("comment", report).code == 0

    assert bodies(github) == [OLD, OLD, REPORT]


def test_where_the_host_does_not_tell_who_we_are_no_comment_is_changed(
    trainshed: Command, github: GitHub, report: str
) -> None:
    github.accounts[SECRET] = Account(login=BOT, told=False)
    github.add("mallory", OLD)
    github.add(None, OLD)
    github.add(BOT, OLD)

    assert trainshed("comment", report).code == 0

    assert bodies(github) == [OLD, OLD, OLD, REPORT]


def test_a_personal_token_finds_its_own(
    trainshed: Command, github: GitHub, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", PERSONAL)
    github.add(BOT, OLD)
    github.add("alice", OLD)

    assert trainshed("comment", report).code == 0

    assert bodies(github) == [OLD, REPORT]


def test_the_summary_of_the_job_gets_the_report_beside_what_is_there(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path
) -> None:
    (tmp_path / "summary.md").write_text("before\n")

    trainshed("comment", report)

    assert (tmp_path / "summary.md").read_text() == f"before\n{REPORT}\n"


@pytest.mark.parametrize("head", ["mallory/training", None], ids=["fork", "deleted-fork"])
def test_a_fork_gets_no_comment_and_the_job_does_not_fail(
    trainshed: Command,
    github: GitHub,
    report: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    head: str | None,
) -> None:
    write_event(tmp_path, head=head)
    monkeypatch.setenv("GITHUB_TOKEN", READ_ONLY)

    answer = trainshed("comment", report)

    assert answer.code == 0
    assert "is of a fork, whose jobs may not comment" in answer.out
    assert (tmp_path / "summary.md").read_text() == f"{REPORT}\n"
    assert github.written() == [POSTED]


def test_without_a_pull_request_only_the_summary_gets_it(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text('{"ref": "refs/heads/main"}')

    answer = trainshed("comment", report)

    assert answer.code == 0
    assert "this job has no pull request" in answer.out
    assert (tmp_path / "summary.md").read_text() == f"{REPORT}\n"
    assert github.asked == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"GITHUB_TOKEN": READ_ONLY}, "pull-requests: write", id="403"),
        pytest.param({"GITHUB_TOKEN": "ghs_expired"}, "401 Bad credentials; give", id="401"),
        pytest.param({"GITHUB_REPOSITORY": "us/other"}, "404 Not Found; the token", id="404"),
    ],
)
def test_what_github_refuses_fails_with_what_to_do(
    trainshed: Command,
    github: GitHub,
    report: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    says: str,
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
        write_event(tmp_path, head=changes.get("GITHUB_REPOSITORY", "us/training"))

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert says in answer.err
    assert (tmp_path / "summary.md").read_text() == f"{REPORT}\n"
    assert github.notes == []


def test_what_github_says_of_an_invalid_comment_is_passed_on(
    trainshed: Command, github: GitHub, report: str
) -> None:
    invalid = {"message": "Validation Failed", "errors": [{"message": f"no {SECRET} here"}]}
    github.replies = [Reply(status=200, body=[]), Reply(status=422, body=invalid)]

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert '422 Validation Failed [{"message": "no *** here"}]' in answer.err


def test_a_token_never_follows_a_redirection(
    trainshed: Command, github: GitHub, report: str
) -> None:
    moved = {"Location": f"{github.root}/elsewhere"}
    github.replies = [Reply(status=301, body={"message": "Moved Permanently"}, headers=moved)]

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "301 Moved Permanently" in answer.err
    assert len(github.asked) == 1


BUSY = Reply(status=502, body=b"<html>Bad Gateway</html>")


def test_what_github_could_not_answer_is_asked_again(
    trainshed: Command, github: GitHub, report: str, pauses: list[float]
) -> None:
    github.replies = [BUSY, BUSY]

    answer = trainshed("comment", report)

    assert answer.code == 0, answer.err
    assert bodies(github) == [REPORT]
    assert pauses == [1, 4]


def test_a_comment_whose_answer_was_lost_is_not_posted_twice(
    trainshed: Command, github: GitHub, report: str, pauses: list[float]
) -> None:
    def lose_the_answer(request: Any, reply: Callable[[Any], Reply] = github.reply) -> Reply:
        answer = reply(request)
        return BUSY if request.method == "POST" and request.path != "/graphql" else answer

    github.reply = lose_the_answer  # type: ignore[method-assign]

    answer = trainshed("comment", report)

    assert answer.code == 0, answer.err
    assert answer.out.startswith("updated ")
    assert bodies(github) == [REPORT]


def test_it_gives_up_after_some_attempts(
    trainshed: Command, github: GitHub, report: str, pauses: list[float]
) -> None:
    github.replies = [BUSY] * 9

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "502 Bad Gateway; run the job again later" in answer.err
    assert len(github.asked) == 4 and len(pauses) == 3


def limit(status: int, message: str = "slow down", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body={"message": message}, headers=named)


@pytest.mark.parametrize(
    ("reply", "pause"),
    [
        pytest.param(limit(429, Retry_After="7"), 7, id="429"),
        pytest.param(limit(503, Retry_After="3"), 3, id="503"),
        pytest.param(limit(403, Retry_After="2"), 2, id="403"),
        pytest.param(limit(403, "You have exceeded a secondary rate limit"), 60, id="secondary"),
        pytest.param(
            limit(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="1"), 0, id="primary-over"
        ),
        pytest.param(limit(503, Retry_After="Mon, 23 Nov 2026 08:00:00 GMT"), 1, id="date-unread"),
    ],
)
def test_it_waits_as_long_as_it_is_told(
    trainshed: Command, github: GitHub, report: str, pauses: list[float], reply: Reply, pause: float
) -> None:
    github.replies = [reply]

    answer = trainshed("comment", report)

    assert answer.code == 0, answer.err
    assert pauses == [pause]


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Retry_After": "3600"}, id="retry-after"),
        pytest.param(
            {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": str(int(time.time()) + 3000)},
            id="reset",
        ),
    ],
)
def test_it_does_not_wait_for_long(
    trainshed: Command, github: GitHub, report: str, pauses: list[float], headers: dict[str, str]
) -> None:
    github.replies = [limit(429, **headers)]

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "429 slow down; run the job again later" in answer.err
    assert pauses == [] and len(github.asked) == 1


def test_gitlab_gets_a_note_and_then_updates_it(
    trainshed: Command, gitlab: GitLab, report: str
) -> None:
    for number in range(150):
        gitlab.add("alice", f"{number}")
    gitlab.add("project_42_bot", OLD, system=True)
    gitlab.add("mallory", OLD)

    first = trainshed("comment", report)
    gitlab.notes[-1].body = OLD
    second = trainshed("comment", report)

    page = "https://gitlab.com/us/training/-/merge_requests/7#note_1152\n"
    assert (first.out, second.out) == (f"posted {page}", f"updated {page}")
    assert bodies(gitlab)[150:] == [OLD, OLD, REPORT]
    assert gitlab.written() == [
        ("POST", gitlab.notes_path),
        ("PUT", f"{gitlab.notes_path}/1152"),
    ]


def test_a_token_that_may_edit_all_notes_edits_its_own(
    trainshed: Command, gitlab: GitLab, report: str
) -> None:
    gitlab.accounts[SECRET] = Account(login="project_42_bot", maintains=True)
    gitlab.add("mallory", OLD)
    gitlab.add(None, OLD)

    assert trainshed("comment", report).code == 0

    assert bodies(gitlab) == [OLD, OLD, REPORT]


def test_a_fork_s_pipeline_asks_the_project_that_it_is_merged_into(
    trainshed: Command, gitlab: GitLab, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_PROJECT_ID", "666")
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "666")

    with_token = trainshed("comment", report)
    monkeypatch.delenv("TRAINSHED_GITLAB_TOKEN")
    without = trainshed("comment", report)

    assert with_token.code == without.code == 0
    assert bodies(gitlab) == [REPORT]
    assert "is of a fork, whose jobs have no token" in without.out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_a_report_runs_no_quick_action(
    trainshed: Command, gitlab: GitLab, report: str, end: str
) -> None:
    text = end.join((MARKER, "/merge", "```", "/close", "```", "", "a/b", "/APPROVE now"))
    Path(report).write_bytes(text.encode())

    trainshed("comment", report)
    trainshed("comment", report)

    assert gitlab.actions == []
    lines = gitlab.notes[0].body.splitlines()
    assert [lines[1], lines[-2], lines[-1]] == ["&#47;merge", "a/b", "&#47;APPROVE now"]


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (READ_ONLY, "insufficient_scope The request requires higher privileges"),
        ("expired", "401 401 Unauthorized; TRAINSHED_GITLAB_TOKEN is invalid"),
        (JOB, "CI_JOB_TOKEN may only read comments"),
    ],
)
def test_what_gitlab_refuses_fails_with_what_to_do(
    trainshed: Command,
    gitlab: GitLab,
    report: str,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    says: str,
) -> None:
    monkeypatch.setenv("TRAINSHED_GITLAB_TOKEN", token)

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert says in answer.err
    assert "scope api" in answer.err
    assert gitlab.notes == []


def test_another_project_s_token_is_reported(
    trainshed: Command, gitlab: GitLab, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_MERGE_REQUEST_PROJECT_ID", "43")
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "43")

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "404 404 Project Not Found; TRAINSHED_GITLAB_TOKEN is of another project" in answer.err


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY"],
)
@pytest.mark.usefixtures("github")
def test_a_variable_of_github_that_is_missing_is_named(
    trainshed: Command, report: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "")

    answer = trainshed("comment", report)

    assert answer.code == 2
    assert answer.err.startswith(f"error: {name} is not set; ")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("TRAINSHED_GITLAB_TOKEN", "make a project access token"),
        ("CI_MERGE_REQUEST_IID", "run this job in pipelines of merge requests"),
        ("CI_API_V4_URL", "every job of a pull or merge request has it"),
    ],
)
@pytest.mark.usefixtures("gitlab")
def test_a_variable_of_gitlab_that_is_missing_is_named(
    trainshed: Command, report: str, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.delenv(name)

    answer = trainshed("comment", report)

    assert answer.code == 2
    assert answer.err.startswith(f"error: {name} is not set; {says}")


def test_outside_ci_it_says_that_there_is_nothing_to_comment(
    trainshed: Command, report: str
) -> None:
    answer = trainshed("comment", report)

    assert answer.code == 2
    assert "not a job of GitHub Actions or GitLab CI" in answer.err


@pytest.mark.usefixtures("github")
def test_a_token_that_cannot_be_one_is_refused_and_not_shown(
    trainshed: Command, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for token in ("ghs secret", "ghs_secret\n", "ghs_sécret"):
        monkeypatch.setenv("GITHUB_TOKEN", token)

        answer = trainshed("comment", report)

        assert answer.code == 2
        assert "GITHUB_TOKEN is not a token" in answer.err
        assert "cret" not in answer.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"# Review", f"does not begin with {MARKER}", id="no-marker"),
        pytest.param(b"", f"does not begin with {MARKER}", id="empty"),
        pytest.param(MARKER.encode() + b"\xff", "not UTF-8 text", id="binary"),
        pytest.param(
            MARKER.encode() + b"x" * 65_536, "has 65561 characters, and a comment", id="long"
        ),
    ],
)
def test_a_file_that_is_no_report_is_refused(
    trainshed: Command, github: GitHub, report: str, content: bytes, says: str
) -> None:
    Path(report).write_bytes(content)

    answer = trainshed("comment", report)

    assert answer.code == 2
    assert says in answer.err and "trainshed review --format markdown" in answer.err
    assert github.asked == []


def test_the_longest_report_is_posted(trainshed: Command, github: GitHub, report: str) -> None:
    text = MARKER.ljust(65_536, "é")
    Path(report).write_text(text, encoding="utf-8")

    assert trainshed("comment", report).code == 0

    assert bodies(github) == [text]


def test_a_file_that_is_not_there_is_named(trainshed: Command, tmp_path: Path) -> None:
    answer = trainshed("comment", str(tmp_path / "nowhere.md"))

    assert answer.code == 2
    assert answer.err.startswith(f"error: {tmp_path / 'nowhere.md'} cannot be read: no such file")


def test_an_event_that_is_no_json_is_named(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text("{")

    answer = trainshed("comment", report)

    assert answer.code == 2
    assert f"GITHUB_EVENT_PATH: {tmp_path / 'event.json'} is not JSON" in answer.err
    assert github.asked == []


@pytest.mark.parametrize(
    "event",
    [
        "null",
        "[]",
        "7",
        '"x"',
        '{"pull_request": 7}',
        '{"pull_request": {"number": "7"}}',
        '{"pull_request": {"number": 7}}',
        '{"pull_request": {"number": 7, "head": {"repo": 1}}}',
    ],
)
def test_an_event_of_another_form_is_named(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path, event: str
) -> None:
    (tmp_path / "event.json").write_text(event)

    answer = trainshed("comment", report)

    assert answer.code == 2
    assert f"GITHUB_EVENT_PATH: {tmp_path / 'event.json'} is not an event of GitHub" in answer.err
    assert github.asked == []


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_is_not_posted(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path, linked: str
) -> None:
    if linked == "file":
        file = tmp_path / "linked.md"
        file.symlink_to(report)
    else:
        (tmp_path / "linked").symlink_to(Path(report).parent)
        file = tmp_path / "linked" / Path(report).name

    answer = trainshed("comment", str(file))

    assert answer.code == 2
    assert "is a link" in answer.err
    assert github.asked == []


def test_what_answers_in_place_of_the_api_is_reported(
    trainshed: Command, github: GitHub, report: str
) -> None:
    github.replies = [Reply(status=200, body=b"<html>Sign in</html>")]

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "does not answer in JSON" in answer.err


def test_a_host_that_is_not_there_is_asked_again_and_told(
    trainshed: Command,
    github: GitHub,
    report: str,
    monkeypatch: pytest.MonkeyPatch,
    pauses: list[float],
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:1")

    answer = trainshed("comment", report)

    assert answer.code == 1
    assert "127.0.0.1:1 cannot be reached: no connection" in answer.err
    assert len(pauses) == 3 and github.asked == []


def test_calls_go_through_the_proxy_of_the_environment(
    trainshed: Command, github: GitHub, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://api.github.invalid")
    monkeypatch.setenv("http_proxy", github.root)

    answer = trainshed("comment", report)

    assert answer.code == 0, answer.err
    assert github.asked[0].headers["Host"] == "api.github.invalid"


def test_a_netrc_does_not_take_the_place_of_the_token(
    trainshed: Command, github: GitHub, report: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login eve password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    assert trainshed("comment", report).code == 0

    assert {request.token for request in github.asked} == {SECRET}


def self_signed(file: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *form)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
def test_a_certificate_is_verified(
    trainshed: Command,
    github: GitHub,
    report: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pauses: list[float],
    known: bool,
) -> None:
    certificate = self_signed(tmp_path / "certificate.pem")
    if known:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with serving(github, certificate) as root:
        monkeypatch.setenv("GITHUB_API_URL", root)

        answer = trainshed("comment", report)

    assert answer.code == (0 if known else 1)
    assert known == ("cannot prove who it is" not in answer.err)
    assert known == ("REQUESTS_CA_BUNDLE" not in answer.err)
    assert pauses == []
    assert bool(github.asked) == known
