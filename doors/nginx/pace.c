/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace: how fast a response goes.
 *
 * Of one response: nginx's limit_rate and limit_rate_after, unless the configuration's are smaller; for an unbuffered one there
 * is no such thing. Of all responses of a key: before each writing of a body the key's bucket says how much, or when. The
 * waiting is ours: the connection is marked as delayed, as it is for limit_rate, but the timer is our own, since an
 * unbuffered backend (also one that serves a part of a page) deletes the connection's. How much is told to the write filter by
 * limit_rate, made so large that it never adds a delay. Its sum (1.22, and all before and after it until now):
 *
 *     limit = limit_rate * (ngx_time() - start_sec + 1) - (c->sent - limit_rate_after)
 *
 * An unbuffered response is sent as far as it has been read, a buffer at most beyond what was granted: that is owed.
 */
#include "doors/nginx/gate.h"


#define NGX_HTTP_WEIR_PACE_MIN    4096
#define NGX_HTTP_WEIR_PACE_MAX    (256 * 1024)
#define NGX_HTTP_WEIR_PACE_FIRST  8192                    /* so much of each response need not wait for its turn */
#define NGX_HTTP_WEIR_PACE_EARLY  UINT64_C(1000000000)    /* ns: how far ahead of the bucket is lent at most */
#define NGX_HTTP_WEIR_PACE_OWED   UINT64_C(10000000000)   /* ns: ... for what has been sent */
#define NGX_HTTP_WEIR_PACE_AGE    4000                    /* ms: who has waited so long is lent half of it */
#define NGX_HTTP_WEIR_PACE_WAIT   250                     /* ms: looks again at least that often */
#define NGX_HTTP_WEIR_PACE_ANY    (UINT64_C(1) << 36)     /* bytes per second: times four years, below 2^63 */


static ngx_uint_t ngx_http_weir_pace_unbuffered(ngx_http_request_t *r);
static void ngx_http_weir_pace_account(ngx_http_weir_visit_t *visit);
static uint64_t ngx_http_weir_pace_ask(ngx_http_weir_visit_t *visit);
static void ngx_http_weir_pace_pause(ngx_http_weir_visit_t *visit,
    ngx_msec_t ms);
static void ngx_http_weir_pace_resume(ngx_event_t *ev);


/* Before the header goes out: the configuration's limit_rate, X-Accel-Limit-Rate included, is known. */

ngx_int_t
ngx_http_weir_pace_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    size_t                     rate;
    struct flow_pace           pace;
    ngx_http_core_loc_conf_t  *clcf;

    if (visit->paced || visit->flow->verdict.action != FLOW_PASS) {
        return NGX_OK;
    }

    visit->paced = 1;

    if (r->headers_out.status == NGX_HTTP_SWITCHING_PROTOCOLS) {
        return NGX_OK;    /* what follows is no response, and passes no filter */
    }

    flow_pace(visit->flow, &pace);

    if (pace.bytes_per_s == 0 && !pace.total) {
        return NGX_OK;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (!r->limit_rate_set) {
        r->limit_rate = ngx_http_complex_value_size(r, clcf->limit_rate, 0);
        r->limit_rate_set = 1;
    }

    if (!r->limit_rate_after_set) {
        r->limit_rate_after = ngx_http_complex_value_size(r,
                                                   clcf->limit_rate_after, 0);
        r->limit_rate_after_set = 1;
    }

    if (pace.bytes_per_s && !ngx_http_weir_pace_unbuffered(r)) {
        rate = ngx_min(pace.bytes_per_s, NGX_MAX_SIZE_T_VALUE);

        if (r->limit_rate == 0 || rate < r->limit_rate) {
            r->limit_rate = rate;
            r->limit_rate_after = ngx_min(pace.free_bytes,
                                          NGX_MAX_OFF_T_VALUE);
        }
    }

    if (!pace.total) {
        return NGX_OK;
    }

    visit->pace = ngx_pcalloc(r->pool, sizeof(ngx_http_weir_pace_t));
    if (visit->pace == NULL) {
        return NGX_ERROR;
    }

    visit->pace->rate = r->limit_rate;
    visit->pace->after = r->limit_rate_after;
    visit->pace->total = ngx_max(ngx_min(pace.total_bytes_per_s, NGX_MAX_SIZE_T_VALUE), 1);
    visit->pace->began = r->connection->sent;
    visit->pace->sent = r->connection->sent;
    visit->pace->since = ngx_current_msec;

    r->limit_rate = 0;    /* the header need not wait, and is paid with the body */

    ngx_http_set_ctx(r, visit, ngx_http_weir_filter_module);

    return NGX_OK;
}


/* Before `r`, the main request or a part of it, writes some of the body. */

