import type { Send } from './http.ts';
import type { WalletLogin } from './login.ts';

/** What a request is authorized with: an API key, or the session of a wallet. */
export interface Credentials {
  token(): Promise<string>;
  /** @returns whether `token` may return another one */
  forget(token: string): Promise<boolean>;
}

export function createCredentials(apiKey: string | undefined, login: WalletLogin): Credentials {
  if (apiKey !== undefined) return { token: async () => apiKey, forget: async () => false };
  return { token: () => login.token(), forget: (token) => login.forget(token).then(() => true) };
}

/**
 * Adds credentials to requests. An API key goes with each; a wallet logs in for operations that answer 401 only, so that reads of public data
 * stay anonymous and an account may be there for payments alone. A rejected token is replaced once.
 */
export function createAuthorizedSend(send: Send, credentials: Credentials, mode: 'always' | 'on-401' | 'never'): Send {
  if (mode === 'never') return send;
  const gated = new Set<string>();
  return async (request) => {
    if (request.headers.has('Authorization')) return send(request);
    const operation = `${request.method} ${new URL(request.url).pathname}`;
    const isGated = mode === 'always' || gated.has(operation);
    const token = isGated ? await credentials.token() : undefined;
    const response = await send(withToken(request.clone(), token));
    if (response.status !== 401 || (token !== undefined && !(await credentials.forget(token)))) return response;
    gated.add(operation);
    return send(withToken(request, await credentials.token()));
  };
}

function withToken(request: Request, token: string | undefined): Request {
  if (token !== undefined) request.headers.set('Authorization', `Bearer ${token}`);
  return request;
}
