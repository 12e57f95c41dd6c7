// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Puts the emulated OCS into a switch namespace and takes it away again: the
 * part of ocs.h that needs the program itself and the namespace.
 */
#include "netns.h"
#include "ocs.h"
#include "pin.h"
#include "../ebpf/ocs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "ocs.skel.h"

#define PIN_PREFIX "ocs_"

/* ---- pins of before ---- */

static unsigned int pinned_layout(const char *lab, struct lace_error *err)
{
	struct bpf_map_info info = {};
	struct ocs_layout layout = {};
	char path[LACE_PIN_PATH_SIZE];
	uint32_t zero = 0, len = sizeof(info);
	int fd;

	if (lace_pin_path(lab, "ocs_layout", path, err))
		return 0;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return 0;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
	    info.value_size == sizeof(layout))
		bpf_map_lookup_elem(fd, &zero, &layout);
	close(fd);
	return layout.layout;
}

static int replace_pins(const char *lab, FILE *report, struct lace_error *err)
{
	unsigned int layout = pinned_layout(lab, err);
	int removed;

	removed = lace_pin_remove(lab, PIN_PREFIX, err);
	if (removed > 0 && report) {
		if (layout == OCS_LAYOUT)
			fprintf(report,
				"replacing the pinned OCS maps that a lab %s of before has left\n",
				lab);
		else
			fprintf(report,
				"replacing the pinned OCS maps of lab %s: their layout is %u, this program's is %u\n",
				lab, layout, OCS_LAYOUT);
	}
	return removed < 0 ? removed : 0;
}

/* ---- maps ---- */

static unsigned int at_least_1(unsigned int n)
{
	return n ? n : 1;
}

static void size_maps(struct ocs_bpf *skel, const struct lace_cluster *cluster,
		      size_t nr_wires)
{
	unsigned int i, inputs = 0, outputs = 0;

	for (i = 0; i < cluster->nr_ocs; i++) {
		inputs += cluster->ocs[i].inputs;
		outputs += cluster->ocs[i].outputs;
	}
	inputs = at_least_1(inputs);
	bpf_map__set_max_entries(skel->maps.ocs_unit,
				 at_least_1(cluster->nr_ocs));
	bpf_map__set_max_entries(skel->maps.ocs_input, at_least_1(nr_wires));
	bpf_map__set_max_entries(skel->maps.ocs_output, at_least_1(outputs));
	bpf_map__set_max_entries(skel->maps.ocs_connect, inputs);
	bpf_map__set_max_entries(skel->maps.ocs_count, inputs);
}

static int put(const struct bpf_map *map, const void *key, const void *value,
	       struct lace_error *err)
{
	if (bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot fill map %s: %s",
				 bpf_map__name(map), strerror(errno));
	return 0;
}

static int fill_unit(struct ocs_bpf *skel, uint32_t ocs,
		     const struct lace_ocs *from, struct lace_error *err)
{
	static const struct ocs_connect dark;
	static const struct ocs_count zero;
	struct ocs_unit unit = {
		.inputs = from->inputs,
		.outputs = from->outputs,
	};
	struct ocs_port input = { .ocs = ocs };
	int ret;

	snprintf(unit.name, sizeof(unit.name), "%s", from->name);
	ret = put(skel->maps.ocs_unit, &ocs, &unit, err);
	for (input.port = 1; !ret && input.port <= from->inputs; input.port++) {
		ret = put(skel->maps.ocs_connect, &input, &dark, err);
		if (!ret)
			ret = put(skel->maps.ocs_count, &input, &zero, err);
	}
	return ret;
}

static int fill_wire(struct ocs_bpf *skel, const struct lace_ocs_wire *wire,
		     uint32_t ifindex, struct lace_error *err)
{
	struct ocs_port input = { wire->in.ocs, wire->in.port };
	struct ocs_port output = { wire->out.ocs, wire->out.port };
	struct ocs_output to = { ifindex };
	int ret = 0;

	if (wire->in.ocs >= 0)
		ret = put(skel->maps.ocs_input, &ifindex, &input, err);
	if (!ret && wire->out.ocs >= 0)
		ret = put(skel->maps.ocs_output, &output, &to, err);
	return ret;
}

static int fill_units(struct ocs_bpf *skel, const struct lace_cluster *cluster,
		      struct lace_error *err)
{
	struct ocs_layout layout = { OCS_LAYOUT, cluster->nr_ocs };
	uint32_t i, zero = 0;
	int ret;

