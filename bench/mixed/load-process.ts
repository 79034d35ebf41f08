import { setTimeout as delay } from 'node:timers/promises';
import { answerParent } from '../lib.ts';
import { type ClientKeys, FIXED_PER_SECOND, KINDS, type Kind, openRequests, SHARES } from './requests.ts';

/** What became of the requests of one kind. */
export interface KindResult {
  sent: number;
  /** Milliseconds of each answer of status 2xx. */
  answeredMs: number[];
  /** Answers of status 503 and 429, which name a time to repeat. */
  refused: number;
  refusedMs: number[];
  /** Answers of any other status, and requests without one. */
  failed: Record<string, number>;
}

export type Results = Record<Kind, KindResult>;

const TOTAL_SHARES = Object.values(SHARES).reduce((sum, share) => sum + share, 0);

let askKind: Awaited<ReturnType<typeof openRequests>>;

const answers = {
  async open({ url, keys }: { url: string; keys: ClientKeys }): Promise<void> {
    askKind = await openRequests(url, keys);
  },

  /** Sends the mix over so many requests at a time. @returns answers of status 2xx a second */
  async saturate({ concurrent, ms }: { concurrent: number; ms: number }): Promise<number> {
    const results = emptyResults();
    const startedAtMs = performance.now();
    const loop = async () => {
      while (performance.now() - startedAtMs < ms) await ask(pickKind(), results);
    };
    await Promise.all(Array.from({ length: concurrent }, loop));
    const answered = KINDS.reduce((sum, kind) => sum + results[kind].answeredMs.length, 0);
    return (answered * 1_000) / (performance.now() - startedAtMs);
  },

  /** Sends the mix at a rate, whether answers come or not, and waits for the last answer. */
  async load({ perSecond, ms }: { perSecond: number; ms: number }): Promise<Results> {
    const results = emptyResults();
    const startedAtMs = performance.now();
    const pending: Promise<void>[] = [];
    const arrive = async (rate: number, choose: () => Kind) => {
      for (let dueMs = nextGap(rate); dueMs < ms; dueMs += nextGap(rate)) {
        const waitMs = startedAtMs + dueMs - performance.now();
        if (waitMs > 1) await delay(waitMs);
        pending.push(ask(choose(), results));
      }
    };
    const fixed = Object.entries(FIXED_PER_SECOND) as [Kind, number][];
    await Promise.all([arrive(perSecond, pickKind), ...fixed.map(([kind, rate]) => arrive(rate, () => kind))]);
    await Promise.all(pending);
    return results;
  },
};

export type MixedLoadAnswers = typeof answers;

function emptyResults(): Results {
  const empty = (): KindResult => ({ sent: 0, answeredMs: [], refused: 0, refusedMs: [], failed: {} });
  return Object.fromEntries(KINDS.map((kind) => [kind, empty()])) as Record<Kind, KindResult>;
}

/** Of independent arrivals, in milliseconds. */
function nextGap(perSecond: number): number {
  return (-Math.log(1 - Math.random()) * 1_000) / perSecond;
}

function pickKind(): Kind {
  let left = Math.random() * TOTAL_SHARES;
  for (const [kind, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return 'signal';
}

async function ask(kind: Kind, results: Results): Promise<void> {
  const result = results[kind];
  result.sent += 1;
  const fail = (reason: string) => {
    result.failed[reason] = (result.failed[reason] ?? 0) + 1;
  };
  try {
    const { status, ms } = await askKind(kind);
    if (status >= 200 && status < 300) result.answeredMs.push(ms);
    else if (status === 503 || status === 429) {
      result.refused += 1;
      result.refusedMs.push(ms);
    } else fail(String(status));
  } catch (error) {
    fail((error as NodeJS.ErrnoException).code ?? (error as Error).message);
  }
}

answerParent(answers);
