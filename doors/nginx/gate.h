/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate: the policy at nginx's own door. What the files of this folder share.
 *
 *   conf.c     directives           compile.c  the policy, while nginx reads its configuration
 *   realm.c    a table and what is to be in force in it
 *   process.c  a worker starts and ends        leave.c  it is told to end, and has responses to send
 *   publish.c  who puts a policy in force: once per started configuration      lock.c  one worker at a time
 *   world.c    table and image that decide, and when to change them      table.c  the handle
 *   folder.c   the table's folder, which the master makes       room.c  is there room?
 *   visit.c    one request's visit: what is known of it
 *   request.c  nginx's request as flow understands it
 *   gate.c     decides in PREACCESS, delays      body.c  the beginning of the body, where a limit looks into it
 *   filter.c   decides what never got there; adds headers
 *   headers.c  rate headers on the way out      cors.c  what browsers need to read them
 *   answer.c   the body of a refusal      cached.c  a stored answer in its place
 *   settle.c   what became of it: its status, its end      hidden.c  statuses behind an error_page
 *   usage.c    what its answer's body says of its cost
 *   pace.c     how fast its response goes
 *   vars.c     $weir_status and the others
 *   log.c      refusals, in few lines           hint.c  what else the operator must know
 *
 * A worker has one thread; whatever is static is that worker's.
 */
#ifndef WEIR_DOORS_NGINX_GATE_H
#define WEIR_DOORS_NGINX_GATE_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <pthread.h>

#include "flow/flow.h"
#include "policy/policy.h"


typedef struct ngx_http_weir_world_s  ngx_http_weir_world_t;


/* One page that the workers of one started configuration share with their master. */
typedef struct {
    pthread_mutex_t              opening;      /* held while the table's file is made */
    pthread_mutex_t              publishing;   /* held by the worker that publishes */
    ngx_atomic_t                 published;    /* 1: this configuration's policy has been */
    ngx_atomic_t                 restored;     /* 1: what its table began with has been told */
    ngx_atomic_t                 crowded;      /* 1: that few slots are left, too */
    ngx_atomic_t                 fitted;       /* 1: its size has been seen to */
    ngx_atomic_t                 hinted;       /* second of the last hint about an untrusted address */
} ngx_http_weir_shared_t;


/*
 * A realm: a table, and the image that is to be in force in it. There are two at most: the policy's, and that of nginx's own
 * limits (take/). The first part is configuration, the same in all processes; the second is this process's.
 */
typedef struct {
    ngx_str_t                    path;         /* of the image's source, absolute; len 0: there is none */
    ngx_str_t                    table;        /* len 0: the source's own (policy_table_path) */
    uint64_t                     size;         /* of a new table; 0: the usual */
    ngx_str_t                    snapshot;     /* data NULL: where policy_kept_path says; len 0: none */
    const char                  *directive;    /* that names another table */
    const char                  *what;         /* it is: "policy", "zones" */
    const struct image          *image;        /* as compiled at configuration */
    ngx_http_weir_shared_t      *shared;
    ngx_log_t                   *log;          /* of http{} */
    unsigned                     fixed:1;      /* nobody else publishes in that table: when one's own image is in
                                                  force no other is followed; and it has the size that is said */

    unsigned                     started:1;    /* this process has published it or seen that another did */
    unsigned                     serving:1;    /* this process answers requests: nothing may hold it up */
    unsigned                     away:1;       /* the current table's slot has been given back */
    ngx_http_weir_world_t       *current;      /* NULL: none */
    time_t                       retry_at;
    time_t                       complain_at;  /* that there is no process slot: not with each trial */
    uint64_t                     unmappable;   /* generation word under which the image was bad */
    struct flow_recorder         recorder;
} ngx_http_weir_realm_t;


static inline ngx_uint_t
ngx_http_weir_has(const ngx_http_weir_realm_t *realm)
{
    return realm->path.len != 0;
}


