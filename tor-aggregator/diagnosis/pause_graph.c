#include "tor-aggregator/diagnosis/pause_graph.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/switch/switch_neighbor.h"

#define NOWHERE SIZE_MAX
#define LOOP_NAMES 16
#define CHUNKS (PAUSE_MAX_PAUSES / 64)

struct node { /* a switch, or a neighbour that is not a switch */
	bool is_switch;
	/* for a switch: its index; for another neighbour: index of the port that leads
	 * to it */
	size_t at;
};

struct port {
	size_t of, far; /* switches; far: NOWHERE for none */
	/* index of the port at the other end of the link; NOWHERE: none */
	size_t partner;
	enum pause_neighbor kind;
	char name[PAUSE_PORT_BYTES], neighbor[PAUSE_NAME_BYTES];
	char far_port[2][PAUSE_PORT_BYTES];
	struct pause_rate received[PAUSE_CLASSES], sent[PAUSE_CLASSES];
};

struct fabric_switch {
	char name[PAUSE_NAME_BYTES];
	bool read;
	/* bits of priorities for which the port does not count received pauses */
	uint16_t blind;
	bool cut;            /* ports with pauses were left out */
	size_t first, count; /* its ports */
};

struct pause { /* from: the node that sends the pauses; to: the node that is paused */
	struct node from, to;
	/* index of a port of the link; if both ports are known, of the first one */
	size_t link;
	bool strong;
	struct pause_rate rate;
	bool reached; /* the source of this pause was found */
};

struct pause_graph {
	struct fabric_switch switches[PAUSE_MAX_SWITCHES];
	size_t switch_count;
	struct port *ports;
	size_t port_count, capacity;
	size_t quiet_count; /* number of ports without pauses */
	uint64_t ports_left_out, pauses_left_out;

	/* State of the judgement of one priority, or of PAUSE_GLOBAL. */
	unsigned priority;
	struct pause pauses[PAUSE_MAX_PAUSES];
	size_t pause_count;
	bool pauses_cut; /* there are more */
	/* Bits of pauses: those that a pause causes, and those that have a cause. */
	uint64_t effects[PAUSE_MAX_PAUSES][CHUNKS], caused[CHUNKS];
	struct pause_finding *found;
	size_t found_count;
};

struct pause_graph *
pause_graph_new(void)
{
	return calloc(1, sizeof(struct pause_graph));
}

void
pause_graph_free(struct pause_graph *graph)
{
	if (graph == NULL)
		return;
	free(graph->ports);
	free(graph);
}

const char *
pause_kind_str(enum pause_kind kind)
{
	static const char *const names[] = { "pause-source", "pause-congestion",
		"pause-source-not-known", "pause-loop" };

	return names[kind];
}

const char *
pause_kind_what(enum pause_kind kind)
{
	static const char *const texts[] = {
		"This RNIC pauses its switch, and the pauses spread from there to "
		"others, "
		"which are not at fault.",
		"This switch pauses its neighbours, and is not paused for long enough "
		"to explain that: the pauses begin at its own queues.",
		"Pauses spread, and where they begin is not known.",
		"Switches pause each other in a loop, and no other port pauses them: a "
		"deadlock.",
	};

	return texts[kind];
}

int
pause_graph_add_switch(struct pause_graph *graph, const char *name, bool read)
{
	struct fabric_switch *added;

	if (graph->port_count > 0)
		return -EINVAL;
	if (graph->switch_count == PAUSE_MAX_SWITCHES)
		return -ENOSPC;
	added = &graph->switches[graph->switch_count++];
	snprintf(added->name, sizeof(added->name), "%s", name);
	added->read = read;
	return 0;
}

/* ---- ports ---- */

static bool
is_faint(const struct pause_rate *rate)
{
	return rate->known &&
	       rate->value >= (rate->timed ? PAUSE_FAINT_PCT : PAUSE_FAINT_FRAMES);
}

static bool
is_strong(const struct pause_rate *rate)
{
	return rate->known &&
	       rate->value >= (rate->timed ? PAUSE_STRONG_PCT : PAUSE_STRONG_FRAMES);
}

static bool
has(const struct evidence *evidence, unsigned number, unsigned priority)
{
	return (evidence->there[number] >> priority & 1) != 0 &&
	       evidence_seconds(evidence, number) > 0;
}

