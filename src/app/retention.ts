import type { Db, Document, Filter } from 'mongodb';
import { DELIVERY_RETENTION_DAYS } from '../events/webhooks/queue.ts';
import { DAY_MS } from '../forecast/day.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';

/** What is deleted of some collections, and when. */
interface RetentionRule {
  collections: readonly string[];
  /** What is kept, and for how long, or why for ever. */
  kept: string;
  /** Age after which a document is deleted; unset: never, or by its own module. Fields that end with `Ms` are milliseconds since 1970, others dates. */
  after?: { field: string; days: number; filter?: Filter<Document> };
}

const HOUR = 1 / 24;
/** Strikes are read for a day; the rest is for looking back. */
const STRIKE_DAYS = 90;
const CREATED = 'createdAt';
export const FOR_EVER = 'for ever';
/** Bounded by what uses it. */
const IN_USE = '';

/** Every collection of the service. */
export const RETENTION: readonly RetentionRule[] = [
  {
    collections: [
      ...['sessions', 'login_nonces', 'login_claims', 'api_keys', 'websocket_tickets', 'webhook_daily_use'],
      ...['oauth_artifacts', 'oauth_clients', 'oauth_grants', 'oauth_refresh_replies'],
      ...['a2a_tasks', 'a2a_messages', 'a2a_push_configs'],
    ],
    kept: 'until they expire',
    after: { field: 'expiresAt', days: 0 },
  },
  { collections: ['oauth_document_reads'], kept: 'an hour', after: { field: 'at', days: HOUR } },
  { collections: ['websocket_slots'], kept: 'an hour', after: { field: 'until', days: HOUR } },
  { collections: ['x402_deployments', 'x402_failed_settlements'], kept: 'a day', after: { field: 'at', days: 1 } },
  { collections: ['contest_entrants'], kept: '8 days', after: { field: 'at', days: 8 } },
  { collections: ['struck_payments'], kept: '30 days', after: { field: 'struckAt', days: 30 } },
  { collections: ['x402_payments'], kept: '30 days', after: { field: 'keptUntil', days: 0 } },
  {
    collections: ['webhook_deliveries'],
    kept: `${DELIVERY_RETENTION_DAYS.live} days, tests and replays ${DELIVERY_RETENTION_DAYS.asked}`,
    // Their events are no longer kept, so that nothing can be sent. `ping:` and `replay:` sort after `live`.
    after: { field: CREATED, days: DELIVERY_RETENTION_DAYS.live, filter: { cause: { $gte: 'live' } } },
  },
  {
    collections: ['webhook_deliveries'],
    kept: IN_USE,
    after: { field: CREATED, days: DELIVERY_RETENTION_DAYS.asked, filter: { cause: { $gt: 'live' }, state: { $ne: 'PENDING' } } },
  },
  { collections: ['strike_snapshots'], kept: `${STRIKE_DAYS} days`, after: { field: 'receivedAtMs', days: STRIKE_DAYS } },
  { collections: ['strike_markets'], kept: `${STRIKE_DAYS} days`, after: { field: 'expiresAtMs', days: STRIKE_DAYS } },
  { collections: ['contest_commitments'], kept: '400 days', after: { field: 'committedAt', days: 400 } },
  { collections: ['admin_audit'], kept: '2 years', after: { field: 'at', days: 730 } },
  {
    // An offer costs its client nothing, so that there may be any number of them.
    collections: ['agent_jobs'],
    kept: 'never funded: 90 days from expiry; others for ever',
    after: { field: 'onChain.expiresAt', days: 90, filter: { funded: false, delivery: null } },
  },
  { collections: ['request_counts'], kept: 'a minute' },
  { collections: ['record_changes', 'dataset_chunks'], kept: 'an hour' },
  { collections: ['spot_prices', 'running_ranges'], kept: '7 days' },
  { collections: ['events'], kept: '90 days' },
  {
    // The record, its inputs and what was published or sent for it; the ledger, and the documents that a buyer may fetch at any later time.
    collections: [
      ...['days', 'forecasts', 'wagers', 'distribution_scores', 'models', 'champion_changes', 'observations', 'daily_closes'],
      ...['self_tests', 'step_runs', 'briefs', 'weekly_reports', 'transactions', 'paper_orders', 'paper_ledger', 'polymarket_orders'],
      ...['payments', 'purchases', 'contest_rounds', 'contest_wallet_standings', 'client_feedback'],
    ],
    kept: FOR_EVER,
  },
  {
    collections: [
      ...['webhooks', 'token_keys', 'card_keys', 'switches', 'jobs', 'backups', 'restore_state', 'replay', 'dataset_builds'],
      ...['agent_commerce', 'agent_commerce_turns', 'client_feedback_states', 'ledger_meta', 'record_meta', 'schema'],
      ...['feed_polls', 'feed_backfills', 'provider_health'],
    ],
    kept: IN_USE,
  },
];

export const RETENTION_INDEXES: readonly CollectionIndexes[] = RETENTION.flatMap(({ collections, after }) =>
  // Deliveries have one that begins with their cause.
  after === undefined || after.field === CREATED
    ? []
    : collections.map((collection) => ({ collection, indexes: [{ key: { [after.field]: 1 } }] })),
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
