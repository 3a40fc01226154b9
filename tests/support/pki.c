#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/pki.h"

#define PKI_AUTHORITIES 512
#define PKI_DAY_S 86400L
#define PKI_PATH 160
#define PKI_PATHS 512

struct pki_authority {
	X509 *certificate;
	EVP_PKEY *key;
	const struct pki_authority *parent;
};

struct pki {
	char folder[64];
	struct pki_authority authorities[PKI_AUTHORITIES];
	size_t authority_count;
	char *paths[PKI_PATHS];
	size_t path_count;
};

static EVP_PKEY *
key_new(bool rsa, bool small)
{
	EVP_PKEY *key =
	    rsa || small ? EVP_RSA_gen(small ? 1024 : 2048) : EVP_EC_gen("P-256");

	assert_non_null(key);
	return key;
}

const char *
pki_path(struct pki *pki, const char *name, const char *end)
{
	char path[PKI_PATH];

	snprintf(path, sizeof(path), "%s/%s%s", pki->folder, name, end);
	for (size_t i = 0; i < pki->path_count; i++)
		if (strcmp(pki->paths[i], path) == 0)
			return pki->paths[i];
	assert_true(pki->path_count < PKI_PATHS);
	pki->paths[pki->path_count] = strdup(path);
	assert_non_null(pki->paths[pki->path_count]);
	return pki->paths[pki->path_count++];
}

void
pki_write(struct pki *pki, const char *path, const char *text, int mode)
{
	char new[PKI_PATH + 8];
	size_t len = strlen(text);
	int fd;

	snprintf(new, sizeof(new), "%s.new", path);
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, (mode_t)mode), 0);
	close(fd);
	assert_int_equal(rename(new, path), 0);
}

/* Takes bio. */
static void
bio_write(struct pki *pki, BIO *bio, const char *path, int mode)
{
	char *text;

	assert_int_equal(BIO_write(bio, "", 1), 1);
	assert_true(BIO_get_mem_data(bio, &text) > 0);
	pki_write(pki, path, text, mode);
	BIO_free(bio);
}

static void
extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&ctx, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static void
names_add(GENERAL_NAMES *names, int type, const char *text, size_t len)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_STRING *string;

	assert_non_null(name);
	string = ASN1_STRING_type_new(
	    type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
	assert_non_null(string);
	assert_int_equal(ASN1_STRING_set(string, text, (int)len), 1);
	GENERAL_NAME_set0_value(name, type, string);
	assert_true(sk_GENERAL_NAME_push(names, name) > 0);
}

static void
add_names(X509 *certificate, const struct pki_wish *wish)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();

	if (wish->uri != NULL)
		names_add(
		    names, GEN_URI, wish->uri, strlen(wish->uri) + wish->zero_in_uri);
	if (wish->other_uri != NULL)
		names_add(names, GEN_URI, wish->other_uri, strlen(wish->other_uri));
	if (wish->dns != NULL) {
		names_add(names, GEN_DNS, wish->dns, strlen(wish->dns));
		names_add(names, GEN_IPADD, "\x7f\0\0\1", 4);
	}
	if (sk_GENERAL_NAME_num(names) > 0)
		assert_int_equal(X509_add1_ext_i2d(certificate, NID_subject_alt_name,
				     names, 0, X509V3_ADD_DEFAULT),
		    1);
	GENERAL_NAMES_free(names);
}

static void
add_unknown(X509 *certificate)
{
	ASN1_OBJECT *object = OBJ_txt2obj("1.3.6.1.4.1.99999.1", 1);
	ASN1_OCTET_STRING *bytes = ASN1_OCTET_STRING_new();
	X509_EXTENSION *extension;

	assert_int_equal(
	    ASN1_OCTET_STRING_set(bytes, (const uint8_t *)"\x05\x00", 2), 1);
	extension = X509_EXTENSION_create_by_OBJ(NULL, object, 1, bytes);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
	ASN1_OCTET_STRING_free(bytes);
	ASN1_OBJECT_free(object);
}

