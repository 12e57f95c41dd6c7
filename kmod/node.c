// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes: who they are, which addresses are behind them, and the MAC addresses
 * of their ports.
 *
 * DESIGN NOTES
 *
 * The data path asks one thing of a node: which one is behind an address. It
 * finds the answer in a hash table of all prefixes, whose entries hold the
 * number of the node and not the node: replacing a node leaves the entries of
 * the prefixes that it keeps alone.  New prefixes go in before old ones go
 * out, so that an address which is behind the node before and after the
 * change is behind it throughout.
 */
#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/sort.h>
#include <net/ipv6.h>

#include "lace.h"

struct entry {
	struct rhash_head hash;
	struct rcu_head rcu;
	struct lace_prefix prefix;
	u16 node;
};

static u32 hash_prefix(const void *data, u32 length, u32 seed)
{
	const struct lace_prefix *prefix = data;

	if (prefix->family == AF_INET)
		return jhash_2words((__force u32)prefix->address[0],
				    prefix->length, seed);
	return jhash2(data, sizeof(*prefix) / sizeof(u32), seed);
}

static u32 hash_entry(const void *data, u32 length, u32 seed)
{
	const struct entry *entry = data;

	return hash_prefix(&entry->prefix, length, seed);
}

/* The words of an IPv4 prefix that differ are the first and the last. */
static int differs(struct rhashtable_compare_arg *arg, const void *object)
{
	const struct lace_prefix *a = arg->key;
	const struct lace_prefix *b = &((const struct entry *)object)->prefix;

	if (a->address[0] != b->address[0] || a->length != b->length ||
	    a->family != b->family)
		return 1;
	return a->family != AF_INET &&
	       memcmp(a->address, b->address, sizeof(a->address));
}

/* Functions, because those that are the default know no lengths and call. */
static const struct rhashtable_params table_params = {
	.hashfn = hash_prefix,
	.obj_hashfn = hash_entry,
	.obj_cmpfn = differs,
	.key_len = sizeof(struct lace_prefix),
	.key_offset = offsetof(struct entry, prefix),
	.head_offset = offsetof(struct entry, hash),
	.automatic_shrinking = true,
};

int lace_nodes_init(struct lace_nodes *nodes)
{
	xa_init(&nodes->by_id);
	return rhashtable_init(&nodes->prefixes, &table_params);
}

static void free_entry(void *entry, void *unused)
{
	kfree(entry);
}

void lace_nodes_destroy(struct lace_nodes *nodes)
{
	struct lace_node *node;
	unsigned long id;

	xa_for_each(&nodes->by_id, id, node)
		kfree(node);
	xa_destroy(&nodes->by_id);
	rhashtable_free_and_destroy(&nodes->prefixes, free_entry, NULL);
}

/* The longest length in use that is at most most; negative if none is. */
static __always_inline int longest(const unsigned long *lengths, int most)
{
	unsigned long length;

	if (most < BITS_PER_LONG)
		return fls_long(*lengths & GENMASK(most, 0)) - 1;
	length = find_last_bit(lengths, most + 1);
	return length <= most ? (int)length : -1;
}

static u16 find(struct lace_nodes *nodes, const struct lace_prefix *key)
{
	const struct entry *entry;

	entry = rhashtable_lookup(&nodes->prefixes, key, table_params);
	return entry ? READ_ONCE(entry->node) : LACE_NO_NODE;
}

/* Node behind an address, or LACE_NO_NODE.  Needs the RCU read lock. */
u16 lace_nodes_find4(struct lace_nodes *nodes, __be32 address)
{
	struct lace_prefix key = { .family = AF_INET };
	u16 node;
	int length;

	for (length = longest(nodes->lengths4, 32); length >= 0;
	     length = longest(nodes->lengths4, length - 1)) {
		key.length = length;
		key.address[0] = address & inet_make_mask(length);
		node = find(nodes, &key);
		if (node != LACE_NO_NODE || !length)
			return node;
	}
	return LACE_NO_NODE;
}

/* As lace_nodes_find4(). */
u16 lace_nodes_find6(struct lace_nodes *nodes, const struct in6_addr *address)
{
	struct lace_prefix key = { .family = AF_INET6 };
	u16 node;
	int length;

	for (length = longest(nodes->lengths6, 128); length >= 0;
	     length = longest(nodes->lengths6, length - 1)) {
		key.length = length;
		ipv6_addr_prefix((struct in6_addr *)key.address, address,
				 length);
		node = find(nodes, &key);
		if (node != LACE_NO_NODE || !length)
			return node;
	}
	return LACE_NO_NODE;
}

/* Whether the bits beyond the length are zero. */
bool lace_prefix_is_sound(const struct lace_prefix *prefix)
{
	struct in6_addr masked;

	if (prefix->family == AF_INET)
		return !(prefix->address[0] & ~inet_make_mask(prefix->length));
	ipv6_addr_prefix(&masked, (const struct in6_addr *)prefix->address,
			 prefix->length);
	return !memcmp(&masked, prefix->address, sizeof(masked));
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

static void account(struct lace_nodes *nodes, const struct lace_prefix *prefix,
		    int change)
{
	bool v4 = prefix->family == AF_INET;
	unsigned long *lengths = v4 ? nodes->lengths4 : nodes->lengths6;
	unsigned int *n = v4 ? nodes->n_length4 : nodes->n_length6;

	n[prefix->length] += change;
	if (n[prefix->length])
		set_bit(prefix->length, lengths);
	else
		clear_bit(prefix->length, lengths);
}

static int insert(struct lace_nodes *nodes, const struct lace_prefix *prefix,
		  u16 id)
{
	struct entry *entry;
	int err;

	entry = kmalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	entry->prefix = *prefix;
	entry->node = id;
	err = rhashtable_insert_fast(&nodes->prefixes, &entry->hash,
				     table_params);
	if (err) {
		kfree(entry);
		return err;
	}
	account(nodes, prefix, 1);
	return 0;
}

static void erase(struct lace_nodes *nodes, const struct lace_prefix *prefix)
{
	struct entry *entry;

	entry = rhashtable_lookup_fast(&nodes->prefixes, prefix, table_params);
	if (WARN_ON_ONCE(!entry))
		return;
	rhashtable_remove_fast(&nodes->prefixes, &entry->hash, table_params);
	kfree_rcu(entry, rcu);
	account(nodes, prefix, -1);
}

/* Erase the first n prefixes of a node that another version of it lacks. */
static void erase_difference(struct lace_nodes *nodes,
			     const struct lace_node *node, unsigned int n,
			     const struct lace_node *other)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!has(other, &node->prefixes[i]))
			erase(nodes, &node->prefixes[i]);
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
		err = insert(nodes, &node->prefixes[i], node->id);
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
		rcu_read_lock();
		owner = find(nodes, &node->prefixes[i]);
		rcu_read_unlock();
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

/* Whether the active segment, or one of a transition, uses a node. */
static bool is_in_use(struct lace_device *lace, u16 id)
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
	if (is_in_use(lace, node->id)) {
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
	if (is_in_use(lace, id)) {
		NL_SET_ERR_MSG(extack, "node ID: the active segment uses it");
		return -EBUSY;
	}
	xa_erase(&lace->nodes.by_id, id);
	erase_difference(&lace->nodes, node, node->n_prefixes, NULL);
	kfree(node);
	return 0;
}
