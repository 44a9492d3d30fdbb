/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sections: the readers of a policy's sections, from nodes into the model. None fails but by findings; a node
 * may be NULL where its word is not said. `where` is how messages call the section ("limit 'login'").
 */
#ifndef WEIR_POLICY_SECTIONS_H
#define WEIR_POLICY_SECTIONS_H

#include "policy/yaml.h"

/* model.listens and routes. `to` (may be NULL): the backend that the command line names, at `to_mark`. */
void gateway_read(struct load *load, const struct node *node, const struct node *to);
/* "http://host:port" from the spellings of a backend. */
bool backend_read(struct load *load, const struct node *node, struct text *out);

/* Everything of `clients`; sets load->networks first, since every other reader may use the names. */
void clients_read(struct load *load, const struct node *node);
void named_networks_read(struct load *load, const struct node *node);
/* A header's name in lower case; a finding at `mark` if it can be none. */
bool header_name_read(struct load *load, struct text name, struct model_mark mark, struct text *out);
/* Addresses, networks and names of networks, sorted and merged. */
void networks_read(struct load *load, const struct node *node, const char *what, struct network **out,
		   size_t *count);

/* A list of exempt (or, with `deny`, denied) requests. */
void exceptions_read(struct load *load, const struct node *node, bool deny, struct model_exception **out,
		     size_t *count);

/* The clauses of a match; count 0 if `node` is NULL: every request. */
void match_read(struct load *load, const struct node *node, bool exact, struct model_clause **out,
		size_t *count);
/* One "METHODS PATTERN". */
bool match_scalar_read(struct load *load, const struct node *node, bool exact, struct model_clause *clause);
bool match_path_read(struct load *load, const struct node *node, struct text path, bool exact,
		     struct text *out);
bool match_methods_read(struct load *load, const struct node *node, struct text methods, uint32_t *mask);
/* The texts of clauses as one: "a or b". */
struct text match_text(struct load *load, const struct model_clause *clauses, size_t count);

/* Everything of `plans` but its numbers: load->plans and model.plans. Before all others, which may name them. */
void plans_read(struct load *load, const struct node *node);
/* What the plan says of that limit itself, or one that it is like; NULL: nothing. *unlimited: it is so as a whole. */
const struct node *plan_says(const struct load *load, size_t plan, struct text limit, bool *unlimited);
/* Does every limit that a plan names exist? After all limits. */
void plans_check(struct load *load);
/* The number of the plan of that name; false after a finding. */
bool plan_read(struct load *load, struct text name, struct model_mark mark, uint32_t *out);
/* variants and plan_in_key of a limit whose own numbers are known and good; `section` is the limit's. */
void variants_read(struct load *load, const struct node *section, struct model_limit *limit);
/* Of a candidate: plans that have numbers of their own for `base` are not judged by it. */
void variants_spare(struct load *load, const struct model_limit *base, struct model_limit *out);

/* clients.api_keys, jwt, session, user and plan, each if it is said. */
void api_keys_read(struct load *load, const struct node *node);
void jwt_read(struct load *load, const struct node *node);
void session_read(struct load *load, const struct node *node);
void user_read(struct load *load, const struct node *node);
void plan_from_read(struct load *load, const struct node *node);
/* Where something is said: the values of word_values' word `of`, one or a list; `what` as messages call it. */
void where_read(struct load *load, const struct node *node, const char *of, const char *what,
		struct model_where **out, size_t *count);
/* A file beside the policy that doors open: an absolute path. */
bool door_file_read(struct load *load, const char *from, struct text path, struct model_mark mark,
		    struct text *out);

/* The mask of `for`: anonymous, identified, plan NAME, or a list. Adds to *text what was said, "anonymous or plan pro". */
void who_read(struct load *load, const struct node *node, uint64_t *who, struct text *text);

/* The name behind the dot of "header.NAME" and its like, as a part of that kind (enum image_key_kind) takes it. */
bool key_name_read(struct load *load, uint32_t kind, struct text word, struct model_mark mark,
		   struct text *out);
