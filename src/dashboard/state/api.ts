/** Client of the public API; the page uses no other. */

interface ApiProblemOptions {
  code: string;
  detail: string;
  suggestedAction?: string;
  retryAfterSeconds?: number;
  [fact: string]: unknown;
}

/** Problem details (RFC 9457) of the service, or the failure to reach it. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly suggestedAction: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Extension members, such as `field` or `balance`. */
  readonly facts: Record<string, unknown>;

  constructor({ code, detail, suggestedAction, retryAfterSeconds, ...facts }: ApiProblemOptions) {
    super(detail);
    this.code = code;
    this.suggestedAction = suggestedAction;
    this.retryAfterSeconds = retryAfterSeconds;
    this.facts = facts;
  }
}

const TIMEOUT_MS = 20_000;

/**
 * Sends a request to the service.
 * @param path relative to the base URL
 * @returns JSON body of a success
 * @throws {ApiProblem}
 */
export async function requestApi<Answer = unknown>(
  path: string,
  { token, method = 'GET', body }: { token?: string | null; method?: string; body?: unknown } = {},
): Promise<Answer> {
  const response = await fetchFromService(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json().catch(() => null);
  if (token && response.ok && isTokenRejected(response)) throw tokenRejectedProblem();
  if (response.ok && answer !== null) return answer;
  throw toApiProblem(response, answer);
}

/** @throws {ApiProblem} when there is no response */
export async function fetchFromService(path: string, request: RequestInit) {
  try {
    return await fetch(new URL(path, document.baseURI), { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new ApiProblem({ code: 'UNREACHABLE', detail: `The service does not answer (${(cause as Error).name})` });
  }
}

/** Public resources are served as anonymous when the token is rejected (RFC 6750, section 3.1). */
function isTokenRejected(response: Response) {
  return response.headers.get('www-authenticate')?.includes('error="invalid_token"') ?? false;
}

function tokenRejectedProblem() {
  return new ApiProblem({ code: 'UNAUTHENTICATED', detail: 'The access token has expired or is not valid', field: 'Authorization' });
}

export function toApiProblem(response: Response, answer: ApiProblemOptions | null) {
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  if (typeof answer?.detail === 'string') return new ApiProblem({ ...answer, retryAfterSeconds });
  return new ApiProblem({ code: 'UNREACHABLE', detail: `The service answers with status ${response.status}`, retryAfterSeconds });
}