struct pause_rate
pause_rate_of(const struct evidence *evidence, unsigned timed, unsigned frames,
    unsigned priority, rm_mono_t until)
{
	const bool counts_frames =
	    has(evidence, frames, priority) && evidence->value[frames][priority] > 0;
	const unsigned number =
	    has(evidence, timed, priority) &&
		    (evidence->value[timed][priority] > 0 || !counts_frames)
		? timed
		: frames;
	double per_second;

	if (!has(evidence, number, priority))
		return (struct pause_rate){ .known = false };
	per_second = (double)evidence->value[number][priority] /
		     evidence_seconds(evidence, number);
	return (struct pause_rate){ .known = true,
		.timed = number == timed,
		.value = number == timed ? fmin(per_second / 1e4, 100) : per_second,
		.from =
		    rm_mono_add(until, evidence_is_switch(number) ? -evidence->switch_ns
								  : -evidence->host_ns),
		.until = until };
}

/* True: a is stronger; a share of time is stronger than frames. */
static bool
is_more(const struct pause_rate *a, const struct pause_rate *b)
{
	return a->timed == b->timed ? a->value > b->value : a->timed;
}

static bool
is_before(const struct pause_rate *a, const struct pause_rate *b)
{
	return a->until.ns != 0 && a->until.ns <= b->from.ns;
}

struct pause_rate
pause_rate_of_both(const struct pause_rate *a, const struct pause_rate *b)
{
	if (a->known != b->known)
		return a->known ? *a : *b;
	if (is_before(a, b) || is_before(b, a))
		return is_before(a, b) ? *b : *a;
	if (is_strong(a) != is_strong(b))
		return is_strong(a) ? *a : *b;
	if (a->timed != b->timed)
		return a->timed ? *a : *b;
	return a->value >= b->value ? *a : *b;
}

static bool
has_pauses(const struct pause_port *port)
{
	for (size_t i = 0; i < PAUSE_CLASSES; i++)
		if (is_faint(&port->received[i]) || is_faint(&port->sent[i]))
			return true;
	return false;
}

static int
grow(struct pause_graph *graph)
{
	const size_t capacity = graph->capacity == 0 ? 64 : 2 * graph->capacity;
	struct port *ports = graph->ports;

	if (graph->port_count < graph->capacity)
		return 0;
	ports = reallocarray(ports, capacity, sizeof(*ports));
	if (ports == NULL)
		return -ENOMEM;
	graph->ports = ports;
	graph->capacity = capacity;
	return 0;
}

int
pause_graph_add_port(
    struct pause_graph *graph, size_t of, const struct pause_port *port)
{
	struct fabric_switch *owner =
	    &graph->switches[of < graph->switch_count ? of : 0];
	struct port *added;
	bool quiet;

	if (of >= graph->switch_count || !owner->read ||
	    (port->kind == PAUSE_NEIGHBOR_SWITCH && port->far >= graph->switch_count))
		return -EINVAL;
	if (owner->count > 0 && owner->first + owner->count != graph->port_count)
		return -EINVAL;
	for (unsigned i = 0; i < PAUSE_CLASSES; i++) {
		const bool off = i == PAUSE_GLOBAL ? port->global_off : port->off;

		if (!port->received[i].known && (port->sent[i].known || !off))
			owner->blind = (uint16_t)(owner->blind | 1U << i);
	}
	/* A port without pauses is kept, too, if it leads to a switch: its reading may
	 * be newer than that of the other end, which has pauses. */
	quiet = !has_pauses(port);
	if (quiet && (port->kind != PAUSE_NEIGHBOR_SWITCH ||
			 graph->quiet_count == PAUSE_MAX_PORTS))
		return 0;
	if (!quiet && graph->port_count - graph->quiet_count == PAUSE_MAX_PORTS) {
		graph->ports_left_out++;
		owner->cut = true;
		return 0;
	}
	if (grow(graph) < 0)
		return -ENOMEM;
	graph->quiet_count += quiet;
	if (owner->count++ == 0)
		owner->first = graph->port_count;
	added = &graph->ports[graph->port_count++];
	*added = (struct port){
		.of = of, .far = NOWHERE, .partner = NOWHERE, .kind = port->kind
	};
	snprintf(added->name, sizeof(added->name), "%s", port->name);
	if (port->kind == PAUSE_NEIGHBOR_SWITCH) {
		added->far = port->far;
		for (size_t i = 0; i < 2; i++)
			snprintf(added->far_port[i], sizeof(added->far_port[i]), "%s",
			    port->far_port[i]);
	} else if (port->kind != PAUSE_NEIGHBOR_NOT_KNOWN) {
		snprintf(
		    added->neighbor, sizeof(added->neighbor), "%s", port->neighbor);
	}
	memcpy(added->received, port->received, sizeof(added->received));
	memcpy(added->sent, port->sent, sizeof(added->sent));
	return 0;
}

