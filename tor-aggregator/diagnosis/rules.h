/*
 * rules - the diagnoses that the evidence of one RNIC in one interval supports. Pure.
 *
 * One table has all rules, in the order of evaluation: link, cable, PCIe, source of
 * pauses, drops, congestion control, settings. The thresholds are a first guess for an
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
	RULE_ANY,  /* at least one of these */
	RULE_WITH, /* and one of these */
	RULE_MUST, /* and all of these */
	RULE_NOT,  /* and none of these */
};

struct rule_condition {
	uint8_t role;      /* enum rule_role */
	uint8_t indicator; /* enum indicator */
	bool below;        /* holds below the threshold, not from it on */
	bool if_known;     /* evaluated only if its counters exist */
	double threshold;  /* in the indicator's unit */
};

#define RULE_CONDITIONS 20

struct rule {
	const char *name;   /* "pfc-storm" */
	const char *what;   /* what it means, in a sentence */
	const char *source; /* of the rule and of its thresholds */
	unsigned lasts_s;   /* it has to hold for this time */
	/* In bits: diagnoses that explain the same; evaluated before. */
	uint32_t unless;
	struct rule_condition conditions[RULE_CONDITIONS];
	bool loses;    /* packets: it can explain why probes are lost */
	bool of_links; /* applies to a switch's port without an RNIC, too */
};

extern const struct rule rules[DIAGNOSES];

enum rule_status {
	RULE_NOT_SO,
	RULE_HOLDS,
	RULE_NOT_KNOWN, /* a counter that it needs is missing */
};

#define RULE_REPORTS 3

struct rule_result {
	enum rule_status status;
	bool
	    loses; /* for RULE_HOLDS: what shows it can lose packets, as the rule can */
	uint8_t reports[RULE_REPORTS]; /* for RULE_HOLDS: indicators that show it; 0:
					  none */
	uint8_t needs; /* for RULE_NOT_KNOWN: an indicator that is missing */
};

/* Evaluates all of them, as if they had held for long enough. */
void rules_judge(const struct evidence *evidence, struct rule_result ret[DIAGNOSES]);

/* "its port counted 812 symbol errors in 10 s, ...": of RULE_HOLDS. */
#define RULE_SENTENCE_BYTES (RULE_REPORTS * INDICATOR_TEXT)
void rule_sentence(const struct evidence *evidence, const struct rule_result *result,
    char out[RULE_SENTENCE_BYTES]);

#endif
