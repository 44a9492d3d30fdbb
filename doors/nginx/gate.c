/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate: decides a request in PREACCESS, once, and makes it wait its turn.
 *
 * Once means once for the main request: not in subrequests, not after internal redirects, not for the location that an
 * error page leads to. What never comes here (`return`, redirects, 413) is decided by the header filter (filter.c).
 */
#include "doors/nginx/gate.h"


static ngx_int_t ngx_http_weir_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_go_on(ngx_http_request_t *r,
    ngx_http_weir_visit_t  *visit);
static ngx_int_t ngx_http_weir_refuse(ngx_http_request_t *r,
    ngx_http_weir_visit_t  *visit);
static void             ngx_http_weir_delay(ngx_http_request_t *r);


ngx_int_t
ngx_http_weir_gate_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *h;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    h = ngx_array_push(&cmcf->phases[NGX_HTTP_PREACCESS_PHASE].handlers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_http_weir_handler;

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_handler(ngx_http_request_t *r)
{
    ngx_int_t                  rc;
    ngx_http_weir_visit_t     *visit;
    ngx_http_weir_loc_conf_t  *lcf;

    if (r != r->main || r->post_action || !ngx_http_weir_readable(r)) {
        return NGX_DECLINED;
    }

    visit = ngx_http_weir_visit_find(r);

    if (visit) {
        if (!visit->waiting) {
            return ngx_http_weir_go_on(r, visit);
        }

    } else {
        visit = ngx_http_weir_visit_add(r);
        if (visit == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        lcf = ngx_http_get_module_loc_conf(r, ngx_http_weir_gate_module);

        if (!lcf->enable) {
            /* for good: neither a later location nor the header filter decides */
            return NGX_DECLINED;
        }

        if (ngx_http_weir_visit_begin(visit, 1) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ngx_http_weir_body_begin(r, visit);
    }

    rc = ngx_http_weir_decide(visit);

    if (rc == NGX_DONE && !ngx_http_weir_body_readable(r, visit)) {
        rc = ngx_http_weir_decide(visit);
    }

    switch (rc) {

    case NGX_AGAIN:
        return ngx_http_weir_wait(r, visit->flow->verdict.wait_ms);

    case NGX_DONE:
        return ngx_http_weir_body_read(r, visit);

    case NGX_OK:
        ngx_http_weir_answer_tell(r, visit);
        return NGX_DONE;

    case NGX_BUSY:
        return ngx_http_weir_refuse(r, visit);

    case NGX_ABORT:
        return NGX_HTTP_CLOSE;

    default:
        return ngx_http_weir_go_on(r, visit);
    }
}


/* Decided, here or where it has been redirected from: then by a stored answer (X-Accel-Redirect), or it needs one here. */

static ngx_int_t
ngx_http_weir_go_on(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    if (visit->stale && !ngx_http_weir_cached_may(r)
        && !ngx_http_weir_cached_answer(r))
    {
        visit->stale = 0;
        return ngx_http_weir_refuse(r, visit);
    }

    /* not NGX_OK, which would skip what else stands in this phase */
    return NGX_DECLINED;
}


ngx_int_t
ngx_http_weir_decide(ngx_http_weir_visit_t *visit)
{
    enum flow_step              step;
    struct table               *table;
    ngx_http_weir_main_conf_t  *mcf;

    if (visit->flow == NULL) {
        return NGX_DECLINED;
    }

    table = visit->world->env.table;

    if (visit->waiting) {
        ngx_http_weir_leave_back(visit->world);
        table_time(table, &visit->flow->time);
    }

    step = flow_run(visit->flow);

    switch (step) {

    case FLOW_BODY:
    case FLOW_WAIT:

        if (!visit->waiting) {
            visit->waiting = 1;
            table_stay(table);    /* also if the worker is told to exit */
        }

        return step == FLOW_BODY ? NGX_DONE : NGX_AGAIN;

    case FLOW_DONE:

        if (visit->waiting) {
            visit->waiting = 0;
            table_unstay(table);
        }

        break;
    }

    ngx_http_weir_overdue(visit->world, &visit->flow->time);

    mcf = ngx_http_get_module_main_conf(visit->request,
                                        ngx_http_weir_gate_module);

    ngx_http_weir_log_decision(mcf, visit);

    switch (visit->flow->verdict.action) {

    case FLOW_REFUSE:
        return NGX_BUSY;

    case FLOW_CLOSE:
        return NGX_ABORT;

    case FLOW_TELL:
        return NGX_OK;

    case FLOW_CACHED:
        visit->stale = 1;
        return NGX_DECLINED;

    default:
        return NGX_DECLINED;
    }
}


/* The operator's page, by nginx's own means, or our answer. */

static ngx_int_t
ngx_http_weir_refuse(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    ngx_uint_t  status;

    status = visit->flow->verdict.http_status;

    if (!visit->flow->grpc && ngx_http_weir_page(r, status)) {
        r->error_page = 0;    /* a page that led here is no reason against this one */
        return status;
    }

    ngx_http_weir_answer_send(r, visit);

    return NGX_DONE;
}


/*
 * The connection's own write event, with its `delayed` flag, as limit_req does it: a private timer would break limit_rate
 * and subrequests. A client that goes away is noticed (499); the phases resume with this handler.
 */

ngx_int_t
ngx_http_weir_wait(ngx_http_request_t *r, ngx_msec_t ms)
{
    if (r->connection->read->ready) {
        ngx_post_event(r->connection->read, &ngx_posted_events);

    } else {
        if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_weir_delay;

    r->connection->write->delayed = 1;
    ngx_add_timer(r->connection->write, ms);

    return NGX_AGAIN;
}


static void
ngx_http_weir_delay(ngx_http_request_t *r)
{
    ngx_event_t  *wev;

    wev = r->connection->write;

    if (wev->delayed) {

        if (ngx_handle_write_event(wev, 0) != NGX_OK) {
            ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        }

        return;
    }

    if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    r->read_event_handler = ngx_http_block_reading;
    r->write_event_handler = ngx_http_core_run_phases;

    ngx_http_core_run_phases(r);
}
