/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table: this worker's handle on the shared table: opened after fork, and closed when the last request that decides in it has
 * ended.
 */
#include "doors/nginx/gate.h"

#include "policy/kept.h"
#include "policy/place.h"
#include "policy/zones.h"
#include "table/snapshot.h"


/* ms that another worker is waited for while it makes the table */
#define NGX_HTTP_WEIR_WAIT_MAKING          2000
#define NGX_HTTP_WEIR_WAIT_MAKING_SERVING  20

/* ms that those who decide in a table of another size are waited for */
#define NGX_HTTP_WEIR_WAIT_FITTING   500

/* ms that a worker that starts waits for a process slot: those that leave look each second whether one is wanted */
#define NGX_HTTP_WEIR_WAIT_SLOT      2000

/* seconds: tried again, and said again */
#define NGX_HTTP_WEIR_SLOT_RETRY     1
#define NGX_HTTP_WEIR_SLOT_COMPLAIN  10


static enum weir_error ngx_http_weir_table_make(
    ngx_http_weir_realm_t *realm, const struct table_options *options,
    struct table **table, char *why, size_t size);
static uint64_t ngx_http_weir_table_size(ngx_http_weir_realm_t *realm,
    const struct table_options *options);
static ngx_int_t ngx_http_weir_table_resize(ngx_http_weir_realm_t *realm,
    struct table *table);
static const char *ngx_http_weir_table_snapshot(
    ngx_http_weir_realm_t *realm, const char *table, char *path);
static void ngx_http_weir_table_tell(ngx_http_weir_realm_t *realm,
    struct table *table, const char *snapshot);
static void ngx_http_weir_table_crowded(ngx_http_weir_realm_t *realm,
    struct table *table);
static uint32_t ngx_http_weir_slots(void);


static ngx_queue_t  ngx_http_weir_tables;


ngx_http_weir_table_t *
ngx_http_weir_table_open(ngx_http_weir_realm_t *realm, const char *otherwise)
{
    char                    why[1024], path[PLACE_MAX], snapshot[PLACE_MAX];
    enum weir_error         error;
    struct table_options    options;
    ngx_http_weir_table_t  *table;

    ngx_memzero(&options, sizeof(struct table_options));
    options.size = realm->size;
    options.create = true;
    options.process_slots = ngx_http_weir_slots();
    options.slot_wait_ms = realm->serving ? 0 : NGX_HTTP_WEIR_WAIT_SLOT;

    options.path = ngx_http_weir_table_path(realm, geteuid(), path);

    if (options.path == NULL) {
        ngx_http_weir_complain(realm->log, "too long a path", WEIR_SYSTEM,
                               "name a table");
        return NULL;
    }

    options.snapshot = ngx_http_weir_table_snapshot(realm, options.path,
                                                    snapshot);

    table = ngx_alloc(sizeof(ngx_http_weir_table_t), realm->log);
    if (table == NULL) {
        return NULL;
    }

    table->references = 1;
    ngx_queue_init(&table->worlds);

    error = ngx_http_weir_table_make(realm, &options, &table->table, why,
                                     sizeof(why));
    if (error != WEIR_OK) {
        ngx_free(table);

        if (error == WEIR_BUSY) {
            realm->retry_at = ngx_time() + NGX_HTTP_WEIR_SLOT_RETRY;

            if (ngx_time() < realm->complain_at) {
                return NULL;
            }

            realm->complain_at = ngx_time() + NGX_HTTP_WEIR_SLOT_COMPLAIN;
        }

        ngx_http_weir_complain(realm->log, why, error, otherwise);
        return NULL;
    }

    if (ngx_http_weir_tables.next == NULL) {
        ngx_queue_init(&ngx_http_weir_tables);
    }

    ngx_queue_insert_tail(&ngx_http_weir_tables, &table->queue);

    ngx_http_weir_table_crowded(realm, table->table);

    return table;
}


/*
 * The zones ask for another size than they did when they were published last: whoever starts first makes the new table, with all that is
 * counted, and the others go over. What is in flight is counted in the old one until it ends. A table that somebody has resized since, or
 * for which there was no room, is left as it is.
 */

