/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave: a worker that is told to exit gives its slot of the table back as soon as it may: a download may take hours, the table has
 * some hundred slots, and each reload makes as many new workers. What is in flight or reserved, who waits, and a response that is paced
 * out of a total need the slot; what is only sent does not. The table knows (table_retire).
 *
 * If others find no slot meanwhile, it gives its own up, and what it still sends is not counted any more: better than new
 * workers that decide nothing (table_yield).
 *
 * nginx tells no module that a worker begins to exit; it tells idle connections. So there is one, on which nothing ever
 * happens. A request that is decided after that (its header was not complete) takes a slot for as long as this round of events.
 */
#include "doors/nginx/gate.h"

#include <sys/eventfd.h>


static void ngx_http_weir_told(ngx_event_t *rev);
static void ngx_http_weir_left(ngx_event_t *ev);
static void ngx_http_weir_leave(ngx_cycle_t *cycle);
static void ngx_http_weir_leave_look(ngx_event_t *ev);


#define NGX_HTTP_WEIR_LOOK  1000    /* ms: how often it looks whether slots are wanted */


static ngx_connection_t  *ngx_http_weir_idle;
static ngx_event_t        ngx_http_weir_leaving;
static ngx_event_t        ngx_http_weir_looking;
static ngx_connection_t   ngx_http_weir_leave_dummy;    /* nginx's debug log wants a connection */


void
ngx_http_weir_leave_init(ngx_cycle_t *cycle)
{
    int                fd;
    ngx_connection_t  *c;

    ngx_http_weir_leaving.handler = ngx_http_weir_left;
    ngx_http_weir_leaving.data = cycle;
    ngx_http_weir_leaving.log = cycle->log;

    ngx_http_weir_looking.handler = ngx_http_weir_leave_look;
    ngx_http_weir_looking.data = &ngx_http_weir_leave_dummy;
    ngx_http_weir_looking.log = cycle->log;
    ngx_http_weir_looking.cancelable = 1;

    fd = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

    c = fd == -1 ? NULL : ngx_get_connection(fd, cycle->log);

    if (c == NULL) {
        if (fd != -1) {
            (void) close(fd);
        }

        /* the slot is kept until the worker ends, that is all */
        return;
    }

    c->data = cycle;
    c->idle = 1;
    c->read->handler = ngx_http_weir_told;
    c->read->log = cycle->log;
    c->write->log = cycle->log;

    ngx_http_weir_idle = c;
}


/* Called with c->close set, before nginx looks whether the worker still has anything to do. */

static void
ngx_http_weir_told(ngx_event_t *rev)
{
    ngx_cycle_t       *cycle;
    ngx_connection_t  *c;

    c = rev->data;
    cycle = c->data;

    ngx_http_weir_leave_end();
    ngx_http_weir_leave(cycle);
}


void
ngx_http_weir_leave_soon(void)
{
    ngx_post_event(&ngx_http_weir_leaving, &ngx_posted_events);
}


static void
ngx_http_weir_left(ngx_event_t *ev)
{
    ngx_http_weir_leave(ev->data);
}


static void
ngx_http_weir_leave(ngx_cycle_t *cycle)
{
    ngx_uint_t              n;
    ngx_http_weir_realm_t  *realms[NGX_HTTP_WEIR_REALMS];

    n = ngx_http_weir_realms(cycle, realms);

    while (n) {
        ngx_http_weir_world_leave(realms[--n]);
    }

    if (!ngx_http_weir_looking.timer_set) {
        ngx_add_timer(&ngx_http_weir_looking, NGX_HTTP_WEIR_LOOK);
    }
}


static void
ngx_http_weir_leave_look(ngx_event_t *ev)
{
    if (ngx_http_weir_tables_yield(ev->log) != 0) {
        ngx_add_timer(ev, NGX_HTTP_WEIR_LOOK);
    }
}


/* The slot may have been given up while it waited. Without one it would pass uncounted; and with one, if another policy has been
 * published, its rows may be others' by now. */

void
ngx_http_weir_leave_back(ngx_http_weir_world_t *world)
{
    uint32_t       dropped;
    struct table  *table;

    table = world->env.table;

    if (!ngx_exiting || table_decides(table) || table_resume(table) != WEIR_OK)
    {
        return;
    }

    table_retire(table);

    if (table_generation(table) != world->image->image->generation) {
        (void) table_yield(table, &dropped);
        return;
    }

    ngx_http_weir_leave_soon();    /* looks each second again */
}


void
ngx_http_weir_leave_end(void)
{
    if (ngx_http_weir_idle) {
        ngx_close_connection(ngx_http_weir_idle);
        ngx_http_weir_idle = NULL;
    }

    if (ngx_http_weir_looking.timer_set) {
        ngx_del_timer(&ngx_http_weir_looking);
    }
}