/* What an upstream chooses its peers by (cached.c). */
typedef struct {
    ngx_http_upstream_srv_conf_t  *upstream;   /* NULL: it has none */
    ngx_http_upstream_init_peer_pt init;
} ngx_http_weir_peer_init_t;


#define NGX_HTTP_WEIR_STORES  4


/* A module that stores what backends say: where its configuration of a place has an ngx_http_upstream_conf_t (cached.c). */
typedef struct {
    ngx_uint_t                   ctx_index;
    size_t                       offset;
} ngx_http_weir_store_t;


typedef struct {
    ngx_http_weir_realm_t        realm;
    ngx_uint_t                   log_level;
    ngx_http_weir_peer_init_t   *peer_inits;
    ngx_uint_t                   peer_init_count;
    ngx_http_weir_store_t        stores[NGX_HTTP_WEIR_STORES];
    ngx_uint_t                   store_count;
    struct policy                policy;       /* as compiled at configuration */
    unsigned                     wanted:1;     /* "weir on" stands somewhere */
} ngx_http_weir_main_conf_t;


/* Is there a policy at all? Whatever is hooked into nginx does nothing without. */
static inline ngx_uint_t
ngx_http_weir_enabled(const ngx_http_weir_main_conf_t *mcf)
{
    return ngx_http_weir_has(&mcf->realm);
}


typedef struct {
    ngx_flag_t                   enable;
} ngx_http_weir_loc_conf_t;


/* A table in which requests may still be deciding, and an image likewise: counted, so that a delayed request finishes
 * where it began. */
typedef struct {
    struct table                *table;
    ngx_uint_t                   references;
    ngx_queue_t                  worlds;       /* whose images may still be used, the oldest first */
    ngx_queue_t                  queue;        /* of all tables of this worker */
} ngx_http_weir_table_t;


struct ngx_http_weir_world_s {
    struct flow_env              env;
    struct people                people;       /* who its image knows */
    ngx_http_weir_table_t       *table;
    struct policy_image         *image;
    uint64_t                     seen;         /* the generation word when the image was mapped */
    uint64_t                     serial;       /* of all worlds of this worker; never used again */
    size_t                       flow_size;
    ngx_uint_t                   references;
    unsigned                     own:1;        /* what this configuration itself has published */
    ngx_queue_t                  queue;        /* of its table's worlds */
};


/* Where the next line of a header is to be looked for. */
typedef struct {
    const char                  *name;         /* as it was asked for; NULL: nowhere */
    unsigned                     nth;
    ngx_list_part_t             *part;
    ngx_uint_t                   i;
} ngx_http_weir_cursor_t;


/* All responses of a key together: what this one has been granted. */
typedef struct {
    size_t                       rate;         /* of this response alone, bytes per second; 0: any */
    size_t                       after;        /* before that */
    size_t                       total;        /* of the key, bytes per second */
    off_t                        began;        /* what the connection had sent before it */
    off_t                        sent;         /* of the connection, when the credit was last looked at */
    off_t                        credit;       /* granted and not sent; below 0: sent and not granted */
    off_t                        granted;      /* so far */
    ngx_msec_t                   since;        /* when some was granted last */
    ngx_event_t                  timer;        /* set: nothing is sent before it expires */
} ngx_http_weir_pace_t;


typedef struct {
    ngx_http_request_t          *request;      /* the main one */
    ngx_http_weir_world_t       *world;        /* one reference; NULL: undecided for good (off, failed) */
    struct flow                 *flow;         /* NULL as above */
    struct flow_answer          *answer;       /* behind the flow; filled by ngx_http_weir_answer_of */
    struct flow_request          in;
    ngx_http_weir_cursor_t       cursor;
    void                       **loc_conf;     /* where it was refused, and */
    ngx_uint_t                   uri_changes;  /* after how many redirects, if it goes to the operator's page */
    ngx_http_weir_pace_t        *pace;         /* NULL: no total to share */
    void                       **place;        /* whose loc_conf the request had before its body was read */
    unsigned                     waiting:1;    /* its turn has not come, or its body; its table stays */
    unsigned                     stale:1;      /* refused, but for a stored answer */
    unsigned                     failed:1;     /* there was nothing to decide with */
    unsigned                     answered:1;   /* `answer` is filled */
    unsigned                     replace:1;    /* the body to come gives way to the refusal's */
    unsigned                     replaced:1;   /* it has been sent */
    unsigned                     paged:1;      /* header_only was set to make way for the operator's page */
    unsigned                     responded:1;  /* the flow knows the status */
    unsigned                     paced:1;      /* the flow has been asked how fast */
    unsigned                     reading:1;    /* its body is being read */
    unsigned                     asked:1;      /* the flow has been asked whether it wants the answer's body */
    unsigned                     usage:1;      /* ... and does */
} ngx_http_weir_visit_t;


