import { type Chain, chainHealth } from '../chain/client.ts';
import { isOracleError } from '../errors.ts';
import { formatDay } from '../forecast/day.ts';
import type { Market } from '../market/market.ts';
import type { TrustedTime } from '../trusted-time.ts';

export interface ReadinessParts {
  chain: Chain;
  localChain: boolean;
  market: Market;
  pingDatabase(): Promise<void>;
  time: Pick<TrustedTime, 'describe'>;
  /** What is left to do before the record is complete, or null. */
  setup(): string | null;
  now(): Date;
}

export interface ReadinessCheck {
  name: string;
  ok: boolean;
  detail: string;
}

/** On Base a block comes every 2 s. One of our own may have none for as long as nothing is sent. */
const OLDEST_BLOCK_MS = 5 * 60_000;

/** A check that failed, with its reason in this service's own words. */
class NotReady extends Error {}

/** Whether the service can answer, part by part. */
export function readiness(parts: ReadinessParts): Promise<ReadinessCheck[]> {
  return Promise.all([
    check('setup', async () => {
      const left = parts.setup();
      if (left !== null) throw new NotReady(left);
      return 'complete';
    }),
    check('database', async () => {
      await parts.pingDatabase();
      return 'answers';
    }),
    check('clock', () => parts.time.describe()),
    check('chain', () => newestBlock(parts)),
    check('price', () => price(parts)),
  ]);
}

async function check(name: string, ask: () => Promise<string>): Promise<ReadinessCheck> {
  try {
    return { name, ok: true, detail: await ask() };
  } catch (error) {
    // Anybody may ask: the text of a driver or a node stays out of the answer.
    const isOwn = error instanceof NotReady || isOracleError(error);
    return { name, ok: false, detail: isOwn ? error.message : 'does not answer' };
  }
}

/** A node that stands still answers as ever. */
async function newestBlock({ chain, localChain, now }: ReadinessParts): Promise<string> {
  const { blockNumber, at } = await chainHealth(chain);
  const ageMs = now().getTime() - at.getTime();
  if (localChain || Math.abs(ageMs) <= OLDEST_BLOCK_MS) return `block ${blockNumber}`;
  if (ageMs < 0) throw new NotReady(`block ${blockNumber} is ${Math.round(-ageMs / 60_000)} minutes ahead of the clock, which is wrong`);
  throw new NotReady(`block ${blockNumber} is ${Math.round(ageMs / 60_000)} minutes old: the endpoint stands still, or the clock is wrong`);
}

/** A feed that ends is as fresh as it will ever be; any other needs a price of now. */
async function price({ market, now }: ReadinessParts): Promise<string> {
  const { lastDay } = await market.coverage();
  if (lastDay !== null) return `history until ${formatDay(lastDay)}`;
  const { observedAtMs, source } = await market.spot(now().getTime());
  return `${source}, ${new Date(observedAtMs).toISOString()}`;
}