static bool
leads_to(const struct port *port, const struct port *far)
{
	return port->far == far->of &&
	       (switch_port_is_same(port->far_port[0], far->name) ||
		   switch_port_is_same(port->far_port[1], far->name));
}

/* Finds the two ports of each link. It is enough if one end reports the other. */
static void
join_links(struct pause_graph *graph)
{
	for (size_t i = 0; i < graph->port_count; i++) {
		struct port *port = &graph->ports[i];
		const struct fabric_switch *far;

		if (port->far == NOWHERE || port->far == port->of)
			continue;
		far = &graph->switches[port->far];
		for (size_t j = far->first; j < far->first + far->count; j++)
			if (graph->ports[j].partner == NOWHERE &&
			    port->partner == NOWHERE &&
			    (leads_to(port, &graph->ports[j]) ||
				leads_to(&graph->ports[j], port))) {
				graph->ports[j].partner = i;
				port->partner = j;
			}
	}
}

/* ---- finds the pauses of a priority ---- */

static bool
is_same(struct node a, struct node b)
{
	return a.is_switch == b.is_switch && a.at == b.at;
}

static const char *
name_of(const struct pause_graph *graph, struct node node)
{
	return node.is_switch ? graph->switches[node.at].name
			      : graph->ports[node.at].neighbor;
}

/* Adds the pause in one direction of a link, as counted by its ends. other: the port at
 * the other end, or NULL. */
static void
add_pause(struct pause_graph *graph, size_t link, struct node from, struct node to,
    const struct pause_rate *rate, const struct pause_rate *other)
{
	struct pause pause = { .from = from, .to = to, .link = link, .rate = *rate };

	if (other != NULL)
		pause.rate = pause_rate_of_both(rate, other);
	if (!is_faint(&pause.rate))
		return;
	pause.strong = is_strong(&pause.rate);
	if (graph->pause_count == PAUSE_MAX_PAUSES) {
		graph->pauses_left_out++;
		graph->pauses_cut = true;
		return;
	}
	graph->pauses[graph->pause_count++] = pause;
}

static void
find_pauses(struct pause_graph *graph)
{
	const unsigned p = graph->priority;

	graph->pause_count = 0;
	graph->pauses_cut = false;
	for (size_t i = 0; i < graph->port_count; i++) {
		const struct port *port = &graph->ports[i],
				  *far = port->partner == NOWHERE
					     ? NULL
					     : &graph->ports[port->partner];
		const struct node here = { true, port->of },
				  there = { port->far != NOWHERE,
					  port->far != NOWHERE ? port->far : i };

		if (port->partner != NOWHERE && port->partner < i)
			continue; /* the other end adds the link */
		add_pause(graph, i, there, here, &port->received[p],
		    far == NULL ? NULL : &far->sent[p]);
		add_pause(graph, i, here, there, &port->sent[p],
		    far == NULL ? NULL : &far->received[p]);
	}
}

/* True: two ports whose neighbours are known by name only may be the ends of one
 * link. */
static bool
may_be_same_link(
    const struct pause_graph *graph, const struct pause *a, const struct pause *b)
{
	return a->link == b->link ||
	       (is_same(a->from, b->to) && is_same(a->to, b->from) &&
		   (graph->ports[a->link].partner == NOWHERE ||
		       graph->ports[b->link].partner == NOWHERE));
}

/* True: the cause is strong enough to explain the pause. A share of time cannot be
 * compared with a number of frames: then a strong cause explains any pause, and a faint
 * one explains a faint pause. */
static bool
explains(const struct pause *cause, const struct pause *of)
{
	if (cause->rate.timed != of->rate.timed)
		return cause->strong || !of->strong;
	return PAUSE_EXPLAINS * cause->rate.value >= of->rate.value;
}

enum cause { CAUSE_STRONG, CAUSE_FAINT, CAUSE_BACK, CAUSES };

