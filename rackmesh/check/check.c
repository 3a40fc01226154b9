#include "rackmesh/check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/identity/viewer_tokens.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/tls/credentials.h"
#include "rackmesh/tls/tls.h"

#define PLACE 128
#define FOLDER_REMEDY 128

static void
find(const struct rm_check *check, struct rm_error *ret, const char *place,
    const char *format, va_list args)
{
	char text[sizeof(ret->text)];

	vsnprintf(text, sizeof(text), format, args);
	rm_config_refuse(check->path, ret, text, "%s", place);
}

void
rm_check_error(struct rm_check *check, const char *place, const char *format, ...)
{
	struct rm_error error = { 0 };
	va_list args;

	va_start(args, format);
	find(check, &error, place, format, args);
	va_end(args);
	check->errors++;
	rm_log_error(0, "%s", error.text);
}

void
rm_check_warn(struct rm_check *check, const char *place, const char *format, ...)
{
	struct rm_error error = { 0 };
	va_list args;

	va_start(args, format);
	find(check, &error, place, format, args);
	va_end(args);
	check->warnings++;
	rm_log_warn(0, "%s", error.text);
}

static bool
is_set(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* The user of this process, for the text of an error about permissions. */
static const char *
user_name(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user != NULL ? user->pw_name : "of the daemon";
}

/* ---- certificates ---- */

static void
check_end(struct rm_check *check, const struct rm_tls *tls)
{
	int64_t now_s = rm_wall_now().ns / RM_NS_PER_S;
	int64_t end_s = rm_tls_ending_wall_s(tls, now_s);

	if (end_s != 0)
		rm_check_warn(check, "tls.certificate",
		    "it ends in %lld h, and less than a fifth of its life is left: "
		    "renew it",
		    (long long)(end_s - now_s) / 3600);
}

static void
check_identity(struct rm_check *check, const char *uri,
    const struct rm_identity_claim *claim, const char *name)
{
	struct rm_identity identity;
	struct rm_error error = { 0 };

	if (rm_identity_claim_check(uri, claim, &error) < 0)
		rm_check_error(check, "tls.certificate", "%s", error.text);
	else if (claim->name == NULL && rm_identity_parse(uri, &identity) == 0 &&
		 strcmp(identity.name, name) != 0)
		rm_check_warn(check, "tls.certificate",
		    "it is for '%s', and the config names this daemon '%s'",
		    identity.name, name);
}

/* An error begins with the name of a file: returns the option that gives this file. */
static const char *
option_of(const struct rm_credentials_config *config, const char *error)
{
	const struct {
		const char *option, *path;
	} files[] = { { "tls.certificate", config->certificate },
		{ "tls.key", config->key }, { "tls.authorities", config->authorities },
		{ "tls.revoked", config->revoked } };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const size_t len = is_set(files[i].path) ? strlen(files[i].path) : 0;

		if (len > 0 && strncmp(error, files[i].path, len) == 0 &&
		    error[len] == ':')
			return files[i].option;
	}
	return "tls";
}

static void
report_credentials(struct rm_check *check, const struct rm_credentials_config *config,
    const char *error)
{
	const char *option = option_of(config, error);

	if (strstr(error, ": Permission denied") != NULL)
		rm_check_error(
		    check, option, "%s; user %s needs to read it", error, user_name());
	else
		rm_check_error(check, option, "%s", error);
}

void
rm_check_credentials(struct rm_check *check, const struct rm_credentials_config *config,
    const struct rm_identity_claim *claim, const char *name)
{
	struct rm_loop *loop = NULL;
	struct rm_tls *tls = NULL;
	struct rm_error error = { 0 };
	int r;

	if (config->plaintext) {
		rm_check_warn(check, "plaintext",
		    "identities of peers are not checked, so any host that reaches "
		    "this daemon can send false reports; for labs only");
		return;
	}
	r = rm_loop_new(&loop);
	if (r < 0)
		rm_error_set(
		    &error, r, "cannot create an event loop: %s", strerror(-r));
	else
		r = rm_credentials_read(loop, config, &error, &tls);
	if (r < 0) {
		report_credentials(check, config, error.text);
	} else {
		check_end(check, tls);
		check_identity(check, rm_tls_own_identity(tls), claim, name);
	}
	rm_tls_free(tls);
	rm_loop_free(loop);
}

int
rm_check_identity(
    const struct rm_credentials *credentials, const struct rm_identity_claim *claim)
{
	const struct rm_tls *tls = rm_credentials_tls(credentials);
	struct rm_error error = { 0 };
	int r = 0;

	if (tls != NULL)
		r = rm_identity_claim_check(rm_tls_own_identity(tls), claim, &error);
	if (r < 0)
		rm_log_error(0, "tls.certificate: %s", error.text);
	return r;
}

/* ---- files and folders ---- */

