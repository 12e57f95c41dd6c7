// SPDX-License-Identifier: GPL-2.0
/*
 * Builds a lab step by step, and takes one down whatever state it is in.
 *
 * DESIGN NOTES
 *
 * The state folder is made first and removed last, and the list of namespaces
 * in it is complete before the first of them exists: so a lab that died half
 * built is taken down by the same code as a whole one.  The folder is locked
 * meanwhile, also by the commands that run: one that outlives a lacectl that was
 * killed would go on building behind the back of "lab down".  All interfaces are in
 * the lab's namespaces from the start and go with them.  Signals that would end
 * us are held back while we build; the command that runs then gets them and
 * fails, and that takes the lab down.
 */
#include "lab_node.h"
#include "lab_run.h"
#include "lab_state.h"
#include "lab_up.h"
#include "ocs.h"
#include "pin.h"
#include "trace_device.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct builder {
	const struct lab *lab;
	bool dry;
	bool fair;	/* the kernel can queue fairly */
	FILE *report;
};

/* ---- scripts, run or printed ---- */

struct script {
	FILE *out;
	char *text;
	size_t size;
};

static FILE *script_begin(struct script *script)
{
	script->out = open_memstream(&script->text, &script->size);
	return script->out;
}

static void print_script(FILE *out, const char *prefix, const char *netns,
			 const char *before, const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		fprintf(out, "%s%s%s%s %.*s\n", prefix, netns ? " " : "",
			netns ? netns : "", before, (int)len, text);
	}
}

static int script_end(struct script *script, struct lace_error *err)
{
	if (!script->out || fclose(script->out))
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return 0;
}

static int script_batch(struct builder *b, struct script *script,
			const char *tool, const char *netns,
			struct lace_error *err)
{
	char prefix[16];
	int ret;

	ret = script_end(script, err);
	if (!ret && b->dry) {
		snprintf(prefix, sizeof(prefix), netns ? "%s -n" : "%s", tool);
		print_script(b->report, prefix, netns, "", script->text);
	} else if (!ret && script->size) {
		ret = lab_run_batch(tool, netns, script->text, err);
	}
	free(script->text);
	return ret;
}

static int script_sysctls(struct builder *b, struct script *script,
			  const char *netns, struct lace_error *err)
{
	int ret;

	ret = script_end(script, err);
	if (!ret && b->dry)
		print_script(b->report, "ip netns exec", netns, " sysctl -w",
			     script->text);
	else if (!ret)
		ret = lab_run_sysctls(netns, script->text, err);
	free(script->text);
	return ret;
}

/* ---- steps ---- */

static int check_free(const struct lab *lab, struct lace_error *err)
{
	const char *netns = lab->switch_netns;
	unsigned int n = 0;

	while (!lab_netns_exists(netns)) {
		if (n == lab->nr_nodes)
			return 0;
		netns = lab->nodes[n++].netns;
	}
	return lace_fail(err, LACE_ERR_ANSWER,
			 "there is a namespace %s already", netns);
}

static int make_namespaces(struct builder *b, struct lace_error *err)
{
	struct script script;
	FILE *out = script_begin(&script);
	unsigned int n;

	if (out) {
		fprintf(out, "netns add %s\n", b->lab->switch_netns);
		for (n = 0; n < b->lab->nr_nodes; n++)
			fprintf(out, "netns add %s\n", b->lab->nodes[n].netns);
	}
	return script_batch(b, &script, "ip", NULL, err);
}

static int tune_namespaces(struct builder *b, struct lace_error *err)
{
	struct script script;
	unsigned int n;
	int ret;

	if (script_begin(&script))
		lab_sysctls_switch(script.out);
	ret = script_sysctls(b, &script, b->lab->switch_netns, err);
	for (n = 0; !ret && n < b->lab->nr_nodes; n++) {
		if (script_begin(&script))
			lab_sysctls_lanes(script.out, b->lab);
		ret = script_sysctls(b, &script, b->lab->nodes[n].netns, err);
	}
	return ret;
}

