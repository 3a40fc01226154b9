/*
 * yaml_node - what yaml.c builds and yaml_node.c reads; nobody else's business.
 */
#ifndef RACKMESH_CONFIG_YAML_NODE_H
#define RACKMESH_CONFIG_YAML_NODE_H

#include <stdarg.h>

#include "rackmesh/config/yaml.h"

struct rm_yaml_node {
	const struct rm_yaml *yaml;
	struct rm_yaml_node *next; /* all nodes of the document, to free them */
	enum rm_yaml_kind kind;
	bool quoted;
	int line, column;            /* from 1 */
	struct rm_yaml_node **items; /* of a map: key, value, key, value, ... */
	size_t count, allocated;     /* in items */
	char text[];                 /* of a scalar */
};

struct rm_yaml {
	char *name;
	struct rm_yaml_node *nodes;
	size_t node_count;
	struct rm_yaml_node *root;
};

/* Fills why with "name:line:column: ..."; returns r. */
int rm_yaml_why_at(const char *name, int line, int column, struct rm_why *why, int r,
    const char *format, va_list args) __attribute__((format(printf, 6, 0)));

#endif
