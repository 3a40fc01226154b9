/*
 * severity - how urgent a verdict is. Rules that route alerts use it. Pure.
 *
 * It depends on the impact, on the kind where the impact is not known, and for a host
 * on the kind alone: docs/alerts.md has the table. An incident has the severity of its
 * opening for its whole life, since it is a label of its alert.
 */
#ifndef RACKMESH_JUDGE_SEVERITY_H
#define RACKMESH_JUDGE_SEVERITY_H

#include "rackmesh/judge/verdict.h"

enum rm_severity {
	RM_SEVERITY_UNSET,
	RM_SEVERITY_WARNING,
	RM_SEVERITY_MAJOR,
	RM_SEVERITY_CRITICAL,
	RM_SEVERITIES
};

enum rm_severity rm_severity(enum rm_kind kind, enum rm_impact impact);

const char *rm_severity_str(enum rm_severity severity); /* "", "warning", ... */
/* text: may be NULL. RM_SEVERITY_UNSET: the text is no severity. */
enum rm_severity rm_severity_parse(const char *text);

#endif
