import { type Address, hexToBytes, sha256, stringToBytes } from 'viem';
import { type Day, formatDay, toDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Log } from '../../platform/log.ts';
import { type ForecastDoc, getOutcomeWindow } from '../../record/forecast-doc.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { buildDayProof } from '../../record/timestamps/day-timestamp.ts';
import { getNextAt, type TimestampDoc } from '../../record/timestamps/timestamp-doc.ts';
import type { TimestampStore } from '../../record/timestamps/timestamp-store.ts';
import { buildDayDocument } from '../../verify/timestamps/day-document.ts';
import { advanceCalendar } from './advance-calendar.ts';
import type { CalendarClient } from './calendar-client.ts';

export interface StampDeps {
  record: Pick<ForecastRecord, 'forecasts'>;
  timestamps: TimestampStore;
  calendars: readonly string[];
  client: CalendarClient;
  /** Where the attestations are. */
  chain: { chainId: number; eas: Address; attester: Address };
  log: Log;
  now(): Date;
}

/** Days of one sweep: an outage of weeks is made up for in some minutes. */
const MAX_DAYS = 20;
const MAX_HORIZON_DAYS = Math.max(...HORIZONS);

/**
 * Submits the commitments of each attested day with an outcome ahead to every calendar, and completes the proofs of earlier days. May run
 * twice, in parallel, or die anywhere: the next sweep continues from what is stored.
 */
export async function stampDays(deps: StampDeps): Promise<void> {
  const now = deps.now();
  for (const docs of await listAttestedDays(deps, now)) await ensureTimestamp(deps, docs, now);
  for (const doc of await deps.timestamps.listDue(now, MAX_DAYS)) await advanceDay(deps, doc, now);
}

/** Days with an outcome ahead, all of whose attestations are confirmed. */
async function listAttestedDays({ record }: StampDeps, now: Date): Promise<ForecastDoc[][]> {
  const first = toDay(now.getTime()) - MAX_HORIZON_DAYS;
  const docs = await record.forecasts
    .find({ day: { $gte: first } }, { hint: { day: 1 } })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
  const days = [...Map.groupBy(docs, ({ day }) => day).values()];
  const isAhead = (docsOfDay: ForecastDoc[]) => docsOfDay.some(({ resolvesAt }) => resolvesAt > now);
  return days.filter(
    (docsOfDay) => isAhead(docsOfDay) && docsOfDay.length === HORIZONS.length && docsOfDay.every(({ attestation }) => attestation !== null),
  );
}

/** A day that was attested again, after a reorganization of the chain, is stamped again. */
async function ensureTimestamp({ timestamps, chain, calendars }: StampDeps, docs: readonly ForecastDoc[], now: Date): Promise<void> {
  const { day } = docs[0]!;
  const commitments = docs.map(({ horizonDays, sequence, commitment, attestation }) => ({
    ...{ horizonDays, sequence, commitment, uid: attestation!.uid },
  }));
  const document = buildDayDocument({ day, ...chain, commitments });
  const digest = sha256(stringToBytes(document));
  const fresh = calendars.map((url) => ({ url, status: 'waiting' as const, proof: null, attempts: 0, nextAt: now }));
  const change = { document, digest, calendars: fresh, proof: null, blocks: [] };
  const created = { _id: formatDay(day), day, createdAt: now, ...change, nextAt: getNextAt(fresh), revision: 1 };
  const stored = (await timestamps.find(day)) ?? (await timestamps.insertFirst(created));
  if (stored.digest !== digest) await timestamps.replace(stored, change);
}

async function advanceDay({ timestamps, client, log }: StampDeps, doc: TimestampDoc, now: Date): Promise<void> {
  const task = { digest: hexToBytes(doc.digest), date: doc._id, outcomesAt: getOutcomesAt(doc.day), now };
  const calendars = await Promise.all(doc.calendars.map((state) => advanceCalendar({ client, log }, state, task)));
  await timestamps.replace(doc, { calendars, ...buildDayProof(doc.digest, calendars) });
}

function getOutcomesAt(day: Day): Date {
  return new Date(getOutcomeWindow(day, MAX_HORIZON_DAYS).resolvesAtMs);
}