static bool
is_cause(const struct pause_graph *graph, enum cause how, const struct pause *cause,
    const struct pause *of)
{
	const bool back = may_be_same_link(graph, cause, of);

	return is_same(cause->to, of->from) && cause != of &&
	       back == (how == CAUSE_BACK) && (how == CAUSE_FAINT || cause->strong) &&
	       explains(cause, of);
}

static void
add_bit(uint64_t chunks[CHUNKS], size_t i)
{
	chunks[i / 64] |= UINT64_C(1) << i % 64;
}

static bool
has_bit(const uint64_t chunks[CHUNKS], size_t i)
{
	return (chunks[i / 64] >> i % 64 & 1) != 0;
}

/* Finds the causes of each pause that a switch sends, among the pauses that the switch
 * receives and that are strong enough. It takes the strong pauses at other ports; if
 * there are none, the faint pauses at other ports; if there are none either, the strong
 * pauses from the neighbour that the switch pauses. */
static void
find_causes(struct pause_graph *graph)
{
	memset(graph->effects, 0, sizeof(graph->effects));
	memset(graph->caused, 0, sizeof(graph->caused));
	for (size_t i = 0; i < graph->pause_count; i++) {
		bool any = !graph->pauses[i].from.is_switch;

		for (enum cause how = 0; how < CAUSES && !any; how++)
			for (size_t j = 0; j < graph->pause_count; j++)
				if (is_cause(graph, how, &graph->pauses[j],
					&graph->pauses[i])) {
					add_bit(graph->effects[j], i);
					add_bit(graph->caused, i);
					any = true;
				}
	}
}

static bool
is_first(const struct pause_graph *graph, size_t i)
{
	return !has_bit(graph->caused, i);
}

/* ---- findings ---- */

struct spread {              /* the pauses that some pauses have caused */
	uint64_t in[CHUNKS]; /* bits of pauses */
	bool first[PAUSE_MAX_PAUSES];
	size_t queue[PAUSE_MAX_PAUSES], count;
};

static void
spread_add(struct spread *spread, size_t i, bool first)
{
	if (has_bit(spread->in, i))
		return;
	add_bit(spread->in, i);
	spread->first[i] = first;
	spread->queue[spread->count++] = i;
}

static void
spread_all(struct pause_graph *graph, struct spread *spread)
{
	for (size_t at = 0; at < spread->count; at++) {
		const uint64_t *effects = graph->effects[spread->queue[at]];

		graph->pauses[spread->queue[at]].reached = true;
		for (size_t w = 0; w < CHUNKS; w++)
			for (uint64_t more = effects[w] & ~spread->in[w]; more != 0;
			     more &= more - 1)
				spread_add(spread,
				    w * 64 + (size_t)__builtin_ctzll(more), false);
	}
}

