/** What a skill answered, whichever way it was asked. */
export type Outcome = { ok: true; output: Record<string, unknown>; text: string } | ErrorOutcome;

export interface ErrorOutcome {
  ok: false;
  code: string;
  field: string | null;
  suggestedAction: string;
}

/** One way to ask the skills, with its official client. */
export interface AgentClient {
  run(skill: string, input: Record<string, unknown>): Promise<Outcome>;
  close(): Promise<void>;
}

export interface ClientOptions {
  url: string;
  /** Unset: an anonymous caller. */
  token?: string;
}

export type OpenAgentClient = (address: ClientOptions) => Promise<AgentClient>;

interface ErrorFields {
  code?: unknown;
  field?: unknown;
  suggestedAction?: unknown;
}

/** @throws Error when an error lacks a member that every transport must send */
export function toErrorOutcome({ code, field, suggestedAction }: ErrorFields): ErrorOutcome {
  if (typeof code !== 'string' || typeof suggestedAction !== 'string' || suggestedAction === '') {
    throw new Error(`an error without code or instruction: ${JSON.stringify({ code, field, suggestedAction })}`);
  }
  return { ok: false, code, field: typeof field === 'string' ? field : null, suggestedAction };
}

/** `fetch` of a caller. */
export function fetchAs(token: string | undefined): typeof fetch {
  if (token === undefined) return fetch;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}
