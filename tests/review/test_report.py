"""A review as Markdown, and its page: verdict, sections, numbers, what is cut, hostile texts."""

import html
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from review_example import BROKEN_BASE, DANGEROUS, PLACES, QUIET, with_text

from trainshed.cost.model import Total
from trainshed.findings import Finding, Severity
from trainshed.review.headline import headline
from trainshed.review.html import html_report
from trainshed.review.markdown import markdown_report
from trainshed.review.model import (
    ClusterChange,
    CostChange,
    Effect,
    FindingChanges,
    Level,
    Permission,
    PropertyChange,
    QuotaChange,
    ResourceChange,
    Review,
    Risk,
    RiskKind,
    StackChange,
)
from trainshed.review.wording import growth

DATA, JOBS, OPEN, SHOWN, BROAD, FAILING, REPLACED = (
    next(risk for risk in DANGEROUS.risks if risk.kind is kind) for kind in RiskKind
)
NOTHING = replace(
    QUIET, stacks=(), clusters=(), cost=CostChange(
        idle_before=None, idle_after=None, full_before=None, full_after=None
    ),
)  # fmt: skip


def costs(before: float | None, after: float | None, idle_after: float = 1) -> CostChange:
    """Return a change of cost, idle 1 USD before."""
    full = (None if usd is None else Total(usd=usd) for usd in (before, after))
    idle = Total(usd=1), Total(usd=idle_after)
    return CostChange(
        full_before=next(full), full_after=next(full), idle_before=idle[0], idle_after=idle[1]
    )


@pytest.mark.parametrize(
    ("review", "expected"),
    [
        (QUIET, "nothing dangerous; resources: 1 changed in place"),
        (NOTHING, "nothing dangerous; no resource differs"),
        (replace(DANGEROUS, risks=(DATA, DATA)), "2 file systems at risk, at least +66 % cost at "
         "full size, 3 new findings (2 errors)"),
        (replace(QUIET, risks=(replace(DATA, resource="unknown"),)),
         "1 data store at risk"),
        (replace(QUIET, risks=(JOBS, JOBS)), "running jobs of TrainCluster end"),
        (replace(QUIET, risks=(replace(JOBS, level=Level.MEDIUM),)),
         "running jobs of TrainCluster at risk"),
        (replace(QUIET, risks=(JOBS, replace(JOBS, level=Level.MEDIUM, stack="Other"))),
         "running jobs of TrainCluster end, running jobs of Other at risk"),
        (replace(QUIET, risks=tuple(replace(JOBS, stack=name) for name in "abc")),
         "running jobs of 3 stacks end"),
        (replace(QUIET, risks=(OPEN, SHOWN, BROAD, REPLACED)),
         "1 resource open to the world, 1 secret shown, 1 broad permission, 1 other resource "
         "replaced"),
        (replace(QUIET, risks=(FAILING, FAILING, replace(FAILING, stack="EvalNetwork"))),
         "deployment of EvalNetwork and TrainNetwork fails"),
        (replace(NOTHING, cost=costs(100, 112)),
         "nothing dangerous; no resource differs, +12 % cost at full size"),
        (replace(NOTHING, cost=costs(100, 90)),
         "nothing dangerous; no resource differs, -10 % cost at full size"),
        (replace(NOTHING, cost=costs(100, 100, idle_after=1.05)),
         "nothing dangerous; no resource differs, +5.0 % cost idle"),
        (replace(QUIET, findings=replace(QUIET.findings, new=DANGEROUS.findings.new[:1])),
         "resources: 1 changed in place, 1 new finding (1 error)"),
        (replace(QUIET, findings=replace(QUIET.findings, new=DANGEROUS.findings.new[2:])),
         "nothing dangerous; resources: 1 changed in place, 1 new finding"),
        (BROKEN_BASE, "the base cannot be synthesised, this is the head alone"),
        (replace(BROKEN_BASE, risks=(OPEN,)), "the base cannot be synthesised, this is the head "
         "alone; 1 resource open to the world"),
    ],
)  # fmt: skip
def test_the_headline_is_the_verdict(review: Review, expected: str) -> None:
    assert headline(review) == expected


