#include "rackmesh/http/http_call.h"

#include <errno.h>
#include <linux/sockios.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/file.h"

#define CALL_MAX_ANSWER (64u << 10)
#define CALL_MAX_HEADERS (256u << 10)
/* Limit on the TLS messages of one connection; a handshake needs a dozen. */
#define CALL_MAX_TLS_MESSAGES 1000
#define CALL_TLS_ERROR 1
#define CALL_FIRST_SIZE (4u << 10)
/* Most bytes of a stream between two turns of the loop: libcurl reads much less in one
 * turn. */
#define CALL_MAX_WAITING (64u << 20)
#define CALL_CONNECT_MS 5000L
#define CALL_CONNECTION_S 3600L
#define CALL_SOCKET_PATH 108 /* as in struct sockaddr_un */

/* of: "its answer is". Keeps the first limit. */
static void
call_note_limit(struct rm_http_call *call, const char *of, size_t bytes)
{
	const char *unit = "bytes";

	if (call->limit[0] != '\0')
		return;
	if (bytes % (1u << 20) == 0) {
		bytes >>= 20;
		unit = "MiB";
	} else if (bytes % (1u << 10) == 0) {
		bytes >>= 10;
		unit = "KiB";
	}
	snprintf(
	    call->limit, sizeof(call->limit), "%s larger than %zu %s", of, bytes, unit);
}

/* Translates libcurl's error codes; no other file uses them. */
int
rm_http_call_errno(struct rm_http_call *call, CURLcode code)
{
	curl_off_t first_byte_us = 0;
	long os = 0;

	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	/* call_on_body or call_on_header has failed: a limit was reached, or there is
	 * no memory */
	case CURLE_WRITE_ERROR:
		return call->limit[0] != '\0' ? -EMSGSIZE : -ENOMEM;
	case CURLE_OUT_OF_MEMORY:
		/* also if one header is larger than libcurl's limit */
		curl_easy_getinfo(
		    call->easy, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
		if (first_byte_us > 0)
			call_note_limit(call,
			    "there is no memory, or a header of its answer is",
			    CURL_MAX_HTTP_HEADER);
		return -ENOMEM;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &os);
		return os > 0 ? -(int)os : -ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_SSL_CERTPROBLEM: /* errors of this daemon's own certificate files */
	case CURLE_SSL_CACERT_BADFILE:
		return -EINVAL;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return -ECONNRESET;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
		return -EPROTO;
	default:
		return -EIO;
	}
}

static bool
call_reserve(struct rm_http_call *call, size_t len)
{
	size_t size = call->body_size;
	char *body;

	if (len + 1 <= size)
		return true;
	if (size == 0)
		size = CALL_FIRST_SIZE;
	while (size < len + 1)
		size *= 2; /* len is limited by the callers */
	body = realloc(call->body, size);
	if (body == NULL)
		return false;
	call->body = body;
	call->body_size = size;
	return true;
}

/* Takes a piece of the body. A part of an answer that is too large is discarded, since
 * the status matters more. A stream may not have a gap. */
static size_t
call_on_body(char *data, size_t size, size_t count, void *arg)
{
	struct rm_http_call *call = arg;
	size_t len = size * count, room = len;
	long status = 0;

	if (call->on_data != NULL && !call->streams) {
		curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
		call->streams = status == 200;
	}
	if (call->streams && len > CALL_MAX_WAITING - call->body_len) {
		call_note_limit(
		    call, "what is waiting of its stream is", CALL_MAX_WAITING);
		return CURL_WRITEFUNC_ERROR;
	}
	if (!call->streams && room > call->max_body - call->body_len)
		room = call->max_body - call->body_len;
	if (call->whole && room < len) {
		call_note_limit(call, "its answer is", call->max_body);
		return CURL_WRITEFUNC_ERROR;
	}
	if (!call_reserve(call, call->body_len + room))
		return CURL_WRITEFUNC_ERROR;
	memcpy(call->body + call->body_len, data, room);
	call->body_len += room;
	call->body[call->body_len] = 0;
	call->waiting = call->streams;
	return len;
}

