// SPDX-License-Identifier: GPL-2.0
/*
 * lace-macs/1: files that add up, what is refused and where; and prefixes of
 * nodes in the cluster file, which the same code ends up with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "tap.h"

static const char cluster_text[] =
	"{ \"format\": \"lace-cluster/1\", \"name\": \"t\", \"reconfig_s\": 0,\n"
	"  \"control_ratio\": 0, \"relay\": \"none\",\n"
	"  \"ocs\": [ { \"name\": \"o\", \"inputs\": 4, \"outputs\": 4 } ],\n"
	"  \"nodes\": [\n"
	"  { \"name\": \"a\", \"address\": \"10.0.0.1\",\n"
	"    \"prefixes\": [\"fd00::1\", \"10.1.0.0/16\"], \"ports\": [\n"
	"      { \"name\": \"p\", \"rate_bps\": 8, \"tx\": [\"o\", 1], \"rx\": [\"o\", 1] },\n"
	"      { \"name\": \"q\", \"rate_bps\": 8, \"tx\": [\"o\", 2], \"rx\": null } ] },\n"
	"  { \"name\": \"b\", \"ports\": [\n"
	"      { \"name\": \"p\", \"rate_bps\": 8, \"tx\": [\"o\", 3], \"rx\": [\"o\", 3] } ] } ] }\n";

static struct lace_cluster cluster;
static struct lace_error err;

static char *print(int (*write)(FILE *out, const void *what), const void *what)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (write(out, what))
		fputs("(failed)", out);
	fclose(out);
	return text;
}

static int write_cluster(FILE *out, const void *what)
{
	return lace_cluster_write(out, what);
}

static int write_macs(FILE *out, const void *what)
{
	return lace_macs_write(out, &cluster, what);
}

static void check_cluster(void)
{
	struct lace_cluster again;
	char *text, *twice;

	tap_check(cluster.nodes[0].nr_prefixes == 2 &&
		  !strcmp(cluster.nodes[0].prefixes[1], "10.1.0.0/16") &&
		  !cluster.nodes[1].nr_prefixes, "prefixes of a cluster's nodes");
	text = print(write_cluster, &cluster);
	if (tap_check(!lace_cluster_parse(text, strlen(text), "again", &again,
					  &err), "are written and read again")) {
		twice = print(write_cluster, &again);
		tap_check(!strcmp(text, twice), "to the same bytes");
		free(twice);
		lace_cluster_free(&again);
	}
	free(text);
}

static int parse(const char *text, struct lace_macs *macs)
{
	return lace_macs_parse(text, strlen(text), "f", &cluster, macs, &err);
}

#define HEAD "{\"format\":\"lace-macs/1\",\"nodes\":["
#define A_P HEAD "{\"name\":\"a\",\"prefixes\":[\"fd01::/64\"],\"ports\":[" \
	    "{\"name\":\"p\",\"mac\":\"02:00:00:00:00:0A\"}]}]}"
#define A_Q HEAD "{\"name\":\"a\",\"ports\":[" \
	    "{\"name\":\"q\",\"mac\":\"02:00:00:00:00:0b\"}]}]}"
#define B_P "{\"format\":\"lace-lab/1\",\"device\":\"lace0\",\"nodes\":[" \
	    "{\"name\":\"b\",\"netns\":\"t-b\",\"ports\":[" \
	    "{\"name\":\"p\",\"rate_bps\":8,\"mac\":\"02:00:00:00:01:00\"}]}]}"

static void check_sum(void)
{
	struct lace_macs macs, again;
	char *text, *twice;

	lace_macs_init(&cluster, &macs, &err);
	tap_check(!parse(A_P, &macs) && !parse(A_Q, &macs) && !parse(B_P, &macs),
		  "files of hosts, and a lab's");
	tap_check(macs.hosts[0].ports == 3 && macs.hosts[1].ports == 1 &&
		  macs.hosts[0].mac[0][5] == 10 && macs.hosts[0].mac[1][5] == 11 &&
		  macs.hosts[1].mac[0][4] == 1 && macs.hosts[0].nr_prefixes == 1,
		  "add up");
	text = print(write_macs, &macs);
	lace_macs_init(&cluster, &again, &err);
	tap_check(!parse(text, &again), "their sum is written and read again");
	twice = print(write_macs, &again);
	tap_check(!strcmp(text, twice), "to the same bytes");
	free(twice);
	free(text);
	lace_macs_free(&again);
	lace_macs_free(&macs);
}

#define NODE(node) HEAD "\n" node "]}"
#define PORTS(ports) NODE("{\"name\":\"a\",\"ports\":[" ports "]}")

static const struct {
	const char *name, *text, *words;
} bad[] = {
	{ "not JSON", "{", "" },
	{ "another format", "{\"format\":\"lace-plan/1\",\"nodes\":[]}",
	  "has to be \"lace-macs/1\"" },
	{ "no nodes", "{\"format\":\"lace-macs/1\"}", "nodes" },
	{ "an unknown node", NODE("{\"name\":\"z\",\"ports\":[]}"),
	  "the cluster has no node \"z\"" },
	{ "an unknown port", PORTS("{\"name\":\"z\",\"mac\":\"02:00:00:00:00:00\"}"),
	  "a has no port \"z\"" },
	{ "a port twice", PORTS("{\"name\":\"p\",\"mac\":\"02:00:00:00:00:00\"},"
				"{\"name\":\"p\",\"mac\":\"02:00:00:00:00:01\"}"),
	  "p of a is given twice" },
	{ "no MAC address", PORTS("{\"name\":\"p\"}"), "mac" },
	{ "a short MAC address", PORTS("{\"name\":\"p\",\"mac\":\"02:00:00:00:00\"}"),
	  "is not a MAC address" },
	{ "a group MAC address",
	  PORTS("{\"name\":\"p\",\"mac\":\"03:00:00:00:00:00\"}"),
	  "is not the MAC address of a port" },
	{ "a zero MAC address",
	  PORTS("{\"name\":\"p\",\"mac\":\"00:00:00:00:00:00\"}"),
	  "is not the MAC address of a port" },
	{ "a bad prefix",
	  NODE("{\"name\":\"a\",\"prefixes\":[\"10.0.0.1/24\"],\"ports\":[]}"),
	  "bits beyond its prefix length" },
	{ "a prefix that is a number",
	  NODE("{\"name\":\"a\",\"prefixes\":[7],\"ports\":[]}"), "prefixes" },
};

#define NR_BAD (sizeof(bad) / sizeof(bad[0]))

static void check_bad(void)
{
	struct lace_macs macs;
	size_t i;

	for (i = 0; i < NR_BAD; i++) {
		lace_macs_init(&cluster, &macs, &err);
		if (!tap_check(parse(bad[i].text, &macs) &&
			       err.kind == LACE_ERR_INPUT && err.line &&
			       !strcmp(err.file, "f") &&
			       strstr(err.text, bad[i].words), "%s",
			       bad[i].name))
			tap_note("\"%s\" line %u", err.text, err.line);
		lace_macs_free(&macs);
	}
}

/* ---- addresses as text ---- */

