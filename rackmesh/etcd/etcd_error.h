/*
 * etcd_error - what the errors of etcd's gateway mean to a caller. Pure; private to the
 * etcd client.
 *
 * The codes are gRPC's; where one stands for several things the words decide.
 */
#ifndef RACKMESH_ETCD_ETCD_ERROR_H
#define RACKMESH_ETCD_ETCD_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct rm_etcd_error {
	int r;
	bool token_refused; /* authenticate again */
	bool login_unknown; /* this cluster does without authentication */
	bool rotate;        /* another member may do better */
	char text[160];     /* printable */
};

/* root: the body, when it is JSON; else NULL. */
void rm_etcd_error_read(long status, const json_t *root, const char *text, size_t len,
    struct rm_etcd_error *ret);
void rm_etcd_error_of_cancel(
    const char *reason, int64_t compacted, struct rm_etcd_error *ret);

#endif
