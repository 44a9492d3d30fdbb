/* SPDX-License-Identifier: BSD-2-Clause */
/* Damaged rings, of every kind: readers read nothing outside and answer something possible; a writer makes such a file anew or goes
 * on with it, and never writes outside. */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/identity/ring_rig.h"

#define KEYS   50u
#define ROUNDS 400u
#define NOW    INT64_C(1900000000)

static struct rig rig;
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return state;
}

static uint8_t *slurp(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	uint8_t *bytes = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 &&
	    posix_memalign((void **)&bytes, RING_PAGE, (size_t)st.st_size) == 0)
		*size = (size_t)read(fd, bytes, (size_t)st.st_size);
	close(fd);
	return bytes;
}

/* Some bytes of the header, the index or the first records become others; mostly words that are almost right. */
static void spoil(uint8_t *bytes, size_t size, const struct ring_shape *shape)
{
	for (uint64_t n = 1 + draw() % 8; n > 0; n--) {
		uint64_t at = draw() % 3 == 0	? draw() % 256
			      : draw() % 2 == 0 ? RING_PAGE + draw() % (shape->places * 8)
						: shape->units_at + draw() % (KEYS * 2 * RING_UNIT);
		uint64_t word = draw() % 4 == 0 ? draw() : draw() % 3 == 0 ? UINT64_MAX : draw() % 2000;
		size_t width = draw() % 2 ? 1 : 8;
		if (at + width <= size)
			memcpy(bytes + at, &word, width);
	}
}

static bool possible(const struct ring_key *key)
{
	return key->id && key->name_size && key->name_size <= RING_NAME_MAX &&
	       key->owner_size <= RING_OWNER_MAX && key->tenant_size <= RING_TENANT_MAX &&
	       key->plan_size <= RING_PLAN_MAX && key->billing_day <= 31;
}

static void readers(const uint8_t *good, size_t size, const struct ring_shape *shape)
{
	uint64_t opened = 0, wrong = 0, found = 0;
	uint8_t *bytes;
	if (posix_memalign((void **)&bytes, RING_PAGE, size) != 0)
		return;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ring *ring;
		memcpy(bytes, good, size);
		spoil(bytes, size, shape);
		if (ring_over(bytes, size, &ring) != WEIR_OK)
			continue;
		opened++;
		for (uint64_t id = 1; id <= KEYS; id++) {
			struct ring_key key = {.id = 0};
			if (rig_find(ring, id, NOW, &key) == RING_UNKNOWN)
				continue;
			found++;
			wrong += !possible(&key);
			ring_used(ring, &key, NOW);
			ring_last_used(ring, key.id);
		}
		ring_close(&ring);
	}
	free(bytes);
	note("%llu of %u were opened, %llu keys found in them", (unsigned long long)opened, ROUNDS,
	     (unsigned long long)found);
	ok(opened > ROUNDS / 10 && opened < ROUNDS, "some damage is seen at once, some is not");
	ok(found > opened, "keys were found");
	is_u64(wrong, 0, "and every one of them is possible");
}

static void cuts(uint8_t *good, size_t size)
{
	static const size_t SIZES[] = {0, 1, 8, 100, 4095, 4096, 4097, 8192, 20480};
	uint64_t opened = 0;
	struct ring *ring;
	for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
		opened += ring_over(good, SIZES[i], &ring) == WEIR_OK;
		ring_close(&ring);
	}
	opened += ring_over(good, size - RING_PAGE, &ring) == WEIR_OK;
	ring_close(&ring);
	is_u64(opened, 0, "no cut file is opened");
}

static void writers(const uint8_t *good, size_t size, const struct ring_shape *shape)
{
	char path[160];
	uint64_t went_on = 0, anew = 0, failed = 0;
	uint8_t *bytes = malloc(size);
	rig_path(&rig, ".ring", path);
	for (unsigned round = 0; round < ROUNDS / 4; round++) {
		struct ring_writer *writer;
		struct ring_row row = rig_row(&rig, 1 + draw() % KEYS, "again", "pro");
		memcpy(bytes, good, size);
		spoil(bytes, size, shape);
		int fd = open(path, O_WRONLY);
		bool put = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
		close(fd);
		if (!put || ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why) != WEIR_OK)
			break;
		if (ring_write_fits(writer, 1, KEYS) &&
		    ring_write_add(writer, &row, rig.why, sizeof rig.why) == WEIR_OK &&
		    ring_write_link(writer, &rig.state, rig.why, sizeof rig.why) == WEIR_OK)
			went_on++;
		else if (rig_build(&rig, writer, KEYS, "free"))
			anew++;
		else
			failed++;
		ring_write_close(&writer);
	}
	free(bytes);
	note("%llu went on, %llu were made anew", (unsigned long long)went_on, (unsigned long long)anew);
	is_u64(went_on + anew, ROUNDS / 4, "a writer meets every damaged file");
	ok(anew > 0, "and makes some anew");
	is_u64(failed, 0, "which always goes");
}

int main(void)
{
	struct ring_writer *writer;
	struct ring_shape shape;
	char path[160];
	size_t size = 0;
	rig_begin(&rig);
	is_u64(ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why), 0, "a writer");
	ok(rig_build(&rig, writer, KEYS, "free"), "a sound ring");
	ring_write_close(&writer);
	rig_path(&rig, ".ring", path);
	uint8_t *good = slurp(path, &size);
	ok(good && ring_shape_of((const void *)good, size, &shape), "its bytes");
	readers(good, size, &shape);
	cuts(good, size);
	writers(good, size, &shape);
	free(good);
	rig_end(&rig);
	return done_testing();
}