ngx_http_weir_table_t *
ngx_http_weir_table_fit(ngx_http_weir_realm_t *realm,
    ngx_http_weir_table_t *table)
{
    ngx_http_weir_table_t  *fitted;

    if (realm->serving || realm->shared->fitted
        || !ngx_http_weir_lock(&realm->shared->publishing,
                               NGX_HTTP_WEIR_WAIT_MAKING))
    {
        return table;
    }

    if (!realm->shared->fitted
        && ngx_http_weir_table_resize(realm, table->table) != NGX_BUSY)
    {
        realm->shared->fitted = 1;
    }

    ngx_http_weir_unlock(&realm->shared->publishing);

    fitted = ngx_http_weir_table_open(realm,
                                      "the old table is used for now");
    if (fitted == NULL) {
        return table;
    }

    ngx_http_weir_table_drop(table);

    return fitted;
}


/* NGX_BUSY: another configuration's worker is at it; the next of ours tries again. */

static ngx_int_t
ngx_http_weir_table_resize(ngx_http_weir_realm_t *realm, struct table *table)
{
    char                   why[1024];
    uint64_t               before, asked;
    enum weir_error        error;
    struct policy_image   *image;
    struct table_options   options;

    if (table_generation(table) == 0
        || policy_current(table, &image, why, sizeof(why)) != WEIR_OK)
    {
        return NGX_OK;
    }

    asked = image->image->table_bytes;
    policy_drop(&image);

    if (asked == realm->image->table_bytes) {
        return NGX_OK;
    }

    before = table_bytes(table);

    ngx_memzero(&options, sizeof(struct table_options));
    options.path = table_path(table);
    options.process_slots = ngx_http_weir_slots();
    options.size = realm->size;
    options.size = ngx_http_weir_table_size(realm, &options);

    error = table_resize(table, &options, NGX_HTTP_WEIR_WAIT_FITTING, why,
                         sizeof(why));

    if (error == WEIR_BUSY || error == WEIR_NOT_FOUND) {
        return NGX_BUSY;
    }

    if (error != WEIR_OK) {
        ngx_http_weir_complain(realm->log, why, error,
                               "the table keeps its size");
        return NGX_ERROR;
    }

    ngx_log_error(NGX_LOG_NOTICE, realm->log, 0,
                  "weir: the table of the zones has %uL bytes now, it had "
                  "%uL; its counters are kept", options.size, before);

    return NGX_OK;
}


const char *
ngx_http_weir_table_path(ngx_http_weir_realm_t *realm, ngx_uid_t worker,
    char *path)
{
    if (realm->table.len) {
        return (char *) realm->table.data;
    }

    if (realm->fixed) {
        return zones_table_path((char *) realm->path.data, (unsigned) worker,
                                path, PLACE_MAX) ? path : NULL;
    }

    return policy_table_path((char *) realm->path.data, (unsigned) worker, path,
                             PLACE_MAX) ? path : NULL;
}


/* Opens the table. One worker makes its file, the others find it: all at once, each would first reserve the room for one of
 * its own, and a file system that has it once would be full. */

static enum weir_error
ngx_http_weir_table_make(ngx_http_weir_realm_t *realm,
    const struct table_options *options, struct table **table, char *why,
    size_t size)
{
    ngx_uint_t            missing, locked;
    enum weir_error       error;
    struct table_options  made;

    missing = access(options->path, F_OK) == -1;
    locked = missing
             && ngx_http_weir_lock(&realm->shared->opening, realm->serving
                                   ? NGX_HTTP_WEIR_WAIT_MAKING_SERVING
                                   : NGX_HTTP_WEIR_WAIT_MAKING);

    made = *options;

    if (missing && realm->fixed && access(options->path, F_OK) == -1) {
        made.size = ngx_http_weir_table_size(realm, options);
    }

    error = table_open(&made, table, why, size);

    if (locked) {
        ngx_http_weir_unlock(&realm->shared->opening);
    }

    if (missing && error == WEIR_OK && options->snapshot) {
        ngx_http_weir_table_tell(realm, *table, options->snapshot);
    }

    return error;
}


/* nginx has its zones or does not start; limits that hold, and forget sooner, are better than none. The image needs room too. */

static uint64_t
ngx_http_weir_table_size(ngx_http_weir_realm_t *realm,
    const struct table_options *options)
{
    uint64_t              room;
    struct table_options  fits;

    fits = *options;
    room = ngx_http_weir_room(options->path);

    while (table_room(&fits) + 2 * realm->image->size > room
           && fits.size / 2 >= TABLE_SIZE_MIN)
    {
        fits.size /= 2;
    }

    if (fits.size != options->size
        && table_room(&fits) + 2 * realm->image->size <= room)
    {
        ngx_log_error(NGX_LOG_WARN, realm->log, 0,
                      "weir: %s: there is no room for a table of %uL bytes; "
                      "one of %uL is made, which forgets sooner. Make room, "
                      "or name another place: %s PATH",
                      options->path, options->size, fits.size,
                      realm->directive);
    }

    return fits.size;
}