/* Counts the bytes of headers and trailers. libcurl keeps them in memory, and limits
 * only the headers. */
static size_t
call_on_header(char *data, size_t size, size_t count, void *arg)
{
	struct rm_http_call *call = arg;

	(void)data;
	call->headers_len += size * count;
	if (call->headers_len <= CALL_MAX_HEADERS)
		return size * count;
	call_note_limit(call, "the headers of its answer are", CALL_MAX_HEADERS);
	return 0;
}

/* "unix:/run/x.sock:/v1/y": the path of a socket, then that of the request. */
static int
call_set_url(struct rm_http_call *call, const char *url)
{
	char socket_path[CALL_SOCKET_PATH], http[2048];
	const char *request;
	size_t len;

	if (strncmp(url, "unix:", 5) != 0)
		return curl_easy_setopt(call->easy, CURLOPT_URL, url) == CURLE_OK
			   ? 0
			   : -ENOMEM;
	url += 5;
	request = strstr(url, ":/");
	if (request == NULL)
		return -EINVAL;
	len = (size_t)(request - url);
	if (len == 0 || len >= sizeof(socket_path))
		return -EINVAL;
	memcpy(socket_path, url, len);
	socket_path[len] = 0;
	if (snprintf(http, sizeof(http), "http://localhost%s", request + 1) >=
	    (int)sizeof(http))
		return -EINVAL;
	if (curl_easy_setopt(call->easy, CURLOPT_UNIX_SOCKET_PATH, socket_path) !=
		CURLE_OK ||
	    curl_easy_setopt(call->easy, CURLOPT_URL, http) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

static int
call_add_header(struct rm_http_call *call, const char *line)
{
	struct curl_slist *headers;

	/* A line break is refused: it would begin another header, which the sender of
	 * the text could choose. */
	if (strpbrk(line, "\r\n") != NULL)
		return -EINVAL;
	headers = curl_slist_append(call->headers, line);
	if (headers == NULL)
		return -ENOMEM;
	call->headers = headers;
	return 0;
}

static int
call_set_headers(struct rm_http_call *call, const struct rm_http_exchange *exchange)
{
	bool typed = false;
	int r = 0;

	for (size_t i = 0;
	     r == 0 && exchange->headers != NULL && exchange->headers[i] != NULL; i++) {
		typed |= strncasecmp(exchange->headers[i], "Content-Type:", 13) == 0;
		r = call_add_header(call, exchange->headers[i]);
	}
	/* libcurl would send a body as a web form. Without Expect, it would wait up to
	 * a second for a permission to send. */
	if (r == 0 && exchange->body != NULL && !typed)
		r = call_add_header(call, "Content-Type:");
	if (r == 0 && exchange->body != NULL)
		r = call_add_header(call, "Expect:");
	if (r < 0 || call->headers == NULL)
		return r;
	return curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers) ==
		       CURLE_OK
		   ? 0
		   : -ENOMEM;
}

static int
call_set_body(struct rm_http_call *call, const struct rm_http_exchange *exchange)
{
	CURL *easy = call->easy;

	if (exchange->body == NULL)
		return 0;
	if (curl_easy_setopt(easy, CURLOPT_POST, 1L) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
		(curl_off_t)exchange->body_len) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, exchange->body) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

static int
call_set_login(struct rm_http_call *call, const struct rm_http_exchange *exchange)
{
	CURL *easy = call->easy;

	if (exchange->bearer != NULL) {
		if (curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER) !=
			CURLE_OK ||
		    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, exchange->bearer) !=
			CURLE_OK)
			return -ENOMEM;
		return 0;
	}
	if (exchange->user == NULL)
		return 0;
	if (curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) !=
		CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_USERNAME, exchange->user) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_PASSWORD,
		exchange->password != NULL ? exchange->password : "") != CURLE_OK)
		return -ENOMEM;
	return 0;
}

/* ---- functions that older releases of libcurl do not have (RHEL 9: 7.76) ---- */

