// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Sets and reads the emulated OCS through its pinned maps.
 *
 * DESIGN NOTES
 *
 * A change is worked out on a copy of the whole cross-connect table ("slots",
 * one for each input of each unit, in order) and then written in two passes:
 * first every input that loses its output goes dark, then the new ones are
 * written with the time at which they come up.  So no output ever has two
 * inputs, and slots that stay are not written at all.  A lock on the folder of
 * the pins keeps two callers from working on copies of each other's past; the
 * program needs no lock but the one in each slot.
 */
#include "ocs.h"
#include "pin.h"
#include "../ebpf/ocs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ULL
#define SWITCH_MAX_S 3600.0

struct slot {
	unsigned int output;
	uint32_t ifindex;
	uint64_t lit_at_ns;
};

struct lace_ocs_emu {
	unsigned int nr_units;
	struct lace_ocs *units;
	unsigned int *first_slot;	/* of each unit */
	size_t nr_slots;
	int dir, output, connect, count;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* ---- opening ---- */

static int open_map(const char *lab, const char *map, size_t key, size_t value,
		    int *fd, struct lace_error *err)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	ret = lace_pin_path(lab, map, path, err);
	if (ret)
		return ret;
	*fd = bpf_obj_get(path);
	if (*fd < 0) {
		if (errno == ENOENT)
			return lace_fail(err, LACE_ERR_ANSWER,
					 "lab %s has no OCS (no %s)", lab, path);
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot open %s: %s",
				 path, strerror(errno));
	}
	if (bpf_obj_get_info_by_fd(*fd, &info, &len))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot read %s: %s",
				 path, strerror(errno));
	if (info.key_size != key || info.value_size != value)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "%s has another layout than this program knows: take lab %s down and up again",
				 path, lab);
	return 0;
}

static int read_layout(const char *lab, struct ocs_layout *layout,
		       struct lace_error *err)
{
	uint32_t zero = 0;
	int fd = -1, ret;

	ret = open_map(lab, "ocs_layout", sizeof(zero), sizeof(*layout), &fd,
		       err);
	if (!ret && bpf_map_lookup_elem(fd, &zero, layout))
		ret = lace_fail(err, LACE_ERR_SYSTEM,
				"cannot read the OCS of lab %s: %s", lab,
				strerror(errno));
	if (!ret && layout->layout != OCS_LAYOUT)
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"the OCS of lab %s has layout %u, this program knows %u: take the lab down and up again",
				lab, layout->layout, OCS_LAYOUT);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int read_units(const char *lab, struct lace_ocs_emu *emu, int fd,
		      struct lace_error *err)
{
	struct ocs_unit unit;
	uint32_t i;

	for (i = 0; i < emu->nr_units; i++) {
		if (bpf_map_lookup_elem(fd, &i, &unit))
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot read OCS %u of lab %s: %s", i,
					 lab, strerror(errno));
		unit.name[sizeof(unit.name) - 1] = '\0';
		emu->units[i].name = strdup(unit.name);
		if (!emu->units[i].name)
			return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		emu->units[i].inputs = unit.inputs;
		emu->units[i].outputs = unit.outputs;
		emu->first_slot[i] = emu->nr_slots;
		emu->nr_slots += unit.inputs;
	}
	return 0;
}

static int open_units(const char *lab, struct lace_ocs_emu *emu,
		      struct lace_error *err)
{
	struct ocs_layout layout;
	int fd = -1, ret;

	ret = read_layout(lab, &layout, err);
	if (ret)
		return ret;
	emu->nr_units = layout.nr_units;
	emu->units = calloc(emu->nr_units, sizeof(*emu->units));
	emu->first_slot = calloc(emu->nr_units, sizeof(*emu->first_slot));
	if (!emu->units || !emu->first_slot)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = open_map(lab, "ocs_unit", sizeof(uint32_t),
		       sizeof(struct ocs_unit), &fd, err);
	if (!ret)
		ret = read_units(lab, emu, fd, err);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int open_emu(const char *lab, struct lace_ocs_emu *emu,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	ret = open_units(lab, emu, err);
	if (!ret)
		ret = open_map(lab, "ocs_output", sizeof(struct ocs_port),
			       sizeof(struct ocs_output), &emu->output, err);
	if (!ret)
		ret = open_map(lab, "ocs_connect", sizeof(struct ocs_port),
			       sizeof(struct ocs_connect), &emu->connect, err);
	if (!ret)
		ret = open_map(lab, "ocs_count", sizeof(struct ocs_port),
			       sizeof(struct ocs_count), &emu->count, err);
	if (!ret)
		ret = lace_pin_path(lab, NULL, path, err);
	if (ret)
		return ret;
	emu->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (emu->dir < 0)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot open %s: %s",
				 path, strerror(errno));
	return 0;
}

