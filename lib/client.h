/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The runtime client: generic netlink to the lace module, as typed structs.
 *
 * What the module knows is called lace_rt_*, to tell it from the plan's own
 * structs in lace.h: one host's view, with numbers for names.
 *
 * Functions return 0, or a negative errno with *err filled: LACE_ERR_ANSWER
 * with the module's own words where the module refuses, LACE_ERR_SYSTEM where
 * it could not be asked.  Devices are named; ifname NULL means every device,
 * where that is allowed.
 */
#ifndef LACE_CLIENT_H
#define LACE_CLIENT_H

#include <net/if.h>

#include <linux/lace.h>

#include "lace.h"

#define LACE_RT_NONE (-1)	/* no node, no segment */

struct lace_rt_port {
	uint32_t ifindex;
	char ifname[IFNAMSIZ];
	uint8_t number;
};

struct lace_rt_device {
	uint32_t ifindex;
	char ifname[IFNAMSIZ];
	int32_t node;			/* or LACE_RT_NONE */
	int64_t segment;		/* active one, or LACE_RT_NONE */
	uint32_t steer_prog_id;		/* 0: built-in policy */
	int64_t reorder_us;		/* or LACE_RT_NONE: it cannot */
	int64_t ack_ms;			/* or LACE_RT_NONE: it cannot */
	bool ack_keyed;
	uint32_t closed;		/* bit p: TX lane of port p */
	unsigned int nr_ports;
	struct lace_rt_port ports[LACE_MAX_PORTS];	/* by number */
	uint64_t stats[LACE_A_DEVSTAT_MAX + 1];		/* by attribute */
};

struct lace_rt_prefix {
	uint16_t family;	/* AF_INET or AF_INET6 */
	uint8_t length;
	uint8_t address[16];	/* network byte order, the rest is zero */
};

struct lace_rt_node {
	char ifname[IFNAMSIZ];		/* of the lace device */
	uint16_t id;
	unsigned int nr_prefixes;
	struct lace_rt_prefix *prefixes;	/* sorted */
	uint32_t ports;			/* bit p: mac[p] is set */
	uint8_t mac[LACE_MAX_PORTS][6];
};

struct lace_rt_lane {
	char ifname[IFNAMSIZ];		/* of the lace device */
	uint8_t port;
	uint8_t dir;			/* enum lace_dir */
	uint32_t port_ifindex;		/* 0: the port has gone */
	int32_t peer;			/* or LACE_RT_NONE */
	uint8_t peer_port;
	uint8_t state;			/* enum lace_lane_state */
	bool drained;			/* TX: nothing is under way */
	bool closed;			/* TX: carries no data yet */
	int64_t silence_ms;		/* since word came, or LACE_RT_NONE */
	int64_t rtt_ns;			/* or LACE_RT_NONE */
	uint64_t epoch;			/* of the sender; 0: not known */
	uint64_t stats[LACE_A_LANESTAT_MAX + 1];	/* by attribute */
};

struct lace_rt_circuit {
	uint8_t port;
	uint8_t dir;			/* enum lace_dir */
	uint16_t peer;
	uint8_t peer_port;
};

struct lace_rt_route {
	uint16_t from, to;
	int32_t prev, next;		/* or LACE_RT_NONE */
	unsigned int rank;		/* 0, or of the pair's alternates at
					 * this node, from 1 on
					 */
	bool broken;			/* read only */
};

struct lace_rt_segment {
	char ifname[IFNAMSIZ];		/* of the lace device */
	uint32_t id;
	bool active;
	unsigned int nr_circuits;
	struct lace_rt_circuit *circuits;	/* sorted by (dir, port) */
	unsigned int nr_routes;
	struct lace_rt_route *routes;	/* sorted by (from, to, rank) */
};

/* What is asked of a transition. */
struct lace_rt_request {
	uint32_t to;
	uint8_t on_failure;		/* enum lace_on_failure */
	uint8_t retries;
	bool no_drain;
	uint32_t deadline_ms[LACE_PHASE_MAX + 1];	/* 0: the default */
};

struct lace_rt_fault {
	uint8_t kind;			/* enum lace_fault */
	uint8_t phase;			/* enum lace_transition_phase */
	int32_t port;			/* or LACE_RT_NONE: of a hook */
	int32_t peer;			/* planned end, or LACE_RT_NONE */
	uint8_t peer_port;
	int32_t found;			/* real end, or LACE_RT_NONE */
	uint8_t found_port;
	int32_t error;			/* positive errno of the hook, or 0 */
	char hook[LACE_HOOK_NAME_MAX + 1];	/* "": of a lane */
};

#define LACE_RT_MAX_FAULTS 16