void
rm_check_file(struct rm_check *check, const char *place, const char *file)
{
	uint8_t *data = NULL;
	size_t len;
	int r;

	if (!is_set(file))
		return;
	r = rm_file_read(file, RM_TLS_MAX_FILE_BYTES, &data, &len);
	free(data);
	if (r < 0)
		rm_check_error(check, place, "cannot read %s: %s", file, strerror(-r));
}

void
rm_check_origin(
    struct rm_check *check, const char *prefix, const struct rm_http_origin *origin)
{
	char place[PLACE];

	snprintf(place, sizeof(place), "%s.authorities", prefix);
	rm_check_file(check, place, origin->authorities);
	snprintf(place, sizeof(place), "%s.certificate", prefix);
	rm_check_file(check, place, origin->certificate);
}

/* Returns 0 if files can be created in the folder, else the negative errno that says
 * why not. */
static int
writable(const char *folder)
{
	struct stat st;

	if (stat(folder, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* systemd creates these folders, with the unit's user as their owner, before it starts
 * a daemon. */
static bool
units_make(const char *folder)
{
	static const char state[] = "/var/lib/rackmesh/";

	return strcmp(folder, "/run/rackmesh") == 0 ||
	       (strncmp(folder, state, strlen(state)) == 0 &&
		   strchr(folder + strlen(state), '/') == NULL);
}

/* What an operator can do about the error, with the names of folder and user. */
static const char *
folder_remedy(int r, char text[static FOLDER_REMEDY])
{
	if (r == -EACCES)
		snprintf(text, FOLDER_REMEDY,
		    "; user %s needs to write there, and to enter the folders above",
		    user_name());
	else if (r == -ENOTDIR)
		return "; name another folder";
	else if (r == -ENOENT)
		return "; create it, or name another folder";
	else
		return "";
	return text;
}

void
rm_check_folder(struct rm_check *check, const char *place, const char *folder)
{
	char copy[PATH_MAX], todo[FOLDER_REMEDY];
	int r;

	if (!is_set(folder))
		return;
	if (folder[0] != '/')
		rm_check_warn(check, place,
		    "%s is below the folder that the daemon is started in: expected a "
		    "path that begins with /",
		    folder);
	r = writable(folder);
	if (r == 0)
		return;
	if (units_make(folder) && (r == -ENOENT || r == -EACCES)) {
		rm_check_warn(check, place, "%s: %s; its unit creates it at the start",
		    folder, strerror(-r));
		return;
	}
	if (r == -ENOENT) {
		const char *parent;

		snprintf(copy, sizeof(copy), "%s", folder);
		parent = dirname(copy);
		r = writable(parent);
		if (r < 0)
			rm_check_error(check, place,
			    "%s does not exist, and cannot be created in %s: %s%s",
			    folder, parent, strerror(-r), folder_remedy(r, todo));
		return;
	}
	rm_check_error(check, place, "cannot write to %s: %s%s", folder, strerror(-r),
	    folder_remedy(r, todo));
}

/* ---- addresses ---- */

static bool
can_bind(struct rm_check *check, const char *place, const char *text,
    const struct rm_address *address)
{
	int fd = socket(
	    address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1, r = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address->storage, address->len) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r == -EADDRNOTAVAIL)
		rm_check_error(check, place,
		    "%s: this host does not have that address; give one of its own",
		    text);
	else if (r == -EACCES)
		rm_check_error(check, place,
		    "cannot listen on %s: %s; ports below 1024 need "
		    "CAP_NET_BIND_SERVICE, which the unit has to give",
		    text, strerror(-r));
	else if (r < 0 && r != -EADDRINUSE)
		rm_check_error(
		    check, place, "cannot listen on %s: %s", text, strerror(-r));
	return r == 0 || r == -EADDRINUSE;
}

static in_port_t
port_of(const struct rm_address *address)
{
	return address->storage.ss_family == AF_INET6
		   ? ((const struct sockaddr_in6 *)&address->storage)->sin6_port
		   : ((const struct sockaddr_in *)&address->storage)->sin_port;
}

static bool
is_any(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;

	return address->storage.ss_family == AF_INET6
		   ? IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)
		   : in->sin_addr.s_addr == INADDR_ANY;
}

/* A daemon listens only once on a port, of one address or of all. */
static bool
collide(const struct rm_address *a, const struct rm_address *b)
{
	return port_of(a) != 0 && port_of(a) == port_of(b) &&
	       a->storage.ss_family == b->storage.ss_family &&
	       (rm_address_equal(a, b) || is_any(a) || is_any(b));
}

static void
check_collision(struct rm_check *check, const char *place, const char *text,
    const struct rm_address *address)
{
	struct rm_address other;

	for (size_t i = 0; i < check->listen_count; i++)
		if (rm_address_parse(check->listens[i].text, -1, &other) == 0 &&
		    collide(address, &other))
			rm_check_error(check, place,
			    "%s: %s listens there, too (%s); give another port", text,
			    check->listens[i].place, check->listens[i].text);
	if (check->listen_count == RM_CHECK_LISTENS)
		return;
	check->listens[check->listen_count].place = place;
	check->listens[check->listen_count++].text = text;
}

void
rm_check_listen(struct rm_check *check, const char *place, const char *text)
{
	struct rm_address address;

	if (!is_set(text))
		return;
	if (rm_address_parse(text, -1, &address) < 0 ||
	    address.storage.ss_family == AF_UNIX) {
		rm_check_error(
		    check, place, RM_ADDRESS_EXPECTED ", found \"%s\"", text);
		return;
	}
	if (can_bind(check, place, text, &address))
		check_collision(check, place, text, &address);
}

/* Binding the socket would create its file. So only the folder is checked, and whether
 * the path is free or is a socket now. */
static void
check_socket(struct rm_check *check, const char *place, const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	if (!is_set(path))
		return;
	snprintf(folder, sizeof(folder), "%s", path);
	rm_check_folder(check, place, dirname(folder));
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		rm_check_error(check, place, "%s exists and is not a socket", path);
}

void
rm_check_http(struct rm_check *check, const struct rm_http_places *places,
    const struct rm_credentials_config *config)
{
	struct rm_error error = { 0 };

	rm_check_listen(check, "http.listen", places->tcp);
	check_socket(check, "http.socket", places->socket);
	rm_check_listen(check, "http.tls_listen", places->tls);
	if (is_set(places->tls) && config->plaintext)
		rm_check_error(
		    check, "http.tls_listen", "plaintext: true switches TLS off");
	else if (is_set(places->tls) && is_set(config->certificate) &&
		 rm_tls_file_names_host(config->certificate) == 0)
		rm_check_warn(check, "http.tls_listen",
		    "%s has neither a DNS name nor an IP address: rackmeshctl accepts "
		    "it, but a browser and Prometheus do not",
		    config->certificate);
	if (!is_set(places->tokens))
		return;
	if (!is_set(places->tls))
		rm_check_warn(check, "http.tokens_file",
		    "tokens are only accepted at http.tls_listen, which is not set");
	if (rm_viewer_tokens_check(places->tokens, &error) < 0)
		rm_check_error(check, "http.tokens_file", "%s", error.text);
}

static bool
is_nobody(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;

	if (address->storage.ss_family == AF_INET)
		return in->sin_port == 0 || in->sin_addr.s_addr == INADDR_ANY ||
		       in->sin_addr.s_addr == INADDR_BROADCAST ||
		       IN_MULTICAST(ntohl(in->sin_addr.s_addr));
	if (address->storage.ss_family == AF_INET6)
		return in6->sin6_port == 0 ||
		       IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) ||
		       IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
	return false;
}