static void
append(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

static void
append_rate(char *text, size_t size, const struct pause_rate *rate)
{
	append(text, size,
	    rate->timed ? "for %.3g %% of the time" : "by %.3g frames per second",
	    rate->value);
}

/* Writes the name of a node; a neighbour without a name is described by the port that
 * leads to it. */
static void
name_or_port(
    const struct pause_graph *graph, struct node node, char name[PAUSE_NAME_BYTES])
{
	snprintf(name, PAUSE_NAME_BYTES, "%s", name_of(graph, node));
	if (name[0] == '\0')
		snprintf(name, PAUSE_NAME_BYTES, "port %.40s of %.64s",
		    graph->ports[node.at].name,
		    graph->switches[graph->ports[node.at].of].name);
}

static void
add_victim(
    const struct pause_graph *graph, struct pause_finding *finding, struct node node)
{
	char name[PAUSE_NAME_BYTES];

	name_or_port(graph, node, name);
	for (size_t i = 0; i < finding->victim_count && i < PAUSE_VICTIMS; i++)
		if (strcmp(finding->victims[i], name) == 0)
			return;
	if (finding->victim_count < PAUSE_VICTIMS)
		snprintf(finding->victims[finding->victim_count], PAUSE_NAME_BYTES,
		    "%s", name);
	finding->victim_count++;
}

/* Finds the nodes that receive strong pauses, except the source, and for a loop except
 * its switches. */
static void
find_victims(const struct pause_graph *graph, const struct spread *spread,
    struct pause_finding *finding)
{
	bool seen[PAUSE_MAX_SWITCHES] = { false };

	for (size_t i = 0; i < spread->count; i++) {
		const struct pause *pause = &graph->pauses[spread->queue[i]];

		if (spread->first[spread->queue[i]])
			seen[pause->from.is_switch ? pause->from.at : 0] |=
			    pause->from.is_switch;
	}
	for (size_t i = 0; i < spread->count; i++) {
		const struct pause *pause = &graph->pauses[spread->queue[i]];
		bool own = false;

		for (size_t k = 0; k < spread->count; k++)
			own |= spread->first[spread->queue[k]] &&
			       is_same(graph->pauses[spread->queue[k]].from, pause->to);
		if (!pause->strong || own ||
		    (pause->to.is_switch && seen[pause->to.at]))
			continue;
		if (pause->to.is_switch)
			seen[pause->to.at] = true;
		add_victim(graph, finding, pause->to);
	}
}

static void
report_victims(struct pause_finding *finding)
{
	char *text = finding->sentence;
	const size_t size = sizeof(finding->sentence);

	for (size_t i = 0; i < finding->victim_count && i < PAUSE_VICTIMS; i++)
		append(text, size, "%s%s", i == 0 ? "; paused by that: " : ", ",
		    finding->victims[i]);
	if (finding->victim_count > PAUSE_VICTIMS)
		append(
		    text, size, " and %zu more", finding->victim_count - PAUSE_VICTIMS);
}

static void
report_steps(const struct pause_graph *graph, const struct spread *spread,
    struct pause_finding *finding)
{
	finding->step_count = spread->count;
	for (size_t i = 0; i < spread->count && i < PAUSE_STEPS; i++) {
		const struct pause *pause = &graph->pauses[spread->queue[i]];
		struct pause_step *step = &finding->steps[i];

		name_or_port(graph, pause->from, step->from);
		name_or_port(graph, pause->to, step->to);
		step->rate = pause->rate;
	}
}

static struct pause_finding *
new_finding(struct pause_graph *graph, enum pause_kind kind)
{
	struct pause_finding *finding;

	if (graph->found_count == PAUSE_MAX_FINDINGS) {
		graph->pauses_left_out++;
		return NULL;
	}
	finding = &graph->found[graph->found_count];
	*finding = (struct pause_finding){ .kind = kind, .priority = graph->priority };
	return finding;
}

/* Returns why a switch may receive pauses that no port shows; NULL: it receives none,
 * so it is the source. */
static const char *
unknown_reason(const struct pause_graph *graph, size_t at)
{
	if (!graph->switches[at].read)
		return "its counters are not read";
	if ((graph->switches[at].blind >> graph->priority & 1) != 0)
		return "one of its ports does not count the pauses that it receives";
	if (graph->pauses_cut || graph->switches[at].cut)
		return "there are more pauses than the aggregator can follow";
	return NULL;
}

/* Returns the strongest pause that a switch receives; NULL: there is none. */
static const struct pause *
most_at(const struct pause_graph *graph, struct node node)
{
	const struct pause *most = NULL;

	for (size_t i = 0; i < graph->pause_count; i++)
		if (is_same(graph->pauses[i].to, node) &&
		    (most == NULL || is_more(&graph->pauses[i].rate, &most->rate)))
			most = &graph->pauses[i];
	return most;
}

static void
report_own_queues(
    const struct pause_graph *graph, struct node node, char *text, size_t size)
{
	const struct pause *most = most_at(graph, node);
	const char *from = most == NULL ? "" : name_of(graph, most->from);

	if (most == NULL) {
		append(text, size, "no neighbour pauses it: its own queues are full");
		return;
	}
	append(text, size,
	    "no neighbour pauses it enough to explain that (%s pauses it most, ",
	    from[0] == '\0' ? "a neighbour" : from);
	append_rate(text, size, &most->rate);
	append(text, size, "): its own queues are full");
}

static void
append_class(const struct pause_graph *graph, char *text, size_t size)
{
	if (graph->priority == PAUSE_GLOBAL)
		append(text, size, " (global pauses, of all priorities)");
	else
		append(text, size, " (priority %u)", graph->priority);
}

static void
report_switch(const struct pause_graph *graph, const struct pause *pause,
    struct pause_finding *finding)
{
	const struct fabric_switch *from = &graph->switches[pause->from.at];
	const char *error = unknown_reason(graph, pause->from.at),
		   *to = name_of(graph, pause->to);
	char *text = finding->sentence;
	const size_t size = sizeof(finding->sentence);

	if (error != NULL)
		finding->kind = PAUSE_SOURCE_NOT_KNOWN;
	snprintf(finding->source, sizeof(finding->source), "%s", from->name);
	append(text, size, "%s pauses %s ", from->name,
	    to[0] == '\0' ? "a neighbour" : to);
	append_rate(text, size, &pause->rate);
	append_class(graph, text, size);
	append(text, size, ", and ");
	if (error == NULL)
		report_own_queues(graph, pause->from, text, size);
	else
		append(
		    text, size, "whether it is paused itself is not known: %s", error);
}

/* Reports a source that is not a switch. The port that leads to it belongs to a switch
 * that is read. */
static void
report_leaf(const struct pause_graph *graph, const struct pause *pause,
    struct pause_finding *finding)
{
	const struct port *port = &graph->ports[pause->from.at];
	const struct fabric_switch *to = &graph->switches[port->of];
	char *text = finding->sentence;
	const size_t size = sizeof(finding->sentence);

	finding->kind = port->kind == PAUSE_NEIGHBOR_RNIC ? PAUSE_SOURCE_RNIC
							  : PAUSE_SOURCE_NOT_KNOWN;
	snprintf(finding->source, sizeof(finding->source), "%s", port->neighbor);
	snprintf(finding->at_switch, sizeof(finding->at_switch), "%s", to->name);
	snprintf(finding->at_port, sizeof(finding->at_port), "%s", port->name);
	append(text, size, "%s pauses port %s of %s ",
	    port->neighbor[0] == '\0' ? "an unknown neighbour" : port->neighbor,
	    port->name, to->name);
	append_rate(text, size, &pause->rate);
	append_class(graph, text, size);
	if (port->kind == PAUSE_NEIGHBOR_NOT_KNOWN)
		append(text, size,
		    ", and what is behind it is not known: LLDP names no neighbour "
		    "there");
	else if (port->kind == PAUSE_NEIGHBOR_OTHER)
		append(text, size,
		    ", and whether it is paused itself is not known: it is neither an "
		    "RNIC of a rack here nor a switch that is read");
	else if (port->kind == PAUSE_NEIGHBOR_LEFT_OUT)
		append(text, size,
		    ", and whether it is paused itself is not known: it was not "
		    "found, because there are too many RNICs of other racks to search "
		    "all");
}

/* Reports the source of the pauses that begin at one node, and how these pauses
 * spread. */
static void
find_source(struct pause_graph *graph, size_t first, struct spread *spread)
{
	const struct node source = graph->pauses[first].from;
	size_t strongest = first;
	struct pause_finding *finding;

	*spread = (struct spread){ .count = 0 };
	for (size_t i = first; i < graph->pause_count; i++) {
		if (!is_same(graph->pauses[i].from, source) || !is_first(graph, i))
			continue;
		spread_add(spread, i, true);
		if (is_more(&graph->pauses[i].rate, &graph->pauses[strongest].rate))
			strongest = i;
	}
	spread_all(graph, spread);
	finding = new_finding(graph, PAUSE_SOURCE_SWITCH);
	if (finding == NULL)
		return;
	finding->rate = graph->pauses[strongest].rate;
	find_victims(graph, spread, finding);
	/* An RNIC whose pauses stop only its own switch is not reported here: rules.c
	 * handles it. */
	if (finding->victim_count <
	    (source.is_switch || !graph->pauses[strongest].strong ? 1 : 2))
		return;
	if (source.is_switch)
		report_switch(graph, &graph->pauses[strongest], finding);
	else
		report_leaf(graph, &graph->pauses[strongest], finding);
	report_victims(finding);
	report_steps(graph, spread, finding);
	graph->found_count++;
}

static void
find_sources(struct pause_graph *graph, struct spread *spread)
{
	for (size_t i = 0; i < graph->pause_count; i++)
		if (!graph->pauses[i].reached && is_first(graph, i))
			find_source(graph, i, spread);
}

/* ---- loops ---- */

static size_t
a_cause(const struct pause_graph *graph, size_t of)
{
	size_t i = 0;

	while (!has_bit(graph->effects[i], of))
		i++;
	return i;
}

/* Follows the causes of a pause until a pause occurs again. loop: the pauses of the
 * loop, each followed by its cause, beginning with the switch with the lowest
 * number. */
static size_t
walk_loop(const struct pause_graph *graph, size_t from, size_t loop[PAUSE_MAX_PAUSES])
{
	size_t count = 0, lowest = 0, path[PAUSE_MAX_PAUSES];
	bool seen[PAUSE_MAX_PAUSES] = { false };

	while (!seen[from]) {
		seen[from] = true;
		from = a_cause(graph, from);
	}
	for (size_t at = from; count == 0 || at != from; at = a_cause(graph, at)) {
		if (graph->pauses[at].to.at < graph->pauses[path[lowest]].to.at &&
		    count > 0)
			lowest = count;
		path[count++] = at;
		if (count == 1)
			lowest = 0;
	}
	for (size_t i = 0; i < count; i++)
		loop[i] = path[(lowest + i) % count];
	return count;
}

static void
report_loop(const struct pause_graph *graph, const size_t *loop, size_t count,
    struct pause_finding *finding)
{
	const struct pause_rate *least = &graph->pauses[loop[0]].rate;
	char *text = finding->sentence;

	for (size_t i = count; i-- > 0;) {
		const struct pause_rate *rate = &graph->pauses[loop[i]].rate;

		if (count - 1 - i < LOOP_NAMES)
			append(finding->source, sizeof(finding->source), "%s > ",
			    name_of(graph, graph->pauses[loop[i]].from));
		else if (count - 1 - i == LOOP_NAMES)
			append(finding->source, sizeof(finding->source), "... > ");
		if (rate->timed < least->timed ||
		    (rate->timed == least->timed && rate->value < least->value))
			least = rate;
	}
	append(finding->source, sizeof(finding->source), "%s",
	    name_of(graph, graph->pauses[loop[0]].to));
	finding->rate = *least;
	append(text, sizeof(finding->sentence), "%s: each pauses the next one",
	    finding->source);
	append_class(graph, text, sizeof(finding->sentence));
	append(text, sizeof(finding->sentence), ", at the least ");
	append_rate(text, sizeof(finding->sentence), least);
	append(text, sizeof(finding->sentence),
	    ", and no port outside of the loop pauses any of them");
}

static bool
is_deadlock(const struct pause_graph *graph, const size_t *loop, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pause_rate *rate = &graph->pauses[loop[i]].rate;

		if (!rate->timed || rate->value < PAUSE_LOOP_PCT)
			return false;
	}
	return true;
}

