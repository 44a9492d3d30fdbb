/* SPDX-License-Identifier: BSD-2-Clause */
/* refusal: what is told of a refusal, packed, hidden and spelled. */
#include "flow/refusal.h"

#include "flow/read.h"
#include "table/top.h"

#define BEGIN	   INT64_C(1704067200) /* 2024 */
#define AT_BITS	   30
#define WAIT_NEVER 1023u
#define REFUSALS                                                                                             \
	(1u << FLOW_REJECTED | 1u << FLOW_MISSING | 1u << FLOW_DENIED | 1u << FLOW_BANNED |                  \
	 1u << FLOW_UNKNOWN | 1u << FLOW_NEVER)
#define ROUNDS 3 /* of Luby and Rackoff: to who only sees ids as good as any permutation */

/* ---- numbers ---- */

/* Ten bits of a number: five of mantissa behind the highest one, rounded up. Below 32 exact. */
static uint32_t float_pack(uint64_t number)
{
	uint32_t shift = 0;

	if (number == REFUSAL_NEVER)
		return WAIT_NEVER;
	while (number >> shift >= 64)
		shift++;
	number = (number >> shift) + ((number & ((UINT64_C(1) << shift) - 1)) != 0);
	if (number == 64) {
		number = 32;
		shift++;
	}
	if (shift > 30)
		return WAIT_NEVER - 1;
	return number < 32 ? (uint32_t)number : (shift + 1) << 5 | ((uint32_t)number - 32);
}

static uint64_t float_unpack(uint32_t packed)
{
	uint32_t shift = packed >> 5;

	if (packed == WAIT_NEVER)
		return REFUSAL_NEVER;
	return shift ? (UINT64_C(32) + (packed & 31)) << (shift - 1) : packed;
}

/* ---- hiding ---- */

static uint64_t round_of(const struct table *table, uint8_t number, uint64_t half)
{
	unsigned char bytes[4 + sizeof half] = {'r', 'i', 'd', number};

	memcpy(bytes + 4, &half, sizeof half);
	return table_key_digest(table, bytes, sizeof bytes);
}