/**
 * lace_ocs_open() - opens the emulated OCS of a lab
 * @lab: name of the lab
 * @emu: the result, to be closed by lace_ocs_close()
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_ocs_open(const char *lab, struct lace_ocs_emu **emu,
		  struct lace_error *err)
{
	int ret;

	*emu = calloc(1, sizeof(**emu));
	if (!*emu)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	(*emu)->dir = (*emu)->output = (*emu)->connect = (*emu)->count = -1;
	ret = open_emu(lab, *emu, err);
	if (ret) {
		lace_ocs_close(*emu);
		*emu = NULL;
	}
	return ret;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/**
 * lace_ocs_close() - gives up a handle; the OCS goes on as it is
 * @emu: handle, or NULL
 */
void lace_ocs_close(struct lace_ocs_emu *emu)
{
	unsigned int i;

	if (!emu)
		return;
	close_fd(emu->dir);
	close_fd(emu->output);
	close_fd(emu->connect);
	close_fd(emu->count);
	for (i = 0; emu->units && i < emu->nr_units; i++)
		free(emu->units[i].name);
	free(emu->units);
	free(emu->first_slot);
	free(emu);
}

/**
 * lace_ocs_nr() - number of OCSes in the lab
 * @emu: handle
 *
 * Return: the number.
 */
unsigned int lace_ocs_nr(const struct lace_ocs_emu *emu)
{
	return emu->nr_units;
}

/**
 * lace_ocs_unit() - front panel of one OCS
 * @emu: handle, which owns the result
 * @ocs: index, below lace_ocs_nr()
 *
 * Return: name and size of the OCS.
 */
const struct lace_ocs *lace_ocs_unit(const struct lace_ocs_emu *emu,
				     unsigned int ocs)
{
	return &emu->units[ocs];
}

/* ---- the table of slots ---- */

static struct ocs_port slot_input(const struct lace_ocs_emu *emu, size_t slot)
{
	unsigned int ocs = emu->nr_units - 1;

	while (emu->first_slot[ocs] > slot || !emu->units[ocs].inputs)
		ocs--;
	return (struct ocs_port){ ocs, slot - emu->first_slot[ocs] + 1 };
}

static size_t cross_slot(const struct lace_ocs_emu *emu,
			 const struct lace_cross *cross)
{
	return emu->first_slot[cross->ocs] + cross->input - 1;
}

static int read_slots(struct lace_ocs_emu *emu, struct slot *slots,
		      struct lace_error *err)
{
	struct ocs_connect connect;
	struct ocs_port input;
	size_t i;

	for (i = 0; i < emu->nr_slots; i++) {
		input = slot_input(emu, i);
		if (bpf_map_lookup_elem_flags(emu->connect, &input, &connect,
					      BPF_F_LOCK))
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot read input %u of %s: %s",
					 input.port, emu->units[input.ocs].name,
					 strerror(errno));
		slots[i].output = connect.output;
		slots[i].ifindex = connect.ifindex;
		slots[i].lit_at_ns = connect.lit_at_ns;
	}
	return 0;
}

static int write_slot(struct lace_ocs_emu *emu, size_t i,
		      const struct slot *slot, struct lace_error *err)
{
	struct ocs_port input = slot_input(emu, i);
	struct ocs_connect connect = {
		.output = slot->output,
		.ifindex = slot->ifindex,
		.lit_at_ns = slot->lit_at_ns,
	};

	if (bpf_map_update_elem(emu->connect, &input, &connect,
				BPF_EXIST | BPF_F_LOCK))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot set input %u of %s: %s", input.port,
				 emu->units[input.ocs].name, strerror(errno));
	return 0;
}

