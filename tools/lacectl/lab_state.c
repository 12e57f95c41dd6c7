// SPDX-License-Identifier: GPL-2.0
/*
 * What a running lab leaves in its state folder, written once and read by every
 * command that is given the lab's name.
 */
#include "client.h"
#include "lab_state.h"
#include "wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMESPACES "namespaces"

/* ---- writing ---- */

void lab_state_path(const char *name, const char *file, char *path, size_t size)
{
	snprintf(path, size, LAB_STATE_ROOT "/%s%s%s", name, file ? "/" : "",
		 file ? file : "");
}

int lab_state_make(const char *name, struct lace_error *err)
{
	char path[PATH_MAX];

	if (mkdir(LAB_STATE_ROOT, 0755) && errno != EEXIST)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot make %s: %s",
				 LAB_STATE_ROOT, strerror(errno));
	lab_state_path(name, NULL, path, sizeof(path));
	if (!mkdir(path, 0755))
		return 0;
	if (errno == EEXIST)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "there is a lab %s (%s); \"lacectl lab down %s\" removes it",
				 name, path, name);
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot make %s: %s", path,
			 strerror(errno));
}

int lab_state_lock(const char *name, int *fd, struct lace_error *err)
{
	struct stat st = {};
	char path[PATH_MAX];

	lab_state_path(name, NULL, path, sizeof(path));
	*fd = open(path, O_RDONLY | O_DIRECTORY);
	if (*fd >= 0 && !flock(*fd, LOCK_EX) && !fstat(*fd, &st) && st.st_nlink)
		return 0;
	if (*fd >= 0)
		close(*fd);
	return lace_fail(err, LACE_ERR_ANSWER, "there is no lab %s (any more)",
			 name);
}

int lab_state_remove(const char *name, struct lace_error *err)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	lab_state_path(name, NULL, path, sizeof(path));
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 :
			lace_fail(err, LACE_ERR_SYSTEM, "cannot open %s: %s",
				  path, strerror(errno));
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	if (rmdir(path))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot remove %s: %s",
				 path, strerror(errno));
	/* Stays while there are other labs. */
	rmdir(LAB_STATE_ROOT);
	return 0;
}

static FILE *state_create(const char *name, const char *file,
			  struct lace_error *err)
{
	char path[PATH_MAX];
	FILE *out;

	lab_state_path(name, file, path, sizeof(path));
	out = fopen(path, "we");
	if (!out)
		lace_fail(err, LACE_ERR_SYSTEM, "cannot write %s: %s", path,
			  strerror(errno));
	return out;
}

static int state_close(FILE *out, const char *file, struct lace_error *err)
{
	bool failed = ferror(out);

	if (fclose(out) || failed)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot write %s: %s",
				 file, strerror(errno));
	return 0;
}

static int write_namespaces(const struct lab *lab, struct lace_error *err)
{
	FILE *out = state_create(lab->option->name, NAMESPACES, err);
	unsigned int n;

	if (!out)
		return -1;
	fprintf(out, "%s\n", lab->switch_netns);
	for (n = 0; n < lab->nr_nodes; n++)
		fprintf(out, "%s\n", lab->nodes[n].netns);
	return state_close(out, NAMESPACES, err);
}

/* The file's own bytes: plans carry their hash. */
static int copy_cluster(const struct lab *lab, const char *cluster_path,
			struct lace_error *err)
{
	char buffer[8192];
	size_t len;
	FILE *in, *out;

	in = fopen(cluster_path, "re");
	if (!in)
		return lace_fail(err, LACE_ERR_INPUT, "cannot read %s: %s",
				 cluster_path, strerror(errno));
	out = state_create(lab->option->name, "cluster.json", err);
	if (!out) {
		fclose(in);
		return -1;
	}
	while ((len = fread(buffer, 1, sizeof(buffer), in)))
		fwrite(buffer, 1, len, out);
	fclose(in);
	return state_close(out, "cluster.json", err);
}

