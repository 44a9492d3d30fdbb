/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world: the table and the image that decide now, and when to change them.
 *
 * One load a request tells whether a new policy has been published; once a second the table's path is looked at
 * again. Nothing here gives up: whatever cannot be opened or mapped leaves the last good world in force, or lets traffic
 * pass undecided, says so, and is tried again ten seconds later at a request.
 */
#include "doors/nginx/gate.h"

#include "table/stats.h"


#define NGX_HTTP_WEIR_RETRY       10    /* seconds */
#define NGX_HTTP_WEIR_RETRY_SOON  2     /* for zones: without their own image those that are new limit nothing */


static ngx_http_weir_world_t *ngx_http_weir_world_open(
    ngx_http_weir_realm_t *realm, const struct image *last);
static ngx_http_weir_world_t *ngx_http_weir_world_map(
    ngx_http_weir_realm_t *realm, ngx_http_weir_table_t *table);
static void ngx_http_weir_world_follow(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world, ngx_uint_t replaced);
static void ngx_http_weir_world_change(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world);
static void ngx_http_weir_world_resume(ngx_http_weir_realm_t *realm);
static void ngx_http_weir_world_people(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world, uint64_t now);
static void ngx_http_weir_world_keep(ngx_http_weir_table_t *table);


static uint64_t  ngx_http_weir_worlds;


static inline time_t
ngx_http_weir_retry(const ngx_http_weir_realm_t *realm)
{
    return realm->fixed ? NGX_HTTP_WEIR_RETRY_SOON : NGX_HTTP_WEIR_RETRY;
}


ngx_http_weir_world_t *
ngx_http_weir_world(ngx_http_weir_realm_t *realm, struct algo_time *t)
{
    ngx_uint_t              replaced;
    ngx_http_weir_world_t  *world;

    if (ngx_exiting) {
        ngx_http_weir_leave_soon();
        ngx_http_weir_world_resume(realm);
    }

    world = realm->current;

    if (world) {
        table_time(world->env.table, t);
        replaced = table_replaced(world->env.table, t->now);

        if ((table_generation(world->env.table) == world->seen || world->own)
            && realm->started && !replaced)
        {
            ngx_http_weir_world_people(realm, world, t->now);
            return world;
        }

        ngx_http_weir_world_follow(realm, world, replaced);

    } else if (ngx_time() >= realm->retry_at) {
        ngx_http_weir_world_change(realm,
                                   ngx_http_weir_world_open(realm, NULL));
    }

    world = realm->current;

    if (world) {
        table_time(world->env.table, t);
    }

    return world;
}


/* Keys and tokens that have changed are known from now on. Of what is wrong with them the log says it when the world is new, and with
 * each change. */

static void
ngx_http_weir_world_people(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world, uint64_t now)
{
    char        why[512];
    ngx_uint_t  level;

    if (now == 0) {
        if (world->people.trouble[0]) {
            ngx_log_error(NGX_LOG_ERR, realm->log, 0,
                          "weir: no API key is known: %s",
                          world->people.trouble);
        }

        return;
    }

    if (people_refresh(&world->people, now, why, sizeof(why))) {
        level = world->people.wrong ? NGX_LOG_ERR : NGX_LOG_NOTICE;

        ngx_log_error(level, realm->log, 0, "weir: %s", why);
    }
}


/* Another file at the table's path, a configuration not published yet, another generation: in this order. */

static void
ngx_http_weir_world_follow(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world, ngx_uint_t replaced)
{
    uint64_t    generation;
    ngx_uint_t  due;

    due = ngx_time() >= realm->retry_at;

    if (replaced && due) {
        ngx_http_weir_world_change(realm,
            ngx_http_weir_world_open(realm, world->env.image));
        return;
    }

    if (!realm->started && due
        && ngx_http_weir_publish(realm, world->env.table, world->env.image)
           != NGX_OK)
    {
        realm->retry_at = ngx_time() + ngx_http_weir_retry(realm);
    }

    generation = table_generation(world->env.table);

    if (!world->own && generation != world->seen
        && (generation != realm->unmappable || due))
    {
        ngx_http_weir_world_change(realm,
                                   ngx_http_weir_world_map(realm,
                                                           world->table));
    }
}


/* A table opened, a policy in it, and that mapped. NULL: said why, try later. */

static ngx_http_weir_world_t *
ngx_http_weir_world_open(ngx_http_weir_realm_t *realm,
    const struct image *last)
{
    ngx_int_t               rc;
    ngx_http_weir_table_t  *table;
    ngx_http_weir_world_t  *world;

    realm->retry_at = ngx_time() + ngx_http_weir_retry(realm);

    table = ngx_http_weir_table_open(realm, last
                                     ? "deciding goes on in the old table"
                                     : "requests pass undecided");
    if (table && realm->fixed && !realm->started) {
        table = ngx_http_weir_table_fit(realm, table);
    }

    if (table == NULL) {
        return NULL;
    }

    world = NULL;
    rc = ngx_http_weir_publish(realm, table->table, last);

    if (rc != NGX_OK && realm->fixed && !realm->serving) {
        /* another worker has put a table of another size in its place */
        ngx_http_weir_table_drop(table);

        table = ngx_http_weir_table_open(realm, "requests pass undecided");
        if (table == NULL) {
            return NULL;
        }

        rc = ngx_http_weir_publish(realm, table->table, last);
    }

    if (rc == NGX_OK || table_generation(table->table) != 0) {
        world = ngx_http_weir_world_map(realm, table);

        if (world && rc == NGX_OK) {
            realm->retry_at = 0;
        }
    }

    ngx_http_weir_table_drop(table);

    return world;
}