static bool
set_connection_life(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075000
	return curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, CALL_CONNECTION_S) ==
	       CURLE_OK;
#else
	return curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK;
#endif
}

static bool
set_no_cache_of_authorities(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Otherwise libcurl would use a CA file for a day after it has read it. */
	return curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L) == CURLE_OK;
#else
	return easy != NULL; /* older libcurl has no such cache */
#endif
}

static bool
set_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
	return curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
		   (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK;
#endif
}

/* Makes libcurl end a call without waiting for the thread that looks up the name.
 * Otherwise the loop would wait, too: half a minute if no name server answers. */
static bool
set_quick_exit(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075700
	return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
#else
	return easy != NULL;
#endif
}

/* ---- limit on the messages of TLS ---- */

static int tls_messages = -1; /* of each SSL: number of messages received */
static int tls_errors;        /* the library number of the error below */
static BIO_METHOD *tls_limit; /* a source whose reading fails with it */

#define TEXT(number) #number
#define NUMBER_TEXT(number) TEXT(number)

static int
call_fail_reading(BIO *bio, char *data, int size)
{
	ERR_raise(tls_errors, CALL_TLS_ERROR);
	return -1;
}

static int
call_make_source(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

static long
call_control_source(BIO *bio, int command, long number, void *arg)
{
	return 0; /* it is not at its end */
}

static void
call_make_index(void)
{
	static ERR_STRING_DATA texts[] = {
		{ 0, "rackmesh" },
		{ ERR_PACK(0, 0, CALL_TLS_ERROR),
		    "the server has sent " NUMBER_TEXT(
			CALL_MAX_TLS_MESSAGES) " TLS messages on a connection" },
		{ 0, NULL },
	};

	tls_errors = ERR_get_next_error_library();
	texts[0].error = ERR_PACK(tls_errors, 0, 0);
	ERR_load_strings(tls_errors, texts);
	tls_limit =
	    BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TLS limit");
	if (tls_limit != NULL && BIO_meth_set_read(tls_limit, call_fail_reading) == 1 &&
	    BIO_meth_set_create(tls_limit, call_make_source) == 1 &&
	    BIO_meth_set_ctrl(tls_limit, call_control_source) == 1)
		tls_messages = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

/* OpenSSL handles messages that have no effect, such as HelloRequest and KeyUpdate, in
 * a loop, and returns only when no more data arrive. A server that sends them faster
 * than they are read would keep the thread there for ever, without a time-out. With
 * another source of data the connection fails, and libcurl's message is our text. */
static void
call_on_tls_message(
    int sent, int version, int type, const void *data, size_t len, SSL *ssl, void *arg)
{
	uintptr_t count;

	if (sent || type != SSL3_RT_HANDSHAKE)
		return;
	count = (uintptr_t)SSL_get_ex_data(ssl, tls_messages) + 1;
	(void)SSL_set_ex_data(ssl, tls_messages, (void *)count);
	if (count == CALL_MAX_TLS_MESSAGES)
		SSL_set0_rbio(ssl, BIO_new(tls_limit));
}

static CURLcode
call_on_tls(CURL *easy, void *context, void *arg)
{
	SSL_CTX_set_msg_callback(context, call_on_tls_message);
	return CURLE_OK;
}

static bool
limit_tls_messages(CURL *easy)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *library = curl_version_info(CURLVERSION_NOW)->ssl_version;

	if (library == NULL || strncmp(library, "OpenSSL/", 8) != 0)
		return true; /* the context would be of another type */
	pthread_once(&once, call_make_index);
	return tls_messages >= 0 && curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION,
					call_on_tls) == CURLE_OK;
}

/* ---- options of every call ---- */

