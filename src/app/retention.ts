import type { Db, Document, Filter } from 'mongodb';
import { EVENT_RETENTION_DAYS } from '../events/log.ts';
import { DELIVERY_RETENTION_DAYS } from '../events/webhooks/queue.ts';
import { DAY_MS } from '../forecast/day.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';

/** What is deleted of some collections, and when. */
interface RetentionRule {
  collections: readonly string[];
  /** What is kept, and for how long, or why for ever. */
  kept: string;
  /** Age after which a document is deleted; unset: never, or by its own module. Fields that end with `Ms` are milliseconds since 1970, others dates. `isIndexed`: its module has the index. */
  after?: { field: string; days: number; filter?: Filter<Document>; isIndexed?: true } | undefined;
}

const HOUR = 1 / 24;
/** Strikes are read for a day; the rest is for looking back. */
const STRIKE_DAYS = 90;
export const FOR_EVER = 'for ever';
/** Bounded by what uses it. */
const IN_USE = '';

const { live: LIVE_DAYS, asked: ASKED_DAYS } = DELIVERY_RETENTION_DAYS;
type Age = RetentionRule['after'];
const rule = (kept: string, collections: string[], after?: Age): RetentionRule => ({ collections, kept, after });
const untilExpiry = (...collections: string[]) => rule('until they expire', collections, { field: 'expiresAt', days: 0 });

/** Every collection of the service. */
export const RETENTION: readonly RetentionRule[] = [
  untilExpiry('sessions', 'login_nonces', 'login_claims', 'api_keys', 'websocket_tickets', 'webhook_daily_use'),
  untilExpiry('oauth_artifacts', 'oauth_clients', 'oauth_grants', 'oauth_refresh_replies', 'a2a_tasks', 'a2a_messages', 'a2a_push_configs'),
  rule('an hour', ['oauth_document_reads'], { field: 'at', days: HOUR }),
  rule('an hour', ['websocket_slots'], { field: 'until', days: HOUR }),
  rule('an hour', ['record_changes', 'dataset_chunks']),
  rule('an hour', ['request_counts'], { field: 'expiresAt', days: 0, isIndexed: true }),
  rule('a day', ['x402_deployments', 'x402_failed_settlements'], { field: 'at', days: 1 }),
  // Past prices serve delayed runs of the pipeline.
  rule('7 days', ['spot_prices', 'running_ranges'], { field: 'receivedAtMs', days: 7 }),
  rule('8 days', ['contest_entrants'], { field: 'at', days: 8 }),
  rule('30 days', ['struck_payments'], { field: 'struckAt', days: 30 }),
  rule('30 days', ['x402_payments'], { field: 'keptUntil', days: 0 }),
  // Pending ones too: their events are no longer kept, so that nothing can be sent. `ping:` and `replay:` sort after `live`.
  rule(`${LIVE_DAYS} days, tests and replays ${ASKED_DAYS}`, ['webhook_deliveries'], {
    field: 'createdAt',
    days: LIVE_DAYS,
    filter: { cause: { $gte: 'live' } },
    isIndexed: true,
  }),
  rule(IN_USE, ['webhook_deliveries'], {
    field: 'createdAt',
    days: ASKED_DAYS,
    filter: { cause: { $gt: 'live' }, state: { $ne: 'PENDING' } },
    isIndexed: true,
  }),
  rule(`${STRIKE_DAYS} days`, ['strike_snapshots'], { field: 'receivedAtMs', days: STRIKE_DAYS }),
  rule(`${STRIKE_DAYS} days`, ['strike_markets'], { field: 'expiresAtMs', days: STRIKE_DAYS }),
  rule(`${EVENT_RETENTION_DAYS} days`, ['events']),
  rule('400 days', ['contest_commitments'], { field: 'committedAt', days: 400 }),
  rule('2 years', ['admin_audit'], { field: 'at', days: 730 }),
  // An offer costs its client nothing, so that there may be any number of them.
  rule('never funded: 90 days from expiry; others for ever', ['agent_jobs'], {
    field: 'onChain.expiresAt',
    days: 90,
    filter: { funded: false, delivery: null },
  }),
  // The record, its inputs and what was published or sent for it; the ledger, and the documents that a buyer may fetch at any later time.
  rule(FOR_EVER, ['days', 'forecasts', 'wagers', 'distribution_scores', 'models', 'champion_changes', 'observations', 'daily_closes']),
  rule(FOR_EVER, ['self_tests', 'step_runs', 'briefs', 'weekly_reports', 'transactions', 'paper_orders', 'paper_ledger']),
  rule(FOR_EVER, ['polymarket_orders', 'payments', 'purchases', 'contest_rounds', 'contest_wallet_standings', 'client_feedback']),
  rule(IN_USE, ['webhooks', 'token_keys', 'card_keys', 'switches', 'jobs', 'backups', 'restore_state', 'replay', 'dataset_builds']),
  rule(IN_USE, ['agent_commerce', 'agent_commerce_turns', 'client_feedback_states', 'ledger_meta', 'record_meta']),
  rule(IN_USE, ['schema', 'feed_polls', 'feed_backfills', 'provider_health']),
];

export const RETENTION_INDEXES: readonly CollectionIndexes[] = RETENTION.flatMap(({ collections, after }) =>
  after === undefined || after.isIndexed ? [] : collections.map((collection) => ({ collection, indexes: [{ key: { [after.field]: 1 } }] })),
);

const BATCH_SIZE = 1_000;
/** For each collection and run: the first one after an upgrade must not occupy the database for hours. */
const MAX_BATCHES = 200;

/** Deletes what is past its retention at a time of the database's clock. The failure of one collection stops no other. @throws AggregateError */
export async function purgeExpired(db: Db, now: Date): Promise<void> {
  const failures: unknown[] = [];
  for (const { collections, after } of RETENTION) {
    if (after === undefined) continue;
    const cutoffMs = now.getTime() - after.days * DAY_MS;
    const isPast = { ...after.filter, [after.field]: { $lte: after.field.endsWith('Ms') ? cutoffMs : new Date(cutoffMs) } };
    for (const name of collections) await deleteInBatches(db, name, isPast).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some collections could not be purged');
}

/** The condition is checked again with the deletion: a document that was extended meanwhile stays. */
async function deleteInBatches(db: Db, name: string, isPast: Filter<Document>): Promise<void> {
  const collection = db.collection(name);
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const found = await collection
      .find(isPast, { projection: { _id: 1 } })
      .limit(BATCH_SIZE)
      .toArray();
    if (found.length > 0) await collection.deleteMany({ ...isPast, _id: { $in: found.map(({ _id }) => _id) } });
    if (found.length < BATCH_SIZE) return;
  }
}

/** Without what is gone within a day, and the collections that stay small. */
export function renderRetentionTable(): string {
  const rows = [...Map.groupBy(RETENTION, ({ kept }) => kept)].filter(([kept]) => /days|years|ever/.test(kept));
  const toText = (rules: readonly RetentionRule[]) =>
    rules.flatMap(({ collections }) => collections.map((name) => `\`${name}\``)).join(', ');
  return ['| Kept | Collections |', '| --- | --- |', ...rows.map(([kept, rules]) => `| ${kept} | ${toText(rules)} |`)].join('\n');
}
