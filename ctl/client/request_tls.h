/*
 * request_tls - how rackmeshctl meets a daemon over https: with a person's certificate,
 * and only if the other side's says that it is a daemon of ours. Where it listens, and
 * under which name, does not matter (docs/security.md).
 */
#ifndef CTL_CLIENT_REQUEST_TLS_H
#define CTL_CLIENT_REQUEST_TLS_H

#include <curl/curl.h>

/* Files, PEM; borrowed for ever. NULL: none, and https is not to be had. */
void request_tls_files(
    const char *certificate, const char *key, const char *authorities);

/* 0, or -ENOENT after having said what is missing. */
int request_tls_set(CURL *curl);

#endif