/* ---- changing ---- */

static int check_cross(const struct lace_ocs_emu *emu,
		       const struct lace_cross *cross, struct lace_error *err)
{
	const struct lace_ocs *unit;

	if (cross->ocs >= emu->nr_units)
		return lace_fail(err, LACE_ERR_INPUT, "there is no OCS %u",
				 cross->ocs);
	unit = &emu->units[cross->ocs];
	if (cross->input < 1 || cross->input > unit->inputs)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s has no input %u (it has 1 to %u)",
				 unit->name, cross->input, unit->inputs);
	if (cross->output < 1 || cross->output > unit->outputs)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s has no output %u (it has 1 to %u)",
				 unit->name, cross->output, unit->outputs);
	return 0;
}

static int check_crosses(const struct lace_ocs_emu *emu,
			 const struct lace_cross *crosses, size_t nr,
			 double switch_s, struct lace_error *err)
{
	size_t i;
	int ret;

	if (!(switch_s >= 0 && switch_s <= SWITCH_MAX_S))
		return lace_fail(err, LACE_ERR_INPUT,
				 "switching time %g s is not from 0 to %g",
				 switch_s, SWITCH_MAX_S);
	for (i = 0; i < nr; i++) {
		ret = check_cross(emu, &crosses[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

/* Slot whose output is that of cross, or nr_slots. */
static size_t find_output(const struct lace_ocs_emu *emu,
			  const struct slot *slots,
			  const struct lace_cross *cross)
{
	size_t i, end = emu->first_slot[cross->ocs] +
			emu->units[cross->ocs].inputs;

	for (i = emu->first_slot[cross->ocs]; i < end; i++)
		if (slots[i].output == cross->output)
			return i;
	return emu->nr_slots;
}

static int add_cross(struct lace_ocs_emu *emu, struct slot *slots,
		     const struct lace_cross *cross, struct lace_error *err)
{
	struct ocs_port port = { cross->ocs, cross->output };
	struct slot *slot = &slots[cross_slot(emu, cross)];
	const char *ocs = emu->units[cross->ocs].name;
	struct ocs_output output = {};
	size_t other;

	if (slot->output == cross->output)
		return 0;
	if (slot->output)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: input %u is connected to output %u and cannot be to output %u as well",
				 ocs, cross->input, slot->output,
				 cross->output);
	other = find_output(emu, slots, cross);
	if (other != emu->nr_slots)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: output %u is fed by input %u and cannot be by input %u as well",
				 ocs, cross->output,
				 slot_input(emu, other).port, cross->input);
	if (bpf_map_lookup_elem(emu->output, &port, &output) && errno != ENOENT)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot read output %u of %s: %s",
				 cross->output, ocs, strerror(errno));
	slot->output = cross->output;
	slot->ifindex = output.ifindex;
	return 0;
}

static int del_cross(struct lace_ocs_emu *emu, struct slot *slots,
		     const struct lace_cross *cross, struct lace_error *err)
{
	struct slot *slot = &slots[cross_slot(emu, cross)];

	if (slot->output != cross->output)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: input %u is not connected to output %u",
				 emu->units[cross->ocs].name, cross->input,
				 cross->output);
	memset(slot, 0, sizeof(*slot));
	return 0;
}

static int write_changes(struct lace_ocs_emu *emu, const struct slot *old,
			 struct slot *new, double switch_s,
			 struct lace_error *err)
{
	static const struct slot dark;
	uint64_t lit_at_ns;
	size_t i;
	int ret;

