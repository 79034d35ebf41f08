import { answerParent } from '../lib.ts';
import { openClient } from './client.ts';

/** Sockets that are opened at once: more would overflow the queue of a listening socket. */
const AT_ONCE = 100;

interface Sockets {
  url: string;
  /** One a socket; `null` for none. */
  tokens: readonly (string | null)[];
}

/** All sockets of one side of the comparison, in a process of their own. */
const answers = {
  /** Opens a socket for each token. */
  async connect({ url, tokens }: Sockets): Promise<void> {
    const left = tokens.map((token, index) => ({ token: token ?? undefined, index }));
    received = tokens.map(() => []);
    const opener = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const { token, index } = next;
        await openClient({ url, token, onEvent: (id, payload) => note(index, id, payload), onEnd: (code) => ends.push(code) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, opener));
  },

  /** From here on this many events are waited for, by every socket. */
  expect(count: number): void {
    for (const ids of received) ids.length = 0;
    sample = [];
    missing = received.length * count;
    done = Promise.withResolvers();
  },

  /** Waits for them. */
  async finished(): Promise<Finished> {
    const lastAtNs = await done.promise;
    const [first] = received;
    const same = received.every((ids) => ids.length === first.length && ids.every((id, index) => id === first[index]));
    return { lastAtNs, ids: [...first], same, sample: sample.map((payload) => payload.toString()) };
  },

  /** What has come, all in all, that was not asked for. */
  strays: (): Strays => ({ events: strays, ends }),
};

export interface Finished {
  /** By the clock that all processes of a machine share. */
  lastAtNs: bigint;
  /** What the first socket got, in order. */
  ids: number[];
  /** Whether every other one got just the same. */
  same: boolean;
  /** The messages of the first socket. */
  sample: string[];
}

interface Strays {
  /** Events beyond those that were expected. */
  events: number;
  /** Close codes of sockets that have ended. */
  ends: (number | null)[];
}

export type ClientAnswers = typeof answers;

let received: number[][] = [];
let sample: Buffer[] = [];
let missing = 0;
let strays = 0;
let done = Promise.withResolvers<bigint>();
const ends: (number | null)[] = [];

function note(index: number, id: number, payload: Buffer): void {
  received[index].push(id);
  if (index === 0) sample.push(payload);
  if (missing <= 0) strays += 1;
  if (--missing === 0) done.resolve(process.hrtime.bigint());
}

answerParent(answers);