/* ---- spelling ---- */

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static int value_of(char c)
{
	const char *at;

	c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
	c = c == 'O' ? '0' : c == 'I' || c == 'L' ? '1' : c;
	at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Each digit with a weight of its own, in the field of 32: x^5 + x^2 + 1. */
static unsigned check_add(unsigned check, unsigned digit)
{
	check <<= 1;
	return (check & 32 ? check ^ 0x25 : check) ^ digit;
}

/* The same of 26 digits at once: it is linear, so each of its bits is the parity of some of theirs. */
static unsigned check_of(uint64_t left, uint64_t right)
{
	static const uint64_t masks[5][2] = {
		{UINT64_C(0x7777776662233bff), UINT64_C(0xee66666ea8991110)},
		{UINT64_C(0xeeeeeccc44677ffd), UINT64_C(0xcccccdd513222201)},
		{UINT64_C(0xaaaaeeeeeeccc446), UINT64_C(0x77ffdcccccdd5132)},
		{UINT64_C(0x555dddddd99888ce), UINT64_C(0xfffb99999baa2644)},
		{UINT64_C(0xabbbbbbb331119df), UINT64_C(0xff7333337544c888)},
	};
	unsigned check = 0;

	for (unsigned i = 0; i < 5; i++)
		check |= (unsigned)__builtin_parityll((left & masks[i][0]) ^ (right & masks[i][1])) << i;
	return check;
}

void refusal_write(const struct table *table, const struct refusal *refusal, char *id)
{
	int64_t since = refusal->at - BEGIN, most = (INT64_C(1) << AT_BITS) - 1;
	uint64_t at = (uint64_t)(since < 0 ? 0 : since > most ? most : since), left, right, swap;

	left = at << 34 | (uint64_t)(refusal->stat & 0xff) << 26 | (uint64_t)(refusal->status & 15) << 22 |
	       (uint64_t)(refusal->what & 7) << 19 | (uint64_t)float_pack(refusal->wait_s) << 9;
	right = refusal->slot << 8 | refusal->generation;
	for (uint8_t i = 0; i < ROUNDS; i++) {
		swap = left ^ round_of(table, i, right);
		left = right;
		right = swap;
	}
	/* 3 bits, twelve digits of five, one across both halves, twelve */
	id[0] = digits[left >> 61];
	for (unsigned i = 0; i < 12; i++) {
		id[1 + i] = digits[left >> (56 - 5 * i) & 31];
		id[14 + i] = digits[right >> (55 - 5 * i) & 31];
	}
	id[13] = digits[(left & 1) << 4 | right >> 60];
	id[REFUSAL_SIZE - 1] = digits[check_of(left, right)];
	id[REFUSAL_SIZE] = '\0';
}

static bool spelled(struct text id, uint64_t *left, uint64_t *right)
{
	unsigned __int128 bits = 0;
	unsigned count = 0, check = 0;

	for (size_t i = 0; i < id.size; i++) {
		int value;

		if (id.data[i] == '-' || id.data[i] == ' ')
			continue;
		value = value_of(id.data[i]);
		if (value < 0 || count == REFUSAL_SIZE || (count == 0 && value > 7))
			return false;
		if (++count == REFUSAL_SIZE) {
			if ((unsigned)value != check_add(check, 0))
				return false;
		} else {
			bits = bits << 5 | (unsigned)value;
			check = check_add(check, (unsigned)value);
		}
	}
	*left = (uint64_t)(bits >> 64);
	*right = (uint64_t)bits;
	return count == REFUSAL_SIZE;
}

enum refusal_result refusal_read(const struct table *table, struct text id, struct refusal *out)
{
	uint64_t left, right, swap;

	*out = (struct refusal){0};
	if (!spelled(id, &left, &right))
		return REFUSAL_MISTYPED;
	for (uint8_t i = ROUNDS; i-- > 0;) {
		swap = right ^ round_of(table, i, left);
		right = left;
		left = swap;
	}
	*out = (struct refusal){
		.at = BEGIN + (int64_t)(left >> 34),
		.wait_s = float_unpack(left >> 9 & 1023),
		.slot = right >> 8,
		.stat = left >> 26 & 0xff,
		.status = left >> 22 & 15,
		.what = left >> 19 & 7,
		.generation = (uint8_t)right,
	};
	if ((left & 511) || out->what > IMAGE_USAGE || !(REFUSALS >> out->status & 1))
		return REFUSAL_FOREIGN;
	return REFUSAL_READ;
}

void flow_refusal(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;
	const struct image *image = flow->env->image;
	struct refusal refusal = {
		.at = ((int64_t)flow->time.now + flow->time.wall) / 1000000000,
		.status = (uint8_t)verdict->status,
		.generation = (uint8_t)image->generation,
		.wait_s = verdict->retry_after_s,
	};

	verdict->refusal[0] = '\0';
	if (verdict->action == FLOW_PASS || verdict->action == FLOW_TELL)
		return;
	if (verdict->counter_index != FLOW_NONE) {
		const struct image_counter *counter = image_counter_at(image, verdict->counter_index);

		refusal.stat = (uint16_t)(counter->stat % TABLE_STAT_COUNT);
		refusal.what = (uint8_t)counter->what;
		if (verdict->status == FLOW_REJECTED && verdict->wait_ns == ALGO_NEVER)
			refusal.wait_s = REFUSAL_NEVER;
	}
	if (verdict->status == FLOW_UNKNOWN) {
		bool key = flow->who.key_said == FLOW_CREDENTIAL_BAD &&
			   image->clients.keys_unknown == IMAGE_UNKNOWN_DENY;

		refusal.stat = key ? flow->who.key_found : (uint16_t)(REFUSAL_TOKEN + flow->who.token_result);
		refusal.what = 0;
	}
	if (flow->refused_by != FLOW_NONE && !flow->hits[flow->refused_by].denied)
		refusal.slot = REFUSAL_SLOT(top_slot(&flow->hits[flow->refused_by].key));
	refusal_write(flow->env->table, &refusal, verdict->refusal);
}
