// SPDX-License-Identifier: GPL-2.0
/*
 * lace_plan_check(): a sound plan passes; change any number of it, and it does
 * not.
 */
#include "lace.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE "Documentation/examples/testbed3/"

struct fixture {
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_demand demand;
	struct lace_plan plan;
	struct lace_error err;
};

static bool open_fixture(struct fixture *f, const char *cluster,
			 const char *scheduler)
{
	memset(f, 0, sizeof(*f));
	if (lace_cluster_read(cluster, &f->cluster, &f->err) ||
	    lace_schedule_read(EXAMPLE "schedule.json", &f->schedule,
			       &f->err) ||
	    lace_profile(&f->schedule, f->cluster.nr_nodes, &f->demand,
			 &f->err) ||
	    lace_compile(&f->cluster, &f->demand, scheduler, &f->plan,
			 &f->err))
		return false;
	strcpy(f->plan.cluster_sha256, f->cluster.sha256);
	strcpy(f->plan.schedule_sha256, f->schedule.sha256);
	return true;
}

static void fixture_free(struct fixture *f)
{
	lace_plan_free(&f->plan);
	lace_demand_free(&f->demand);
	lace_schedule_free(&f->schedule);
	lace_cluster_free(&f->cluster);
}

static int check(struct fixture *f)
{
	return lace_plan_check(&f->cluster, &f->schedule, &f->plan, &f->err);
}

static void expect_no(struct fixture *f, const char *begins)
{
	bool no = check(f) < 0 && f->err.kind == LACE_ERR_ANSWER;

	if (!tap_check(no && !strncmp(f->err.text, begins, strlen(begins)),
		       "%s ... is found", begins))
		tap_note("is %s", no ? f->err.text : "passed");
}

static void test_number(struct fixture *f, double *number, const char *name)
{
	double is = *number;

	*number = is * (1 + 1e-5);
	expect_no(f, name);
	*number = is * (1 - 1e-5);
	expect_no(f, name);
	*number = is * (1 + 1e-8);
	tap_check(!check(f), "%s is compared to 1e-6", name);
	*number = is;
}

static void test_numbers(void)
{
	struct fixture f;
	double bound;

	if (!tap_check(open_fixture(&f, EXAMPLE "cluster-fast.json", "lace"),
		       "a plan of 25 segments"))
		return;
	tap_check(!check(&f), "passes");
	test_number(&f, &f.plan.cct_s, "cct_s is");
	test_number(&f, &f.plan.transmit_s, "transmit_s is");
	test_number(&f, &f.plan.reconfig_s, "reconfig_s is");
	test_number(&f, &f.plan.segments[24].transmit_s,
		    "segments[24].transmit_s is");
	bound = f.plan.bound_s;
	f.plan.bound_s = f.plan.cct_s * 1.00001;
	expect_no(&f, "bound_s is");
	f.plan.bound_s = 0;
	tap_check(!check(&f), "a low bound is no lie");
	f.plan.bound_s = bound;

	f.plan.cluster_sha256[0] ^= 1;
	expect_no(&f, "cluster_sha256 is");
	f.plan.cluster_sha256[0] ^= 1;
	f.plan.schedule_sha256[63] ^= 1;
	expect_no(&f, "schedule_sha256 is");
	f.plan.schedule_sha256[63] ^= 1;

	f.plan.segments[3].circuits[0].rx_port ^= 1;
	expect_no(&f, "segment 3: circuit");
	f.plan.segments[3].circuits[0].rx_port ^= 1;
	tap_check(!check(&f), "and is sound again");
	fixture_free(&f);
}

/* A ring is a plan, but none of duplex pairs. */
static void test_duplex(void)
{
	struct fixture f;

	if (!tap_check(open_fixture(&f, EXAMPLE "cluster.json", "symmetric") &&
			       !check(&f), "a symmetric plan passes"))
		return;
	fixture_free(&f);
	open_fixture(&f, EXAMPLE "cluster.json", "lace");
	tap_check(!check(&f), "a plan of one-way lanes passes");
	free(f.plan.scheduler);
	f.plan.scheduler = strdup("symmetric");
	expect_no(&f, "segment 0: circuit");
	fixture_free(&f);
}

int main(void)
{
	tap_plan(2 + 4 * 3 + 2 + 2 + 2 + 3);
	test_numbers();
	test_duplex();
	return tap_end();
}
