import type { OracleError } from '../../../../src/errors.ts';
import { type Day, parseDay } from '../../../../src/forecast/day.ts';
import {
  PROVIDERS,
  type Provider,
  type ProviderAnswer,
  type ProviderId,
  type ProviderRequest,
} from '../../../../src/market/live/provider.ts';
import { sendRequest } from '../../../../src/market/live/providers.ts';

/** The instant of these tests: a Tuesday afternoon. */
export const NOW_MS = Date.parse('2026-03-10T15:30:00Z');
export const TODAY: Day = parseDay('2026-03-10');

/** Collects what a parser leaves out. */
export function createRowReader(title: string) {
  const leftOut: { field?: string | null; message: string }[] = [];
  return { title, leftOut, leaveOut: (problem: OracleError) => void leftOut.push({ field: problem.field, message: problem.message }) };
}

/** A provider that answers the same to every request, and remembers what it was asked. */
export function createAnsweringProvider(id: ProviderId, ...bodies: unknown[]): Provider & { asked: ProviderRequest[] } {
  const asked: ProviderRequest[] = [];
  const answer = async (request: ProviderRequest): Promise<ProviderAnswer> => {
    asked.push(request);
    return { body: bodies[Math.min(asked.length, bodies.length) - 1], receivedAtMs: NOW_MS, providerAtMs: null };
  };
  return { ...createUnguardedProvider(id, 'http://127.0.0.1:9'), asked, request: answer };
}

/** A provider without a guard that asks the segment of its name of a host. */
export function createUnguardedProvider(id: ProviderId, hostUrl: string): Provider {
  const { title } = PROVIDERS[id];
  const baseUrl = `${hostUrl}/${id}`;
  const signal = AbortSignal.timeout(10_000);
  return {
    id,
    title,
    baseUrl,
    call: (_what, run) => run(signal),
    request: (request) => sendRequest(request, { title, baseUrl, signal, now: () => NOW_MS, onClockSkew: () => {} }),
    recordProblem: () => {},
    leaveOut: () => {},
    health: () => {
      throw new Error('these tests do not ask for health');
    },
  };
}