static int make_links(struct builder *b, struct lace_error *err)
{
	struct script script;

	if (script_begin(&script))
		lab_script_links(script.out, b->lab);
	return script_batch(b, &script, "ip", NULL, err);
}

/* Tests, tiny kernels: a lab works without, but says what it lacks. */
static int probe_fair(struct builder *b, struct lace_error *err)
{
	struct lace_error why = {};
	struct script script;

	b->fair = true;
	if (b->dry)
		return 0;
	if (script_begin(&script))
		lab_script_fair(script.out, b->lab);
	if (script_end(&script, err))
		return -1;
	if (script.size && lab_run_batch("tc", b->lab->switch_netns,
					 script.text, &why)) {
		b->fair = false;
		fprintf(b->report,
			"no fq_codel in this kernel: flows share lanes unevenly\n");
	}
	free(script.text);
	return 0;
}

static int make_switch(struct builder *b, struct lace_error *err)
{
	struct script script;
	int ret;

	if (script_begin(&script))
		lab_script_switch(script.out, b->lab);
	ret = script_batch(b, &script, "ip", b->lab->switch_netns, err);
	if (!ret)
		ret = probe_fair(b, err);
	if (ret)
		return ret;
	if (script_begin(&script))
		lab_script_switch_tc(script.out, b->lab, b->fair);
	return script_batch(b, &script, "tc", b->lab->switch_netns, err);
}

static struct lace_ocs_wire *make_wires(const struct lab *lab, size_t *nr)
{
	const struct lab_port *port;
	struct lace_ocs_wire *wires;
	unsigned int n, p;

	*nr = 0;
	for (n = 0; n < lab->nr_nodes; n++)
		*nr += lab->nodes[n].nr_ports;
	wires = calloc(*nr + 1, sizeof(*wires));
	if (!wires)
		return NULL;
	*nr = 0;
	for (n = 0; n < lab->nr_nodes; n++) {
		for (p = 0; p < lab->nodes[n].nr_ports; p++) {
			port = &lab->nodes[n].ports[p];
			wires[*nr].ifname = port->switch_if;
			wires[*nr].in = port->tx;
			wires[*nr].out = port->rx;
			++*nr;
		}
	}
	return wires;
}

static int attach_ocs(struct builder *b, struct lace_error *err)
{
	struct lace_ocs_wire *wires;
	size_t nr;
	int ret;

	if (b->dry) {
		fprintf(b->report,
			"# attach ocs.bpf.o to the tc ingress of all of %s; pin its maps in %s/%s\n",
			b->lab->switch_netns, LACE_PIN_ROOT,
			b->lab->option->name);
		return 0;
	}
	wires = make_wires(b->lab, &nr);
	if (!wires)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = lace_ocs_attach(b->lab->option->name, b->lab->switch_netns,
			      b->lab->cluster, wires, nr, b->report, err);
	free(wires);
	return ret;
}

static int make_node(struct builder *b, unsigned int n, struct lace_error *err)
{
	const char *netns = b->lab->nodes[n].netns;
	struct script script;
	int ret;

	if (script_begin(&script))
		lab_sysctls_device(script.out);
	ret = script_sysctls(b, &script, netns, err);
	if (ret)
		return ret;
	if (script_begin(&script))
		lab_script_node_tc(script.out, b->lab, n, b->fair);
	ret = script_batch(b, &script, "tc", netns, err);
	if (ret)
		return ret;
	if (script_begin(&script))
		lab_script_node(script.out, b->lab, n);
	ret = script_batch(b, &script, "ip", netns, err);
	if (ret || b->lab->option->bare)
		return ret;
	if (!b->dry)
		return lab_node_configure(b->lab, n, err);
	lab_node_print(b->report, b->lab, n);
	return 0;
}