static const struct {
	const char *text, *printed;	/* NULL: refused */
} prefixes[] = {
	{ "10.77.0.1", "10.77.0.1/32" },
	{ "10.77.0.0/24", "10.77.0.0/24" },
	{ "0.0.0.0/0", "0.0.0.0/0" },
	{ "FD00:0::1", "fd00::1/128" },
	{ "::/0", "::/0" },
	{ "10.77.0.1/24", NULL },
	{ "10.77.0.1/33", NULL },
	{ "10.77.0.1/", NULL },
	{ "10.77.0.1/-1", NULL },
	{ "10.77.0.1/ 32", NULL },
	{ "10.77.0", NULL },
	{ "fd00::/129", NULL },
	{ "fd00::1/64", NULL },
	{ "", NULL },
	{ "/8", NULL },
	{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", NULL },
};

#define NR_PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))

static void check_prefixes(void)
{
	char text[LACE_RT_PREFIX_SIZE];
	struct lace_rt_prefix prefix;
	bool passed;
	size_t i;

	for (i = 0; i < NR_PREFIXES; i++) {
		passed = !lace_rt_prefix_parse(prefixes[i].text, &prefix, &err);
		if (passed && prefixes[i].printed)
			passed = !strcmp(lace_rt_prefix_format(&prefix, text),
					 prefixes[i].printed);
		else
			passed = !passed && !prefixes[i].printed &&
				 err.kind == LACE_ERR_INPUT;
		tap_check(passed, "prefix \"%s\"", prefixes[i].text);
	}
}

static void check_macs(void)
{
	char text[LACE_MAC_SIZE];
	uint8_t mac[6];

	tap_check(!lace_mac_parse("0A:1b:2C:3d:4E:ff", mac, &err) &&
		  !strcmp(lace_mac_format(mac, text), "0a:1b:2c:3d:4e:ff"),
		  "a MAC address in either case");
	tap_check(lace_mac_parse("0a:1b:2c:3d:4e:ff:", mac, &err) &&
		  lace_mac_parse("0a:1b:2c:3d:4e: f", mac, &err) &&
		  lace_mac_parse("0a:1b:2c:3d:4e:+f", mac, &err) &&
		  lace_mac_parse("a:1b:2c:3d:4e:ff", mac, &err) &&
		  lace_mac_parse("0a-1b-2c-3d-4e-ff", mac, &err) &&
		  lace_mac_parse("0", mac, &err) && lace_mac_parse("", mac, &err),
		  "and in no other form");
}

int main(void)
{
	tap_plan(1 + 3 + 4 + NR_BAD + NR_PREFIXES + 2);
	if (tap_check(!lace_cluster_parse(cluster_text, strlen(cluster_text),
					  "cluster", &cluster, &err),
		      "a cluster is read")) {
		check_cluster();
		check_sum();
		check_bad();
		check_prefixes();
		check_macs();
		lace_cluster_free(&cluster);
	} else {
		tap_note("%s:%u: %s", err.file, err.line, err.text);
	}
	return tap_end();
}
