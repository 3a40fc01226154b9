#include "rackmesh/config/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/error.h"

/* Access to files depends on the effective ids, and a change of the effective user away
 * from root also drops the capabilities. The real ids stay root's: nothing here has to
 * be protected, and the daemons' system call filters do not allow setuid. */
int
rm_user_become(const char *name, struct rm_error *error)
{
	const struct passwd *user;

	errno = 0;
	user = getpwnam(name);
	if (user == NULL)
		return rm_error_set(error, -ENOENT, "user %s: %s", name,
		    errno == 0 ? "there is none" : strerror(errno));
	if (user->pw_uid == geteuid())
		return 0;
	if (geteuid() != 0)
		return rm_error_set(
		    error, -EPERM, "user %s: only root can act as another user", name);
	if (initgroups(name, user->pw_gid) < 0 || setegid(user->pw_gid) < 0 ||
	    seteuid(user->pw_uid) < 0)
		return rm_error_set(
		    error, -errno, "user %s: %s", name, strerror(errno));
	return 0;
}