/* Fills in what every certificate has; it is not signed yet. */
static X509 *
certificate_new(EVP_PKEY *key, const char *name, long from_s, long until_s)
{
	X509 *certificate = X509_new();
	uint64_t serial;

	assert_non_null(certificate);
	assert_int_equal(RAND_bytes((uint8_t *)&serial, sizeof(serial)), 1);
	X509_set_version(certificate, X509_VERSION_3);
	ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), from_s);
	X509_gmtime_adj(X509_getm_notAfter(certificate), until_s);
	X509_set_pubkey(certificate, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "O",
	    MBSTRING_ASC, (const uint8_t *)"rackmesh", -1, -1, 0);
	if (name != NULL)
		X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN",
		    MBSTRING_ASC, (const uint8_t *)name, -1, -1, 0);
	return certificate;
}

static void
certificate_sign(X509 *certificate, X509 *issuer, EVP_PKEY *key, const EVP_MD *digest)
{
	X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
	extend(certificate, issuer, NID_subject_key_identifier, "hash");
	if (issuer != certificate)
		extend(certificate, issuer, NID_authority_key_identifier, "keyid");
	assert_true(X509_sign(certificate, key, digest) > 0);
}

/* Keeps the certificate under this name, for pki_revoke. */
static void
authority_write(struct pki *pki, const char *name, X509 *certificate)
{
	BIO *pem = BIO_new(BIO_s_mem());

	assert_int_equal(PEM_write_bio_X509(pem, certificate), 1);
	bio_write(pki, pem, pki_path(pki, name, ".pem"), 0644);
}

struct pki_authority *
pki_authority(struct pki *pki, const char *name, struct pki_authority *parent)
{
	struct pki_authority *authority = &pki->authorities[pki->authority_count++];
	const struct pki_authority *signs = parent != NULL ? parent : authority;

	assert_true(pki->authority_count <= PKI_AUTHORITIES);
	authority->parent = parent;
	authority->key = key_new(false, false);
	authority->certificate =
	    certificate_new(authority->key, name, -60, 10 * PKI_DAY_S);
	extend(authority->certificate, authority->certificate, NID_basic_constraints,
	    "critical,CA:TRUE");
	extend(authority->certificate, authority->certificate, NID_key_usage,
	    "critical,keyCertSign,cRLSign");
	certificate_sign(
	    authority->certificate, signs->certificate, signs->key, EVP_sha256());
	authority_write(pki, name, authority->certificate);
	return authority;
}

struct pki_authority *
pki_root(struct pki *pki)
{
	return &pki->authorities[0];
}

static void
wish_usages(X509 *certificate, const struct pki_wish *wish)
{
	if (wish->authority)
		extend(certificate, certificate, NID_basic_constraints,
		    "critical,CA:TRUE");
	extend(certificate, certificate, NID_key_usage,
	    wish->authority ? "critical,digitalSignature,keyCertSign"
			    : "critical,digitalSignature");
	if (!wish->no_usage)
		extend(certificate, certificate, NID_ext_key_usage,
		    wish->client_only   ? "clientAuth"
		    : wish->server_only ? "serverAuth"
					: "clientAuth,serverAuth");
	if (wish->unknown_critical)
		add_unknown(certificate);
	add_names(certificate, wish);
}

static X509 *
wish_fulfil(struct pki *pki, const struct pki_wish *wish, EVP_PKEY *key)
{
	const struct pki_authority *by = wish->by != NULL ? wish->by : pki_root(pki);
	long from_s = wish->ending ? -9 * 3600 : -60,
	     until_s = wish->valid_s != 0 ? wish->valid_s : 3600;
	X509 *certificate;

	if (wish->expired) {
		from_s = -2 * PKI_DAY_S;
		until_s = -PKI_DAY_S;
	}
	if (wish->not_yet) {
		from_s = PKI_DAY_S;
		until_s = 2 * PKI_DAY_S;
	}
	certificate = certificate_new(key, wish->common_name, from_s, until_s);
	wish_usages(certificate, wish);
	certificate_sign(certificate, wish->self_signed ? certificate : by->certificate,
	    wish->self_signed ? key : by->key, wish->sha1 ? EVP_sha1() : EVP_sha256());
	return certificate;
}

