/*
 * yaml - a YAML file as a tree in which every node knows file, line and column.
 *
 * The tree is built from libyaml's events, since libyaml's document API hides some of
 * these. Refused are anchors, aliases and tags, duplicate keys, a second document,
 * nesting deeper than RM_YAML_MAX_DEPTH, files larger than RM_YAML_MAX_BYTES, and more
 * nodes than RM_YAML_MAX_NODES. The bytes are not trusted, so the reader is fuzzed.
 */
#ifndef RACKMESH_CONFIG_YAML_H
#define RACKMESH_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

#define RM_YAML_MAX_BYTES (16u << 20)
#define RM_YAML_MAX_DEPTH 32
#define RM_YAML_MAX_NODES (2u << 20)

struct rm_yaml;      /* the document; owns all nodes */
struct rm_yaml_node; /* borrowed from it */

enum rm_yaml_kind { RM_YAML_SCALAR, RM_YAML_LIST, RM_YAML_MAP };

/* error->text: "file:line:column: what is wrong; what to do". */
int rm_yaml_load(const char *path, struct rm_yaml **ret, struct rm_error *error);
int rm_yaml_parse(const char *name, const char *text, size_t len, struct rm_yaml **ret,
    struct rm_error *error);
void rm_yaml_free(struct rm_yaml *yaml);

/* Returns NULL for an empty document. */
const struct rm_yaml_node *rm_yaml_root(const struct rm_yaml *yaml);
enum rm_yaml_kind rm_yaml_kind(const struct rm_yaml_node *node);
const char *rm_yaml_text(const struct rm_yaml_node *scalar); /* never NULL */
bool rm_yaml_quoted(const struct rm_yaml_node *scalar);
/* The number of items of a list, or of pairs of a map. */
size_t rm_yaml_count(const struct rm_yaml_node *node);
const struct rm_yaml_node *rm_yaml_item(const struct rm_yaml_node *list, size_t i);
const struct rm_yaml_node *rm_yaml_key(const struct rm_yaml_node *map, size_t i);
const struct rm_yaml_node *rm_yaml_value(const struct rm_yaml_node *map, size_t i);
const struct rm_yaml_node *rm_yaml_get(const struct rm_yaml_node *map, const char *key);

int rm_yaml_line(const struct rm_yaml_node *node); /* from 1 */

/* Fills error with "file:line:column: ..." for this node; returns r. */
int rm_yaml_error(const struct rm_yaml_node *node, struct rm_error *error, int r,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* False unless text has only decimal digits, no leading zero (which means octal), and
 * fits. */
bool rm_yaml_number(const char *text, uint64_t *ret);

/* These functions read a scalar as a value; on failure, error has the place and what
 * was expected. */
int rm_yaml_uint(const struct rm_yaml_node *scalar, uint64_t min, uint64_t max,
    uint64_t *ret, struct rm_error *error);
int rm_yaml_bool(const struct rm_yaml_node *scalar, bool *ret, struct rm_error *error);

#endif
