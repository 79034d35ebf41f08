import { setTimeout as delay } from 'node:timers/promises';
import { findLaterBeginning, hasDaysToReplay, type ReplayRange, replayDays } from '../../dev/replay.ts';
import { formatDay } from '../../forecast/day.ts';
import type { MissingHistory } from '../../market/live/backfill/run-backfill.ts';
import type { LiveMarket } from '../../market/live/live-market.ts';
import { inDataDir } from '../../platform/data-dir/entries.ts';
import type { Log } from '../../platform/log.ts';
import { createProgressBar } from '../../platform/startup/progress-bar.ts';
import { writeNotice } from '../../platform/startup/startup-notice.ts';
import type { Service } from '../service.ts';

const HISTORY_RETRY_MS = 15_000;

/** Waits for the history that forecasts need; the collector continues to request the rest. */
export async function fetchHistory(live: LiveMarket, { progress, shutdown, log }: Service): Promise<void> {
  progress.startStep('fetching market history');
  for (let attempt = 1; ; attempt++) {
    // An ended bar draws nothing more.
    const bar = createProgressBar('Fetching history');
    await live.collectSpot();
    const missing = await live.fetchHistory(({ done, total, label }) => {
      progress.startStep('fetching pieces of market history', { done, total });
      bar.update(done, total, label);
    });
    bar.end();
    const needed = missing.filter(({ required }) => required);
    if (attempt === 1) reportMissingHistory(missing, needed, log);
    if (needed.length === 0) break;
    progress.startStep(`waiting for market history: ${needed.map(({ reason }) => reason).join('; ')}`);
    await delay(HISTORY_RETRY_MS, undefined, { signal: shutdown.signal });
  }
  // Not awaited: a slow provider must not delay the daily steps.
  live.collect().catch((error: unknown) => log.error({ err: error }, 'collecting market data failed'));
}

function reportMissingHistory(missing: MissingHistory[], needed: MissingHistory[], log: Log): void {
  if (missing.length > 0) log.warn({ missing: missing.map(({ id }) => id) }, 'market history is incomplete: asking again later');
  if (needed.length === 0) return;
  writeNotice(
    `Waiting for market history, asking again every ${HISTORY_RETRY_MS / 1_000} s; GET /ready says what is missing. Ctrl-C stops it.`,
  );
}

export async function hasReplayAhead({ infrastructure, range, database, http }: Service): Promise<boolean> {
  const { localChain } = infrastructure;
  return localChain !== null && hasDaysToReplay({ db: database.db, record: http.record, range, chain: localChain });
}

/** Says that a folder keeps the record that it has, which a larger REPLAY_DAYS does not lengthen. */
async function reportUnusedReplay({ config, infrastructure, range, database, http }: Service): Promise<void> {
  const { localChain } = infrastructure;
  if (localChain === null) return;
  const begins = await findLaterBeginning({ db: database.db, record: http.record, range, chain: localChain });
  if (begins === undefined) return;
  const why = begins === null ? 'it was begun without a history' : `its record begins on ${formatDay(begins)}`;
  writeNotice(`REPLAY_DAYS=${config.REPLAY_DAYS} has no effect on ${config.DATA_DIR}: ${why}. Another DATA_DIR begins one with all days.`);
}

/** Replays past days on the chain of this process, then sets its clock to the present; null if there is nothing to replay. */
export async function replayPastDays(service: Service): Promise<ReplayRange | null> {
  const { progress, shutdown, infrastructure, database, pipeline, replayVenue, range, push } = service;
  const { localChain } = infrastructure;
  if (localChain === null) return null;
  await reportUnusedReplay(service);
  const bar = createProgressBar('Replaying');
  const options: Parameters<typeof replayDays>[0] = {
    db: database.db,
    pipeline: { ...pipeline, venue: replayVenue },
    range,
    chain: localChain,
    publish: () => push.publish(),
    onProgress: ({ done, total, day }) => {
      progress.startStep('replaying days of history', { done, total });
      bar.update(done, total, formatDay(day));
    },
    signal: shutdown.signal,
  };
  const replayed = await inDataDir(service.config.DATA_DIR, () => replayDays(options));
  bar.end();
  await localChain.followWallClock();
  progress.replayAhead = false;
  // Replayed events are history and are published at once.
  await push.publish();
  return replayed;
}
