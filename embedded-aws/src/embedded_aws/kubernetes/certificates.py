"""Certificates of one control plane, all signed by a certificate authority of its own."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from embedded_aws.private_files import write_private

_LIFETIME = timedelta(days=365)
# From memory: that of the authorities of EKS's clusters.
_AUTHORITY_LIFETIME = timedelta(days=3650)
# A machine's clock may be behind.
_EARLIER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A certificate and its private key, both in PEM."""

    certificate: str
    key: str


def new_authority(name: str = "kubernetes") -> KeyPair:
    """Return a new certificate authority.

    From memory: those of EKS's clusters are of RSA, 2048 bits. Kueue reads no other.

    Args:
        name: of it; by default that of EKS's.
    """
    key, subject = rsa.generate_private_key(65537, 2048), _name(name)
    builder = (
        _builder(subject, subject, key.public_key(), _AUTHORITY_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    )
    certificate = _pem(builder.sign(key, hashes.SHA256()))
    return KeyPair(certificate=certificate.decode(), key=_key_text(key))


class Authority:
    """Signs certificates; its own certificate is what clients trust.

    Attributes:
        file: its certificate.

    Args:
        folder: where keys and certificates go; only the owner may read the keys.
        pair: its certificate and key.
    """

    def __init__(self, folder: Path, pair: KeyPair) -> None:
        self._folder = folder
        key = serialization.load_pem_private_key(pair.key.encode(), password=None)
        assert isinstance(key, rsa.RSAPrivateKey)
        self._key = key
        self._name = x509.load_pem_x509_certificate(pair.certificate.encode()).subject
        self.file = folder / "ca.crt"
        self.file.write_text(pair.certificate)

    def server(self, file: str, *names: str) -> tuple[Path, Path]:
        """Write the certificate and the key of a server.

        Args:
            file: what the files are called, without a suffix.
            names: of hosts, and addresses.
        """
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        return self._issue(file, _name(names[0]), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(self, file: str, user: str, *groups: str) -> tuple[Path, Path]:
        """Write the certificate and the key of a user of the API server.

        Args:
            file: what the files are called, without a suffix.
            user: the user's name.
            groups: that the user is in.
        """
        return self._issue(file, _name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self,
        file: str,
        name: x509.Name,
        use: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None,
    ) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, self._name, key.public_key(), _LIFETIME).add_extension(
            x509.ExtendedKeyUsage([use]), critical=False
        )
        if alternatives:
            builder = builder.add_extension(alternatives, critical=False)
        certificate = self._folder / f"{file}.crt"
        certificate.write_bytes(_pem(builder.sign(self._key, hashes.SHA256())))
        return certificate, _write_key(self._folder / f"{file}.key", key)


def write_new_key(file: Path) -> Path:
    """Write a new private key that only its owner may read, and return the file."""
    return _write_key(file, ec.generate_private_key(ec.SECP256R1()))


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    write_private(file, _key_text(key))
    return file


def _key_text(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        # The one that the API server reads the keys of service accounts in, and Kueue its CA's.
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _name(common: str, *organizations: str) -> x509.Name:
    # The API server takes the common name for the user, and organizations for groups.
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + lifetime)
    )