KNOWN, UNKNOWN = Total(usd=100), Total(usd=100, unknown=("2 x p5.4xlarge",))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (KNOWN, KNOWN, "none"),
        (KNOWN, Total(usd=100.0001), "none"),
        (KNOWN, Total(usd=103.5), "+3.5 %"),
        (KNOWN, Total(usd=2100), "+2,000 %"),
        (KNOWN, Total(usd=50), "-50 %"),
        (Total(usd=0), Total(usd=5), "+5.00 USD"),
        (UNKNOWN, replace(UNKNOWN, usd=112), "+12.00 USD"),
        (KNOWN, replace(UNKNOWN, usd=112), "at least +12 %"),
        (KNOWN, replace(UNKNOWN, usd=90), "unknown"),
        (UNKNOWN, KNOWN, "unknown"),
        (None, KNOWN, "new"),
        (KNOWN, None, "gone"),
        (None, None, ""),
    ],
)
def test_growth_claims_no_more_than_is_known(
    before: Total | None, after: Total | None, expected: str
) -> None:
    assert growth(before, after) == expected


def test_the_report_begins_with_its_marker_and_the_verdict() -> None:
    lines = markdown_report(QUIET).splitlines()

    assert lines[0] == "<!-- trainshed review -->"
    assert lines[1] == "## Review: Nothing dangerous; resources: 1 changed in place"
    assert lines[3] == "origin/main (1a2b3c4) → feature (5d6e7f8)"


def test_the_most_dangerous_comes_first() -> None:
    report = markdown_report(DANGEROUS)

    titles = re.findall("^### (.+)$", report, re.MULTILINE)
    assert titles == [
        *("Risks", "Clusters", "Changes by stack", "Permissions", "Security-group rules"),
        *("Cost per hour", "Quotas needed", "New findings", "Notes"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        # Risks
        "- **High: data at risk** in `TrainContainers` `Repository`: the ECR repository train is "
        "deleted, with its images  ",
        "  **Remedy:** deploy while no job runs, or raise the time that jobs are given",
        "- **Medium: broad permission** in `TrainCluster` `JobRole`: JobRole may do s3:\\* on "
        "every resource  ",
        # Clusters
        "#### TrainCluster (clusters/train.yaml): changed",
        "- placement group: `cluster` → `partition, 2 partitions`",
        "- capacity reservation: `targeted by id` (new)",
        "- provisioned throughput: `250 MB/s per TiB` → gone",
        "<details open><summary>Picture of TrainCluster</summary>",
        "**Clusters that do not change:** P4dCluster",
        # Changes
        "<details><summary><b>TrainCluster</b>: 1 replaced, 1 removed, 1 may be replaced, 2 "
        "changed in place, 1 added</summary>",
        "<details><summary><b>TrainContainers</b> (no longer in the app): 1 removed</summary>",
        "- **replaced**, the old one is kept: `Lustre/FileSystem` (AWS::FSx::FileSystem)",
        "  - `StorageType`: `SSD` → `INTELLIGENT_TIERING`, **forces the replacement**",
        "  - `StorageCapacity`: `4800` → gone",
        "  - `JobQueueName`: `train` → `train-large`, **may force a replacement**",
        "  - `ComputeResources.MaxvCpus`: `2048` → `4096`",
        "- **added**: `Debug/Group` (AWS::EC2::SecurityGroup)",
        # Permissions and rules
        "- **gained** in `TrainCluster`: NodeRole may read objects (s3:GetObject) of bucket data",
        "- **lost** in `TrainCluster`: NodeRole may write logs (logs:PutLogEvents)",
        "- **gained** in `TrainCluster`: Debug/Group lets 0.0.0.0/0 in on TCP port 22",
        # Cost and quotas
        "| all clusters | 2.57 USD → 3.09 USD (+20 %) "
        "| 522.14 USD → at least 866.66 USD (at least +66 %) |",
        "| EvalCluster | 0.050 USD (new) | at least 0.050 USD (new) |",
        "| Running On-Demand Trn instances (L-2C3B7624) | us-west-2 | 2,048 → 4,096 |",
        # Findings
        "- **error** AwsSolutions-EC23 (cdk-nag) `TrainCluster/Debug/Group`: The Security Group "
        "allows for 0.0.0.0/0 or ::/0 inbound access",
        "- **info** TS-QUO-001 `clusters/train.yaml:8` `instance.nodes.max`: 32 nodes need a quota "
        "of 4096 vCPU  ",
        "<details><summary>1 fixed finding</summary>",
        "<details><summary>1 newly accepted finding</summary>",
        "- **warning** CKV\\_AWS\\_136 (checkov) `TrainContainers/Repository`: Ensure that ECR "
        "repositories are encrypted using KMS; accepted: AES-256 is enough for public images",
        "As before: 2 open, 41 accepted.  ",
        "checkov did not run: it is not installed; run pip install checkov  ",
        "cdk-preflight failed: it answered with exit code 70",
        # Notes
        "- the base has trainshed 0.9.0, the head 1.0.0: some changes may come from that",
    ],
)
def test_each_kind_of_line(line: str) -> None:
    assert line in markdown_report(DANGEROUS).splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "**Risks:** none",
        "**Permissions:** none gained or lost",
        "**Security-group rules:** none gained or lost",
        "**Quotas needed:** as before",
        "**New findings:** none",
        "**Changes by stack:** no resource differs",
        "**Clusters:** none",
        "| all clusters |  |  |",
    ],
)
def test_what_is_empty_takes_one_line(line: str) -> None:
    assert line in markdown_report(NOTHING).splitlines()


