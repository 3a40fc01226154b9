/*
 * user - changes to another user, so that the kernel allows only what that user may.
 */
#ifndef RACKMESH_CONFIG_USER_H
#define RACKMESH_CONFIG_USER_H

struct rm_error;

/* For the rest of this process's life, with that user's groups and without
 * capabilities. -ENOENT: no such user; -EPERM: we are not root. */
int rm_user_become(const char *name, struct rm_error *error);

#endif
