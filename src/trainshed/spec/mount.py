"""Where a file system may be mounted: not over what nodes and containers need themselves."""

import re

# Nothing may be mounted on these or below them. The Filesystem Hierarchy Standard, and:
# - /opt has the EFA installer, Neuron, Habana's and NVIDIA's tools and the CloudWatch agent on a
#   node, and MPI, Conda and the collectives' tests in a container;
# - /scratch is where the image's first boot mounts the instance store;
# - /var has the data of Docker, containerd, the ECS agent and the SSM agent.
_SYSTEM = (
    *("bin", "boot", "dev", "efi", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc"),
    *("root", "run", "sbin", "scratch", "snap", "sys", "tmp", "usr", "var"),
    # The users that Amazon Linux, Ubuntu and the SSM agent make.
    *("home/ec2-user", "home/ssm-user", "home/ubuntu"),
)
_DOTS = "/[.]{1,2}(/|$)"
# What the JSON Schema excludes: the above, and dots.
REFUSED_BESIDE_HOME = f"^/({'|'.join(_SYSTEM)})(/|$)|{_DOTS}"
# And /home itself, which holds the users' folders.
REFUSED = f"^/home$|{REFUSED_BESIDE_HOME}"


def mount_problem(path: str, refused: str = REFUSED) -> str | None:
    """Return why nothing can be mounted at an absolute path, or None when it can."""
    if re.search(_DOTS, path):
        return f"{path!r} is not allowed: . and .. are not names; give the path itself, like /fsx"
    needed = re.match(refused, path)
    if not needed:
        return None
    folder = needed[0].rstrip("/")
    return (
        f"{path!r} is not allowed: nodes and containers need their own files in {folder}; give a "
        "folder that nothing else uses, for instance /fsx"
    )