@pytest.mark.parametrize("write", [markdown_report, html_report])
def test_what_is_removed_but_kept_has_no_new_one(write: Callable[[Review], str]) -> None:
    stack = next(each for each in DANGEROUS.stacks if each.effect is Effect.REMOVED)
    kept = replace(stack, resources=tuple(replace(each, kept=True) for each in stack.resources))

    report = write(replace(QUIET, stacks=(kept,)))

    assert ", but kept" in report
    assert "old one" not in report


def test_a_page_has_every_number() -> None:
    page = re.sub("<style>.*?</style>|<svg.*?</svg>", "", html_report(DANGEROUS), flags=re.DOTALL)
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
    costs = [DANGEROUS.cost, *(cluster.cost for cluster in DANGEROUS.clusters)]
    findings = DANGEROUS.findings

    for cost in costs:
        for load, before, after in (
            ("idle", cost.idle_before, cost.idle_after),
            ("at full size", cost.full_before, cost.full_after),
        ):
            shown = (total or "\N{EN DASH}" for total in (before, after))
            assert " ".join([load, *map(str, shown), growth(before, after)]).strip() in text
    for quota in DANGEROUS.quotas:
        row = f"{quota.name} {quota.code} {quota.region} {quota.before:,} {quota.after:,}"
        assert row in text
    for finding in (*findings.new, *findings.fixed, *findings.accepted):
        assert finding.place is None or f"{finding.place} " in text
    assert f"{findings.still_open:,} open, {findings.still_accepted:,} accepted" in text
    for name, entries in (
        ("Risks", DANGEROUS.risks),
        ("Clusters", DANGEROUS.clusters),
        ("Changes", [each for stack in DANGEROUS.stacks for each in stack.resources]),
        ("Permissions", DANGEROUS.permissions),
        ("Security rules", DANGEROUS.security_rules),
        ("New findings", findings.new),
    ):
        assert f" {name} {len(entries)} " in text


def test_a_page_marks_effects_levels_and_severities() -> None:
    page = html_report(DANGEROUS)
    marked = {name for each in re.findall('class="([^"]*)"', page) for name in each.split()}
    effects = {each.effect for stack in DANGEROUS.stacks for each in stack.resources}

    assert {effect.replace(" ", "-") for effect in effects} <= marked
    assert {risk.level for risk in DANGEROUS.risks} <= marked
    assert {finding.severity for finding in DANGEROUS.findings.new} <= marked


