/*
 * user - changes the process to another user, so that the kernel allows only what that
 * user may do.
 */
#ifndef RACKMESH_CONFIG_USER_H
#define RACKMESH_CONFIG_USER_H

struct rm_error;

/* Changes to that user's groups too, and drops all capabilities, for the rest of the
 * process's life. -ENOENT: no such user; -EPERM: the process is not root's. */
int rm_user_become(const char *name, struct rm_error *error);

#endif