static int build(struct builder *b, struct lace_error *err)
{
	unsigned int n;
	int ret;

	ret = make_namespaces(b, err);
	if (!ret)
		ret = tune_namespaces(b, err);
	if (!ret)
		ret = make_links(b, err);
	if (!ret)
		ret = make_switch(b, err);
	if (!ret)
		ret = attach_ocs(b, err);
	for (n = 0; !ret && n < b->lab->nr_nodes; n++)
		ret = make_node(b, n, err);
	return ret;
}

/* ---- up ---- */

static void hold_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, before);
}

static bool signal_is_held(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) ||
	       sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

static int build_or_nothing(struct builder *b, const char *cluster_path,
			    struct lace_error *err)
{
	const char *name = b->lab->option->name;
	struct lace_error down = {};
	int ret, lock;

	ret = lab_state_make(name, err);
	if (!ret)
		ret = lab_state_lock(name, &lock, err);
	if (ret)
		return ret;
	/* Before the list is written, so that going down touches nothing. */
	ret = check_free(b->lab, err);
	if (!ret)
		ret = lab_state_write(b->lab, cluster_path, err);
	if (!ret)
		ret = build(b, err);
	if (!ret && signal_is_held())
		ret = lace_fail(err, LACE_ERR_SYSTEM, "interrupted");
	close(lock);
	if (ret && lab_down(name, b->report, &down))
		fprintf(b->report, "and it cannot be taken down: %s\n",
			down.text);
	return ret;
}

int lab_up(const struct lab *lab, const char *cluster_path, bool dry,
	   FILE *report, struct lace_error *err)
{
	struct builder b = { .lab = lab, .dry = dry, .report = report };
	sigset_t before;
	int ret;

	if (dry)
		return build(&b, err);
	hold_signals(&before);
	ret = build_or_nothing(&b, cluster_path, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/* ---- down ---- */

static int delete_namespaces(char **list, size_t nr, struct lace_error *err)
{
	struct script script;
	int ret = 0;
	size_t i;

	if (script_begin(&script))
		for (i = 0; i < nr; i++)
			if (lab_netns_exists(list[i]))
				fprintf(script.out, "netns del %s\n", list[i]);
	ret = script_end(&script, err);
	if (!ret && script.size)
		ret = lab_run_batch("ip", NULL, script.text, err);
	free(script.text);
	return ret;
}

static int remove_pins(const char *name, char **list, size_t nr,
		       struct lace_error *err)
{
	size_t i;
	int ret;

	ret = lace_ocs_detach(name, err);
	for (i = 0; ret >= 0 && i < nr; i++)
		ret = lace_pin_remove(list[i], "", err);
	return ret < 0 ? ret : 0;
}

static int take_down(const char *name, char **list, size_t nr, FILE *report,
		     struct lace_error *err)
{
	struct lace_error ignored = {};
	int ret;

	ret = lab_netns_end_processes(list, nr, err);
	if (ret < 0)
		return ret;
	if (ret)
		fprintf(report, "ended %d process%s in lab %s\n", ret,
			ret == 1 ? "" : "es", name);
	/* Programs of another layout are somebody else's. */
	trace_forget(list, nr, &ignored);
	ret = delete_namespaces(list, nr, err);
	if (!ret)
		ret = remove_pins(name, list, nr, err);
	return ret ? ret : lab_state_remove(name, err);
}

int lab_down(const char *name, FILE *report, struct lace_error *err)
{
	char **list = NULL;
	size_t nr = 0;
	int ret, lock;

	ret = lab_state_check(name, err);
	if (!ret)
		ret = lab_state_lock(name, &lock, err);
	if (ret)
		return ret;
	ret = lab_state_namespaces(name, &list, &nr, err);
	if (!ret)
		ret = take_down(name, list, nr, report, err);
	lab_state_free_namespaces(list, nr);
	close(lock);
	return ret;
}