def test_a_picture_is_a_fence_of_mermaid() -> None:
    fences = [token for token in MARKDOWN.parse(markdown_report(QUIET)) if token.type == "fence"]

    assert [fence.info for fence in fences] == ["mermaid"]
    assert fences[0].content.startswith("flowchart")


def test_a_small_diff_is_open_and_many_pictures_are_folded() -> None:
    small = markdown_report(QUIET)
    many = markdown_report(replace(QUIET, clusters=QUIET.clusters[:1] * 3))

    assert "<details open><summary><b>TrainCluster</b>" in small
    assert "<details open><summary>Picture" not in many


def test_a_broken_base_leaves_the_head_alone() -> None:
    report = markdown_report(BROKEN_BASE)

    assert "> **The base cannot be synthesised**" in report
    assert "unknown field instance.tpye" in report
    assert "**Risks:** none that the head alone shows" in report
    assert "Picture of P4dCluster" in report
    assert "Changes by stack" not in report
    assert "Permissions" not in report
    assert "| P4dCluster | 0.730 USD | 176.30 USD |" in report


# What is cut.


def large(number: int, word: str = "x") -> Review:
    """Return a review with many entries of each kind."""
    resources = tuple(
        ResourceChange(
            stack="Stack",
            logical_id=f"Id{index}",
            name=f"Resource{index}/{word}",
            resource_type="AWS::EC2::Instance",
            effect=Effect.CHANGED,
            properties=(PropertyChange(path="Tags", before=word, after=f"{word}2"),),
        )
        for index in range(number)
    )
    findings = tuple(
        Finding(rule=f"R{index}", message=word, remedy="", severity=Severity.ERROR)
        for index in range(number)
    )
    return replace(
        DANGEROUS,
        stacks=tuple(
            StackChange(name=f"Stack{index}", effect=Effect.CHANGED, resources=resources)
            for index in range(3)
        ),
        permissions=(Permission(stack="Stack", gained=True, text=word),) * number,
        security_rules=(Permission(stack="Stack", gained=True, text=f"{word} in"),) * number,
        quotas=tuple(
            QuotaChange(name=f"Q{index}", code="L", region="r", before=0, after=1)
            for index in range(number)
        ),
        findings=FindingChanges(
            new=findings,
            fixed=findings,
            accepted=findings,
            still_open=0,
            still_accepted=0,
            runs=(),
        ),
    )


@pytest.mark.parametrize("limit", [2_500, 10_000, 65_536])
@pytest.mark.parametrize("word", ["x", "日本語" * 20])
def test_a_large_report_fits(limit: int, word: str) -> None:
    report = markdown_report(large(400, word), limit)

    assert limit * 0.9 < len(report.encode()) <= limit
    assert report.count("<details") == report.count("</details>")
    assert all(risk.resource in report for risk in DANGEROUS.risks)
    assert "> **Cut, because a comment cannot be longer**" in report
    assert "The page has all: `--output review.html`" in report


def test_what_fits_is_not_cut() -> None:
    whole = markdown_report(DANGEROUS, 1_000_000)

    assert "Cut, because" not in whole
    assert markdown_report(DANGEROUS, len(whole.encode())) == whole
    assert markdown_report(DANGEROUS, len(whole.encode()) - 1) != whole


def test_the_least_dangerous_is_cut_first_and_the_risks_last() -> None:
    review = large(20)
    kinds = [
        *("newly accepted findings", "fixed findings", "pictures", "changes", "quotas"),
        *("costs of clusters", "facts of clusters", "security-group rules", "permissions"),
        *("new findings", "notes", "risks"),
    ]
    begun: list[str] = []
    for limit in range(len(markdown_report(review).encode()), 600, -150):
        if notice := re.search(r"longer\*\* \((.+?)\)", markdown_report(review, limit)):
            nouns = [entry.split(": ")[0] for entry in notice[1].split(", ")]
            begun += [noun for noun in nouns if noun not in begun]

    assert begun == kinds


def test_the_last_stack_loses_its_lines_first() -> None:
    review = replace(QUIET, stacks=large(40).stacks)
    whole = markdown_report(review)

    report = markdown_report(review, len(whole.encode()) - 3_000)

    first, second, last = report.split("<summary><b>")[1:4]
    assert first.count("`Tags`") == second.count("`Tags`") == 40
    assert last.count("`Tags`") < 40


