/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rbtree: the peer: counters as nginx's limit_req keeps them: a red-black tree ordered by a 32-bit hash, a
 * queue of the most recently used, 128 bytes a node, one mutex around it all, in shared memory.
 *
 * It is measured without nginx's CRC32 of the key and without its slab allocator, which is in its favour.
 */
#ifndef WEIR_BENCH_RBTREE_H
#define WEIR_BENCH_RBTREE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct rb_node { /* a 16-byte key in nginx's 128-byte slab class */
	struct rb_node *left, *right, *parent;
	struct rb_node *older, *newer;
	uint32_t hash;
	bool red;
	uint8_t length;
	unsigned char key[16];
	uint64_t last;	/* ms */
	int64_t excess; /* thousandths of a request */
	unsigned char slab[48];
};
_Static_assert(sizeof(struct rb_node) == 128, "as large as nginx's");

struct rb_tree {
	pthread_mutex_t lock;
	struct rb_node *root, *newest, *oldest;
	struct rb_node leaf; /* stands for all leaves; black */
	struct rb_node *nodes;
	uint64_t used;
};

static inline void rb_init(struct rb_tree *tree, struct rb_node *nodes)
{
	pthread_mutexattr_t shared;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&tree->lock, &shared);
	pthread_mutexattr_destroy(&shared);
	tree->leaf.red = false;
	tree->root = &tree->leaf;
	tree->newest = tree->oldest = NULL;
	tree->nodes = nodes;
	tree->used = 0;
}

static inline int rb_order(const struct rb_node *node, uint32_t hash, const unsigned char *key)
{
	if (hash != node->hash)
		return hash < node->hash ? -1 : 1;
	return memcmp(key, node->key, sizeof node->key);
}

static inline void rb_replace(struct rb_tree *tree, struct rb_node *node, struct rb_node *with)
{
	with->parent = node->parent;
	if (node == tree->root)
		tree->root = with;
	else if (node == node->parent->left)
		node->parent->left = with;
	else
		node->parent->right = with;
}

static inline void rb_rotate(struct rb_tree *tree, struct rb_node *node, bool left)
{
	struct rb_node *up = left ? node->right : node->left;
	struct rb_node *moved = left ? up->left : up->right;
	*(left ? &node->right : &node->left) = moved;
	if (moved != &tree->leaf)
		moved->parent = node;
	rb_replace(tree, node, up);
	*(left ? &up->left : &up->right) = node;
	node->parent = up;
}

static inline void rb_balance(struct rb_tree *tree, struct rb_node *node)
{
	while (node != tree->root && node->parent->red) {
		struct rb_node *parent = node->parent, *grand = parent->parent;
		bool left = parent == grand->left;
		struct rb_node *uncle = left ? grand->right : grand->left;
		if (uncle->red) {
			parent->red = uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (node == (left ? parent->right : parent->left)) {
			node = parent;
			rb_rotate(tree, node, left);
			parent = node->parent;
		}
		parent->red = false;
		grand->red = true;
		rb_rotate(tree, grand, !left);
	}
	tree->root->red = false;
}

static inline void rb_unlink(struct rb_tree *tree, struct rb_node *node)
{
	*(node->newer ? &node->newer->older : &tree->newest) = node->older;
	*(node->older ? &node->older->newer : &tree->oldest) = node->newer;
}

static inline void rb_use(struct rb_tree *tree, struct rb_node *node)
{
	node->newer = NULL;
	node->older = tree->newest;
	*(tree->newest ? &tree->newest->newer : &tree->oldest) = node;
	tree->newest = node;
}

/* limit_req's arithmetic: excess in thousandths, time in ms, `rate` in thousandths per second. */
static inline bool rb_decide(struct rb_tree *tree, uint32_t hash, const unsigned char *key, uint64_t now_ms,
			     int64_t rate, int64_t burst)
{
	bool allowed = true;
	pthread_mutex_lock(&tree->lock);
	struct rb_node *node = tree->root, *parent = NULL;
	int order = 0;
	while (node != &tree->leaf && (order = rb_order(node, hash, key)) != 0) {
		parent = node;
		node = order < 0 ? node->left : node->right;
	}
	if (node != &tree->leaf) {
		rb_unlink(tree, node);
		rb_use(tree, node);
		int64_t excess = node->excess - rate * (int64_t)(now_ms - node->last) / 1000 + 1000;
		if (excess < 0)
			excess = 0;
		allowed = excess <= burst;
		if (allowed) {
			node->excess = excess;
			node->last = now_ms;
		}
	} else {
		node = &tree->nodes[tree->used++];
		*node = (struct rb_node){.left = &tree->leaf,
					 .right = &tree->leaf,
					 .parent = parent,
					 .hash = hash,
					 .red = parent != NULL,
					 .length = 16,
					 .last = now_ms};
		memcpy(node->key, key, sizeof node->key);
		if (!parent)
			tree->root = node;
		else
			*(order < 0 ? &parent->left : &parent->right) = node;
		rb_use(tree, node);
		rb_balance(tree, node);
	}
	pthread_mutex_unlock(&tree->lock);
	return allowed;
}

#endif
