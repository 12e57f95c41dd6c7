// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes: who they are, which addresses are behind them, and the MAC addresses
 * of their ports.
 *
 * DESIGN NOTES
 *
 * The data path asks one thing of a node: which one is behind an address. It
 * finds the answer in a table of all prefixes (prefix.c), which holds the number
 * of the node and not the node: replacing a node leaves the prefixes that it
 * keeps alone.  New prefixes go in before old ones go out, so that an address
 * which is behind the node before and after the change is behind it throughout.
 */
#include <linux/bsearch.h>
#include <linux/sort.h>

#include "lace.h"

int lace_nodes_init(struct lace_nodes *nodes)
{
	xa_init(&nodes->by_id);
	return lace_prefixes_init(&nodes->prefixes);
}

void lace_nodes_destroy(struct lace_nodes *nodes)
{
	struct lace_node *node;
	unsigned long id;

	xa_for_each(&nodes->by_id, id, node)
		kfree(node);
	xa_destroy(&nodes->by_id);
	lace_prefixes_destroy(&nodes->prefixes);
}

struct lace_node *lace_node_alloc(unsigned int n_prefixes)
{
	struct lace_node *node;

	return kzalloc(struct_size(node, prefixes, n_prefixes),
		       GFP_KERNEL_ACCOUNT);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct lace_prefix));
}

static bool has(const struct lace_node *node, const struct lace_prefix *prefix)
{
	return node && bsearch(prefix, node->prefixes, node->n_prefixes,
			       sizeof(*prefix), compare);
}

/* Erase the first n prefixes of a node that another version of it lacks. */
static void erase_difference(struct lace_nodes *nodes,
			     const struct lace_node *node, unsigned int n,
			     const struct lace_node *other)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!has(other, &node->prefixes[i]))
			lace_prefixes_erase(&nodes->prefixes,
					    &node->prefixes[i]);
	}
}

static int insert_difference(struct lace_nodes *nodes,
			     const struct lace_node *node,
			     const struct lace_node *other)
{
	unsigned int i;
	int err;

	for (i = 0; i < node->n_prefixes; i++) {
		if (has(other, &node->prefixes[i]))
			continue;
		err = lace_prefixes_insert(&nodes->prefixes, &node->prefixes[i],
					   node->id);
		if (err) {
			erase_difference(nodes, node, i, other);
			return err;
		}
	}
	return 0;
}

static int check_prefixes(struct lace_nodes *nodes, struct lace_node *node,
			  struct netlink_ext_ack *extack)
{
	unsigned int i;
	u16 owner;

	sort(node->prefixes, node->n_prefixes, sizeof(node->prefixes[0]),
	     compare, NULL);
	for (i = 1; i < node->n_prefixes; i++) {
		if (!compare(&node->prefixes[i - 1], &node->prefixes[i])) {
			NL_SET_ERR_MSG(extack, "node PREFIX: given twice");
			return -EINVAL;
		}
	}
	for (i = 0; i < node->n_prefixes; i++) {
		owner = lace_prefixes_get(&nodes->prefixes, &node->prefixes[i]);
		if (owner != LACE_NO_NODE && owner != node->id) {
			NL_SET_ERR_MSG(extack,
				       "node PREFIX: belongs to another node");
			return -EEXIST;
		}
	}
	return 0;
}

static void unstore(struct lace_nodes *nodes, struct lace_node *node,
		    struct lace_node *old)
{
	if (old)	/* the slot is there: this cannot fail */
		xa_store(&nodes->by_id, node->id, old, GFP_KERNEL);
	else
		xa_erase(&nodes->by_id, node->id);
}

/* Whether what is active was made with a node. */
static bool is_active(struct lace_device *lace, u16 id)
{
	const struct lace_segment *segment = lace_active_segment(lace);
	const struct lace_segment *other = lace_active_other(lace);

	return (segment && lace_segment_uses_node(segment, id)) ||
	       (other && lace_segment_uses_node(other, id));
}

/* What is active, once more with the nodes as they are now. */
static struct lace_active *recompile(struct lace_device *lace,
				     struct netlink_ext_ack *extack)
{
	const struct lace_active *old = rtnl_dereference(lace->active);
	struct lace_active *active;

	active = lace_active_compile(lace, old->segment, old->other, extack);
	if (!IS_ERR(active))
		active->closed = old->closed;
	return active;
}

/* Create or replace a node.  The active segment gets its new MAC addresses. If
 * this fails, nothing has changed and the node is still the caller's.
 */
int lace_node_set(struct lace_device *lace, struct lace_node *node,
		  struct netlink_ext_ack *extack)
{
	struct lace_nodes *nodes = &lace->nodes;
	struct lace_active *active = NULL;
	struct lace_node *old;
	int err;

	ASSERT_RTNL();

	err = check_prefixes(nodes, node, extack);
	if (err)
		return err;
	old = xa_store(&nodes->by_id, node->id, node, GFP_KERNEL_ACCOUNT);
	if (xa_is_err(old))
		return xa_err(old);
	if (lace_transition_uses_node(lace, node->id)) {
		err = lace_transition_check_nodes(lace, extack);
		if (err)
			goto err_compile;
	}
	if (is_active(lace, node->id)) {
		active = recompile(lace, extack);
		if (IS_ERR(active)) {
			err = PTR_ERR(active);
			goto err_compile;
		}
	}
	err = insert_difference(nodes, node, old);
	if (err)
		goto err_insert;
	if (active)
		lace_active_publish(lace, active);
	if (old)
		erase_difference(nodes, old, old->n_prefixes, node);
	kfree(old);
	return 0;

err_insert:
	kfree(active);
err_compile:
	unstore(nodes, node, old);
	return err;
}

int lace_node_del(struct lace_device *lace, u16 id,
		  struct netlink_ext_ack *extack)
{
	struct lace_node *node = xa_load(&lace->nodes.by_id, id);

	ASSERT_RTNL();

	if (!node) {
		NL_SET_ERR_MSG(extack, "node ID: there is no such node");
		return -ENOENT;
	}
	if (is_active(lace, id)) {
		NL_SET_ERR_MSG(extack, "node ID: the active segment uses it");
		return -EBUSY;
	}
	if (lace_transition_uses_node(lace, id)) {
		NL_SET_ERR_MSG(extack, "node ID: a transition that runs needs it");
		return -EBUSY;
	}
	xa_erase(&lace->nodes.by_id, id);
	erase_difference(&lace->nodes, node, node->n_prefixes, NULL);
	kfree(node);
	return 0;
}
