// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that are traced: an entry in a map, and their ports' line rates in
 * another.  The programs stay as long as there is one.
 */
#include "pin.h"
#include "trace_device.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int put(const struct trace_pins *pins, enum trace_map which,
	       const void *key, const void *value, struct lace_error *err)
{
	if (!bpf_map_update_elem(pins->fd[which], key, value, BPF_ANY))
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot write a map: %s",
			 strerror(errno));
}

static int put_rates(const struct trace_pins *pins,
		     const struct trace_device_key *device,
		     const struct lace_rt_device *ports,
		     const struct port_line *lines, struct lace_error *err)
{
	struct trace_rate_key key = { device->netns, device->ifindex, 0 };
	struct trace_rate rate;
	unsigned int i;

	for (i = 0; i < ports->nr_ports; i++) {
		key.port = ports->ports[i].number;
		rate.bits_per_s = lines[i].rate_bps;
		rate.overhead = lines[i].overhead;
		if (put(pins, TRACE_MAP_RATES, &key, &rate, err))
			return -1;
	}
	return 0;
}

int trace_add_device(const struct trace_pins *pins,
		     const struct lace_rt_device *device,
		     const struct port_line *lines, struct lace_error *err)
{
	struct trace_device_key key;
	struct trace_device value = {};
	struct timespec now;
	bool known;

	if (trace_key_of(device->ifname, &key, err))
		return -1;
	known = !bpf_map_lookup_elem(pins->fd[TRACE_MAP_DEVICES], &key, &value);
	if (!known && trace_purge(pins, &key, err))
		return -1;
	if (put_rates(pins, &key, device, lines, err))
		return -1;
	if (known)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	value.since_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	snprintf(value.name, sizeof(value.name), "%s", device->ifname);
	return put(pins, TRACE_MAP_DEVICES, &key, &value, err);
}

int trace_stop_if_idle(const struct trace_pins *pins, struct lace_error *err)
{
	struct trace_device_key key;

	if (!bpf_map_get_next_key(pins->fd[TRACE_MAP_DEVICES], NULL, &key))
		return 0;
	return trace_stop(err);
}

int trace_remove_device(const struct trace_pins *pins,
			const struct trace_device_key *key,
			struct lace_error *err)
{
	if (bpf_map_delete_elem(pins->fd[TRACE_MAP_DEVICES], key) &&
	    errno != ENOENT)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot write a map: %s",
				 strerror(errno));
	return trace_stop_if_idle(pins, err);
}

/* Of the namespaces that these names are of. */
static int forget_devices(const struct trace_pins *pins, char **names,
			  size_t nr_names, struct lace_error *err)
{
	struct trace_device_entry *devices;
	char name[NAME_MAX + 1];
	size_t nr, i, j;

	if (trace_read_map(pins, TRACE_MAP_DEVICES, (void **)&devices, &nr,
			   err))
		return -1;
	for (i = 0; i < nr; i++) {
		trace_netns_name(devices[i].key.netns, name, sizeof(name));
		for (j = 0; j < nr_names; j++)
			if (!strcmp(name, names[j]))
				bpf_map_delete_elem(
					pins->fd[TRACE_MAP_DEVICES],
					&devices[i].key);
	}
	free(devices);
	return trace_stop_if_idle(pins, err);
}

int trace_forget(char **names, size_t nr, struct lace_error *err)
{
	struct trace_pins pins;
	int lock, ret;

	if (access(LACE_PIN_ROOT "/" TRACE_FOLDER, F_OK))
		return 0;
	ret = trace_lock(&lock, err);
	if (ret)
		return ret;
	ret = trace_open(&pins, err);
	if (ret > 0) {
		ret = forget_devices(&pins, names, nr, err);
		trace_close(&pins);
	}
	trace_unlock(lock);
	return ret;
}
