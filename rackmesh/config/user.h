/*
 * user - changes to another user, so that the kernel allows only what that user may.
 */
#ifndef RACKMESH_CONFIG_USER_H
#define RACKMESH_CONFIG_USER_H

struct rm_error;

/* Applies to the rest of this process's life: that user's groups, and no capabilities.
 * -ENOENT: no such user; -EPERM: the process is not root's. */
int rm_user_become(const char *name, struct rm_error *error);

#endif
