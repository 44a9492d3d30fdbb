/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: refusals, in few lines.
 *
 * A flood must not fill the disk: what a limit refuses is counted for a second and told in one line with a sample. The
 * timer that ends the second is cancelable (it keeps no old worker alive); what is left then is told at the exit.
 */
#include "doors/nginx/gate.h"

#include "identity/jwt.h"
#include "table/ledger.h"


enum {
    NGX_HTTP_WEIR_REFUSED,
    NGX_HTTP_WEIR_SHADOW,
    NGX_HTTP_WEIR_DENIED,
    NGX_HTTP_WEIR_BANNED,                      /* by the operator */
    NGX_HTTP_WEIR_UNKNOWN_KEY,                 /* by enum ring_found */
    NGX_HTTP_WEIR_UNKNOWN_TOKEN,               /* by enum jwt_result */
    NGX_HTTP_WEIR_UNBELIEVED,                  /* the same, and it was as if there were none */
    NGX_HTTP_WEIR_KINDS
};


typedef struct {
    ngx_uint_t               count;            /* in the second that runs */
    ngx_uint_t               next;             /* of the list of those that count, plus one */
    size_t                   name_len;
    size_t                   line_len;
    size_t                   client_len;
    char                     client[FLOW_CLIENT_TEXT];
    char                     refusal[sizeof(((struct flow_verdict *) 0)->refusal)];
    unsigned                 mixed:1;          /* of several limits; the name is the last one's */
    u_char                   name[LEDGER_NAME_MAX];
    u_char                   line[160];        /* method and path, as sent: hostile */
} ngx_http_weir_tally_t;


static void ngx_http_weir_log_count(ngx_http_weir_main_conf_t *mcf,
    ngx_http_weir_visit_t *visit, ngx_uint_t kind, uint32_t limit);
static ngx_uint_t ngx_http_weir_log_kind(const struct flow *flow);
static const char *ngx_http_weir_log_subject(ngx_uint_t kind, ngx_uint_t stat);
static u_char *ngx_http_weir_log_hostile(u_char *p, u_char *last,
    const void *data, size_t size);
static ngx_uint_t ngx_http_weir_log_stat(const struct image *image,
    const struct image_limit *limit);
static void ngx_http_weir_log_timer(ngx_event_t *ev);
static void ngx_http_weir_log_write(ngx_http_weir_tally_t *tally,
    ngx_uint_t kind, ngx_uint_t stat);


/* by statistics entry of the limit */
static ngx_http_weir_tally_t       ngx_http_weir_tallies[NGX_HTTP_WEIR_KINDS][TABLE_STAT_COUNT];
static ngx_uint_t                  ngx_http_weir_counting;    /* first of the list, plus one */
static ngx_event_t                 ngx_http_weir_timer;
static ngx_connection_t            ngx_http_weir_dummy = { .fd = (ngx_socket_t) -1 };
static ngx_http_weir_main_conf_t  *ngx_http_weir_log_conf;


void
ngx_http_weir_log_decision(ngx_http_weir_main_conf_t *mcf,
    ngx_http_weir_visit_t *visit)
{
    size_t                      i;
    uint32_t                    last;
    struct flow                *flow;
    const struct flow_hit      *hit;
    const struct flow_verdict  *verdict;

    flow = visit->flow;
    verdict = &flow->verdict;

    if (flow->untrusted_forward) {
        ngx_http_weir_hint(mcf, visit);
    }

    ngx_http_weir_log_notices(visit, mcf->realm.log);

    if (mcf->realm.log->log_level < mcf->log_level) {
        return;
    }

    if (flow->who.token_said == FLOW_CREDENTIAL_BAD
        && verdict->status != FLOW_UNKNOWN)
    {
        ngx_http_weir_log_count(mcf, visit, NGX_HTTP_WEIR_UNBELIEVED,
                                FLOW_NONE);
    }

    if (verdict->status == FLOW_UNLIMITED) {
        return;
    }

    last = FLOW_NONE;

    for (i = 0; i < flow->hit_count; i++) {
        hit = &flow->hits[i];

        if (hit->role == FLOW_ROLE_SHADOW && !hit->allowed
            && hit->limit != last)    /* once, however many rates it has */
        {
            last = hit->limit;
            ngx_http_weir_log_count(mcf, visit, NGX_HTTP_WEIR_SHADOW,
                                    hit->limit);
        }
    }

    if (verdict->action == FLOW_PASS || verdict->action == FLOW_TELL) {
        return;
    }

    ngx_http_weir_log_count(mcf, visit, ngx_http_weir_log_kind(flow),
                            verdict->limit_index);
}