/* Could it be read at all? What cannot (nginx answers 400 by itself) is not decided, whatever page is sent for it. */
static inline ngx_uint_t
ngx_http_weir_readable(const ngx_http_request_t *r)
{
    return r->write_event_handler != NULL    /* a phase has run */
           && r->request_line.len != 0
           && r->unparsed_uri.len != 0;
}


/* compile.c */
char *ngx_http_weir_policy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* realm.c. What its workers share, while nginx reads its configuration. NGX_CONF_OK, or what a directive says. */
char *ngx_http_weir_realm_share(ngx_conf_t *cf, ngx_http_weir_realm_t *realm);
/* `PATH [SIZE]` and `PATH | off` of directives about its table and snapshot. */
char *ngx_http_weir_realm_table(ngx_conf_t *cf, ngx_http_weir_realm_t *realm);
char *ngx_http_weir_realm_snapshot(ngx_conf_t *cf, ngx_http_weir_realm_t *realm);

/* table.c. NULL: the log says why, and what happens `otherwise`. One reference. */
ngx_http_weir_table_t *ngx_http_weir_table_open(ngx_http_weir_realm_t *realm, const char *otherwise);
/* Of a configuration that is being started, once: the table gets the size that the realm says. The table to go on
 * with; NULL as above. */
ngx_http_weir_table_t *ngx_http_weir_table_fit(ngx_http_weir_realm_t *realm, ngx_http_weir_table_t *table);
void ngx_http_weir_table_drop(ngx_http_weir_table_t *table);
/* Charges what is overdue in any of this worker's tables; how many tickets they hold after that. */
ngx_uint_t ngx_http_weir_tables_overdue(void);
/* Of those that are to be left, and that still need their process slots: gives up the slots that others want. How many of this
 * worker's tables it still has slots of. */
ngx_uint_t ngx_http_weir_tables_yield(ngx_log_t *log);
/* Where workers of that user have it; `path` has PLACE_MAX bytes. NULL: too long. */
const char *ngx_http_weir_table_path(ngx_http_weir_realm_t *realm, ngx_uid_t worker, char *path);

/* world.c. The world for a request that begins now, or NULL (the log says why); *t: what time it is, read once. */
ngx_http_weir_world_t *ngx_http_weir_world(ngx_http_weir_realm_t *realm, struct algo_time *t);
ngx_http_weir_world_t *ngx_http_weir_world_hold(ngx_http_weir_world_t *world);
void ngx_http_weir_world_drop(ngx_http_weir_world_t *world);
void ngx_http_weir_world_close(ngx_http_weir_realm_t *realm);    /* the process ends */
/* The process decides nothing for now and is to end: its slot of the table is free. */
void ngx_http_weir_world_leave(ngx_http_weir_realm_t *realm);

/* leave.c. Calls ngx_http_weir_world_leave when the worker is told to exit; _soon: once more, after this round of events. */
void ngx_http_weir_leave_init(ngx_cycle_t *cycle);
void ngx_http_weir_leave_soon(void);
/* A request that has waited (it stays: table_stay) is to be decided in that world. */
void ngx_http_weir_leave_back(ngx_http_weir_world_t *world);
void ngx_http_weir_leave_end(void);

