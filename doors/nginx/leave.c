/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave: a worker that is told to exit gives its slot of the table back as soon as it may: a download may take hours, the table has
 * some hundred slots, and each reload makes as many new workers. What is in flight or reserved, who waits, and a response that is paced
 * out of a total need the slot; what is only sent does not. The table knows (table_retire).
 *
 * nginx tells no module that a worker begins to exit; it tells idle connections. So there is one, on which nothing ever
 * happens. A request that is decided after that (its header was not complete) takes a slot for as long as this round of events.
 */
#include "doors/nginx/gate.h"

#include <sys/eventfd.h>


static void ngx_http_weir_told(ngx_event_t *rev);
static void ngx_http_weir_left(ngx_event_t *ev);
static void ngx_http_weir_leave(ngx_cycle_t *cycle);


static ngx_connection_t  *ngx_http_weir_idle;
static ngx_event_t        ngx_http_weir_leaving;


void
ngx_http_weir_leave_init(ngx_cycle_t *cycle)
{
    int                fd;
    ngx_connection_t  *c;

    ngx_http_weir_leaving.handler = ngx_http_weir_left;
    ngx_http_weir_leaving.data = cycle;
    ngx_http_weir_leaving.log = cycle->log;

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
}


void
ngx_http_weir_leave_end(void)
{
    if (ngx_http_weir_idle) {
        ngx_close_connection(ngx_http_weir_idle);
        ngx_http_weir_idle = NULL;
    }
}
