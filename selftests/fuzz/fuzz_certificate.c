// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates of any bytes, held against a small cluster whose best plans are
 * known: reader and check end, what they fail with is one line, what is read can
 * be written and read again, and nothing proves more than the best plan takes.
 */
#include "lace.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two rings, a fork, a chain: pairs of unequal demand, control going back. */
static const char job_text[] =
	"{ \"format\": \"lace-schedule/1\", \"name\": \"fuzz\", \"ranks\": 4,"
	"  \"placement\": [0, 1, 2, 3], \"ops\": ["
	"  { \"name\": \"a\", \"parts\": [ { \"transfers\": [[0, 1, 90000000],"
	"    [1, 2, 90000000], [2, 3, 90000000], [3, 0, 90000000]] } ] },"
	"  { \"name\": \"b\", \"repeat\": 2, \"parts\": [ { \"transfers\": ["
	"    [0, 1, 20000000], [0, 2, 50000000], [3, 1, 70000000]] } ] },"
	"  { \"name\": \"c\", \"parts\": [ { \"transfers\": [[1, 0, 60000000],"
	"    [2, 1, 60000000], [3, 2, 60000000]] } ] },"
	"  { \"name\": \"d\", \"parts\": [ { \"transfers\": [[2, 0, 40000000],"
	"    [0, 2, 10000000], [1, 3, 30000000]] } ] } ] }";

static struct lace_cluster cluster;
static struct lace_schedule schedule;
static double best[2];		/* seconds of the best plan of lanes, duplex */

static void fail(const struct lace_error *err)
{
	lace_error_print(stderr, "fuzz_certificate", err);
	exit(2);
}

static double time_of(const struct lace_demand *demand, const char *scheduler)
{
	struct lace_error err;
	struct lace_plan plan;
	double cct;

	if (lace_compile(&cluster, demand, scheduler, &plan, &err))
		fail(&err);
	cct = plan.cct_s;
	lace_plan_free(&plan);
	return cct;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct lace_demand demand;
	struct lace_error err;

	(void)argc;
	(void)argv;
	if (lace_cluster_make(4, 3, 1000000000, LACE_WIRING_SINGLE, 0.05,
			      &cluster, &err) ||
	    lace_schedule_parse(job_text, strlen(job_text), "s",
				&schedule, &err) ||
	    lace_profile(&schedule, cluster.nr_nodes, &demand, &err))
		fail(&err);
	cluster.control_ratio = 0.05;
	best[0] = time_of(&demand, "lace");
	best[1] = time_of(&demand, "symmetric");
	lace_demand_free(&demand);
	return 0;
}

static void check_again(const struct lace_certificate *certificate)
{
	struct lace_certificate again;
	size_t first_len, second_len;
	struct lace_error err;
	char *first, *second;

	first = certificate_text(certificate, &first_len);
	if (lace_certificate_parse(first, first_len, "w", &again, &err))
		abort();
	second = certificate_text(&again, &second_len);
	if (first_len != second_len || memcmp(first, second, first_len))
		abort();
	free(first);
	free(second);
	lace_certificate_free(&again);
}

/* It claims what it likes, of the cluster and schedule that are there. */
static void check_claim(struct lace_certificate *certificate)
{
	struct lace_plan plan = {
		.scheduler = certificate->duplex ? "symmetric" : "lace",
		.bound_s = certificate->bound_s };
	struct lace_verified verified;
	struct lace_error err;

	strcpy(certificate->cluster_sha256, cluster.sha256);
	strcpy(certificate->schedule_sha256, schedule.sha256);
	if (lace_certificate_check(&cluster, &schedule, &plan, certificate,
				   &verified, &err)) {
		if (err.kind != LACE_ERR_ANSWER || !*err.text ||
		    strchr(err.text, '\n'))
			abort();
		return;
	}
	if (!(plan.bound_s <= best[certificate->duplex] * (1 + 2e-9)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lace_certificate certificate;
	struct lace_error err;

	if (lace_certificate_parse((const char *)data, len, "f", &certificate,
				   &err)) {
		if (err.kind != LACE_ERR_INPUT || !err.line || !*err.text ||
		    strchr(err.text, '\n'))
			abort();
		return 0;
	}
	check_again(&certificate);
	check_claim(&certificate);
	lace_certificate_free(&certificate);
	return 0;
}