	for (i = 0; i < emu->nr_slots; i++) {
		if (!old[i].output || old[i].output == new[i].output)
			continue;
		ret = write_slot(emu, i, &dark, err);
		if (ret)
			return ret;
	}
	lit_at_ns = now_ns() + (uint64_t)(switch_s * NSEC_PER_SEC);
	for (i = 0; i < emu->nr_slots; i++) {
		if (!new[i].output || old[i].output == new[i].output)
			continue;
		new[i].lit_at_ns = lit_at_ns;
		ret = write_slot(emu, i, &new[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

/* A NULL del stands for everything that is connected. */
static int change_locked(struct lace_ocs_emu *emu, struct slot *old,
			 struct slot *new, const struct lace_cross *del,
			 size_t nr_del, const struct lace_cross *add,
			 size_t nr_add, double switch_s, struct lace_error *err)
{
	size_t i;
	int ret;

	ret = read_slots(emu, old, err);
	if (ret)
		return ret;
	if (del)
		memcpy(new, old, emu->nr_slots * sizeof(*new));
	for (i = 0; i < nr_del; i++) {
		ret = del_cross(emu, new, &del[i], err);
		if (ret)
			return ret;
	}
	for (i = 0; i < nr_add; i++) {
		ret = add_cross(emu, new, &add[i], err);
		if (ret)
			return ret;
	}
	return write_changes(emu, old, new, switch_s, err);
}

static int change(struct lace_ocs_emu *emu, const struct lace_cross *del,
		  size_t nr_del, const struct lace_cross *add, size_t nr_add,
		  double switch_s, struct lace_error *err)
{
	struct slot *slots;
	int ret;

	slots = calloc(2 * emu->nr_slots + 1, sizeof(*slots));
	if (!slots)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	if (flock(emu->dir, LOCK_EX)) {
		ret = lace_fail(err, LACE_ERR_SYSTEM, "cannot lock the OCS: %s",
				strerror(errno));
	} else {
		ret = change_locked(emu, slots, slots + emu->nr_slots, del,
				    nr_del, add, nr_add, switch_s, err);
		flock(emu->dir, LOCK_UN);
		/* Sound in itself, but not with what is connected. */
		if (ret && del && err->kind == LACE_ERR_INPUT)
			err->kind = LACE_ERR_ANSWER;
	}
	free(slots);
	return ret;
}

/**
 * lace_ocs_connect() - sets all cross-connects
 * @emu: handle
 * @crosses: what is to be connected
 * @nr: how many
 * @switch_s: seconds until those that are new are lit
 * @err: filled on failure
 *
 * Return: 0, or a negative value; then nothing has changed, unless the kernel
 * itself failed (LACE_ERR_SYSTEM).
 */
int lace_ocs_connect(struct lace_ocs_emu *emu, const struct lace_cross *crosses,
		     size_t nr, double switch_s, struct lace_error *err)
{
	int ret;

	ret = check_crosses(emu, crosses, nr, switch_s, err);
	if (ret)
		return ret;
	return change(emu, NULL, 0, crosses, nr, switch_s, err);
}

/**
 * lace_ocs_change() - changes some cross-connects and keeps the others
 * @emu: handle
 * @del: what goes; each must be connected
 * @nr_del: how many
 * @add: what comes; connected already is fine
 * @nr_add: how many
 * @switch_s: seconds until those that are new are lit
 * @err: filled on failure
 *
 * Return: 0, or a negative value; then nothing has changed, unless the kernel
 * itself failed (LACE_ERR_SYSTEM).
 */
int lace_ocs_change(struct lace_ocs_emu *emu, const struct lace_cross *del,
		    size_t nr_del, const struct lace_cross *add, size_t nr_add,
		    double switch_s, struct lace_error *err)
{
	static const struct lace_cross none;
	int ret;

	ret = check_crosses(emu, del, nr_del, switch_s, err);
	if (!ret)
		ret = check_crosses(emu, add, nr_add, switch_s, err);
	if (ret)
		return ret;
	return change(emu, del ? del : &none, nr_del, add, nr_add, switch_s,
		      err);
}

/* ---- reading ---- */

/**
 * lace_ocs_read() - reads the cross-connects back
 * @emu: handle
 * @states: the result, sorted by OCS and input, freed by the caller
 * @nr: how many
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_ocs_read(struct lace_ocs_emu *emu, struct lace_cross_state **states,
		  size_t *nr, struct lace_error *err)
{
	struct lace_cross_state *state;
	struct ocs_port input;
	struct slot *slots;
	uint64_t now;
	size_t i;
	int ret;

	*nr = 0;
	*states = calloc(emu->nr_slots + 1, sizeof(**states));
	slots = calloc(emu->nr_slots + 1, sizeof(*slots));
	if (*states && slots)
		ret = read_slots(emu, slots, err);
	else
		ret = lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	now = now_ns();
	for (i = 0; !ret && i < emu->nr_slots; i++) {
		if (!slots[i].output)
			continue;
		input = slot_input(emu, i);
		state = &(*states)[(*nr)++];
		state->cross.ocs = input.ocs;
		state->cross.input = input.port;
		state->cross.output = slots[i].output;
		if (slots[i].lit_at_ns > now)
			state->dark_s = (double)(slots[i].lit_at_ns - now) /
					NSEC_PER_SEC;
	}
	free(slots);
	if (ret) {
		free(*states);
		*states = NULL;
	}
	return ret;
}

static int read_counts(struct lace_ocs_emu *emu, struct lace_ocs_count *counts,
		       struct lace_error *err)
{
	struct ocs_count count;
	struct ocs_port input;
	size_t i;

	for (i = 0; i < emu->nr_slots; i++) {
		input = slot_input(emu, i);
		if (bpf_map_lookup_elem(emu->count, &input, &count))
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot read counters of %s: %s",
					 emu->units[input.ocs].name,
					 strerror(errno));
		counts[i].ocs = input.ocs;
		counts[i].input = input.port;
		counts[i].packets = count.packets;
		counts[i].bytes = count.bytes;
		counts[i].dark_packets = count.dark_packets;
		counts[i].dark_bytes = count.dark_bytes;
	}
	return 0;
}

/**
 * lace_ocs_count() - reads the counters of all inputs
 * @emu: handle
 * @counts: the result, sorted by OCS and input, freed by the caller
 * @nr: how many
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_ocs_count(struct lace_ocs_emu *emu, struct lace_ocs_count **counts,
		   size_t *nr, struct lace_error *err)
{
	int ret;

	*nr = emu->nr_slots;
	*counts = calloc(emu->nr_slots + 1, sizeof(**counts));
	if (!*counts)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = read_counts(emu, *counts, err);
	if (ret) {
		free(*counts);
		*counts = NULL;
	}
	return ret;
}

/* ---- pure ---- */

static const struct lace_port *cluster_port(const struct lace_cluster *cluster,
					    unsigned int node,
					    unsigned int port)
{
	if (node >= cluster->nr_nodes || port >= cluster->nodes[node].nr_ports)
		return NULL;
	return &cluster->nodes[node].ports[port];
}

/**
 * lace_cross_of_circuits() - cross-connects that make circuits
 * @cluster: where the fibres of each lane end
 * @circuits: circuits of one configuration
 * @nr: how many
 * @crosses: room for @nr results, in the order of @circuits
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_cross_of_circuits(const struct lace_cluster *cluster,
			   const struct lace_circuit *circuits,
			   unsigned int nr, struct lace_cross *crosses,
			   struct lace_error *err)
{
	const struct lace_circuit *c;
	const struct lace_port *tx, *rx;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		c = &circuits[i];
		tx = cluster_port(cluster, c->tx_node, c->tx_port);
		rx = cluster_port(cluster, c->rx_node, c->rx_port);
		if (!tx || !rx || tx->tx.ocs < 0 || rx->rx.ocs < 0)
			return lace_fail(err, LACE_ERR_INPUT,
					 "circuit [%u, %u, %u, %u]: no such lane in the cluster",
					 c->tx_node, c->tx_port, c->rx_node,
					 c->rx_port);
		if (tx->tx.ocs != rx->rx.ocs)
			return lace_fail(err, LACE_ERR_INPUT,
					 "circuit [%u, %u, %u, %u]: its lanes are on %s and on %s",
					 c->tx_node, c->tx_port, c->rx_node,
					 c->rx_port,
					 cluster->ocs[tx->tx.ocs].name,
					 cluster->ocs[rx->rx.ocs].name);
		crosses[i].ocs = tx->tx.ocs;
		crosses[i].input = tx->tx.port;
		crosses[i].output = rx->rx.port;
	}
	return 0;
}
