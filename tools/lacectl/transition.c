// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl transition": from one segment to another while traffic flows, on one
 * device.  "lacectl plan apply --lab" does so on all nodes of a lab.
 */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"lacectl transition start dev DEV to SEGMENT [on-failure rollback|degrade]\n"
	"                   [retries N] [no-drain] [deadline PHASE MSECS]...\n"
	"                   [no-wait]\n"
	"lacectl transition show dev DEV [id NUMBER]\n"
	"lacectl transition history [dev DEV]\n"
	"lacectl transition abort dev DEV\n"
	"  start waits for the end and prints it; exit status 1 unless it is done\n"
	"  PHASE is quiesce, drain, switch, settle, verify or resume\n"
	"  show is of the last one if no NUMBER is given\n";

const char *const phase_names[] = {
	[LACE_PHASE_IDLE] = "idle",
	[LACE_PHASE_QUIESCE] = "quiesce",
	[LACE_PHASE_DRAIN] = "drain",
	[LACE_PHASE_SWITCH] = "switch",
	[LACE_PHASE_SETTLE] = "settle",
	[LACE_PHASE_VERIFY] = "verify",
	[LACE_PHASE_RESUME] = "resume",
	NULL,
};

static const char *const result_names[] = {
	[LACE_RESULT_RUNNING] = "running",
	[LACE_RESULT_DONE] = "done",
	[LACE_RESULT_ROLLED_BACK] = "rolled_back",
	[LACE_RESULT_DEGRADED] = "degraded",
	NULL,
};

static const char *const on_failure_names[] = {
	[LACE_ON_FAILURE_ROLLBACK] = "rollback",
	[LACE_ON_FAILURE_DEGRADE] = "degrade",
	NULL,
};

static const char *const fault_names[] = {
	[LACE_FAULT_UNDRAINED] = "undrained",
	[LACE_FAULT_HOOK] = "hook",
	[LACE_FAULT_NO_CARRIER] = "no_carrier",
	[LACE_FAULT_SILENT] = "silent",
	[LACE_FAULT_WRONG_END] = "wrong_end",
	[LACE_FAULT_ABORTED] = "aborted",
	[LACE_FAULT_PORT_GONE] = "port_gone",
	NULL,
};

#define NAME_OF(names, i) \
	((i) < sizeof(names) / sizeof(*(names)) - 1 ? (names)[i] : "?")

const char *phase_name(uint8_t phase)
{
	return NAME_OF(phase_names, phase);
}

/* ---- show ---- */

json_t *json_port_set(uint32_t ports)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < LACE_MAX_PORTS; i++)
		if (ports & 1U << i)
			json_array_append_new(list, json_integer(i));
	return list;
}

static json_t *json_fault(const struct lace_rt_fault *fault)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i}",
			 "kind", NAME_OF(fault_names, fault->kind),
			 "phase", phase_name(fault->phase),
			 "port", json_or_null(fault->port),
			 "peer", json_or_null(fault->peer),
			 "peer_port", fault->peer < 0 ? json_null() :
				json_integer(fault->peer_port),
			 "found", json_or_null(fault->found),
			 "found_port", fault->found < 0 ? json_null() :
				json_integer(fault->found_port),
			 "hook", fault->hook[0] ? json_string(fault->hook) :
				json_null(),
			 "error", fault->error);
}

static json_t *json_faults(const struct lace_rt_transition *transition)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < transition->nr_faults; i++)
		json_array_append_new(list,
				      json_fault(&transition->faults[i]));
	return list;
}

json_t *json_transition(const struct lace_rt_transition *transition)
{
	const struct lace_rt_request *request = &transition->request;
	json_t *deadlines = json_object(), *times = json_object();
	int i;

	for (i = LACE_PHASE_QUIESCE; i <= LACE_PHASE_MAX; i++) {
		json_object_set_new(deadlines, phase_names[i],
				    json_integer(request->deadline_ms[i]));
		json_object_set_new(times, phase_names[i],
				    json_integer(transition->times_ns[i]));
	}
	return json_pack("{s:s, s:I, s:o, s:I, s:s, s:s, s:i, s:b, s:s, s:i, s:b,"
			 " s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o}",
			 "dev", transition->ifname,
			 "id", (json_int_t)transition->id,
			 "from", json_or_null(transition->from),
			 "to", (json_int_t)request->to,
			 "result", NAME_OF(result_names, transition->result),
			 "phase", phase_name(transition->phase),
			 "attempt", transition->attempt,
			 "back", transition->back,
			 "on_failure", NAME_OF(on_failure_names,
					       request->on_failure),
			 "retries", request->retries,
			 "no_drain", request->no_drain,
			 "deadlines_ms", deadlines,
			 "begun_ns", (json_int_t)transition->begun_ns,
			 "total_ns", (json_int_t)transition->total_ns,
			 "times_ns", times,
			 "ports", json_port_set(transition->ports),
			 "waiting", json_port_set(transition->waiting),
			 "faults", json_faults(transition),
			 "reason", transition->reason[0] ?
				json_string(transition->reason) : json_null());
}

