"""Whose rule an id is, by its form."""

import re

OURS = "trainshed"
_FORMS = (
    (re.compile(r"TS-[A-Z]+-[0-9]+"), (OURS,)),
    (re.compile(r"pf-[a-z0-9-]+"), ("cdk-preflight",)),
    (re.compile(r"(AwsSolutions|Serverless)-[A-Za-z0-9]+"), ("cdk-nag",)),
    (re.compile(r"[EFIW][0-9]{4}"), ("cdk", "cfn-lint")),
    (re.compile(r"CKV2?_[A-Z]+_[0-9]+"), ("checkov",)),
)


def tools_of(rule_id: str) -> tuple[str, ...]:
    """Return the tools whose rules have ids of this form; none for what is no rule's id."""
    return next((tools for form, tools in _FORMS if form.fullmatch(rule_id)), ())
