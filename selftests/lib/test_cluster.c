// SPDX-License-Identifier: GPL-2.0
/*
 * Clusters: what is refused and with which words, what is written reads back,
 * what is made is wired as asked.
 */
#include "parse.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const char good[] =
	"{ \"format\": \"lace-cluster/1\",\n"				/* 1 */
	"  \"name\": \"two\",\n"					/* 2 */
	"  \"reconfig_s\": 0.02,\n"					/* 3 */
	"  \"control_ratio\": 0.01,\n"					/* 4 */
	"  \"relay\": \"data\",\n"					/* 5 */
	"  \"ocs\": [ { \"name\": \"o\", \"inputs\": 4, \"outputs\": 3 } ],\n"
	"  \"nodes\": [ { \"name\": \"a\", \"address\": \"10.0.0.1\",\n" /* 7 */
	"    \"ports\": [ { \"name\": \"p\", \"rate_bps\": 100,\n"	/* 8 */
	"      \"tx\": [\"o\", 1], \"rx\": [\"o\", 2] } ] },\n"		/* 9 */
	"   { \"name\": \"b\",\n"					/* 10 */
	"    \"ports\": [ { \"name\": \"q\", \"rate_bps\": 200,\n"	/* 11 */
	"      \"tx\": [\"o\", 4], \"rx\": null },\n"			/* 12 */
	"      { \"name\": \"r\", \"rate_bps\": 300,\n"			/* 13 */
	"      \"tx\": null, \"rx\": [\"o\", 3] } ] } ] }\n";		/* 14 */

static const struct bad_file bad[] = {
	{ "lace-cluster/1", "lace-cluster/2",
	  "1: format: has to be \"lace-cluster/1\", is \"lace-cluster/2\"" },
	{ "\"format\"", "\"from\"", "1: format: is missing" },
	{ "\"two\"", "7", "2: name: has to be a string, is a number" },
	{ "\"two\"", "\"\"", "2: name: is an empty name" },
	{ "\"name\": \"two\",", "", NULL },
	{ "\"name\": \"two\"", "\"new_field\": {\"x\": [1]}", NULL },
	{ "0.02", "-1", "3: reconfig_s: has to be from 0 to 1e+09, is -1" },
	{ "0.02", "1e300",
	  "3: reconfig_s: has to be from 0 to 1e+09, is 1e+300" },
	{ "0.02", "\"20ms\"",
	  "3: reconfig_s: has to be a number, is a string" },
	{ "0.02", "0", NULL },
	{ "  \"reconfig_s\": 0.02,", "", "1: reconfig_s: is missing" },
	{ "0.01", "-0.1",
	  "4: control_ratio: has to be from 0 to 1000, is -0.1" },
	{ "\"data\"", "\"all\"",
	  "5: relay: has to be \"none\", \"control\" or \"data\", is \"all\"" },
	{ "\"relay\": \"data\",", "", NULL },
	{ "\"inputs\": 4", "\"inputs\": -4",
	  "6: ocs[0].inputs: has to be from 0 to 1048576, is -4" },
	{ "\"inputs\": 4", "\"inputs\": 1099511627776",
	  "6: ocs[0].inputs: has to be from 0 to 1048576, is 1099511627776" },
	{ "\"inputs\": 4", "\"inputs\": 4.5",
	  "6: ocs[0].inputs: has to be a whole number, is 4.5" },
	{ "[ { \"name\": \"o\", \"inputs\": 4, \"outputs\": 3 } ]", "{}",
	  "6: ocs: has to be a list, is an object" },
	{ "\"outputs\": 3 }",
	  "\"outputs\": 3 },\n{ \"name\": \"o\", \"inputs\": 1, \"outputs\": 1 }",
	  "7: ocs[1].name: \"o\" is the name of number 0, too" },
	{ "\"10.0.0.1\"", "[]",
	  "7: nodes[0].address: has to be a string, is a list" },
	{ "100", "0",
	  "8: nodes[0].ports[0].rate_bps: has to be from 1 to 9007199254740992, is 0" },
	{ "100", "1e20",
	  "8: nodes[0].ports[0].rate_bps: has to be from 1 to 9007199254740992, is 1e+20" },
	{ "100", "18446744073709551617", "8: too big integer near '18446744073709551617'" },
	{ "100", "NaN", "8: invalid token near 'NaN'" },
	{ "[\"o\", 1]", "[\"u\", 1]",
	  "9: nodes[0].ports[0].tx[0]: there is no OCS \"u\"" },
	{ "[\"o\", 1]", "[\"o\", 5]",
	  "9: nodes[0].ports[0].tx[1]: OCS \"o\" has no input 5: they are 1 to 4" },
	{ "[\"o\", 1]", "[\"o\", 0]",
	  "9: nodes[0].ports[0].tx[1]: OCS \"o\" has no input 0: they are 1 to 4" },
	{ "[\"o\", 1]", "[\"o\"]",
	  "9: nodes[0].ports[0].tx: has to be [OCS, port] or null" },
	{ "[\"o\", 1]", "\"o\"",
	  "9: nodes[0].ports[0].tx: has to be a list, is a string" },
	{ "\"tx\": [\"o\", 1], ", "", "8: nodes[0].ports[0].tx: is missing" },
	{ "[\"o\", 1]", "[\"o\", 4]",
	  "12: nodes[1].ports[0].tx: input 4 of OCS \"o\" is taken by a p" },
	{ "[\"o\", 3]", "[\"o\", 4]",
	  "14: nodes[1].ports[1].rx[1]: OCS \"o\" has no output 4: they are 1 to 3" },
	{ "[\"o\", 3]", "[\"o\", 2]",
	  "14: nodes[1].ports[1].rx: output 2 of OCS \"o\" is taken by a p" },
	{ "\"b\"", "\"a\"", "10: nodes[1].name: \"a\" is the name of number 0, too" },
	{ "\"r\"", "\"q\"",
	  "13: nodes[1].ports[1].name: \"q\" is the name of number 0, too" },
	{ "\"name\": \"r\",", "", NULL },
	{ "\"r\"", "\"\xff\"",
	  "13: unable to decode byte 0xff near '\"'" },
};