def test_the_notice_counts_what_is_cut() -> None:
    report = markdown_report(large(400))

    cut = int(re.search(r"[( ]changes: ([\d,]+)", report)[1].replace(",", ""))  # type: ignore[index]
    shown = len(re.findall(r"^ *- (?:\*\*changed in place|`Tags`)", report, re.MULTILINE))
    assert cut + shown == 3 * 400 * 2


# What texts of others do to it.

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details></summary>",
    "<!-- trainshed review -->",
    "**bold** _soft_ ~~gone~~ `code`",
    "a ` b `` c ``` d",
    "[link](https://example.com) ![picture](https://example.com/x.png)",
    "<https://example.com> https://example.com www.example.com",
    "@team, thanks; a@b.example",
    "fixes #1, org/repo#2, GH-3, !4, %5, &6, ~7",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "| a | b |\n|---|---|",
    "first\n\n# second\n\n- third",
    "```\nfence\n```",
    "\\",
    "ends with \\",
    "$x^2$ and $`y`$",
    "&lt;b&gt; &#64;team",
    "\u202eturned\u2066\x00\x1b[31m",
    "    indented",
    "---",
    "===",
)


class Tags(HTMLParser):
    """Reads a page's tags, and its texts outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        # What keeps a dollar from being mathematics.
        if tag != "span":
            self.tags.append(f"{tag} {attrs}")
        self._code += tag in ("code", "pre")

    def handle_endtag(self, tag: str) -> None:
        if tag != "span":
            self.tags.append(f"/{tag}")
        self._code -= tag in ("code", "pre")

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"!{data}")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.words.append(data)


def tags(report: str) -> Tags:
    """Return what a report is made of when it is read as Markdown."""
    found = Tags()
    found.feed(MARKDOWN.render(report))
    return found


@given(
    place=st.integers(0, len(PLACES) - 1),
    text=st.one_of(
        st.sampled_from(HOSTILE),
        st.text(st.sampled_from("ab1 \n\\`*_{}[]<>()#+-.!|~@&:;/$=\"'%日"), min_size=1),
    ),
)
@example(place=0, text="@team")
def test_no_text_changes_what_the_report_is_made_of(place: int, text: str) -> None:
    harmless = tags(markdown_report(with_text(DANGEROUS, place, "x")))
    hostile = tags(markdown_report(with_text(DANGEROUS, place, f"x{text}")))

    assert hostile.tags == harmless.tags
    for word in hostile.words:
        assert not re.search(r"(?<![\w/])@\w|#\d|\bGH-\d|://|\bwww\.", word)


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\x00" not in text])
def test_hostile_texts_are_readable(text: str) -> None:
    report = markdown_report(replace(QUIET, notes=(text,)))

    words = "".join(tags(report).words).replace("\u200b", "")
    assert " ".join(text.split()) in " ".join(words.split())


def test_unseen_characters_are_left_out() -> None:
    report = markdown_report(replace(QUIET, notes=("a\u202eb\u2066c\x00d\x1b[31m",)))

    assert "- abcd\\[31m" in report


def test_a_long_value_is_cut_and_says_so() -> None:
    fact = replace(DANGEROUS.clusters[0].facts[0], after="y" * 1000)
    cluster: ClusterChange = replace(DANGEROUS.clusters[0], facts=(fact,))

    report = markdown_report(replace(DANGEROUS, clusters=(cluster,)))

    assert f"`{'y' * 300}… (700 more characters)`" in report


def test_a_risk_of_any_level_and_kind_has_words() -> None:
    risks = tuple(
        Risk(kind=kind, level=level, stack="s", resource="r", message="m", remedy="do")
        for kind in RiskKind
        for level in Level
    )

    report = markdown_report(replace(QUIET, risks=risks))

    assert (
        len(set(re.findall(r"^- \*\*(.+?)\*\*", report, re.MULTILINE)) - {"changed in place"}) == 14
    )