/* One word of a key, "body.username"; false after a finding. */
bool key_word_read(struct load *load, struct text word, struct model_mark mark, struct image_key_part *part,
		   struct text *name);
/* key, key_names, key_count, key_text, missing and shared of a limit. */
void key_read(struct load *load, const struct node *key, const struct node *missing,
	      struct model_limit *limit);

/* rates of a limit, from its rate, algorithm, burst, queue, at_once, wait, align, concurrent, bandwidth and total.
 * `limit->cost` is known. `complain`: a missing rate is a finding (not where a misspelt word already is). `base` (may be
 * NULL): a section whose numbers are good; what `node` does not say holds from there, where it goes with the rest. */
void numbers_read(struct load *load, const struct node *node, const struct node *base, bool complain,
		  struct model_limit *limit);

/* Does counting different values go with the rest of the limit? */
void distinct_check(struct load *load, const struct model_limit *limit);

/* count, failures and failure_count of a limit. Its rates and count_denied are known. */
void failures_read(struct load *load, const struct node *count, const struct node *failure,
		   struct model_limit *limit);

/* Can these numbers be counted by the answers? `count` is where that was said. */
void failures_check(struct load *load, const struct node *count, const struct model_limit *limit);
/* Words said in `node` replace those in *respond. */
void respond_read(struct load *load, const struct node *node, const char *where,
		  struct model_respond *respond);

void limits_read(struct load *load, const struct node *node);
/* One limit; `value` is its section or its bare rate. */
void limit_read(struct load *load, const struct node *name, const struct node *value,
		struct model_limit *limit);

/* `then`, `instead`, `over` and `usage` of a limit: all but over_read after its numbers, which `over` changes. usage_read also
 * where it is not said (NULL): quotas of API keys are counted for the bill. */
void then_read(struct load *load, const struct node *node, struct model_limit *limit);
void instead_read(struct load *load, const struct node *node, struct model_limit *limit);
void over_read(struct load *load, const struct node *node, struct model_limit *limit);
void over_check(struct load *load, const struct node *node, const struct model_limit *limit);
void usage_read(struct load *load, const struct node *node, struct model_limit *limit);
/* Does the limit ever refuse? A finding at `word` if not. */
bool consequence_fits(struct load *load, const struct node *node, const char *word,
		      const struct model_limit *limit);
/* model.clients.own_limits, from the file's own `respond`. */
void own_limits_read(struct load *load, const struct node *respond);
/* The pseudo-limit that `candidate` makes of its limit, whose section is `section`; false after a finding. */
bool candidate_read(struct load *load, const struct node *node, const struct node *section,
		    const struct model_limit *base, struct model_limit *out);
/* Can what `at_most` allows ever fit? A warning if not. */
void cost_warn(struct load *load, const struct model_limit *limit);
/* enforce, enforce N%, shadow or disabled. */
void mode_read(struct load *load, const struct node *node, uint32_t *mode, uint32_t *percent);
/* "25%", min..max. */
bool percent_read(struct load *load, const struct node *node, const char *what, uint32_t min, uint32_t max,
		  uint32_t *out);
/* Appends what `new_keys` says to the limit's rates, whose others are known. */
void new_keys_read(struct load *load, const struct node *node, struct model_limit *limit);
/* cost and costs of a limit. `clients` has been read. */
void cost_read(struct load *load, const struct node *cost, const struct node *overdraw,
	       struct model_limit *limit);
/* Is it anything but 1? */
static inline bool cost_matters(const struct model_limit *limit)
{
	return limit->cost > 1 || limit->costs.ask.from != IMAGE_AMOUNT_NUMBER ||
	       limit->costs.settle.from != IMAGE_AMOUNT_NUMBER;
}
/* Does it go with the limit's numbers and what it counts? After both. */
void cost_check(struct load *load, struct model_limit *limit);

/* What is allowed, but surely not meant: warnings over all limits together. */
void warn_limits(struct load *load);

#endif
