import { readFileSync } from 'node:fs';
import type { Provider } from '../../../../src/market/live/provider.ts';
import { sharedPath } from '../../../support/record/shared.ts';

/** The provider, its answers arriving at an instant. */
export function withArrivalTime(nowMs: number, provider: Provider): Provider {
  return { ...provider, request: async (request) => ({ ...(await provider.request(request)), receivedAtMs: nowMs }) };
}

/** The text of a recorded answer. */
export function readSampleText(name: string): string {
  return readFileSync(sharedPath('data/api-samples', name), 'utf8');
}

// biome-ignore lint/suspicious/noExplicitAny: samples are looked into as they are
export const readSample = (name: string): any => JSON.parse(readSampleText(name));
