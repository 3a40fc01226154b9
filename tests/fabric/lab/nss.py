"""Fills a browser's certificate store (NSS), as a person does in the browser's import dialog."""

import ctypes
import pathlib
import re
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from . import places

TRUSTED_CA = 1 << 7 | 1 << 3 | 1 << 4  # CERTDB_TRUSTED_CLIENT_CA, _VALID_CA, _TRUSTED_CA
PASSWORD = b"import"


class _Item(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("data", ctypes.c_char_p), ("len", ctypes.c_uint)]


class _Trust(ctypes.Structure):
    _fields_ = [("ssl", ctypes.c_uint), ("email", ctypes.c_uint), ("object", ctypes.c_uint)]


def _library(name, *pointers):
    library = ctypes.CDLL(name)
    for each in pointers:
        getattr(library, each).restype = ctypes.c_void_p
    return library


def _call(library, name, *arguments):
    """Calls a function of NSS; fails on SECFailure or NULL."""
    function = getattr(library, name)
    result = function(*arguments)
    wrong = not result if function.restype is ctypes.c_void_p else result != 0
    if wrong:
        raise OSError(f"{name}: NSS error {ctypes.CDLL('libnspr4.so').PR_GetError()}")
    return result


def fill(folder, authority, person=None):
    """Makes the store in folder: it trusts the authority, and has the person's certificate (see
    ca.Credentials) with its key."""
    pathlib.Path(folder).mkdir(parents=True)
    nss = _library("libnss3.so", "PK11_GetInternalKeySlot", "CERT_GetDefaultCertDB")
    _call(nss, "NSS_InitReadWrite", f"sql:{folder}".encode())
    try:
        slot = ctypes.c_void_p(_call(nss, "PK11_GetInternalKeySlot"))
        _call(nss, "PK11_InitPin", slot, None, b"")
        _believe(nss, slot, authority)
        if person is not None:
            _import(slot, person)
        nss.PK11_FreeSlot(slot)
    finally:
        nss.NSS_Shutdown()


def _believe(nss, slot, path):
    der = x509.load_pem_x509_certificate(pathlib.Path(path).read_bytes()).public_bytes(
        serialization.Encoding.DER
    )
    smime = _library("libsmime3.so", "CERT_DecodeCertFromPackage")
    made = ctypes.c_void_p(_call(smime, "CERT_DecodeCertFromPackage", der, len(der)))
    _call(nss, "PK11_ImportCert", slot, made, ctypes.c_ulong(0), b"authority", 0)
    trust = _Trust(TRUSTED_CA, 0, 0)
    store = ctypes.c_void_p(_call(nss, "CERT_GetDefaultCertDB"))
    _call(nss, "CERT_ChangeCertTrust", store, made, ctypes.byref(trust))
    nss.CERT_DestroyCertificate(made)


def _exported(person):
    text = (places.ROOT / "docs" / "page.md").read_text()
    words = re.search(r"`(openssl pkcs12 -export [^`]*)`", text)[1].split()
    names = {"ann.pem": person.certificate, "ann.key": person.key, "ann.p12": "/dev/stdout"}
    command = [str(names.get(word, word)) for word in words]
    assert set(names) <= set(words), words
    return subprocess.run([*command, "-passout", f"pass:{PASSWORD.decode()}"], stdout=subprocess.PIPE,
                          check=True).stdout


def _import(slot, person):
    """Imports the file that docs/page.md tells a person to make."""
    p12 = _library("libsmime3.so", "SEC_PKCS12DecoderStart")
    container = _exported(person)
    words = b"".join(bytes((0, each)) for each in PASSWORD) + b"\0\0"  # UCS-2
    password = _Item(0, words, len(words))
    keep = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    decoder = ctypes.c_void_p(_call(
        p12, "SEC_PKCS12DecoderStart", ctypes.byref(password), slot, *[None] * 7))
    _call(p12, "SEC_PKCS12DecoderUpdate", decoder, container, len(container))
    _call(p12, "SEC_PKCS12DecoderVerify", decoder)
    _call(p12, "SEC_PKCS12DecoderValidateBags", decoder, keep(lambda *_: None))
    _call(p12, "SEC_PKCS12DecoderImportBags", decoder)
    p12.SEC_PKCS12DecoderFinish(decoder)
