// SPDX-License-Identifier: GPL-2.0
/*
 * Prefixes of addresses, and the node that is behind each.
 *
 * DESIGN NOTES
 *
 * The data path looks up one address of a packet that leaves and two of one that
 * comes in: this is the most frequent thing that it does.  So each processor
 * remembers what it has looked up, under the version of the table; bottom
 * halves are off, so nobody else uses what it remembers.  The table is an array
 * of slots with open addressing, at most half full.  A lookup tries the lengths
 * in use, longest first.
 *
 * Readers hold the RCU read lock, writers RTNL.  A slot is filled once: address
 * first, then with release the word that says what it holds.  One that is
 * erased says so from then on, as chains go through it.  When the table gets
 * too full, what is left of it is copied into a new one.  The version changes
 * after the table: who finds a version finds all that led to it.
 */
#include <linux/hash.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>

#include "lace.h"

#define LEAST_BITS 4

/* What a slot holds: nothing (0), or the node, the length, and the kind. */
#define NODE_MASK 0xffffULL
#define LENGTH_SHIFT 16
#define KIND_SHIFT 24
#define KIND_V4 1ULL
#define KIND_V6 2ULL
#define GONE (3ULL << KIND_SHIFT)

struct slot {
	u64 what;
	u64 address[2];		/* IPv4: the first half of the first word */
};

struct lace_prefix_table {
	struct rcu_head rcu;
	unsigned int bits;
	unsigned int used;		/* gone ones, too */
	unsigned int gone;
	struct slot slots[];
};

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

/* ---- to look up ---- */

static u64 what_is(u64 kind, unsigned int length)
{
	return kind << KIND_SHIFT | (u64)length << LENGTH_SHIFT;
}

/* A prefix as a slot has it, but for the node. */
static struct slot slot_of(const struct lace_prefix *prefix)
{
	struct slot slot;

	slot.what = what_is(prefix->family == AF_INET ? KIND_V4 : KIND_V6,
			    prefix->length);
	memcpy(slot.address, prefix->address, sizeof(slot.address));
	return slot;
}

/* The slot of a prefix, or the empty one where it would be. */
static struct slot *probe(struct lace_prefix_table *table,
			  const struct slot *key, u64 *what)
{
	unsigned int mask = (1U << table->bits) - 1;
	struct slot *slot;
	unsigned int i;

	i = hash_64(key->address[0] ^ key->what ^
			    key->address[1] * GOLDEN_RATIO_64,
		    table->bits);
	for (;; i = (i + 1) & mask) {
		slot = &table->slots[i];
		*what = smp_load_acquire(&slot->what); /* of fill() */
		if (!*what || ((*what & ~NODE_MASK) == key->what &&
			       slot->address[0] == key->address[0] &&
			       slot->address[1] == key->address[1]))
			return slot;
	}
}

static u16 find(struct lace_prefixes *prefixes, const struct slot *key)
{
	u64 what;

	probe(rcu_dereference_rtnl(prefixes->table), key, &what);
	return what ? what & NODE_MASK : LACE_NO_NODE;
}

/* The longest length in use that is not above most; negative if none is. */
static int longest(const unsigned long *lengths, int most)
{
	unsigned long length;

	if (most < BITS_PER_LONG)
		return fls_long(*lengths & GENMASK(most, 0)) - 1;
	length = find_last_bit(lengths, most + 1);
	return length <= most ? (int)length : -1;
}

static u16 search4(struct lace_prefixes *prefixes, __be32 address)
{
	struct slot key = {};
	int length;
	u16 node;

	for (length = longest(prefixes->lengths4, 32); length >= 0;
	     length = longest(prefixes->lengths4, length - 1)) {
		key.what = what_is(KIND_V4, length);
		*(__be32 *)key.address = address & inet_make_mask(length);
		node = find(prefixes, &key);
		if (node != LACE_NO_NODE || !length)
			return node;
	}
	return LACE_NO_NODE;
}

static u16 search6(struct lace_prefixes *prefixes,
		   const struct in6_addr *address)
{
	struct slot key;
	int length;
	u16 node;

	for (length = longest(prefixes->lengths6, 128); length >= 0;
	     length = longest(prefixes->lengths6, length - 1)) {
		key.what = what_is(KIND_V6, length);
		ipv6_addr_prefix((struct in6_addr *)key.address, address,
				 length);
		node = find(prefixes, &key);
		if (node != LACE_NO_NODE || !length)
			return node;
	}
	return LACE_NO_NODE;
}

/* What lace_prefixes_find4() does not remember. */
u16 lace_prefixes_recall4(struct lace_prefixes *prefixes,
			  struct lace_memo *memo, u64 stamp, __be32 address)
{
	memo->node = search4(prefixes, address);
	memo->address[0] = (__force u32)address;
	memo->stamp = stamp;
	return memo->node;
}

