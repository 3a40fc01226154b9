#include "tor-aggregator/nexus/nexus_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* a number with at most so many characters fits into 63 bits */
#define NUMBER_LETTERS 18

struct cleaner {
	const char *at, *end;
	char *out;
	uint64_t damaged;
};

static void
copy(struct cleaner *cleaner, size_t len)
{
	memcpy(cleaner->out, cleaner->at, len);
	cleaner->out += len;
	cleaner->at += len;
}

static void
replace(struct cleaner *cleaner, size_t len, bool *damaged)
{
	*cleaner->out++ = NEXUS_TEXT_DAMAGED;
	cleaner->at += len;
	*damaged = true;
}

/* Length in bytes of the UTF-8 character at text; 0: the bytes are not UTF-8. */
static size_t
letter_len(const char *text, size_t left)
{
	static const struct {
		unsigned char first_min, first_max, second_min, second_max, len;
	} forms[] = {
		{ 0x20, 0x7e, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (bytes[0] < forms[i].first_min || bytes[0] > forms[i].first_max)
			continue;
		if (left < forms[i].len)
			return 0;
		if (forms[i].len > 1 &&
		    (bytes[1] < forms[i].second_min || bytes[1] > forms[i].second_max))
			return 0;
		for (size_t j = 2; j < forms[i].len; j++)
			if ((bytes[j] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

static bool
is_hex(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF") >= 4;
}

/* Copies an escape sequence. \u with 0 or with a surrogate becomes NEXUS_TEXT_DAMAGED;
 * pairs of surrogates, too, as no text that is read needs them. */
static void
copy_escape(struct cleaner *cleaner, bool *damaged)
{
	const size_t left = (size_t)(cleaner->end - cleaner->at);
	char hex[5] = "";

	if (left >= 2 && memchr("\"\\/bfnrt", cleaner->at[1], 8) != NULL) {
		copy(cleaner, 2);
	} else if (left >= 6 && cleaner->at[1] == 'u') {
		memcpy(hex, cleaner->at + 2, 4);
		if (!is_hex(hex))
			replace(cleaner, 2, damaged);
		else if (strcmp(hex, "0000") == 0 ||
			 (strchr("dD", hex[0]) != NULL &&
			     strchr("89abcdefABCDEF", hex[1]) != NULL))
			replace(cleaner, 6, damaged);
		else
			copy(cleaner, 6);
	} else {
		replace(cleaner, 1, damaged);
	}
}

/* Copies a string, from its first quote to its last one. */
static void
copy_string(struct cleaner *cleaner)
{
	bool damaged = false;
	size_t len;

	copy(cleaner, 1);
	while (cleaner->at < cleaner->end && *cleaner->at != '"') {
		if (*cleaner->at == '\\') {
			copy_escape(cleaner, &damaged);
			continue;
		}
		len = letter_len(cleaner->at, (size_t)(cleaner->end - cleaner->at));
		if (len == 0)
			replace(cleaner, 1, &damaged);
		else
			copy(cleaner, len);
	}
	if (cleaner->at < cleaner->end)
		copy(cleaner, 1);
	cleaner->damaged += damaged;
}

static bool
is_of_token(char letter)
{
	return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
	       (letter >= 'A' && letter <= 'Z') || memchr("+-._", letter, 4) != NULL;
}

static size_t
digits(const char *text, size_t len)
{
	size_t count = 0;

	while (count < len && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* True: every JSON parser accepts the token unchanged. */
static bool
is_plain(const char *token, size_t len)
{
	const size_t sign = token[0] == '-';
	const size_t whole = digits(token + sign, len - sign);
	size_t end = sign + whole;

	if ((len == 4 &&
		(memcmp(token, "true", 4) == 0 || memcmp(token, "null", 4) == 0)) ||
	    (len == 5 && memcmp(token, "false", 5) == 0))
		return true;
	if (whole == 0 || (whole > 1 && token[sign] == '0') || len > NUMBER_LETTERS)
		return false;
	if (end + 1 < len && token[end] == '.')
		end += 1 + digits(token + end + 1, len - end - 1);
	return end == len;
}

static void
copy_token(struct cleaner *cleaner)
{
	size_t len = 0;
	bool plain;

	while (cleaner->at + len < cleaner->end && is_of_token(cleaner->at[len]))
		len++;
	plain = is_plain(cleaner->at, len);
	if (!plain)
		*cleaner->out++ = '"';
	copy(cleaner, len);
	if (!plain)
		*cleaner->out++ = '"';
}

int
nexus_text_clean(
    const char *text, size_t len, char **ret, size_t *ret_len, uint64_t *damaged)
{
	struct cleaner cleaner = { .at = text, .end = text + len };
	char *clean;

	/* A word becomes longer by two quotes, and words are at least one character
	 * apart, so twice the length is enough. */
	clean = malloc(2 * len + 1);
	if (clean == NULL)
		return -ENOMEM;
	cleaner.out = clean;
	while (cleaner.at < cleaner.end) {
		if (*cleaner.at == '"')
			copy_string(&cleaner);
		else if (is_of_token(*cleaner.at))
			copy_token(&cleaner);
		else
			copy(&cleaner, 1);
	}
	*ret = clean;
	*ret_len = (size_t)(cleaner.out - clean);
	*damaged += cleaner.damaged;
	return 0;
}