void
ngx_http_weir_pace_steer(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    off_t                  limit, own, span;
    uint64_t               wait_ns;
    ngx_connection_t      *c;
    ngx_http_request_t    *m;
    ngx_http_weir_pace_t  *pace;

    m = r->main;
    c = m->connection;
    pace = visit->pace;

    if (pace->timer.timer_set) {
        c->write->delayed = 1;    /* a timeout of the connection's own may have ended it */
        return;
    }

    if (c->write->delayed) {
        return;    /* nothing is written now */
    }

    ngx_http_weir_pace_account(visit);

    wait_ns = 0;

    while (pace->credit <= 0 && wait_ns == 0) {
        wait_ns = ngx_http_weir_pace_ask(visit);
    }

    if (pace->credit <= 0) {
        ngx_http_weir_pace_pause(visit, wait_ns / 1000000 + 1);
        return;
    }

    if (ngx_http_weir_pace_unbuffered(r) || ngx_http_weir_pace_unbuffered(m)) {
        m->limit_rate = 0;
        return;
    }

    limit = pace->credit;
    span = ngx_time() - m->start_sec + 1;

    if (pace->rate) {
        own = (off_t) pace->rate * span - (c->sent - (off_t) pace->after);

        if (own <= 0) {
            ngx_http_weir_pace_pause(visit, - own * 1000 / (off_t) pace->rate
                                            + 1);
            return;
        }

        limit = ngx_min(limit, own);
    }

    /* the filter's sum solved for limit_rate_after; what is below 0 wraps, and wraps back in the filter */

    m->limit_rate = NGX_HTTP_WEIR_PACE_ANY;
    m->limit_rate_after = limit + c->sent
                          - (off_t) NGX_HTTP_WEIR_PACE_ANY * span;
}


/* The response is over: what was granted and not sent goes back, what was sent and not granted is owed. */

void
ngx_http_weir_pace_end(ngx_http_weir_visit_t *visit, const struct algo_time *t)
{
    off_t                  got;
    uint64_t               wait_ns;
    ngx_http_weir_pace_t  *pace;

    pace = visit->pace;

    if (pace->timer.timer_set) {
        ngx_del_timer(&pace->timer);
        visit->request->connection->write->delayed = 0;
    }

    ngx_http_weir_pace_account(visit);

    if (pace->credit > 0) {
        flow_pace_return(visit->flow, t, pace->credit);
        return;
    }

    while (pace->credit < 0) {
        got = flow_pace_take(visit->flow, t, - pace->credit,
                             NGX_HTTP_WEIR_PACE_OWED, &wait_ns);
        if (got == 0) {
            return;
        }

        pace->credit += got;
    }
}


/* It ignores limit_rate, and deletes the timer of the connection's write event. */

static ngx_uint_t
ngx_http_weir_pace_unbuffered(ngx_http_request_t *r)
{
    return r->upstream && !r->upstream->buffering;
}


static void
ngx_http_weir_pace_account(ngx_http_weir_visit_t *visit)
{
    ngx_http_weir_pace_t  *pace;

    pace = visit->pace;

    pace->credit -= visit->request->connection->sent - pace->sent;
    pace->sent = visit->request->connection->sent;
}


/*
 * For the next piece, or what is left if that is less. The beginning of each response comes at once, and of those that wait who has
 * waited longest is lent most, so that each gets its turn. 0: some was granted; else when to ask again.
 */

static uint64_t
ngx_http_weir_pace_ask(ngx_http_weir_visit_t *visit)
{
    off_t                  want, left, got, sent;
    uint64_t               early_ns, wait_ns, waited;
    struct algo_time       t;
    ngx_http_request_t    *r;
    ngx_http_weir_pace_t  *pace;

    r = visit->request;
    pace = visit->pace;

    want = ngx_min(ngx_max(pace->total / 8, NGX_HTTP_WEIR_PACE_MIN),
                   NGX_HTTP_WEIR_PACE_MAX);

    sent = pace->sent - pace->began;

    if (r->headers_out.content_length_n >= 0) {
        left = r->headers_out.content_length_n + (off_t) r->header_size - sent;

        if (left > 0) {
            want = ngx_min(want, left);
        }
    }

    if (pace->granted < NGX_HTTP_WEIR_PACE_FIRST) {
        want = ngx_min(want, NGX_HTTP_WEIR_PACE_FIRST - pace->granted);
        early_ns = NGX_HTTP_WEIR_PACE_EARLY;

    } else {
        waited = ngx_current_msec - pace->since;
        early_ns = NGX_HTTP_WEIR_PACE_EARLY * waited
                   / (waited + NGX_HTTP_WEIR_PACE_AGE);
    }

    table_time(visit->world->env.table, &t);

    got = flow_pace_take(visit->flow, &t, want - pace->credit, early_ns,
                         &wait_ns);

    if (got == 0) {
        return ngx_max(wait_ns, 1);
    }

    pace->granted += got;
    pace->credit += got;
    pace->since = ngx_current_msec;

    return 0;
}


static void
ngx_http_weir_pace_pause(ngx_http_weir_visit_t *visit, ngx_msec_t ms)
{
    ngx_event_t       *ev;
    ngx_connection_t  *c;

    c = visit->request->connection;
    ev = &visit->pace->timer;

    ev->handler = ngx_http_weir_pace_resume;
    ev->data = c;
    ev->log = c->log;

    ngx_add_timer(ev, ngx_min(ms, NGX_HTTP_WEIR_PACE_WAIT));

    c->write->delayed = 1;
}


static void
ngx_http_weir_pace_resume(ngx_event_t *ev)
{
    ngx_connection_t  *c;

    c = ev->data;

    c->write->delayed = 0;
    c->write->handler(c->write);    /* the request may be gone after that, and `ev` with it */
}
