/** Client of the public API; the page uses no other. */

/** Problem details (RFC 9457) of the service, or the failure to reach it. */
export class ApiProblem extends Error {
  /** @param {{ code: string, detail: string, suggestedAction?: string, retryAfterSeconds?: number, [fact: string]: unknown }} problem */
  constructor({ code, detail, suggestedAction, retryAfterSeconds, ...facts }) {
    super(detail);
    this.code = code;
    this.suggestedAction = suggestedAction;
    this.retryAfterSeconds = retryAfterSeconds;
    /** Extension members, such as `field` or `balance`. */
    this.facts = facts;
  }
}

const TIMEOUT_MS = 20_000;

/**
 * Sends a request to the service.
 * @param {string} path relative to the base URL @param {{ token?: string | null, method?: string, body?: unknown }} [options]
 * @returns {Promise<any>} JSON body of a success @throws {ApiProblem}
 */
export async function requestApi(path, { token, method = 'GET', body } = {}) {
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

/** @param {string} path @param {RequestInit} request */
async function fetchFromService(path, request) {
  try {
    return await fetch(new URL(path, document.baseURI), { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new ApiProblem({ code: 'UNREACHABLE', detail: `The service does not answer (${/** @type {Error} */ (cause).name})` });
  }
}

/** Public resources are served as anonymous when the token is rejected (RFC 6750, section 3.1). @param {Response} response */
function isTokenRejected(response) {
  return response.headers.get('www-authenticate')?.includes('error="invalid_token"') ?? false;
}

function tokenRejectedProblem() {
  return new ApiProblem({ code: 'UNAUTHENTICATED', detail: 'The access token has expired or is not valid', field: 'Authorization' });
}

/** @param {Response} response @param {any} answer */
function toApiProblem(response, answer) {
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  if (typeof answer?.detail === 'string') return new ApiProblem({ ...answer, retryAfterSeconds });
  return new ApiProblem({ code: 'UNREACHABLE', detail: `The service answers with status ${response.status}`, retryAfterSeconds });
}