	ret = put(skel->maps.ocs_layout, &zero, &layout, err);
	for (i = 0; !ret && i < cluster->nr_ocs; i++)
		ret = fill_unit(skel, i, &cluster->ocs[i], err);
	return ret;
}

/* ---- in the switch namespace ---- */

static int attach_wire(struct ocs_bpf *skel, const struct lace_ocs_wire *wire,
		       struct lace_error *err)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1,
		    .flags = BPF_TC_F_REPLACE,
		    .prog_fd = bpf_program__fd(skel->progs.ocs_forward));
	int ret;

	hook.ifindex = if_nametoindex(wire->ifname);
	if (!hook.ifindex)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "no interface %s in the switch namespace",
				 wire->ifname);
	ret = fill_wire(skel, wire, hook.ifindex, err);
	if (ret)
		return ret;
	ret = bpf_tc_hook_create(&hook);
	if (!ret || ret == -EEXIST)
		ret = bpf_tc_attach(&hook, &opts);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot attach the OCS to %s: %s",
				 wire->ifname, lace_pin_reason(ret));
	return 0;
}

static int attach_wires(struct ocs_bpf *skel, const struct lace_ocs_wire *wires,
			size_t nr, struct lace_error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		ret = attach_wire(skel, &wires[i], err);
	return ret;
}

static int attach_in(struct ocs_bpf *skel, const char *netns,
		     const struct lace_ocs_wire *wires, size_t nr,
		     struct lace_error *err)
{
	int back = -1, ret;

	ret = lace_netns_enter(netns, &back, err);
	if (ret)
		return ret;
	ret = attach_wires(skel, wires, nr, err);
	return lace_netns_leave(back, err) ? -1 : ret;
}

static int pin_maps(struct ocs_bpf *skel, const char *lab,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	ret = lace_pin_make(lab, err);
	if (!ret)
		ret = lace_pin_path(lab, NULL, path, err);
	if (ret)
		return ret;
	ret = bpf_object__pin_maps(skel->obj, path);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot pin the OCS maps at %s: %s", path,
				 lace_pin_reason(ret));
	return 0;
}

static int load(const struct lace_cluster *cluster, size_t nr_wires,
		struct ocs_bpf **skel, struct lace_error *err)
{
	int ret;

	*skel = ocs_bpf__open();
	if (!*skel)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot open the OCS program: %s",
				 lace_pin_reason(-errno));
	size_maps(*skel, cluster, nr_wires);
	ret = ocs_bpf__load(*skel);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot load the OCS program: %s",
				 lace_pin_reason(ret));
	return fill_units(*skel, cluster, err);
}

/**
 * lace_ocs_attach() - makes a switch namespace an OCS
 * @lab: name of the lab, which names the folder of the pins
 * @netns: name of the switch namespace
 * @cluster: the front panels
 * @wires: interfaces of @netns and the fibres behind them
 * @nr_wires: how many
 * @report: told about pins that are replaced, may be NULL
 * @err: filled on failure
 *
 * Return: 0, or a negative value; then nothing is pinned.
 */
int lace_ocs_attach(const char *lab, const char *netns,
		    const struct lace_cluster *cluster,
		    const struct lace_ocs_wire *wires, size_t nr_wires,
		    FILE *report, struct lace_error *err)
{
	struct lace_error ignored = {};
	struct ocs_bpf *skel;
	int ret;

	lace_pin_capture();
	ret = replace_pins(lab, report, err);
	if (ret)
		return ret;
	ret = load(cluster, nr_wires, &skel, err);
	if (!ret)
		ret = attach_in(skel, netns, wires, nr_wires, err);
	if (!ret)
		ret = pin_maps(skel, lab, err);
	if (ret)
		lace_pin_remove(lab, PIN_PREFIX, &ignored);
	ocs_bpf__destroy(skel);
	return ret;
}

/**
 * lace_ocs_detach() - removes what lace_ocs_attach() pinned
 * @lab: name of the lab
 * @err: filled on failure
 *
 * The programs live as long as the interfaces that they are attached to.
 *
 * Return: 0, or a negative value.
 */
int lace_ocs_detach(const char *lab, struct lace_error *err)
{
	int removed = lace_pin_remove(lab, PIN_PREFIX, err);

	return removed < 0 ? removed : 0;
}
