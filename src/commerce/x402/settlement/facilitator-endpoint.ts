import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';

/** Of an answer. */
export const MAX_ANSWER_BYTES = 262_144;

/** Headers that authenticate one request. @param url whole URL of the request */
export type AuthorizeRequest = (method: 'GET' | 'POST', url: string) => Promise<Record<string, string>>;

/** A remote facilitator, named by the operator. */
export interface FacilitatorEndpoint {
  url: string;
  /** Unset for a facilitator without keys. */
  authorize?: AuthorizeRequest;
}

interface FacilitatorCall {
  path: '/verify' | '/settle' | '/supported';
  /** JSON of a POST request; unset: GET. */
  body?: object;
  timeoutMs: number;
}

/** The facilitator processed nothing: it does not accept the key of the request, or its absence. */
export class FacilitatorKeyError extends Error {
  constructor(status: number, { authorize }: FacilitatorEndpoint) {
    const problem =
      authorize === undefined ? 'asks for a key: set CDP_API_KEY_ID and CDP_API_KEY_SECRET' : 'refuses the key of CDP_API_KEY_ID';
    super(`${problem} (status ${status})`);
    this.name = 'FacilitatorKeyError';
  }
}

/** The answer of any status but 401. @throws FacilitatorKeyError for that; errors of `createOperatorFetch` */
export async function callFacilitator(endpoint: FacilitatorEndpoint, { path, body, timeoutMs }: FacilitatorCall): Promise<Response> {
  const base = endpoint.url.replace(/\/+$/, '');
  const url = `${base}${path}`;
  const method = body === undefined ? 'GET' : 'POST';
  const fetchFacilitator = createOperatorFetch({ base, timeoutMs, maxBytes: MAX_ANSWER_BYTES });
  const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...(await endpoint.authorize?.(method, url)) };
  const response = await fetchFacilitator(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (response.status !== 401) return response;
  await response.body?.cancel();
  throw new FacilitatorKeyError(response.status, endpoint);
}
