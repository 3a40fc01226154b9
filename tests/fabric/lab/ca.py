"""A small certificate authority for labs, demos and tests: not for production.

As a program: ca.py FOLDER ROLE NAME [TOR...] [--host NAME] makes NAME.pem and NAME.key in
FOLDER, and first the authority (ca.pem, ca.key) if FOLDER has none.
"""

import argparse
import datetime
import ipaddress
import pathlib
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ROLES = ("agent", "aggregator", "controller", "analyzer", "operator", "viewer")
CA_DAYS = 3650
LEAF_S = 24 * 3600
EARLIER = datetime.timedelta(minutes=5)  # certificates are valid from then on, since clocks differ a little
SIDES = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)


def identity(region, role, name, tors=()):
    """The URI of a daemon or person, as rackmesh/identity/identity.h describes it."""
    if role not in ROLES:
        raise ValueError(f"{role}: no role; one of {', '.join(ROLES)}")
    parts = [quoted(name)] + ([",".join(map(quoted, tors))] if tors else [])
    where = region if region == "*" else quoted(region)
    return f"rackmesh://{where}/{role}/{'/'.join(parts)}"


def quoted(name):
    # The daemons accept only one spelling, in which '~' is percent-encoded.
    return urllib.parse.quote(name, safe="").replace("~", "%7E")


class Credentials:
    """Paths of the certificate files that a daemon gets."""

    def __init__(self, certificate, key, authorities):
        self.certificate, self.key, self.authorities = certificate, key, authorities

    def options(self):
        """The options for a daemon's config."""
        return {
            "tls": {
                "certificate": str(self.certificate),
                "key": str(self.key),
                "authorities": str(self.authorities),
            }
        }


class Authority:
    def __init__(self, folder, name="rackmesh lab", begins_s=0, seconds=CA_DAYS * 86400):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.certificate_path = self.folder / "ca.pem"
        self.revoked_path = self.folder / "revoked.pem"  # where revoke() was called
        self._revoked = []
        key_path = self.folder / "ca.key"
        if self.certificate_path.exists():
            self._certificate = x509.load_pem_x509_certificate(self.certificate_path.read_bytes())
            self._key = serialization.load_pem_private_key(key_path.read_bytes(), None)
            return
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._self_signed(name, begins_s, seconds)
        keep_secret(key_path, self._key)
        replace(self.certificate_path, pem(self._certificate))

    def _self_signed(self, name, begins_s, seconds):
        named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = x509.KeyUsage(
            **{**NO_USAGE, "key_cert_sign": True, "crl_sign": True}
        )
        return (
            begun(named, named, self._key.public_key(), seconds, begins_s)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(key_id(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def revoke(self, *certificates):
        """Adds the certificates to the revocation list, which is empty at first."""
        now = datetime.datetime.utcnow()
        crl = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._certificate.subject)
            .last_update(now - EARLIER)
            .next_update(now + datetime.timedelta(days=7))
        )
        for path in certificates:
            leaf = x509.load_pem_x509_certificate(pathlib.Path(path).read_bytes())
            self._revoked.append(leaf.serial_number)
        for serial in self._revoked:
            entry = x509.RevokedCertificateBuilder().serial_number(serial)
            crl = crl.add_revoked_certificate(entry.revocation_date(now - EARLIER).build())
        signed = crl.sign(self._key, hashes.SHA256())
        replace(self.revoked_path, signed.public_bytes(serialization.Encoding.PEM))
        return self.revoked_path

    def issue(self, uri, name, seconds=LEAF_S, begins_s=0, sides=SIDES, hosts=()):
        """Makes name.pem and name.key, or replaces them. uri: one URI, or a list of any length.
        begins_s: start of the validity in seconds from now. hosts: DNS names or IP addresses,
        for servers that are checked by them. There is no common name, since etcd's gateway
        refuses certificates that have one."""
        key = ec.generate_private_key(ec.SECP256R1())
        owner = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "rackmesh")])
        uris = [uri] if isinstance(uri, str) else uri
        names = [x509.UniformResourceIdentifier(each) for each in uris]
        certificate = (
            begun(self._certificate.subject, owner, key.public_key(), seconds, begins_s)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.KeyUsage(**{**NO_USAGE, "digital_signature": True}), critical=True
            )
            .add_extension(x509.ExtendedKeyUsage(sides), critical=False)
            .add_extension(
                x509.SubjectAlternativeName(names + [host_name(each) for each in hosts]),
                critical=False,
            )
            .add_extension(key_id(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        paths = Credentials(
            self.folder / f"{name}.pem", self.folder / f"{name}.key", self.certificate_path
        )
        # The key first: a daemon that reads a certificate and a key that do not match keeps the old ones.
        keep_secret(paths.key, key)
        replace(paths.certificate, pem(certificate))
        return paths


NO_USAGE = dict.fromkeys(
    (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    ),
    False,
)


def begun(issuer, owner, public_key, seconds, begins_s=0):
    now = datetime.datetime.utcnow()
    begin = now - EARLIER if begins_s == 0 else now + datetime.timedelta(seconds=begins_s)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(owner)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(now + datetime.timedelta(seconds=begins_s + seconds))
    )


def key_id(public_key):
    return x509.SubjectKeyIdentifier.from_public_key(public_key)


def host_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def keep_secret(path, key):
    replace(
        path,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        0o600,
    )


def replace(path, content, mode=0o644):
    fresh = path.with_name(path.name + ".new")
    fresh.touch(mode=mode)
    fresh.chmod(mode)
    fresh.write_bytes(content)
    fresh.rename(path)


def main():
    parser = argparse.ArgumentParser(prog="./dev ca", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("role", choices=ROLES)
    parser.add_argument("name")
    parser.add_argument("tors", nargs="*", metavar="TOR", help="that an aggregator serves")
    parser.add_argument("--region", default="default")
    parser.add_argument("--hours", type=float, default=LEAF_S / 3600)
    parser.add_argument("--host", action="append", default=[],
                        help="name or address by which a browser or Prometheus asks it")
    asked = parser.parse_args()
    if bool(asked.tors) != (asked.role == "aggregator"):
        parser.error("an aggregator needs its ToRs, and nobody else has any")
    uri = identity(asked.region, asked.role, asked.name, asked.tors)
    made = Authority(asked.folder).issue(uri, asked.name, asked.hours * 3600, hosts=asked.host)
    print(f"{uri}\n  {made.certificate}\n  {made.key}\n  {made.authorities}")


if __name__ == "__main__":
    main()