#define NR_BAD (sizeof(bad) / sizeof(bad[0]))

static int parse(const char *text, size_t len, struct lace_error *err)
{
	struct lace_cluster cluster;
	int ret = lace_cluster_parse(text, len, "t", &cluster, err);

	lace_cluster_free(&cluster);
	return ret;
}

static char *write_text(const struct lace_cluster *cluster, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	lace_cluster_write(out, cluster);
	fclose(out);
	return text;
}

static void test_good(void)
{
	struct lace_cluster cluster;
	struct lace_error err;
	const struct lace_node *b;

	if (!tap_check(!lace_cluster_parse(good, strlen(good), "t", &cluster,
					   &err), "the good one is"))
		return;
	b = &cluster.nodes[1];
	tap_check(cluster.reconfig_s == 0.02 && cluster.control_ratio == 0.01 &&
			  cluster.relay == LACE_RELAY_DATA, "numbers");
	tap_check(cluster.nr_nodes == 2 && b->nr_ports == 2 && !b->address &&
			  !strcmp(cluster.nodes[0].address, "10.0.0.1"),
		  "nodes");
	tap_check(b->ports[0].tx.ocs == 0 && b->ports[0].tx.port == 4 &&
			  b->ports[0].rx.ocs < 0 && b->ports[1].tx.ocs < 0 &&
			  b->ports[1].rx.port == 3 &&
			  b->ports[1].rate_bps == 300, "lanes");
	tap_check(!cluster.sha256[0], "no file, no hash");
	lace_cluster_free(&cluster);
}

static void test_round_trip(void)
{
	struct lace_cluster cluster, again;
	struct lace_error err;
	char *first, *second;
	size_t len;

	if (lace_cluster_parse(good, strlen(good), "t", &cluster, &err))
		return;
	first = write_text(&cluster, &len);
	if (tap_check(!lace_cluster_parse(first, len, "w", &again, &err),
		      "what is written reads back")) {
		second = write_text(&again, &len);
		tap_check(!strcmp(first, second), "and is the same");
		free(second);
		lace_cluster_free(&again);
	}
	free(first);
	lace_cluster_free(&cluster);
}

/* Made clusters obey the rules of read ones. */
static void test_made(enum lace_wiring wiring, unsigned int nr_ocs,
		      unsigned int size, int ocs, unsigned int port)
{
	struct lace_cluster cluster;
	const struct lace_port *last;
	struct lace_error err;
	size_t len;
	char *text;

	if (!tap_check(!lace_cluster_make(3, 4, 400000000000, wiring, 0.5,
					  &cluster, &err), "make"))
		return;
	last = &cluster.nodes[2].ports[3];
	tap_check(cluster.nr_ocs == nr_ocs && cluster.ocs[0].inputs == size &&
			  cluster.ocs[nr_ocs - 1].outputs == size,
		  "%u OCSes of %u", nr_ocs, size);
	tap_check(last->tx.ocs == ocs && last->tx.port == port &&
			  last->rx.ocs == ocs && last->rx.port == port,
		  "the last lane is on OCS %d, port %u", ocs, port);
	text = write_text(&cluster, &len);
	tap_check(!parse(text, len, &err), "it reads back");
	free(text);
	lace_cluster_free(&cluster);
}

static void test_make_refused(void)
{
	struct lace_cluster cluster;
	struct lace_error err;

	tap_check(lace_cluster_make(0, 4, 1, LACE_WIRING_SINGLE, 0, &cluster,
				    &err) && err.kind == LACE_ERR_INPUT,
		  "no server: refused");
	tap_check(lace_cluster_make(1u << 16, 1u << 16, 1, LACE_WIRING_PLANES,
				    0, &cluster, &err), "too many: refused");
	tap_check(lace_cluster_make(2, 2, 1, LACE_WIRING_SINGLE, -1, &cluster,
				    &err), "negative time: refused");
}

static void test_read(void)
{
	struct lace_cluster cluster;
	struct lace_error err;

	tap_check(!lace_cluster_read("Documentation/examples/testbed3/cluster.json",
				     &cluster, &err) &&
			  strlen(cluster.sha256) == 64 &&
			  cluster.nr_nodes == 3, "a file, and its hash");
	lace_cluster_free(&cluster);
	tap_check(lace_cluster_read("no/such/file", &cluster, &err) &&
			  err.kind == LACE_ERR_INPUT &&
			  !strcmp(err.file, "no/such/file"),
		  "a file that is not there");
	tap_check(lace_cluster_read("Documentation", &cluster, &err) &&
			  !strcmp(err.text, "Is a directory"), "a folder");
	tap_check(lace_cluster_read("/dev/null", &cluster, &err) &&
			  !strcmp(err.text, "the file is empty"),
		  "an empty file");
}

int main(void)
{
	tap_plan(5 + NR_BAD + 1 + 2 + 4 + 4 + 3 + 4);
	test_good();
	parse_test_bad(parse, good, bad, NR_BAD);
	parse_test_cut(parse, good);
	test_round_trip();
	test_made(LACE_WIRING_SINGLE, 1, 12, 0, 12);
	test_made(LACE_WIRING_PLANES, 4, 3, 3, 3);
	test_make_refused();
	test_read();
	return tap_end();
}