static void write_port(FILE *out, const struct lab_port *port, double ratio)
{
	char mac[LACE_MAC_SIZE];

	fprintf(out,
		"{ \"name\": \"%s\", \"mac\": \"%s\", \"switch_ifname\": \"%s\","
		" \"rate_bps\": %" PRIu64 ", \"payload_bps\": %.0f }",
		port->name, lace_mac_format(port->mac, mac), port->switch_if,
		port->rate_bps, port->rate_bps * ratio);
}

static void write_node(FILE *out, const struct lab_node *node, double ratio)
{
	unsigned int p, i;

	fprintf(out,
		"    { \"name\": \"%s\", \"netns\": \"%s\", \"prefixes\": [",
		node->name, node->netns);
	for (i = 0; i < node->nr_prefixes; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "",
			node->prefixes[i].text);
	fprintf(out, "],\n      \"ports\": [");
	for (p = 0; p < node->nr_ports; p++) {
		fprintf(out, "%s\n        ", p ? "," : "");
		write_port(out, &node->ports[p], ratio);
	}
	fprintf(out, " ] }");
}

/* Names are plain, so nothing needs escaping. */
static void write_lab(FILE *out, const struct lab *lab)
{
	double ratio = lace_payload_ratio(lab->option->mtu);
	unsigned int n;

	fprintf(out,
		"{ \"format\": \"lace-lab/1\", \"name\": \"%s\", \"device\": \"%s\",\n"
		"  \"switch_netns\": \"%s\", \"switch_s\": %.9g, \"mtu\": %u,\n"
		"  \"gso_max_size\": %u, \"payload_ratio\": %.6f,\n  \"nodes\": [",
		lab->option->name, lab->option->bare ? "" : LAB_DEVICE,
		lab->switch_netns, lab->switch_s, lab->option->mtu,
		lab->gso_max_size, ratio);
	for (n = 0; n < lab->nr_nodes; n++) {
		fprintf(out, "%s\n", n ? "," : "");
		write_node(out, &lab->nodes[n], ratio);
	}
	fprintf(out, " ] }\n");
}

int lab_state_write(const struct lab *lab, const char *cluster_path,
		    struct lace_error *err)
{
	FILE *out;
	int ret;

	ret = write_namespaces(lab, err);
	if (!ret)
		ret = copy_cluster(lab, cluster_path, err);
	if (ret)
		return ret;
	out = state_create(lab->option->name, "lab.json", err);
	if (!out)
		return -1;
	write_lab(out, lab);
	return state_close(out, "lab.json", err);
}

/* ---- reading ---- */

int lab_state_check(const char *name, struct lace_error *err)
{
	char path[PATH_MAX];

	if (!lab_name_is_sound(name))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is not the name of a lab", name);
	lab_state_path(name, NULL, path, sizeof(path));
	if (access(path, F_OK))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "there is no lab %s (no %s)", name, path);
	return 0;
}

int lab_state_read(const char *name, json_t **lab, struct lace_error *err)
{
	char path[PATH_MAX];
	json_error_t why;

	if (lab_state_check(name, err))
		return -1;
	lab_state_path(name, "lab.json", path, sizeof(path));
	*lab = json_load_file(path, 0, &why);
	if (!*lab)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "lab %s is half built: %s", name, why.text);
	return 0;
}

void lab_state_free_namespaces(char **list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(list[i]);
	free(list);
}

int lab_state_namespaces(const char *name, char ***list, size_t *nr,
			 struct lace_error *err)
{
	char path[PATH_MAX], line[256], **more;
	FILE *in;

	*list = NULL;
	*nr = 0;
	lab_state_path(name, NAMESPACES, path, sizeof(path));
	in = fopen(path, "re");
	if (!in)
		return 0;
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		more = realloc(*list, (*nr + 1) * sizeof(**list));
		if (more) {
			*list = more;
			more[*nr] = strdup(line);
		}
		if (!more || !more[*nr]) {
			fclose(in);
			return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		}
		++*nr;
	}
	fclose(in);
	return 0;
}

double lab_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const char *lab_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}