/* The image that is published now. On failure NULL, and the last good one remains in force. */

static ngx_http_weir_world_t *
ngx_http_weir_world_map(ngx_http_weir_realm_t *realm,
    ngx_http_weir_table_t *table)
{
    char                    why[1024];
    uint64_t                seen;
    enum weir_error         error;
    struct policy_image    *image;
    ngx_http_weir_world_t  *world;

    world = ngx_alloc(sizeof(ngx_http_weir_world_t), realm->log);
    if (world == NULL) {
        return NULL;
    }

    seen = table_generation(table->table);

    error = policy_current(table->table, &image, why, sizeof(why));

    if (error == WEIR_OK && image->image->kind != realm->image->kind) {
        /* two directives name one table; publish.c has said so too */
        (void) ngx_snprintf((u_char *) why, sizeof(why), "%s holds %s%Z",
                            table_path(table->table),
                            image->image->kind == IMAGE_OF_ZONES
                            ? "the zones of an nginx.conf" : "a policy");
        policy_drop(&image);
        error = WEIR_OTHER_KIND;
    }

    if (error != WEIR_OK) {
        ngx_free(world);

        realm->retry_at = ngx_time() + ngx_http_weir_retry(realm);

        if (realm->unmappable != seen) {
            realm->unmappable = seen;
            stats_add(&stats_process(table->table)->policy_errors, 1);
        }

        ngx_http_weir_complain(realm->log, why, error, realm->current
                               ? "what was in force last remains so"
                               : "requests pass undecided");
        return NULL;
    }

    if (!people_open(&world->people, image->image)) {
        ngx_log_error(NGX_LOG_ERR, realm->log, 0,
                      "weir: out of memory: no token is believed");
    }

    ngx_http_weir_world_people(realm, world, 0);

    realm->unmappable = 0;

    table->references++;

    world->env.table = table->table;
    world->env.image = image->image;
    world->env.recorder = &realm->recorder;
    world->env.people = &world->people;
    world->table = table;
    world->image = image;
    world->seen = seen;
    world->flow_size = flow_size(image->image);
    world->serial = ++ngx_http_weir_worlds;
    world->own = realm->fixed
                 && ngx_http_weir_same(realm, image->image);
    world->references = 1;

    ngx_queue_insert_tail(&table->worlds, &world->queue);
    ngx_http_weir_world_keep(table);

    if (!ngx_exiting) {
        ngx_log_error(NGX_LOG_NOTICE, realm->log, 0,
                      "weir: %s generation %uL is in force",
                      realm->what, image->image->generation);
    }

    return world;
}


static void
ngx_http_weir_world_change(ngx_http_weir_realm_t *realm,
    ngx_http_weir_world_t *world)
{
    if (world) {
        ngx_http_weir_world_close(realm);
        realm->current = world;
    }
}


/* The oldest image that may still be used holds its generation: requests that wait decide with it, responses that are
 * paced charge with it, and the rows it names must not become others'. */

static void
ngx_http_weir_world_keep(ngx_http_weir_table_t *table)
{
    ngx_http_weir_world_t  *world;

    if (!ngx_queue_empty(&table->worlds)) {
        world = ngx_queue_data(ngx_queue_head(&table->worlds),
                               ngx_http_weir_world_t, queue);

        table_hold_generation(table->table, world->image->image->generation);
    }
}


/* Those that have been decided go on to look at their world: answer, variables, log line. The table itself sees to it that
 * those that wait (table_stay) or hold something go on as before. */

void
ngx_http_weir_world_leave(ngx_http_weir_realm_t *realm)
{
    realm->started = 1;    /* it is too late to publish this configuration */

    if (realm->current) {
        table_retire(realm->current->env.table);
        realm->away = 1;
    }
}


/* A request began before its worker was told to exit, and is only now decided. If there is no slot, the world is opened anew,
 * as at the start. If another policy is in force, that one is mapped: nothing may have kept the old image's rows meanwhile. */

static void
ngx_http_weir_world_resume(ngx_http_weir_realm_t *realm)
{
    ngx_http_weir_world_t  *world;

    world = realm->current;

    if (world == NULL || !realm->away) {
        return;
    }

    if (table_resume(world->env.table) == WEIR_OK) {

        if (table_generation(world->env.table)
            == world->image->image->generation)
        {
            realm->away = 0;
            return;
        }

        if (world->own
            && policy_take_up(world->env.table, world->image->image))
        {
            /* a newer configuration may have zones that this one does not know, and not those that this one has */
            realm->away = 0;
            return;
        }

        world = ngx_http_weir_world_map(realm, world->table);

        if (world) {
            ngx_http_weir_world_change(realm, world);
            return;
        }

        world = realm->current;
    }

    table_retire(world->env.table);
    ngx_http_weir_world_close(realm);
}


ngx_http_weir_world_t *
ngx_http_weir_world_hold(ngx_http_weir_world_t *world)
{
    world->references++;

    return world;
}


void
ngx_http_weir_world_drop(ngx_http_weir_world_t *world)
{
    if (--world->references) {
        return;
    }

    ngx_queue_remove(&world->queue);
    ngx_http_weir_world_keep(world->table);

    people_close(&world->people);
    policy_drop(&world->image);
    ngx_http_weir_table_drop(world->table);
    ngx_free(world);
}


void
ngx_http_weir_world_close(ngx_http_weir_realm_t *realm)
{
    if (realm->current) {
        ngx_http_weir_world_drop(realm->current);
        realm->current = NULL;
        realm->away = 0;
    }
}
