"""The layer with the files that all guests of one embedded AWS share.

It lies between a root and an AMI's own layers: guests see it, and no AMI contains it.
"""

from collections.abc import Mapping
from pathlib import Path

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests.guest_settings import GuestSettings

_BUNDLE = "etc/ssl/certs/ca-certificates.crt"


def write_site(layer: Path, base: Path, settings: GuestSettings, env: Mapping[str, str]) -> None:
    """Write the layer.

    Args:
        layer: its folder, to create.
        base: the root, with the distribution's certificate authorities.
        settings: more hosts, and one more certificate authority.
        env: the environment of every login and every service.

    Raises:
        EmbeddedAwsError: a file of the settings cannot be read.
    """
    hosts = _read(settings.hosts) if settings.hosts else ""
    _write(layer / "etc/hosts", f"127.0.0.1 localhost\n::1 localhost\n{hosts}")
    lines = "".join(f"{name}={value}\n" for name, value in env.items())
    _write(layer / "etc/environment", lines)
    # systemd-system.conf(5): for every service; /etc/environment is for logins.
    defaults = " ".join(f'"{name}={value}"' for name, value in env.items())
    _write(
        layer / "etc/systemd/system.conf.d/embedded-aws.conf",
        f"[Manager]\nDefaultEnvironment={defaults}\n",
    )
    if region := env.get("AWS_REGION"):
        # Where Amazon Linux's repositories are; cloud-init writes it on an instance.
        _write(layer / "etc/dnf/vars/awsregion", f"{region}\n")
    if settings.certificate_authority:
        authority = _read(settings.certificate_authority)
        _write(layer / "usr/local/share/ca-certificates/embedded-aws.crt", authority)
        _write(layer / _BUNDLE, (base / _BUNDLE).read_text() + authority)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError as error:
        raise EmbeddedAwsError(f"cannot read {file} for the guests: {error.strerror}") from error


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