static const char *
ngx_http_weir_table_snapshot(ngx_http_weir_realm_t *realm,
    const char *table, char *path)
{
    if (realm->snapshot.data) {
        return realm->snapshot.len ? (char *) realm->snapshot.data : NULL;
    }

    return policy_kept_path(table, (unsigned) geteuid(), path, PLACE_MAX)
           ? path : NULL;
}


/* What the new table began with: by the one worker of all that made it. */

static void
ngx_http_weir_table_tell(ngx_http_weir_realm_t *realm, struct table *table,
    const char *snapshot)
{
    struct table_restored  restored;

    if (!table_restored(table, &restored)
        || !ngx_atomic_cmp_set(&realm->shared->restored, 0, 1))
    {
        return;
    }

    if (restored.why[0]) {
        if (access(snapshot, F_OK) == 0) {
            ngx_log_error(NGX_LOG_WARN, realm->log, 0,
                          "weir: the counters begin anew: %s", restored.why);
        }

        return;
    }

    ngx_log_error(NGX_LOG_NOTICE, realm->log, 0,
                  "weir: %uL counters go on from %s, %uL s old; %uL had "
                  "recovered since%s", restored.entries, snapshot,
                  restored.age_ns / 1000000000, restored.expired,
                  restored.believed ? "" : "; the wall clock is not believed "
                  "in full yet");
}


/* A slot each, for as long as it may still decide or holds something. Once for each configuration. */

static void
ngx_http_weir_table_crowded(ngx_http_weir_realm_t *realm,
    struct table *table)
{
    uint32_t  all, taken;

    taken = table_slots_taken(table, &all);

    if ((uint64_t) taken * 4 >= (uint64_t) all * 3
        && ngx_atomic_cmp_set(&realm->shared->crowded, 0, 1))
    {
        ngx_log_error(NGX_LOG_WARN, realm->log, 0,
                      "weir: %uD of %uD process slots of the table are taken; "
                      "without one a worker passes everything undecided. "
                      "Old workers keep theirs until their last response has "
                      "gone, or until none is left: then it is not counted "
                      "any more. worker_shutdown_timeout ends them",
                      taken, all);
    }
}


static uint32_t
ngx_http_weir_slots(void)
{
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    return table_slots_for((uint32_t) ngx_max(ccf->worker_processes, 1));
}


void
ngx_http_weir_table_drop(ngx_http_weir_table_t *table)
{
    if (--table->references) {
        return;
    }

    ngx_queue_remove(&table->queue);

    table_close(&table->table);
    ngx_free(table);
}


ngx_uint_t
ngx_http_weir_tables_overdue(void)
{
    ngx_uint_t              held;
    ngx_queue_t            *q;
    struct algo_time        t;
    ngx_http_weir_table_t  *table;

    held = 0;

    if (ngx_http_weir_tables.next == NULL) {
        return held;
    }

    for (q = ngx_queue_head(&ngx_http_weir_tables);
         q != ngx_queue_sentinel(&ngx_http_weir_tables);
         q = ngx_queue_next(q))
    {
        table = ngx_queue_data(q, ngx_http_weir_table_t, queue);

        table_time(table->table, &t);
        table_overdue(table->table, &t);
        held += table_held(table->table);
    }

    return held;
}


ngx_uint_t
ngx_http_weir_tables_yield(ngx_log_t *log)
{
    uint32_t                dropped;
    ngx_uint_t              slots;
    ngx_queue_t            *q;
    ngx_http_weir_table_t  *table;

    slots = 0;

    if (ngx_http_weir_tables.next == NULL) {
        return slots;
    }

    for (q = ngx_queue_head(&ngx_http_weir_tables);
         q != ngx_queue_sentinel(&ngx_http_weir_tables);
         q = ngx_queue_next(q))
    {
        table = ngx_queue_data(q, ngx_http_weir_table_t, queue);

        if (table_wanted(table->table) && table_yield(table->table, &dropped)) {
            ngx_log_error(NGX_LOG_NOTICE, log, 0,
                          "weir: %s: new workers find no process slot, so "
                          "this one, which is to exit, gives its own up; its "
                          "%uD places of requests in flight are not counted "
                          "any more", table_path(table->table), dropped);
        }

        slots += table_decides(table->table);
    }

    return slots;
}