static void print_fault(const struct lace_rt_fault *fault)
{
	printf("    %s in %s", NAME_OF(fault_names, fault->kind),
	       phase_name(fault->phase));
	if (fault->hook[0])
		printf(": hook %s", fault->hook);
	if (fault->error)
		printf(" (%s)", strerror(fault->error));
	if (fault->port >= 0)
		printf(": lane of port %d", fault->port);
	if (fault->found >= 0)
		printf(" reaches node %d port %u", fault->found,
		       fault->found_port);
	if (fault->peer >= 0)
		printf(fault->found >= 0 ? ", not node %d port %u" :
					   " to node %d port %u",
		       fault->peer, fault->peer_port);
	putchar('\n');
}

static void print_times(const struct lace_rt_transition *transition)
{
	int i;

	printf("    %.3fms:", transition->total_ns / 1e6);
	for (i = LACE_PHASE_QUIESCE; i <= LACE_PHASE_MAX; i++)
		printf(" %s %.3f", phase_names[i],
		       transition->times_ns[i] / 1e6);
	putchar('\n');
}

void print_transition(const struct lacectl *ctl,
		      const struct lace_rt_transition *transition)
{
	unsigned int i;

	printf("%s transition %" PRIu64, transition->ifname, transition->id);
	print_or_none(" from", transition->from);
	printf(" to %u: ", transition->request.to);
	if (transition->result == LACE_RESULT_RUNNING)
		printf("%s%s, attempt %u\n", phase_name(transition->phase),
		       transition->back ? " back" : "", transition->attempt);
	else
		printf("%s in %.3fms\n",
		       NAME_OF(result_names, transition->result),
		       transition->total_ns / 1e6);
	if (transition->reason[0])
		printf("    %s\n", transition->reason);
	for (i = 0; i < transition->nr_faults; i++)
		print_fault(&transition->faults[i]);
	if (ctl->stats)
		print_times(transition);
}

static int report(const struct lacectl *ctl,
		  const struct lace_rt_transition *transition,
		  struct lace_error *err)
{
	if (ctl->json)
		return print_json(ctl, json_transition(transition), err);
	print_transition(ctl, transition);
	return print_end(err);
}

static int transition_show(const struct lacectl *ctl, int argc, char **argv,
			   struct lace_error *err)
{
	struct lace_rt_transition transition;
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	int ret;