struct lace_rt_transition {
	char ifname[IFNAMSIZ];		/* of the lace device */
	uint64_t id;
	int64_t from;			/* segment, or LACE_RT_NONE */
	struct lace_rt_request request;
	uint8_t phase;			/* enum lace_transition_phase */
	uint8_t result;			/* enum lace_result */
	uint8_t attempt;
	bool back;
	uint64_t begun_ns;		/* of CLOCK_REALTIME */
	uint64_t times_ns[LACE_PHASE_MAX + 1];
	uint64_t total_ns;
	uint32_t ports;			/* bit p: TX lane of p changes */
	uint32_t waiting;		/* of these */
	unsigned int nr_faults;
	struct lace_rt_fault faults[LACE_RT_MAX_FAULTS];
	char reason[LACE_REASON_MAX + 1];	/* "": nothing failed */
};

/* A hook, or a call of one. */
struct lace_rt_hook {
	char ifname[IFNAMSIZ];		/* of the lace device */
	char name[LACE_HOOK_NAME_MAX + 1];
	uint32_t phases;		/* bit f: is called in phase f */
	uint32_t portid;
	uint32_t call;			/* the last one; 0: never called */
	uint8_t phase;			/* of the call */
	uint64_t transition;
	bool busy;			/* has yet to answer */
	int64_t error;			/* of the answer, or LACE_RT_NONE */
	char reason[LACE_REASON_MAX + 1];
	/* Of a call only. */
	int64_t from, to;		/* segments, or LACE_RT_NONE */
	uint32_t deadline_ms;
};

/* ---- client.c: the socket ---- */

struct lace_client;

/* netns: name of "ip netns" or path; NULL for the caller's. The client stays
 * with that namespace wherever the thread goes.
 */
int lace_client_open(const char *netns, struct lace_client **client,
		     struct lace_error *err);
void lace_client_close(struct lace_client *client);
/* For poll(), of a client that is a hook. */
int lace_client_fd(const struct lace_client *client);

/* ---- client_get.c: what there is ---- */

/* Lists; the caller frees them with the function below that fits. */
int lace_client_devices(struct lace_client *client, const char *ifname,
			struct lace_rt_device **devices, size_t *nr,
			struct lace_error *err);
int lace_client_nodes(struct lace_client *client, const char *ifname,
		      struct lace_rt_node **nodes, size_t *nr,
		      struct lace_error *err);
int lace_client_lanes(struct lace_client *client, const char *ifname,
		      struct lace_rt_lane **lanes, size_t *nr,
		      struct lace_error *err);
int lace_client_segments(struct lace_client *client, const char *ifname,
			 struct lace_rt_segment **segments, size_t *nr,
			 struct lace_error *err);

int lace_client_transitions(struct lace_client *client, const char *ifname,
			    struct lace_rt_transition **transitions, size_t *nr,
			    struct lace_error *err);
int lace_client_hooks(struct lace_client *client, const char *ifname,
		      struct lace_rt_hook **hooks, size_t *nr,
		      struct lace_error *err);

/* One object, which has to be there; -ENOENT or -ENODEV if it is not. */
int lace_client_device(struct lace_client *client, const char *ifname,
		       struct lace_rt_device *device, struct lace_error *err);
int lace_client_node(struct lace_client *client, const char *ifname,
		     uint16_t id, struct lace_rt_node *node,
		     struct lace_error *err);
int lace_client_segment(struct lace_client *client, const char *ifname,
			uint32_t id, struct lace_rt_segment *segment,
			struct lace_error *err);
int lace_client_lane(struct lace_client *client, const char *ifname,
		     uint8_t port, enum lace_dir dir,
		     struct lace_rt_lane *lane, struct lace_error *err);

/* id LACE_RT_NONE: the last one. */
int lace_client_transition(struct lace_client *client, const char *ifname,
			   int64_t id, struct lace_rt_transition *transition,
			   struct lace_error *err);

/* ---- client_set.c: changes ---- */

int lace_client_set_number(struct lace_client *client, const char *ifname,
			   uint16_t node, struct lace_error *err);
/* fd of a SOCKET_FILTER program; -1 for the built-in policy. */
int lace_client_set_steer(struct lace_client *client, const char *ifname,
			  int fd, struct lace_error *err);
/* Longest time that a TCP segment waits for those before it; 0: none does. */
int lace_client_set_reorder(struct lace_client *client, const char *ifname,
			    uint32_t us, struct lace_error *err);
/* Interval of the lane protocol in milliseconds, 10 to 60000; 0: off. */
int lace_client_set_ack(struct lace_client *client, const char *ifname,
			uint32_t msecs, struct lace_error *err);
/* key: of LACE_RT_KEY_SIZE bytes, or NULL for none. */
#define LACE_RT_KEY_SIZE 16
int lace_client_set_key(struct lace_client *client, const char *ifname,
			const uint8_t *key, struct lace_error *err);
/* port: name of the enslaved device. */
int lace_client_set_port(struct lace_client *client, const char *port,
			 uint8_t number, struct lace_error *err);
