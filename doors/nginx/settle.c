/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle: what becomes of a request that was let through: its status, when that is known, and its end, whichever way it comes.
 *
 * The status is known when the header is sent, and a slow reader cannot put that off. The end is the request's pool: a finished
 * answer, a client that went away, an upgraded connection that closes, an error, all of them free it.
 */
#include "doors/nginx/gate.h"


#define NGX_HTTP_WEIR_STATUSES  20    /* a header, what pages hide, and the backends that were tried */


static void ngx_http_weir_settle_again(void);
static void ngx_http_weir_settle_timer(ngx_event_t *ev);


static ngx_event_t              ngx_http_weir_settling;
static ngx_connection_t         ngx_http_weir_settle_dummy;    /* nginx's debug log wants a connection */


/*
 * Every status counts, not only the one that is sent: those that backends gave, and those that led to an error_page, which may
 * show a wrong password as 200.
 */

void
ngx_http_weir_responded(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    unsigned                    statuses[NGX_HTTP_WEIR_STATUSES];
    ngx_uint_t                  i, n;
    struct table               *table;
    struct algo_time            t;
    ngx_http_upstream_state_t  *state;

    if (visit->responded || visit->flow->verdict.action != FLOW_PASS) {
        return;
    }

    visit->responded = 1;

    if (visit->flow->tickets == 0) {    /* nothing waits for it */
        return;
    }

    n = 0;
    statuses[n++] = r->headers_out.status;
    n += ngx_http_weir_hidden(r, &statuses[n], NGX_HTTP_WEIR_STATUSES - n);

    if (r->upstream_states) {
        state = r->upstream_states->elts;

        for (i = 0;
             i < r->upstream_states->nelts && n < NGX_HTTP_WEIR_STATUSES;
             i++)
        {
            if (state[i].status >= NGX_HTTP_OK) {    /* 0: between two locations */
                statuses[n++] = state[i].status;
            }
        }
    }

    table = visit->world->env.table;

    table_time(table, &t);

    table_stay(table);    /* to its last step, should it leave with the last ticket */
    flow_responded(visit->flow, &t, statuses, n);
    ngx_http_weir_log_notices(visit, visit->request->connection->log);
    table_unstay(table);
}


void
ngx_http_weir_ended(ngx_http_weir_visit_t *visit)
{
    struct table      *table;
    struct algo_time   t;

    table = visit->world->env.table;

    table_time(table, &t);

    table_stay(table);

    if (visit->pace) {
        ngx_http_weir_pace_end(visit, &t);
    }

    flow_end(visit->flow, &t);

    ngx_http_weir_log_notices(visit, ngx_cycle->log);

    table_unstay(table);
}


/*
 * A reservation whose answer does not come within a minute is charged (T10). Each decision looks, and once a second this timer
 * does, in all tables, as long as anything is held in one; being cancelable it keeps no worker from exiting.
 */

void
ngx_http_weir_overdue(ngx_http_weir_world_t *world, const struct algo_time *t)
{
    table_overdue(world->env.table, t);

    if (!ngx_http_weir_settling.timer_set
        && table_held(world->env.table) != 0)
    {
        ngx_http_weir_settle_again();
    }
}


static void
ngx_http_weir_settle_again(void)
{
    ngx_http_weir_settling.handler = ngx_http_weir_settle_timer;
    ngx_http_weir_settling.data = &ngx_http_weir_settle_dummy;
    ngx_http_weir_settling.log = ngx_cycle->log;
    ngx_http_weir_settling.cancelable = 1;

    ngx_add_timer(&ngx_http_weir_settling, 1000);
}


static void
ngx_http_weir_settle_timer(ngx_event_t *ev)
{
    if (ngx_http_weir_tables_overdue() != 0) {
        ngx_http_weir_settle_again();
    }
}


/* The process ends. */

void
ngx_http_weir_settle_end(void)
{
    if (ngx_http_weir_settling.timer_set) {
        ngx_del_timer(&ngx_http_weir_settling);
    }
}