	if (args_selection(&args, "id", INT64_MAX, &selection, err) ||
	    args_need(&selection, false, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_transition(client, selection.dev, selection.id,
				     &transition, err);
	lace_client_close(client);
	return ret ? ret : report(ctl, &transition, err);
}

static int transition_history(const struct lacectl *ctl, int argc, char **argv,
			      struct lace_error *err)
{
	struct lace_rt_transition *transitions;
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	json_t *list = NULL;
	size_t nr, i;
	int ret;

	if (args_selection(&args, "transition", 0, &selection, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_transitions(client, selection.dev, &transitions, &nr,
				      err);
	lace_client_close(client);
	if (ret)
		return ret;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list,
					      json_transition(&transitions[i]));
		else
			print_transition(ctl, &transitions[i]);
	free(transitions);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

/* ---- start ---- */

enum word { DEV, TO, ON_FAILURE, RETRIES, NO_DRAIN, DEADLINE, NO_WAIT };

struct start_words {
	const char *dev;
	bool to_given;
	bool no_wait;
	struct lace_rt_request request;
};

static int parse_deadline(struct args *args, struct lace_rt_request *request,
			  struct lace_error *err)
{
	uint64_t number;
	int phase;

	if (args_keyword(args, phase_names + 1, &phase, err))
		return -1;
	if (phase < 0)
		return lace_fail(err, LACE_ERR_INPUT,
				 "phase after \"deadline\" is missing");
	if (args_number(args, "deadline", LACE_MAX_PHASE_MSECS, &number, err))
		return -1;
	if (!number)
		return lace_fail(err, LACE_ERR_INPUT,
				 "a deadline of 0 ms is over before it begins");
	request->deadline_ms[phase + 1] = number;
	return 0;
}

static int parse_on_failure(struct args *args, struct lace_rt_request *request,
			    struct lace_error *err)
{
	int what;

	if (args_keyword(args, on_failure_names, &what, err))
		return -1;
	if (what < 0)
		return lace_fail(err, LACE_ERR_INPUT,
				 "rollback or degrade is missing");
	request->on_failure = what;
	return 0;
}

static int parse_word(struct args *args, int word, struct start_words *words,
		      struct lace_error *err)
{
	struct lace_rt_request *request = &words->request;
	uint64_t number;

	switch (word) {
	case DEV:
		return args_word(args, "device after \"dev\"", &words->dev, err);
	case ON_FAILURE:
		return parse_on_failure(args, request, err);
	case DEADLINE:
		return parse_deadline(args, request, err);
	case NO_DRAIN:
		request->no_drain = true;
		return 0;
	case NO_WAIT:
		words->no_wait = true;
		return 0;
	case RETRIES:
		if (args_number(args, "retries", LACE_MAX_RETRIES, &number,
				err))
			return -1;
		request->retries = number;
		return 0;
	}
	if (args_number(args, "segment", UINT32_MAX, &number, err))
		return -1;
	request->to = number;
	words->to_given = true;
	return 0;
}

static int parse_start(struct args *args, struct start_words *words,
		       struct lace_error *err)
{
	static const char *const keywords[] = {
		[DEV] = "dev", [TO] = "to", [ON_FAILURE] = "on-failure",
		[RETRIES] = "retries", [NO_DRAIN] = "no-drain",
		[DEADLINE] = "deadline", [NO_WAIT] = "no-wait", NULL,
	};
	int word;

	for (;;) {
		if (args_keyword(args, keywords, &word, err))
			return -1;
		if (word < 0)
			break;
		if (parse_word(args, word, words, err))
			return -1;
	}
	if (!words->dev)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"dev DEVICE\" is missing");
	if (!words->to_given)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"to SEGMENT\" is missing");
	return 0;
}

/* Reads what has come; 1: the transition may be over. */
static int drain(struct lace_monitor *monitor, struct lace_error *err)
{
	struct lace_rt_event event;
	int ret, over = 0;

	while ((ret = lace_monitor_next(monitor, &event, err)) > 0) {
		over |= event.cmd == LACE_CMD_UNSPEC ||
			(event.cmd == LACE_CMD_TRANSITION_NTF &&
			 event.transition.result != LACE_RESULT_RUNNING);
		lace_rt_event_free(&event);
	}
	return ret < 0 ? ret : over;
}

static int wait_for_end(struct lace_client *client,
			struct lace_monitor *monitor, const char *dev,
			uint64_t id, struct lace_rt_transition *transition,
			struct lace_error *err)
{
	struct pollfd fd = { .fd = lace_monitor_fd(monitor), .events = POLLIN };
	int ret;

	for (;;) {
		if (lace_client_transition(client, dev, id, transition, err))
			return -1;
		if (transition->result != LACE_RESULT_RUNNING)
			return 0;
		do {
			if (poll(&fd, 1, -1) < 0 && errno != EINTR)
				return lace_fail(err, LACE_ERR_SYSTEM,
						 "cannot wait for events: %s",
						 strerror(errno));
			ret = drain(monitor, err);
			if (ret < 0)
				return ret;
		} while (!ret);
	}
}

static int verdict(const struct lace_rt_transition *transition,
		   struct lace_error *err)
{
	if (transition->result == LACE_RESULT_DONE)
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER, "%s: transition %" PRIu64 " %s: %s",
			 transition->ifname, transition->id,
			 transition->result == LACE_RESULT_DEGRADED ?
				"is degraded" : "was rolled back",
			 transition->reason[0] ? transition->reason :
						 "the module gives no reason");
}

static int start(const struct lacectl *ctl, struct lace_client *client,
		 struct lace_monitor *monitor, const struct start_words *words,
		 struct lace_error *err)
{
	struct lace_rt_transition transition;
	uint64_t id;
	int ret;

	if (lace_client_start_transition(client, words->dev, &words->request,
					 &id, err))
		return -1;
	ret = words->no_wait ?
	      lace_client_transition(client, words->dev, id, &transition, err) :
	      wait_for_end(client, monitor, words->dev, id, &transition, err);
	if (!ret)
		ret = report(ctl, &transition, err);
	return ret || words->no_wait ? ret : verdict(&transition, err);
}

static int transition_start(const struct lacectl *ctl, int argc, char **argv,
			    struct lace_error *err)
{
	struct start_words words = { 0 };
	struct args args = { argc, argv };
	struct lace_monitor *monitor;
	struct lace_client *client;
	int ret;

	if (parse_start(&args, &words, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	/* Before it begins, so that its end is not missed. */
	ret = lace_monitor_open(NULL, &monitor, err);
	if (!ret) {
		ret = start(ctl, client, monitor, &words, err);
		lace_monitor_close(monitor);
	}
	lace_client_close(client);
	return ret;
}

/* ---- abort ---- */

static int transition_abort(const struct lacectl *ctl, int argc, char **argv,
			    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	int ret;

	(void)ctl;
	if (args_selection(&args, "transition", 0, &selection, err) ||
	    args_need(&selection, false, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_abort_transition(client, selection.dev, err);
	lace_client_close(client);
	return ret;
}

static const struct command commands[] = {
	{ "history", transition_history },
	{ "show", transition_show },
	{ "start", transition_start },
	{ "abort", transition_abort },
	{ NULL, NULL },
};

const struct object transition_object = { "transition", usage, commands, NULL };