struct rm_tls_files
pki_issue(struct pki *pki, const char *name, const struct pki_wish *wish)
{
	const struct pki_authority *by = wish->by != NULL ? wish->by : pki_root(pki);
	EVP_PKEY *key = key_new(wish->rsa, wish->short_key), *other = NULL;
	X509 *certificate = wish_fulfil(pki, wish, key);
	BIO *pem = BIO_new(BIO_s_mem()), *keys = BIO_new(BIO_s_mem());
	struct rm_tls_files files = {
		.certificate = pki_path(pki, name, ".pem"),
		.key = pki_path(pki, name, ".key"),
		.authorities = pki_path(pki, "authorities", ".pem"),
	};

	if (wish->foreign_key)
		other = key_new(wish->rsa, wish->short_key);
	assert_int_equal(PEM_write_bio_X509(pem, certificate), 1);
	for (; !wish->self_signed && by->parent != NULL; by = by->parent)
		assert_int_equal(PEM_write_bio_X509(pem, by->certificate), 1);
	assert_int_equal(PEM_write_bio_PrivateKey(keys, other != NULL ? other : key,
			     NULL, NULL, 0, NULL, NULL),
	    1);
	bio_write(pki, keys, files.key, 0600);
	bio_write(pki, pem, files.certificate, 0644);
	X509_free(certificate);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
	return files;
}

void
pki_trust(
    struct pki *pki, const struct pki_authority *one, const struct pki_authority *two)
{
	BIO *pem = BIO_new(BIO_s_mem());

	assert_int_equal(PEM_write_bio_X509(pem, one->certificate), 1);
	if (two != NULL)
		assert_int_equal(PEM_write_bio_X509(pem, two->certificate), 1);
	bio_write(pki, pem, pki_path(pki, "authorities", ".pem"), 0644);
}

static void
list_add(struct pki *pki, X509_CRL *list, const char *certificate_name)
{
	BIO *pem = BIO_new_file(pki_path(pki, certificate_name, ".pem"), "r");
	X509 *certificate = PEM_read_bio_X509(pem, NULL, NULL, NULL);
	X509_REVOKED *revoked = X509_REVOKED_new();
	ASN1_TIME *now = X509_gmtime_adj(NULL, 0);

	assert_non_null(certificate);
	X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber(certificate));
	X509_REVOKED_set_revocationDate(revoked, now);
	assert_int_equal(X509_CRL_add0_revoked(list, revoked), 1);
	ASN1_TIME_free(now);
	X509_free(certificate);
	BIO_free(pem);
}

const char *
pki_revoke(struct pki *pki, const char *name, struct pki_authority *by,
    const char *certificate_name)
{
	X509_CRL *list = X509_CRL_new();
	BIO *pem = BIO_new(BIO_s_mem());
	ASN1_TIME *now = X509_gmtime_adj(NULL, -60);
	ASN1_TIME *next = X509_gmtime_adj(NULL, PKI_DAY_S);
	const char *path = pki_path(pki, name, ".crl");

	if (by == NULL)
		by = pki_root(pki);
	X509_CRL_set_version(list, X509_CRL_VERSION_2);
	X509_CRL_set_issuer_name(list, X509_get_subject_name(by->certificate));
	X509_CRL_set1_lastUpdate(list, now);
	X509_CRL_set1_nextUpdate(list, next);
	if (certificate_name != NULL)
		list_add(pki, list, certificate_name);
	assert_true(X509_CRL_sign(list, by->key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509_CRL(pem, list), 1);
	bio_write(pki, pem, path, 0644);
	ASN1_TIME_free(now);
	ASN1_TIME_free(next);
	X509_CRL_free(list);
	return path;
}

struct pki *
pki_new(void)
{
	struct pki *pki = calloc(1, sizeof(*pki));

	assert_non_null(pki);
	strcpy(pki->folder, "/tmp/rackmesh-pki-XXXXXX");
	assert_non_null(mkdtemp(pki->folder));
	pki_authority(pki, "root", NULL);
	pki_trust(pki, pki_root(pki), NULL);
	return pki;
}

void
pki_free(struct pki *pki)
{
	struct dirent *entry;
	DIR *folder;

	if (pki == NULL)
		return;
	folder = opendir(pki->folder);
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder != NULL)
		closedir(folder);
	rmdir(pki->folder);
	for (size_t i = 0; i < pki->authority_count; i++) {
		X509_free(pki->authorities[i].certificate);
		EVP_PKEY_free(pki->authorities[i].key);
	}
	for (size_t i = 0; i < pki->path_count; i++)
		free(pki->paths[i]);
	free(pki);
}