/* process.c. Every realm of this configuration; how many. */
#define NGX_HTTP_WEIR_REALMS  2
ngx_uint_t ngx_http_weir_realms(ngx_cycle_t *cycle, ngx_http_weir_realm_t **realms);
ngx_int_t ngx_http_weir_init_process(ngx_cycle_t *cycle);
void ngx_http_weir_exit_process(ngx_cycle_t *cycle);

/* lock.c. Locks in shared memory; a killed holder is succeeded. ngx_http_weir_lock: is it ours, after `patience`
 * milliseconds at most? */
ngx_int_t ngx_http_weir_lock_init(pthread_mutex_t *lock);
ngx_uint_t ngx_http_weir_lock(pthread_mutex_t *lock, ngx_msec_t patience);
void ngx_http_weir_unlock(pthread_mutex_t *lock);

/* room.c. Bytes that are free where `path` is, or is to be. And, when a configuration has been read: NGX_CONF_ERROR, and it has
 * been said why: it could not be published. */
uint64_t ngx_http_weir_room(const char *path);
char *ngx_http_weir_room_check(ngx_cycle_t *cycle, ngx_http_weir_realm_t *realm, const char *path);

/* publish.c. Publishes if this configuration has not been, or if the table has no policy at all: then `last`, if the
 * process decided with one before. NGX_OK: nothing is left to do. */
ngx_int_t ngx_http_weir_publish(ngx_http_weir_realm_t *realm, struct table *table, const struct image *last);

/* What is published in the table at `path`, for who only looks (before any worker: nginx reads its configuration). NULL:
 * there is nothing that could be read. One reference. */
struct policy_image *ngx_http_weir_published_at(const char *path);
/* Is it what this configuration would publish? */
ngx_uint_t ngx_http_weir_same(const ngx_http_weir_realm_t *realm, const struct image *image);

/* visit.c. It hangs in a cleanup of the request's pool, where internal redirects do not wipe it. */
ngx_http_weir_visit_t *ngx_http_weir_visit_find(ngx_http_request_t *r);
ngx_http_weir_visit_t *ngx_http_weir_visit_add(ngx_http_request_t *r);
/* Begins to decide in the world of now; without one the visit says `failed`. NGX_ERROR: out of memory. */
ngx_int_t ngx_http_weir_visit_begin(ngx_http_weir_visit_t *visit, ngx_uint_t can_wait);

/* request.c */
void ngx_http_weir_request(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);

/* gate.c. Lets the flow go on: NGX_DECLINED passed, NGX_AGAIN wait (flow->verdict.wait_ms), NGX_BUSY refused,
 * NGX_ABORT close without an answer, NGX_OK tell the client its own limits, NGX_DONE the body is needed. Of a refusal that a stored
 * answer may replace: NGX_DECLINED, and visit->stale. */
ngx_int_t ngx_http_weir_decide(ngx_http_weir_visit_t *visit);
ngx_int_t ngx_http_weir_gate_init(ngx_conf_t *cf);
/* From a phase handler: waits `ms`, then runs the phases on from the same handler. What the handler returns. */
ngx_int_t ngx_http_weir_wait(ngx_http_request_t *r, ngx_msec_t ms);

/* body.c. Before it decides: is there a body at all? And, when it is needed: can it be looked into? 0: in.has_body is set, with nothing
 * in it; decide again. */
