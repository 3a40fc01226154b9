/*
 * rules - decides which diagnoses the evidence on one RNIC in one interval supports.
 * Pure.
 *
 * A table has all rules, in the order of evaluation: link, cable, PCIe, source of
 * pauses, drops, congestion control, settings. The thresholds are rough values for an
 * operator; a diagnosis alone raises no alert.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_RULES_H
#define TOR_AGGREGATOR_DIAGNOSIS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/diagnosis/indicator.h"

struct evidence;

enum diagnosis {
	DIAGNOSIS_LINK_FLAP,
	DIAGNOSIS_CABLE,
	DIAGNOSIS_CORRUPTION,
	DIAGNOSIS_PCIE_BOTTLENECK,
	DIAGNOSIS_PCIE_SIGNAL,
	DIAGNOSIS_PCIE_DEGRADED,
	DIAGNOSIS_GLOBAL_PAUSE,
	DIAGNOSIS_PFC_STORM,
	DIAGNOSIS_SLOW_RECEIVER,
	DIAGNOSIS_PAUSE_VICTIM,
	DIAGNOSIS_PFC_STEADY,
	DIAGNOSIS_PFC_DISAGREEMENT,
	DIAGNOSIS_HEADROOM,
	DIAGNOSIS_OUT_OF_BUFFERS,
	DIAGNOSIS_QUEUE_DROPS,
	DIAGNOSIS_SILENT_DROP,
	DIAGNOSIS_REORDERING,
	DIAGNOSIS_CNP_OFF,
	DIAGNOSIS_CNP_IGNORED,
	DIAGNOSIS_INCAST,
	DIAGNOSIS_ECN_CONGESTION,
	DIAGNOSIS_WRONG_CLASS,
	DIAGNOSIS_MTU_MISMATCH,
	DIAGNOSES,
};

enum rule_role {
	RULE_END,
	RULE_ANY,  /* at least one of the conditions with this role must hold */
	RULE_WITH, /* at least one of the conditions with this role must hold, too */
	RULE_MUST, /* all conditions with this role must hold */
	RULE_NOT,  /* no condition with this role may hold */
};

struct rule_condition {
	uint8_t role;      /* enum rule_role */
	uint8_t indicator; /* enum indicator */
	/* true: the condition holds below the threshold; false: at the threshold and
	 * above */
	bool below;
	bool if_known;    /* the condition is ignored if its counters do not exist */
	double threshold; /* in the indicator's unit */
};

#define RULE_CONDITIONS 20

struct rule {
	const char *name;   /* "pfc-storm" */
	const char *what;   /* the meaning of the diagnosis, as a sentence */
	const char *source; /* document from which rule and thresholds were taken */
	unsigned lasts_s;   /* the rule must hold for this time */
	/* Bits of diagnoses that explain the same evidence; they are earlier in the
	 * table. */
	uint32_t unless;
	struct rule_condition conditions[RULE_CONDITIONS];
	bool loses;    /* the fault loses packets, so it can explain lost probes */
	bool of_links; /* the rule also applies to a switch's port without an RNIC */
};

extern const struct rule rules[DIAGNOSES];

enum rule_status {
	RULE_NOT_SO,
	RULE_HOLDS,
	RULE_NOT_KNOWN, /* a counter that the rule needs is missing */
};

#define RULE_REPORTS 3

struct rule_result {
	enum rule_status status;
	bool loses; /* for RULE_HOLDS: the rule and the indicators that show it can lose
		       packets */
	/* for RULE_HOLDS: the indicators that show it; 0: no further one */
	uint8_t reports[RULE_REPORTS];
	uint8_t needs; /* for RULE_NOT_KNOWN: the first indicator that is missing */
};

/* Evaluates all rules, without the time lasts_s. */
void rules_judge(const struct evidence *evidence, struct rule_result ret[DIAGNOSES]);

/* For RULE_HOLDS: writes the evidence, such as "its port counted 812 symbol errors in
 * 10 s, ...". */
#define RULE_SENTENCE_BYTES (RULE_REPORTS * (INDICATOR_TEXT + 2))
void rule_sentence(const struct evidence *evidence, const struct rule_result *result,
    char out[RULE_SENTENCE_BYTES]);

#endif