/* Who refused it. */

static ngx_uint_t
ngx_http_weir_log_kind(const struct flow *flow)
{
    if (flow->verdict.status == FLOW_UNKNOWN) {
        return flow->who.key_said == FLOW_CREDENTIAL_BAD
               && flow->env->image->clients.keys_unknown == IMAGE_UNKNOWN_DENY
               ? NGX_HTTP_WEIR_UNKNOWN_KEY : NGX_HTTP_WEIR_UNKNOWN_TOKEN;
    }

    if (flow->verdict.limit_index != FLOW_NONE) {
        return NGX_HTTP_WEIR_REFUSED;
    }

    return flow->verdict.status == FLOW_BANNED ? NGX_HTTP_WEIR_BANNED
                                               : NGX_HTTP_WEIR_DENIED;
}


/* Who has used how much of a quota: few, each told once. */

void
ngx_http_weir_log_notices(ngx_http_weir_visit_t *visit, ngx_log_t *log)
{
    u_char                     *p, key[sizeof(((struct flow_notice *) 0)->key) * 4];
    uint32_t                    i;
    ngx_str_t                   name;
    struct flow_recorder       *recorder;
    const struct flow_notice   *notice;

    recorder = visit->world->env.recorder;

    for (i = 0; i < recorder->notice_count && i < FLOW_NOTICES; i++) {
        notice = &recorder->notices[i];

        name.len = notice->limit_size;
        name.data = (u_char *) notice->limit;

        p = ngx_http_weir_log_hostile(key, key + sizeof(key), notice->key,
                                      notice->key_size);

        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "weir: limit \"%V\": \"%*s\" has used %uD %% of %uD",
                      &name, (size_t) (p - key), key, notice->percent,
                      notice->quota);
    }

    recorder->notice_count = 0;
}


static u_char *
ngx_http_weir_log_hostile(u_char *p, u_char *last, const void *data,
    size_t size)
{
    u_char         c;
    size_t         i;
    const u_char  *from = data;

    for (i = 0; i < size; i++) {
        c = from[i];

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
            p = ngx_slprintf(p, last, "\\x%02Xi", (ngx_uint_t) c);

        } else {
            *p++ = c;
        }
    }

    return p;
}


static void
ngx_http_weir_log_count(ngx_http_weir_main_conf_t *mcf,
    ngx_http_weir_visit_t *visit, ngx_uint_t kind, uint32_t limit)
{
    u_char                    *p;
    size_t                     method, target;
    const char                *query;
    ngx_uint_t                 stat;
    struct text                name;
    const struct image        *image;
    ngx_http_weir_tally_t     *tally;
    const struct image_limit  *refusing;

    stat = 0;
    name = TEXT("");

    if (kind == NGX_HTTP_WEIR_UNKNOWN_KEY) {
        stat = visit->flow->who.key_found;

    } else if (kind == NGX_HTTP_WEIR_UNKNOWN_TOKEN
               || kind == NGX_HTTP_WEIR_UNBELIEVED)
    {
        stat = visit->flow->who.token_result;

    } else if (kind == NGX_HTTP_WEIR_REFUSED || kind == NGX_HTTP_WEIR_SHADOW) {
        image = visit->world->env.image;
        refusing = image_limit_at(image, limit);

        stat = ngx_http_weir_log_stat(image, refusing);
        name = image_text(image, refusing->name);
        name.size = ngx_min(name.size, sizeof(tally->name));
    }

    tally = &ngx_http_weir_tallies[kind][stat];

    if (tally->count++ == 0) {
        tally->next = ngx_http_weir_counting;
        tally->mixed = 0;
        ngx_http_weir_counting = kind * TABLE_STAT_COUNT + stat + 1;

    } else if (name.size != tally->name_len
               || ngx_memcmp(name.data, tally->name, name.size) != 0)
    {
        tally->mixed = 1;
    }

    tally->name_len = name.size;
    ngx_memcpy(tally->name, name.data, tally->name_len);

    tally->client_len = flow_client_text(visit->flow, tally->client);
    ngx_memcpy(tally->refusal, visit->flow->verdict.refusal,
               sizeof(tally->refusal));

    if (kind == NGX_HTTP_WEIR_SHADOW || kind == NGX_HTTP_WEIR_UNBELIEVED) {
        tally->refusal[0] = '\0';               /* that of another limit, if any */
    }

    /* what follows the path may be somebody's key, and is in the access log, if anywhere */

    query = memchr(visit->in.target.data, '?', visit->in.target.size);
    target = query ? (size_t) (query - visit->in.target.data)
                   : visit->in.target.size;

    method = ngx_min(visit->in.method.size, sizeof(tally->line) / 2);
    target = ngx_min(target, sizeof(tally->line) - 1 - method);

    p = ngx_cpymem(tally->line, visit->in.method.data, method);
    *p++ = ' ';
    ngx_memcpy(p, visit->in.target.data, target);

    tally->line_len = method + 1 + target;

    /* (also for the flush of a process that ends before a second has passed) */
    ngx_http_weir_log_conf = mcf;

    if (ngx_http_weir_timer.timer_set || ngx_exiting) {
        return;
    }

    ngx_http_weir_timer.handler = ngx_http_weir_log_timer;
    ngx_http_weir_timer.data = &ngx_http_weir_dummy;
    ngx_http_weir_timer.log = mcf->realm.log;
    ngx_http_weir_timer.cancelable = 1;

    ngx_add_timer(&ngx_http_weir_timer, 1000);
}


