/** Where the service is: that of `npm start` on this machine, also on another PORT, unless SERVICE_URL names one. */
export const service = (process.env.SERVICE_URL || `http://127.0.0.1:${process.env.PORT || 3000}`).replace(/\/+$/, '');

// The reader of the output has closed it, as `| head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

/** What the service says when it refuses (RFC 9457). */
interface Problem {
  code: string;
  detail: string;
  suggestedAction: string;
}

/** Asks for JSON; the caller names the members that it reads. @throws Error with the service's own words where it refuses. */
export async function ask<Answer>(path: string, init?: RequestInit): Promise<Answer> {
  return answerOf<Answer>(await reach(path, init));
}

/** The same for a response that has come already. */
export async function answerOf<Answer>(response: Response): Promise<Answer> {
  const answer: unknown = await response.json();
  if (response.ok) return answer as Answer;
  const { code, detail, suggestedAction } = answer as Problem;
  throw new Error(`${code}: ${detail}. ${suggestedAction}`);
}

/** One request. @throws Error that names the URL if the service is not reachable */
export async function reach(path: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(`${service}${path}`, init);
  } catch {
    throw new Error(`No service answers at ${service}. Start one with npm start, or name its address in SERVICE_URL`);
  }
}

/** A request that sends JSON. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