void
rm_check_peer(struct rm_check *check, const char *place, const char *text)
{
	struct rm_address found[RM_ENDPOINT_ADDRESSES];
	struct rm_endpoint endpoint;
	struct rm_error error = { 0 };
	size_t count = 0;
	int r;

	if (rm_endpoint_parse(text, &endpoint) < 0)
		return; /* the check of the options has refused this value already */
	r = rm_endpoint_resolve(&endpoint, found, &count, &error);
	if (r == -ENXIO)
		rm_check_error(check, place, "%s", error.text);
	else if (r < 0)
		rm_check_warn(check, place, "%s", error.text);
	else if (is_nobody(&found[0]))
		rm_check_error(check, place,
		    "%s is not the address of a host: expected the address and port of "
		    "one host",
		    text);
}

/* Calls check_item for each item, with the item's place in the list. */
static void
check_list(struct rm_check *check, const char *place, const struct rm_list *list,
    void (*check_item)(struct rm_check *, const char *place, const char *text))
{
	char *const *texts = list->items;

	for (size_t i = 0; i < list->count; i++) {
		char at[PLACE];

		snprintf(at, sizeof(at), "%s[%zu]", place, i);
		check_item(check, at, texts[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(texts[i], texts[j]) == 0)
				rm_check_warn(check, at, "listed twice; remove one");
	}
}

void
rm_check_peers(struct rm_check *check, const char *place, const struct rm_list *list)
{
	check_list(check, place, list, rm_check_peer);
}

void
rm_check_url(struct rm_check *check, const char *place, const char *url)
{
	char shown[RM_HTTP_URL_SHOWN_BYTES], *host = NULL, *end;
	bool has_port;

	if (!is_set(url) || !rm_http_url_valid(url))
		return; /* the check of the options has refused this value already */
	rm_http_url_show(url, false, shown);
	host = strstr(shown, "://") + 3;
	host[strcspn(host, "/?#")] = '\0';
	end = strrchr(host, ':');
	has_port = end != NULL && strchr(end, ']') == NULL;
	if (!has_port) {
		const size_t len = strlen(host);

		snprintf(host + len, sizeof(shown) - (size_t)(host - shown) - len,
		    strncmp(url, "https", 5) == 0 ? ":443" : ":80");
	}
	rm_check_peer(check, place, host);
}

void
rm_check_urls(struct rm_check *check, const char *place, const struct rm_list *list)
{
	check_list(check, place, list, rm_check_url);
}