void ngx_http_weir_body_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
ngx_uint_t ngx_http_weir_body_readable(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
/* From the phase handler: reads the body, then runs the phases on from the same handler, with visit->in.has_body. What the handler
 * returns. */
ngx_int_t ngx_http_weir_body_read(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);

/* cached.c. Before any upstream chooses a peer. In a phase: may the request go on where it stands, since nothing can come of it but a
 * stored answer? And: is the answer that is about to be sent one that nginx had stored? */
ngx_int_t ngx_http_weir_cached_init(ngx_conf_t *cf);
ngx_uint_t ngx_http_weir_cached_may(ngx_http_request_t *r);
ngx_uint_t ngx_http_weir_cached_answer(ngx_http_request_t *r);

/* answer.c. The operator's error_page for this status here, or NULL. */
ngx_http_err_page_t *ngx_http_weir_page(ngx_http_request_t *r, ngx_uint_t status);
/* Headers and, of a refusal, body: computed once; the texts live as long as the visit. */
struct flow_answer *ngx_http_weir_answer_of(ngx_http_weir_visit_t *visit);
/* A refusal: lets the request's body go, puts status, type and length into headers_out. */
ngx_int_t ngx_http_weir_answer_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
/* Its body, past the filter `next`. */
ngx_int_t ngx_http_weir_answer_body(ngx_http_request_t *r, ngx_http_weir_visit_t *visit,
    ngx_http_output_body_filter_pt next);
/* What a client asked to know about its own limits; finalizes the request. */
void ngx_http_weir_answer_tell(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
/* All of it; finalizes the request. */
void ngx_http_weir_answer_send(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);

/* headers.c. Idempotent: a response may pass the header filters twice. */
ngx_int_t ngx_http_weir_headers(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
ngx_int_t ngx_http_weir_headers_add(ngx_http_request_t *r, struct flow_answer *answer);
/* The nth header of that name in headers_out, or NULL. */
ngx_table_elt_t *ngx_http_weir_header_out(ngx_http_request_t *r, struct text name, ngx_uint_t nth);
/* Name and value must live as long as the request. */
ngx_int_t ngx_http_weir_header_push(ngx_http_request_t *r, struct text name, struct text value);

/* settle.c. The header is about to be sent: once. */
void ngx_http_weir_responded(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
/* The request is over. */
void ngx_http_weir_ended(ngx_http_weir_visit_t *visit);
/* With each decision: charges reservations that got no answer for too long; from then on once a second, in all tables. */
void ngx_http_weir_overdue(ngx_http_weir_world_t *world, const struct algo_time *t);
void ngx_http_weir_settle_end(void);           /* the process ends */

/* hidden.c. With each merge of a place's configuration. */
char *ngx_http_weir_hidden_init(ngx_conf_t *cf);
/* The statuses that led this main request to an error_page, into at most `most` places; how many. */
ngx_uint_t ngx_http_weir_hidden(ngx_http_request_t *r, unsigned *statuses, ngx_uint_t most);

/* usage.c. Before the header is sent, after ngx_http_weir_responded; and, with visit->usage, each part of the main request's body. */
void ngx_http_weir_usage_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
void ngx_http_weir_usage_feed(ngx_http_weir_visit_t *visit, ngx_chain_t *in);

/* pace.c. Before the header is sent; and, if the visit has a `pace`, before each writing of the body, and at the end. */
ngx_int_t ngx_http_weir_pace_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
void ngx_http_weir_pace_steer(ngx_http_request_t *r, ngx_http_weir_visit_t *visit);
void ngx_http_weir_pace_end(ngx_http_weir_visit_t *visit, const struct algo_time *t);

/* vars.c */
ngx_int_t ngx_http_weir_add_variables(ngx_conf_t *cf);
/* Names of the policy's `var.NAME` keys must be variables that nginx knows. */
ngx_int_t ngx_http_weir_check_variables(ngx_conf_t *cf, const struct image *image);

/* log.c */
void ngx_http_weir_log_decision(ngx_http_weir_main_conf_t *mcf, ngx_http_weir_visit_t *visit);
void ngx_http_weir_log_notices(ngx_http_weir_visit_t *visit, ngx_log_t *log);
void ngx_http_weir_log_flush(void);

/* hint.c. A failure: callers try again, and so complain, every ten seconds at most. */
void ngx_http_weir_hint(ngx_http_weir_main_conf_t *mcf, ngx_http_weir_visit_t *visit);
void ngx_http_weir_complain(ngx_log_t *log, const char *sentence, enum weir_error error, const char *then);


extern ngx_module_t  ngx_http_weir_gate_module;
extern ngx_module_t  ngx_http_weir_filter_module;
extern ngx_module_t  ngx_http_weir_cors_module;
extern ngx_module_t  ngx_http_weir_folder_module;


#endif