static int
call_set_tls(struct rm_http_call *call, const struct rm_http_tls *tls)
{
	CURL *easy = call->easy;
	bool set = true;
	int r;

	set = set && curl_easy_setopt(easy, CURLOPT_SSLVERSION,
			 (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK;
	set = set && set_connection_life(easy) && limit_tls_messages(easy);
	if (tls != NULL && tls->authorities != NULL)
		set = set &&
		      curl_easy_setopt(easy, CURLOPT_CAINFO, tls->authorities) ==
			  CURLE_OK &&
		      set_no_cache_of_authorities(easy);
	if (tls != NULL && tls->certificate != NULL && tls->key != NULL) {
		r = rm_file_check_secret(tls->key, NULL);
		if (r < 0)
			return r;
		set = set && curl_easy_setopt(
				 easy, CURLOPT_SSLCERT, tls->certificate) == CURLE_OK;
		set =
		    set && curl_easy_setopt(easy, CURLOPT_SSLKEY, tls->key) == CURLE_OK;
		/* A resumed session would keep the old certificate in use. */
		set = set && curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L) ==
				 CURLE_OK;
	}
	return set ? 0 : -ENOMEM;
}

/* Closes the socket so that the kernel discards all bytes that the peer has not
 * acknowledged: after a time-out they must not arrive minutes later, when they are out
 * of date. */
static int
call_close_socket(void *arg, curl_socket_t fd)
{
	const struct linger at_once = { .l_onoff = 1 };
	int waiting = 0;

	if (ioctl(fd, SIOCOUTQ, &waiting) == 0 && waiting > 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	return close(fd);
}

static int
call_set_options(struct rm_http_call *call, int64_t timeout_ns)
{
	int64_t ms = timeout_ns / RM_NS_PER_MS + (timeout_ns % RM_NS_PER_MS != 0);
	CURL *easy = call->easy;
	bool set = true;

	if (timeout_ns < 0 || ms > INT32_MAX)
		return -EINVAL;
	set = set && curl_easy_setopt(easy, CURLOPT_PRIVATE, call) == CURLE_OK;
	set = set &&
	      curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->reason) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)ms) == CURLE_OK;
	set = set && curl_easy_setopt(
			 easy, CURLOPT_CONNECTTIMEOUT_MS, CALL_CONNECT_MS) == CURLE_OK;
	set = set && set_protocols(easy) && set_quick_exit(easy);
	set = set && curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			 (long)CURL_HTTP_VERSION_1_1) == CURLE_OK;
	/* Ignores proxies in the environment of the daemon. */
	set = set && curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_USERAGENT,
			 "rackmesh/" RACKMESH_VERSION) == CURLE_OK;
	set = set &&
	      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, call_on_body) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_WRITEDATA, call) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, call_on_header) ==
			 CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_HEADERDATA, call) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION,
			 call_close_socket) == CURLE_OK;
	return set ? 0 : -ENOMEM;
}

int
rm_http_call_new(const struct rm_http_exchange *exchange, struct rm_http_client *client,
    struct rm_http_call **ret)
{
	struct rm_http_call *call = calloc(1, sizeof(*call));
	int r = -ENOMEM;

	if (call == NULL)
		return -ENOMEM;
	call->client = client;
	call->on_data = exchange->on_data;
	call->done = exchange->done;
	call->arg = exchange->arg;
	call->max_body =
	    exchange->max_body_bytes > 0 ? exchange->max_body_bytes : CALL_MAX_ANSWER;
	call->whole = exchange->whole;
	call->easy = curl_easy_init();
	if (call->easy == NULL)
		goto out;
	r = call_set_options(call, exchange->timeout_ns);
	if (r == 0)
		r = call_set_url(call, exchange->url);
	if (r == 0)
		r = call_set_tls(call, exchange->tls);
	if (r == 0)
		r = call_set_headers(call, exchange);
	if (r == 0)
		r = call_set_login(call, exchange);
	if (r == 0)
		r = call_set_body(call, exchange);
	if (r < 0)
		goto out;
	*ret = call;
	return 0;
out:
	rm_http_call_free(call);
	return r;
}

void
rm_http_call_free(struct rm_http_call *call)
{
	if (call->easy != NULL)
		curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	free(call->body);
	free(call);
}
