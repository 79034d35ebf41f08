import { setTimeout as delay } from 'node:timers/promises';
import { narrate, StepFailed } from './narrate.ts';

/** What the service says when it does not answer (RFC 9457). */
interface Problem {
  detail?: string;
  suggestedAction?: string;
}

/** Longest wait that is worth it. */
const MAX_WAIT_SECONDS = 60;

/** Asks for JSON; the caller names the members it reads. What the service refuses ends the step with the service's own words. */
export async function ask<Answer>(url: string, init?: RequestInit): Promise<Answer> {
  return answerOf<Answer>(url, await reach(url, init));
}

export async function answerOf<Answer>(url: string, response: Response): Promise<Answer> {
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) return body as Answer;
  const { detail, suggestedAction } = body as Problem;
  throw new StepFailed(`${url} answers ${response.status}: ${detail ?? response.statusText}`, suggestedAction ?? 'Look at its log.');
}

/** Sends a request, and names the remedy if the service is not reachable. */
export async function reach(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await patientFetch(url, init);
  } catch {
    throw new StepFailed(`No service answers at ${url}`, 'Run npm start first, or name the address of the service with --url.');
  }
}

/** `fetch` for every client here: it waits where the service says that it was asked too often. */
export const patientFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const seconds = Number(response.headers.get('retry-after'));
  if (response.status !== 429 || !(seconds > 0 && seconds <= MAX_WAIT_SECONDS)) return response;
  narrate(`(the service allows so many requests a minute: waiting ${seconds} s)`);
  await delay(seconds * 1_000);
  return fetch(input, init);
};

export function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