/* A limit's own statistics entry; those that are too many to have one share entry 0. */

static ngx_uint_t
ngx_http_weir_log_stat(const struct image *image,
    const struct image_limit *limit)
{
    const struct image_counter  *first;

    if (limit->counters.count == 0) {
        return 0;
    }

    first = image_at(image, limit->counters.offset);

    return first->stat % TABLE_STAT_COUNT;
}


static void
ngx_http_weir_log_timer(ngx_event_t *ev)
{
    ngx_http_weir_log_flush();
}


void
ngx_http_weir_log_flush(void)
{
    ngx_uint_t              i;
    ngx_http_weir_tally_t  *tally;

    while (ngx_http_weir_counting) {
        i = ngx_http_weir_counting - 1;

        tally = &ngx_http_weir_tallies[i / TABLE_STAT_COUNT]
                                      [i % TABLE_STAT_COUNT];

        ngx_http_weir_log_write(tally, i / TABLE_STAT_COUNT,
                                i % TABLE_STAT_COUNT);

        ngx_http_weir_counting = tally->next;
        tally->count = 0;
    }
}


/* What is no limit, as the beginning of a sentence. */

static const char *
ngx_http_weir_log_subject(ngx_uint_t kind, ngx_uint_t stat)
{
    switch (kind) {

    case NGX_HTTP_WEIR_DENIED:
        return "the deny list";

    case NGX_HTTP_WEIR_BANNED:
        return "a ban by the operator";

    case NGX_HTTP_WEIR_UNKNOWN_KEY:
        return stat == RING_EXPIRED ? "an API key that has expired"
               : stat == RING_REVOKED ? "an API key that was revoked"
               : "an API key that is not known";

    case NGX_HTTP_WEIR_UNKNOWN_TOKEN:
        return "a token that is not believed";

    case NGX_HTTP_WEIR_UNBELIEVED:
        return "a token is not believed";

    default:
        return NULL;
    }
}


static void
ngx_http_weir_log_write(ngx_http_weir_tally_t *tally, ngx_uint_t kind,
    ngx_uint_t stat)
{
    u_char      *p, line[sizeof(tally->line) * 4];
    ngx_str_t    name;
    const char  *subject, *reason;

    p = ngx_http_weir_log_hostile(line, line + sizeof(line), tally->line,
                                  tally->line_len);

    name.len = tally->name_len;
    name.data = tally->name;

    subject = ngx_http_weir_log_subject(kind, stat);

    reason = kind == NGX_HTTP_WEIR_UNKNOWN_TOKEN
             || kind == NGX_HTTP_WEIR_UNBELIEVED
             ? jwt_result_sentence((enum jwt_result) stat) : "";

    ngx_log_error(ngx_http_weir_log_conf->log_level,
                  ngx_http_weir_log_conf->realm.log, 0,
                  "weir: %s%V%s%s%s%s %s %ui request%s in the last second, "
                  "last: client %*s \"%*s\"%s%s",
                  subject ? subject
                  : tally->mixed ? "limits without statistics of their own, "
                                   "the last \""
                  : "limit \"",
                  &name, subject ? "" : tally->mixed ? "\"," : "\"",
                  *reason ? " (" : "", reason, *reason ? ")" : "",
                  kind == NGX_HTTP_WEIR_SHADOW ? "would have refused"
                  : kind == NGX_HTTP_WEIR_UNBELIEVED ? "in"
                  : "refused",
                  tally->count, tally->count == 1 ? "" : "s",
                  tally->client_len, tally->client, (size_t) (p - line), line,
                  tally->refusal[0] ? ", refusal " : "", tally->refusal);
}