/* Creates, or replaces as a whole. node->ifname is not looked at. */
int lace_client_set_node(struct lace_client *client, const char *ifname,
			 const struct lace_rt_node *node,
			 struct lace_error *err);
int lace_client_del_node(struct lace_client *client, const char *ifname,
			 uint16_t id, struct lace_error *err);
/* Loads, or replaces one that is not active; does not activate. */
int lace_client_set_segment(struct lace_client *client, const char *ifname,
			    const struct lace_rt_segment *segment,
			    struct lace_error *err);
int lace_client_del_segment(struct lace_client *client, const char *ifname,
			    uint32_t id, struct lace_error *err);
/* id LACE_RT_NONE: no segment is to be active. */
int lace_client_activate(struct lace_client *client, const char *ifname,
			 int64_t id, struct lace_error *err);

/* ---- client_transition.c: transitions and hooks ---- */

int lace_client_start_transition(struct lace_client *client, const char *ifname,
				 const struct lace_rt_request *request,
				 uint64_t *id, struct lace_error *err);
int lace_client_abort_transition(struct lace_client *client, const char *ifname,
				 struct lace_error *err);
/* The client itself becomes a hook, until it is closed. */
int lace_client_set_hook(struct lace_client *client, const char *ifname,
			 const char *name, uint32_t phases,
			 struct lace_error *err);
int lace_client_del_hook(struct lace_client *client, const char *ifname,
			 const char *name, struct lace_error *err);
/* Does not wait.  1: *call is filled; 0: nothing (more) to read. */
int lace_client_next_call(struct lace_client *client, struct lace_rt_hook *call,
			  struct lace_error *err);
/* error: 0 or a positive errno. */
int lace_client_answer_call(struct lace_client *client,
			    const struct lace_rt_hook *call, uint32_t error,
			    const char *reason, struct lace_error *err);

/* ---- client_monitor.c: what changes ---- */

struct lace_monitor;

struct lace_rt_event {
	/* LACE_CMD_*_NTF; LACE_CMD_UNSPEC: events were lost, ask for everything
	 * anew
	 */
	enum lace_cmd cmd;
	union {
		struct lace_rt_device device;
		struct lace_rt_node node;	/* DEL_NTF: ifname and id */
		struct lace_rt_lane lane;
		struct lace_rt_segment segment;	/* DEL_NTF: ifname and id */
		struct lace_rt_transition transition;
		struct lace_rt_hook hook;	/* also CALL_NTF */
	};
};

int lace_monitor_open(const char *netns, struct lace_monitor **monitor,
		      struct lace_error *err);
void lace_monitor_close(struct lace_monitor *monitor);
/* For poll(): readable when there may be an event. */
int lace_monitor_fd(const struct lace_monitor *monitor);
/* Does not wait.  1: *event is filled, free it; 0: nothing (more) to read. */
int lace_monitor_next(struct lace_monitor *monitor, struct lace_rt_event *event,
		      struct lace_error *err);
void lace_rt_event_free(struct lace_rt_event *event);

/* ---- client_struct.c: the structs themselves ---- */

void lace_rt_node_free(struct lace_rt_node *node);
void lace_rt_segment_free(struct lace_rt_segment *segment);
void lace_rt_nodes_free(struct lace_rt_node *nodes, size_t nr);
void lace_rt_segments_free(struct lace_rt_segment *segments, size_t nr);
/* Into the order that the structs are kept in. */
void lace_rt_node_sort(struct lace_rt_node *node);
void lace_rt_segment_sort(struct lace_rt_segment *segment);
unsigned int lace_rt_alternate_rank(const struct lace_rt_segment *segment,
				    uint16_t from, uint16_t to);
/* Whether the contents are the same: ifname and active do not count. */
bool lace_rt_node_equal(const struct lace_rt_node *a,
			const struct lace_rt_node *b);
bool lace_rt_segment_equal(const struct lace_rt_segment *a,
			   const struct lace_rt_segment *b);
int lace_rt_prefix_compare(const struct lace_rt_prefix *a,
			   const struct lace_rt_prefix *b);
/* "10.77.0.1", "10.77.0.0/24", "fd00::1/128"; without length, one address. */
int lace_rt_prefix_parse(const char *text, struct lace_rt_prefix *prefix,
			 struct lace_error *err);
#define LACE_RT_PREFIX_SIZE 52
const char *lace_rt_prefix_format(const struct lace_rt_prefix *prefix,
				  char text[LACE_RT_PREFIX_SIZE]);
#define LACE_MAC_SIZE 18
int lace_mac_parse(const char *text, uint8_t mac[6], struct lace_error *err);
const char *lace_mac_format(const uint8_t mac[6], char text[LACE_MAC_SIZE]);

#endif /* LACE_CLIENT_H */
