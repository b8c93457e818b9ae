"""Every file of a new project."""

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template

from trainshed import __version__
from trainshed.app.sources import shipped
from trainshed.plan import ClusterPlan
from trainshed.project.choices import Choices
from trainshed.project.versions import requirements_text
from trainshed.spec.schema import schema_texts

_TEMPLATE = Path(__file__).with_name("template")
_SCHEMA = "cluster.schema.json"
# A control plane of EKS takes ten minutes on AWS, which are a second here.
_PYTEST_INI = "[pytest]\ntestpaths = tests\nembedded_aws_job_speed = 600\n"
# Stands for the dot of names that git would read as this repository's own.
_DOT = "dot-"


def project_files(choices: Choices, plan: ClusterPlan) -> dict[str, str]:
    """Return the text of each file by its path in the project, sorted.

    Args:
        choices: what was chosen.
        plan: the cluster that follows from it.
    """
    files = _filled_in(_values(choices, plan)) | {
        f"clusters/{choices.stem}.yaml": choices.cluster_text(),
        ".github/actions/review/action.yml": shipped("action.yml").read_text(encoding="utf-8"),
        _SCHEMA: schema_texts()[_SCHEMA],
        "cdk.json": _cdk_json(),
        "package.json": shipped("package.json").read_text(encoding="utf-8"),
        "package-lock.json": shipped("package-lock.json").read_text(encoding="utf-8"),
        "requirements.txt": requirements_text(),
        "pytest.ini": _PYTEST_INI,
    }
    return dict(sorted(files.items()))


def _filled_in(values: Mapping[str, str]) -> dict[str, str]:
    return {
        str(path.relative_to(_TEMPLATE)).replace(_DOT, "."): Template(
            path.read_text(encoding="utf-8")
        ).safe_substitute(values)
        for path in _TEMPLATE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def _values(choices: Choices, plan: ClusterPlan) -> dict[str, str]:
    cell = plan.ami.cell or "ACCELERATOR/ORCHESTRATOR"
    return {
        "version": __version__,
        "cluster": choices.name,
        "stem": choices.stem,
        "region": choices.region,
        "type": choices.instance_type,
        "cell": cell.replace("/", " "),
        "built": cell.replace("/", "-"),
        "containers": plan.own_repository.stack_name,
    }


def _cdk_json() -> str:
    ours = json.loads(shipped("cdk.json").read_text(encoding="utf-8"))
    watch = {"include": ["app.py", "clusters/**"], "exclude": ["**/__pycache__"]}
    return json.dumps(ours | {"watch": watch}, indent=2) + "\n"
