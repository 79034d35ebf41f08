import type { Response } from 'express';
import { LoadShedder, type ReleaseSlot } from '../../../../platform/concurrency/load-shedder.ts';

const PRIORITIES = ['token', 'anonymous'] as const;

type Priority = (typeof PRIORITIES)[number];

const MAX_WAIT_MS: Readonly<Record<Priority, number>> = { token: 5_000, anonymous: 2_000 };

const slots = new WeakMap<Response, ReleaseSlot>();

export function createLoadShedder(): LoadShedder {
  return new LoadShedder({ maxWaitMs: PRIORITIES.map((priority) => MAX_WAIT_MS[priority]) });
}

/**
 * Waits until this process can answer a request in time. The request counts until the head of its response is written, so that a stream
 * does not count, or until it waits for something else. `carriesPayment` is asked only where the request would wait: one with a payment
 * does not. @throws OracleError OVERLOADED
 */
export async function waitForCapacity(
  loadShedder: LoadShedder | undefined,
  priority: Priority,
  response: Response,
  carriesPayment: () => Promise<boolean> = async () => false,
): Promise<void> {
  if (loadShedder === undefined) return;
  const rank = PRIORITIES.indexOf(priority);
  const release = loadShedder.tryEnter(rank);
  if (release !== null) releaseOnHead(response, release);
  else if (!(await carriesPayment())) releaseOnHead(response, await waitInQueue(loadShedder, rank, response));
}

/** For a request that now waits for the chain, whose concurrent calls have limits of their own. */
export function releaseCapacity(response: Response): void {
  slots.get(response)?.();
}

async function waitInQueue(loadShedder: LoadShedder, rank: number, response: Response): Promise<ReleaseSlot> {
  const closed = new AbortController();
  const abort = () => closed.abort();
  if (response.closed) abort();
  response.once('close', abort);
  return loadShedder.enter(rank, closed.signal).finally(() => response.off('close', abort));
}

function releaseOnHead(response: Response, release: ReleaseSlot): void {
  if (response.closed) {
    release();
    return;
  }
  slots.set(response, release);
  response.once('close', release);
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => Response;
  response.writeHead = (...head: unknown[]) => {
    release();
    return writeHead(...head);
  };
}
