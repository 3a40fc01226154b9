#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/tls/tls_state.h"

static int
file_read(
    const char *path, enum tls_file which, struct tls_bytes *bytes, struct rm_why *why)
{
	int r;

	if (which == TLS_KEY)
		return rm_file_read_secret(
		    path, RM_TLS_MAX_FILE_BYTES, &bytes->data, &bytes->len, why);
	r = rm_file_read(path, RM_TLS_MAX_FILE_BYTES, &bytes->data, &bytes->len);
	if (r < 0)
		return rm_why(why, r, "%s: %s", path, strerror(-r));
	return 0;
}

int
tls_files_read(char *const paths[TLS_FILES], struct tls_bytes bytes[TLS_FILES],
    uint8_t digest[TLS_DIGEST_BYTES], struct rm_why *why)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int r = 0;

	memset(bytes, 0, TLS_FILES * sizeof(bytes[0]));
	if (md == NULL || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
		r = rm_why(why, -ENOMEM, "out of memory");
	for (int i = 0; r == 0 && i < TLS_FILES; i++) {
		if (paths[i] == NULL)
			continue;
		r = file_read(paths[i], i, &bytes[i], why);
		EVP_DigestUpdate(md, &r, sizeof(r));
		EVP_DigestUpdate(md, &bytes[i].len, sizeof(bytes[i].len));
		EVP_DigestUpdate(md, bytes[i].data, bytes[i].len);
	}
	memset(digest, 0, TLS_DIGEST_BYTES);
	if (md != NULL)
		EVP_DigestFinal_ex(md, digest, NULL);
	EVP_MD_CTX_free(md);
	return r;
}

void
tls_files_clear(struct tls_bytes bytes[TLS_FILES])
{
	for (int i = 0; i < TLS_FILES; i++) {
		if (bytes[i].data != NULL)
			OPENSSL_cleanse(bytes[i].data, bytes[i].len);
		free(bytes[i].data);
		bytes[i] = (struct tls_bytes){ 0 };
	}
}