/* Removes a loop that is not a deadlock: each of its switches counts as a source. */
static void
cut_loop(struct pause_graph *graph, const size_t *loop, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t chunk = loop[i] / 64;
		const uint64_t bit = UINT64_C(1) << loop[i] % 64;

		graph->caused[chunk] &= ~bit;
		for (size_t k = 0; k < graph->pause_count; k++)
			graph->effects[k][chunk] &= ~bit;
	}
}

static void
find_loop(struct pause_graph *graph, size_t from, struct spread *spread)
{
	size_t loop[PAUSE_MAX_PAUSES];
	const size_t count = walk_loop(graph, from, loop);
	struct pause_finding *finding;

	if (!is_deadlock(graph, loop, count)) {
		cut_loop(graph, loop, count);
		find_sources(graph, spread);
		return;
	}
	*spread = (struct spread){ .count = 0 };
	for (size_t i = 0; i < count; i++)
		spread_add(spread, loop[i], true);
	spread_all(graph, spread);
	finding = new_finding(graph, PAUSE_LOOP);
	if (finding == NULL)
		return;
	report_loop(graph, loop, count, finding);
	find_victims(graph, spread, finding);
	report_victims(finding);
	report_steps(graph, spread, finding);
	graph->found_count++;
}

size_t
pause_graph_judge(
    struct pause_graph *graph, struct pause_finding found[PAUSE_MAX_FINDINGS])
{
	struct spread spread;

	join_links(graph);
	graph->found = found;
	graph->found_count = 0;
	graph->pauses_left_out = 0;
	for (unsigned p = 0; p < PAUSE_CLASSES; p++) {
		graph->priority = p;
		find_pauses(graph);
		find_causes(graph);
		find_sources(graph, &spread);
		for (size_t i = 0; i < graph->pause_count; i++)
			if (!graph->pauses[i].reached)
				find_loop(graph, i, &spread);
	}
	return graph->found_count;
}

uint64_t
pause_graph_left_out(const struct pause_graph *graph)
{
	return graph->ports_left_out + graph->pauses_left_out;
}
