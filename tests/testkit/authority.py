"""A certificate authority for tests: sites on loopback get real TLS, and faulty certificates on demand."""

import datetime
import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALIDITY = datetime.timedelta(days=30)
"""How long a good certificate holds; browsers refuse more than 398 days."""

CLOCK_SKEW = datetime.timedelta(hours=1)
"""Certificates begin this long ago, so that a guest whose clock is a little behind accepts them."""


class TestAuthority:
    """An authority whose certificate (`ca_file`) is given to the client through `network.ca_file`.

    Everything it writes lies in one folder: `ca.pem`, and `NAME.pem` (certificate and key) for each certificate.
    """

    __test__ = False  # pytest: not a test class

    def __init__(self, directory: Path) -> None:
        """Make a new authority that writes below `directory` (made if absent)."""
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.ca_file = directory / "ca.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jird test authority")])
        self._certificate = self._sign(self._name, self._key.public_key(), (), is_authority=True)
        self.ca_file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, label: str, names: Sequence[str]) -> Path:
        """Write a good certificate for `names` (DNS names, wildcards, or addresses); returns the PEM file."""
        return self._issue(label, names)

    def issue_expired(self, label: str, names: Sequence[str]) -> Path:
        """Write a certificate whose validity ended yesterday."""
        return self._issue(label, names, end=datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1))

    def issue_self_signed(self, label: str, names: Sequence[str]) -> Path:
        """Write a certificate that only vouches for itself."""
        return self._issue(label, names, self_signed=True)

    def _issue(
        self,
        label: str,
        names: Sequence[str],
        *,
        end: datetime.datetime | None = None,
        self_signed: bool = False,
    ) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        signer = key if self_signed else self._key
        issuer = subject if self_signed else self._name
        certificate = self._sign(subject, key.public_key(), names, end=end, signer=signer, issuer=issuer)
        path = self.directory / f"{label}.pem"
        path.touch(mode=0o600)
        path.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return path

    def _sign(
        self,
        subject: x509.Name,
        public_key: ec.EllipticCurvePublicKey,
        names: Sequence[str],
        *,
        end: datetime.datetime | None = None,
        signer: ec.EllipticCurvePrivateKey | None = None,
        issuer: x509.Name | None = None,
        is_authority: bool = False,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        last = end or now + VALIDITY
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, last) - max(CLOCK_SKEW, VALIDITY if end else CLOCK_SKEW))
            .not_valid_after(last)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key((signer or self._key).public_key()), False
            )
            .add_extension(_key_usage(is_authority), True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), False)
            builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        return builder.sign(signer or self._key, hashes.SHA256())


def server_context(pem: Path) -> ssl.SSLContext:
    """A TLS context that serves the certificate and key in `pem`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_usage(is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )
