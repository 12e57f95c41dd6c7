// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The client's structs on their own: order, equality, addresses as text.
 * Pure.
 */
#include "client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/**
 * lace_rt_node_free() - free what a node holds
 * @node: the node
 */
void lace_rt_node_free(struct lace_rt_node *node)
{
	free(node->prefixes);
	node->prefixes = NULL;
	node->nr_prefixes = 0;
}

/**
 * lace_rt_segment_free() - free what a segment holds
 * @segment: the segment
 */
void lace_rt_segment_free(struct lace_rt_segment *segment)
{
	free(segment->circuits);
	free(segment->routes);
	segment->circuits = NULL;
	segment->routes = NULL;
	segment->nr_circuits = 0;
	segment->nr_routes = 0;
}

/**
 * lace_rt_nodes_free() - free a list of nodes
 * @nodes: the list, may be NULL
 * @nr: its length
 */
void lace_rt_nodes_free(struct lace_rt_node *nodes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		lace_rt_node_free(&nodes[i]);
	free(nodes);
}

/**
 * lace_rt_segments_free() - free a list of segments
 * @segments: the list, may be NULL
 * @nr: its length
 */
void lace_rt_segments_free(struct lace_rt_segment *segments, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		lace_rt_segment_free(&segments[i]);
	free(segments);
}

/* ---- order and equality ---- */

/**
 * lace_rt_prefix_compare() - the order of prefixes in a node
 * @a: a prefix
 * @b: another
 *
 * Return: negative, 0 or positive, as memcmp() does.
 */
int lace_rt_prefix_compare(const struct lace_rt_prefix *a,
			   const struct lace_rt_prefix *b)
{
	int order;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	order = memcmp(a->address, b->address, sizeof(a->address));
	return order ? order : (int)a->length - b->length;
}

static int compare_prefixes(const void *a, const void *b)
{
	return lace_rt_prefix_compare(a, b);
}

static int compare_circuits(const void *a, const void *b)
{
	const struct lace_rt_circuit *x = a, *y = b;

	return x->dir != y->dir ? x->dir - y->dir : x->port - y->port;
}

static int compare_routes(const void *a, const void *b)
{
	const struct lace_rt_route *x = a, *y = b;

	if (x->from != y->from)
		return x->from - y->from;
	return x->to != y->to ? x->to - y->to : (int)(x->rank - y->rank);
}

/**
 * lace_rt_alternate_rank() - the rank of one more alternate at a node
 * @segment: of that node, with the routes before it
 * @from: where it begins
 * @to: where it ends
 *
 * Return: one more than the pair's last alternate has here.
 */
unsigned int lace_rt_alternate_rank(const struct lace_rt_segment *segment,
				    uint16_t from, uint16_t to)
{
	unsigned int rank = 1, i;

	for (i = 0; i < segment->nr_routes; i++)
		rank += segment->routes[i].from == from &&
			segment->routes[i].to == to && segment->routes[i].rank;
	return rank;
}

/**
 * lace_rt_node_sort() - bring a node's prefixes into order
 * @node: the node
 */
void lace_rt_node_sort(struct lace_rt_node *node)
{
	if (node->nr_prefixes)
		qsort(node->prefixes, node->nr_prefixes,
		      sizeof(*node->prefixes), compare_prefixes);
}

/**
 * lace_rt_segment_sort() - bring circuits and routes into order
 * @segment: the segment
 */
void lace_rt_segment_sort(struct lace_rt_segment *segment)
{
	if (segment->nr_circuits)
		qsort(segment->circuits, segment->nr_circuits,
		      sizeof(*segment->circuits), compare_circuits);
	if (segment->nr_routes)
		qsort(segment->routes, segment->nr_routes,
		      sizeof(*segment->routes), compare_routes);
}

/**
 * lace_rt_node_equal() - whether two nodes are the same
 * @a: a node, sorted
 * @b: another
 *
 * Return: true if number, prefixes and ports are.
 */
bool lace_rt_node_equal(const struct lace_rt_node *a,
			const struct lace_rt_node *b)
{
	unsigned int i;

	if (a->id != b->id || a->nr_prefixes != b->nr_prefixes ||
	    a->ports != b->ports)
		return false;
	for (i = 0; i < a->nr_prefixes; i++)
		if (lace_rt_prefix_compare(&a->prefixes[i], &b->prefixes[i]))
			return false;
	for (i = 0; i < LACE_MAX_PORTS; i++)
		if (a->ports & 1U << i && memcmp(a->mac[i], b->mac[i], 6))
			return false;
	return true;
}

static bool circuit_equal(const struct lace_rt_circuit *a,
			  const struct lace_rt_circuit *b)
{
	return !compare_circuits(a, b) && a->peer == b->peer &&
	       a->peer_port == b->peer_port;
}

static bool route_equal(const struct lace_rt_route *a,
			const struct lace_rt_route *b)
{
	return !compare_routes(a, b) && a->prev == b->prev &&
	       a->next == b->next;
}

/**
 * lace_rt_segment_equal() - whether two segments are the same
 * @a: a segment, sorted
 * @b: another
 *
 * Return: true if number, circuits and routes are.
 */
bool lace_rt_segment_equal(const struct lace_rt_segment *a,
			   const struct lace_rt_segment *b)
{
	unsigned int i;

	if (a->id != b->id || a->nr_circuits != b->nr_circuits ||
	    a->nr_routes != b->nr_routes)
		return false;
	for (i = 0; i < a->nr_circuits; i++)
		if (!circuit_equal(&a->circuits[i], &b->circuits[i]))
			return false;
	for (i = 0; i < a->nr_routes; i++)
		if (!route_equal(&a->routes[i], &b->routes[i]))
			return false;
	return true;
}

/* ---- text ---- */

static bool host_bits_are_zero(const struct lace_rt_prefix *prefix)
{
	unsigned int bit;

	for (bit = prefix->length; bit < 8 * sizeof(prefix->address); bit++)
		if (prefix->address[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

static bool parse_length(const char *text, unsigned int max, uint8_t *length)
{
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 10);
	*length = value;
	return isdigit((unsigned char)text[0]) && !*end && value <= max;
}

/**
 * lace_rt_prefix_parse() - read an address or a prefix
 * @text: as "10.77.0.1", "10.77.0.0/24", "fd00::1"
 * @prefix: filled; an address alone is a prefix of its whole length
 * @err: filled on failure
 *
 * Return: 0 or -1.
 */
int lace_rt_prefix_parse(const char *text, struct lace_rt_prefix *prefix,
			 struct lace_error *err)
{
	size_t len = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];
	unsigned int max;

	memset(prefix, 0, sizeof(*prefix));
	if (len >= sizeof(address))
		goto no_address;
	memcpy(address, text, len);
	address[len] = '\0';
	prefix->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(prefix->family, address, prefix->address) != 1)
		goto no_address;
	max = prefix->family == AF_INET ? 32 : 128;
	prefix->length = max;
	if (text[len] && !parse_length(text + len + 1, max, &prefix->length))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\": the prefix length is not a number from 0 to %u",
				 text, max);
	if (!host_bits_are_zero(prefix))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" has bits beyond its prefix length",
				 text);
	return 0;

no_address:
	return lace_fail(err, LACE_ERR_INPUT,
			 "\"%.60s\" is neither an IPv4 nor an IPv6 address",
			 text);
}

/**
 * lace_rt_prefix_format() - write a prefix
 * @prefix: the prefix
 * @text: filled, as "10.77.0.1/32"
 *
 * Return: @text.
 */
const char *lace_rt_prefix_format(const struct lace_rt_prefix *prefix,
				  char text[LACE_RT_PREFIX_SIZE])
{
	size_t len;

	if (!inet_ntop(prefix->family, prefix->address, text,
		       LACE_RT_PREFIX_SIZE))
		strcpy(text, "?");
	len = strlen(text);
	snprintf(text + len, LACE_RT_PREFIX_SIZE - len, "/%u", prefix->length);
	return text;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/**
 * lace_mac_parse() - read the MAC address of a port
 * @text: as "02:00:00:00:00:01"
 * @mac: filled
 * @err: filled on failure; group addresses and the zero address are refused
 *
 * Return: 0 or -1.
 */
int lace_mac_parse(const char *text, uint8_t mac[6], struct lace_error *err)
{
	static const uint8_t zero[6];
	int i, high, low = -1;

	for (i = 0; i < 6; i++) {
		high = hex_digit(text[3 * i]);
		low = high < 0 ? -1 : hex_digit(text[3 * i + 1]);
		if (low < 0 || text[3 * i + 2] != (i < 5 ? ':' : '\0'))
			return lace_fail(err, LACE_ERR_INPUT,
					 "\"%.40s\" is not a MAC address", text);
		mac[i] = high << 4 | low;
	}
	if (mac[0] & 1 || !memcmp(mac, zero, 6))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is not the MAC address of a port",
				 text);
	return 0;
}

/**
 * lace_mac_format() - write a MAC address
 * @mac: the address
 * @text: filled, as "02:00:00:00:00:01"
 *
 * Return: @text.
 */
const char *lace_mac_format(const uint8_t mac[6], char text[LACE_MAC_SIZE])
{
	snprintf(text, LACE_MAC_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	return text;
}