/* What lace_prefixes_find6() does not remember. */
u16 lace_prefixes_recall6(struct lace_prefixes *prefixes,
			  struct lace_memo *memo, u64 stamp,
			  const struct in6_addr *address)
{
	memo->node = search6(prefixes, address);
	memcpy(memo->address, address, sizeof(memo->address));
	memo->stamp = stamp;
	return memo->node;
}

/* Node that has the very prefix, or LACE_NO_NODE. */
u16 lace_prefixes_get(struct lace_prefixes *prefixes,
		      const struct lace_prefix *prefix)
{
	const struct slot key = slot_of(prefix);

	return find(prefixes, &key);
}

/* ---- to change ---- */

static struct lace_prefix_table *make_table(unsigned int bits)
{
	struct lace_prefix_table *table;

	table = kvzalloc(struct_size(table, slots, 1UL << bits),
			 GFP_KERNEL_ACCOUNT);
	if (table)
		table->bits = bits;
	return table;
}

static void fill(struct lace_prefix_table *table, struct slot *slot,
		 const struct slot *key, u16 node)
{
	slot->address[0] = key->address[0];
	slot->address[1] = key->address[1];
	smp_store_release(&slot->what, key->what | node); /* see probe() */
	table->used++;
}

static void copy_slots(struct lace_prefix_table *to,
		       const struct lace_prefix_table *from)
{
	struct slot key;
	unsigned int i;
	u64 what;
	u16 node;

	for (i = 0; i < 1U << from->bits; i++) {
		key = from->slots[i];
		if (!key.what || key.what == GONE)
			continue;
		node = key.what & NODE_MASK;
		key.what &= ~NODE_MASK;
		fill(to, probe(to, &key, &what), &key, node);
	}
}

/* Room for one more. */
static int make_room(struct lace_prefixes *prefixes)
{
	struct lace_prefix_table *old = rtnl_dereference(prefixes->table);
	struct lace_prefix_table *table;
	unsigned int bits = LEAST_BITS;

	if (2 * (old->used + 1) <= 1U << old->bits)
		return 0;
	/* A quarter full, so that it is not copied again soon. */
	while (1U << bits < 4 * (old->used - old->gone + 1))
		bits++;
	table = make_table(bits);
	if (!table)
		return -ENOMEM;
	copy_slots(table, old);
	rcu_assign_pointer(prefixes->table, table);
	kvfree_rcu(old, rcu);
	return 0;
}

/* A prefix has come or gone. */
static void account(struct lace_prefixes *prefixes,
		    const struct lace_prefix *prefix, int change)
{
	bool v4 = prefix->family == AF_INET;
	unsigned long *lengths = v4 ? prefixes->lengths4 : prefixes->lengths6;
	unsigned int *n = v4 ? prefixes->n_length4 : prefixes->n_length6;

	n[prefix->length] += change;
	if (n[prefix->length])
		set_bit(prefix->length, lengths);
	else
		clear_bit(prefix->length, lengths);
	/* Who reads this version finds the change, see DESIGN NOTES. */
	smp_store_release(&prefixes->version, prefixes->version + 1);
}

/* Put in a prefix that is not there yet. */
int lace_prefixes_insert(struct lace_prefixes *prefixes,
			 const struct lace_prefix *prefix, u16 node)
{
	const struct slot key = slot_of(prefix);
	struct lace_prefix_table *table;
	struct slot *slot;
	u64 what;
	int err;

	ASSERT_RTNL();

	err = make_room(prefixes);
	if (err)
		return err;
	table = rtnl_dereference(prefixes->table);
	slot = probe(table, &key, &what);
	if (WARN_ON_ONCE(what))
		return -EEXIST;
	fill(table, slot, &key, node);
	account(prefixes, prefix, 1);
	return 0;
}

/* Take out a prefix that is there. */
void lace_prefixes_erase(struct lace_prefixes *prefixes,
			 const struct lace_prefix *prefix)
{
	struct lace_prefix_table *table = rtnl_dereference(prefixes->table);
	const struct slot key = slot_of(prefix);
	struct slot *slot;
	u64 what;

	ASSERT_RTNL();

	slot = probe(table, &key, &what);
	if (WARN_ON_ONCE(!what))
		return;
	WRITE_ONCE(slot->what, GONE);
	table->gone++;
	account(prefixes, prefix, -1);
}

int lace_prefixes_init(struct lace_prefixes *prefixes)
{
	struct lace_prefix_table *table = make_table(LEAST_BITS);

	prefixes->version = 1;
	prefixes->memos = alloc_percpu_gfp(struct lace_memos, GFP_KERNEL_ACCOUNT);
	RCU_INIT_POINTER(prefixes->table, table);
	if (prefixes->memos && table)
		return 0;
	free_percpu(prefixes->memos);
	kvfree(table);
	return -ENOMEM;
}

/* Nobody looks up anything any more. */
void lace_prefixes_destroy(struct lace_prefixes *prefixes)
{
	free_percpu(prefixes->memos);
	kvfree(rcu_dereference_protected(prefixes->table, true));
}
