import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './compose/service.ts';
import { formatDay } from './forecast/day.ts';
import { createProgressBar } from './local/progress.ts';
import { hasDaysToReplay, type ReplayRange, replay } from './local/replay.ts';
import type { Log } from './log.ts';
import type { MissingHistory } from './market/live/backfill/run.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import { tellPerson } from './tell-person.ts';

const HISTORY_RETRY_MS = 15_000;

/** Waits for the history that forecasts need; what else is missing the collector goes on asking for. */
export async function fetchHistory(live: LiveMarket, { setup, shutdown, log }: Service): Promise<void> {
  setup.at('fetching market history');
  for (let attempt = 1; ; attempt++) {
    // One that has ended draws no more.
    const bar = createProgressBar('Fetching history');
    await live.collectPrices();
    const missing = await live.fetchHistory(({ done, total, label }) => {
      setup.at('fetching pieces of market history', { done, total });
      bar.update(done, total, label);
    });
    bar.end();
    const needed = missing.filter(({ required }) => required);
    if (attempt === 1) tellOfMissing(missing, needed, log);
    if (needed.length === 0) break;
    setup.at(`waiting for market history: ${needed.map(({ reason }) => reason).join('; ')}`);
    await delay(HISTORY_RETRY_MS, undefined, { signal: shutdown.signal });
  }
  // What is slow to answer must not hold up the day's steps.
  live.collect().catch((error: unknown) => log.error({ err: error }, 'collecting market data failed'));
}

function tellOfMissing(missing: MissingHistory[], needed: MissingHistory[], log: Log): void {
  if (missing.length > 0) log.warn({ missing: missing.map(({ id }) => id) }, 'market history is incomplete: asking again later');
  if (needed.length === 0) return;
  tellPerson(
    `Waiting for market history, asking again every ${HISTORY_RETRY_MS / 1_000} s; GET /ready says what is missing. Ctrl-C stops it.`,
  );
}

/** Whether past days are still to be replayed on a chain of this process. */
export async function isReplayAhead({ infrastructure, range, database, http }: Service): Promise<boolean> {
  return infrastructure.localChain !== null && hasDaysToReplay(database.db, http.record, range);
}

/** Replays what is to be replayed on a chain of this process, whose clock is at now afterwards; null where there is nothing. */
export async function replayHistory(service: Service): Promise<ReplayRange | null> {
  const { setup, shutdown, infrastructure, database, pipeline, replayVenue, range, push } = service;
  const { localChain } = infrastructure;
  if (localChain === null) return null;
  const bar = createProgressBar('Replaying');
  const replayed = await replay({
    db: database.db,
    parts: { ...pipeline, venue: replayVenue },
    range,
    chain: localChain,
    onProgress: ({ done, total, day }) => {
      setup.at('replaying days of history', { done, total });
      bar.update(done, total, formatDay(day));
    },
    signal: shutdown.signal,
  });
  bar.end();
  await localChain.setTimeToNow();
  setup.replayAhead = false;
  // What a replay brought is history, and told at once when it is there.
  await push.publish();
  return replayed;
}
