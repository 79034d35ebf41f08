import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

export interface PatientReply {
  status: number;
  body: Body;
  /** Times that the service was unavailable. */
  unavailable: number;
}

const MAX_REPEATS = 10;
const PAUSE_MS = 50;

/** A client that sends the same request again while the answer says that it may succeed later. */
export async function requestPatiently(url: string, init: RequestInit = {}): Promise<PatientReply> {
  for (let unavailable = 0; ; unavailable++) {
    const response = await fetch(url, init);
    const text = await response.text();
    const body: Body = text === '' ? null : JSON.parse(text);
    if (response.status < 500 || unavailable === MAX_REPEATS) return { status: response.status, body, unavailable };
    expect({ url, status: response.status, ...body }).toMatchObject({ status: 503, code: 'DATABASE_UNAVAILABLE', retryable: true });
    await delay(PAUSE_MS);
  }
}

export function jsonRequest(method: string, body: object, headers: Record<string, string> = {}): RequestInit {
  return { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
