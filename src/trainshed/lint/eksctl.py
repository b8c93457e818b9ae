"""Read an eksctl cluster file (ClusterConfig, eksctl.io/v1alpha5).

Fields and defaults are those of eksctl's schema: https://docs.eksctl.io/usage/schema/ and
`pkg/apis/eksctl.io/v1alpha5/{types,defaults}.go` of github.com/eksctl-io/eksctl.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.documents.yaml import Value
from trainshed.lint.eksctl_groups import EksctlGroup, read_groups
from trainshed.lint.model import ControlPlane, FileKind, Given, Known, LintedFile, Unknown
from trainshed.lint.reading import Content
from trainshed.lint.section import FileSection

_API = "eksctl.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class EksctlCluster(LintedFile):
    """An eksctl cluster file.

    Attributes:
        groups: its node groups.
        name: of the cluster.
        addons: names of the add-ons that it lists.
        auto_mode: whether EKS Auto Mode launches nodes, too.
        without_default_addons: whether eksctl leaves out the add-ons that it would add.
        content: the whole file.
    """

    groups: tuple[EksctlGroup, ...]
    name: Given[str] = None
    addons: Given[tuple[str, ...]] = None
    auto_mode: Given[bool] = None
    without_default_addons: Given[bool] = None
    content: Mapping[str, Value]


def is_eksctl(value: Mapping[str, Value]) -> bool:
    """Whether a mapping is an eksctl cluster file."""
    return str(value.get("apiVersion")).startswith(_API)


def read_eksctl(content: Content) -> tuple[EksctlCluster]:
    """Return what an eksctl cluster file asks of AWS.

    Raises:
        UnreadableFile: a list of node groups is none.
    """
    root = FileSection(value=content.value, path=(), where=content.where)
    groups = read_groups(root)
    cluster = EksctlCluster(
        kind=FileKind.EKSCTL,
        where=content.where,
        region=root.text("metadata", "region"),
        groups=groups,
        control_planes=(_control_plane(root),),
        name=root.text("metadata", "name"),
        addons=_addons(root),
        auto_mode=root.flag("autoModeConfig", "enabled"),
        without_default_addons=root.flag("addonsConfig", "disableDefaultAddons"),
        content=content.value,
        not_judged=tuple(
            Unknown(
                why=f"what the launch template of {group.name} sets",
                path=(*group.path, "launchTemplate"),
            )
            for group in groups
            if group.template_version
        ),
    )
    return (cluster,)


def eksctl_clusters(document: LintedFile) -> tuple[EksctlCluster, ...]:
    """Return the file itself; nothing of a file of another kind."""
    return (document,) if isinstance(document, EksctlCluster) else ()


def eksctl_groups(document: LintedFile) -> tuple[EksctlGroup, ...]:
    """Return the node groups of a file; none of a file of another kind."""
    return document.groups if isinstance(document, EksctlCluster) else ()


def _addons(root: FileSection) -> Known[tuple[str, ...]] | Unknown:
    listed, path = root.value.get("addons"), ("addons",)
    names: list[str] = []
    for addon in listed if isinstance(listed, list) else [] if listed is None else [listed]:
        name = addon.get("name") if isinstance(addon, dict) else None
        if not isinstance(name, str):
            return Unknown(why="the add-ons", path=path)
        names.append(name)
    return Known(value=tuple(names), path=path)


def _control_plane(root: FileSection) -> ControlPlane:
    private = root.flag("privateCluster", "enabled")
    public = root.flag("vpc", "clusterEndpoints", "publicAccess")
    if isinstance(private, Unknown) or (private and private.value):
        # eksctl ends public access when it has made a private cluster.
        public = private if isinstance(private, Unknown) else Known(value=False, path=private.path)
    return ControlPlane(
        name="the cluster",
        path=("metadata",),
        version=root.text("metadata", "version"),
        support=root.text("upgradePolicy", "supportType"),
        public=public,
        public_cidrs=root.references("vpc", "publicAccessCIDRs"),
    )
