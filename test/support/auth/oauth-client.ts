import { createHash, randomBytes } from 'node:crypto';
import type { LocalAccount } from 'viem';

export const REDIRECT_URI = 'https://assistant.example/callback';

interface Reply {
  status: number;
  location: URL | null;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  body: any;
}

/** A client of the authorization server, and the browser of its user: every step can be changed. */
export class OAuthTestClient {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();
  readonly verifier = randomBytes(32).toString('base64url');
  clientId = '';
  /** Sent with every request. */
  headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url;
    this.headers = headers;
  }

  async register(metadata: Record<string, unknown> = {}): Promise<Reply> {
    const reply = await this.send('POST', '/oauth/register', {
      json: { client_name: 'Assistant', redirect_uris: [REDIRECT_URI], ...metadata },
    });
    if (reply.status === 201) this.clientId = reply.body.client_id;
    return reply;
  }

  /** The answer to an authorization request; undefined leaves a parameter out. */
  authorize(changes: Record<string, string | undefined> = {}): Promise<Reply> {
    const parameters = {
      client_id: this.clientId,
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${this.#url}/mcp`,
      scope: 'forecast:basic forecast:premium',
      state: 'the state',
      ...changes,
    };
    const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.send('GET', `/oauth/authorize?${new URLSearchParams(sent)}`);
  }

  /** Decides on the consent page, as its script does: a wallet signs the text of the page. Returns the redirect of the browser to the client. */
  async decide(consent: URL, wallet: LocalAccount | 'deny'): Promise<Reply> {
    const signed = wallet === 'deny' ? null : await this.sign(consent, wallet);
    const json = signed === null ? { decision: 'deny' } : { decision: 'allow', ...signed.json };
    if (signed !== null && signed.reply.status !== 200) return signed.reply;
    const reply = await this.send('POST', consent.pathname, { json });
    if (reply.status !== 200) return reply;
    return this.send('GET', reply.body.redirectTo.slice(this.#url.length));
  }

  /** The text that the page gives a wallet, signed. */
  async sign(consent: URL, wallet: LocalAccount) {
    const reply = await this.send('POST', consent.pathname, { json: { decision: 'sign', wallet: wallet.address } });
    const { message = '' } = reply.body;
    return { reply, json: { message, signature: await wallet.signMessage({ message }) } };
  }

  /** From the request to the code. */
  async getCode(wallet: LocalAccount, changes: Record<string, string | undefined> = {}): Promise<string> {
    const { location } = await this.authorize(changes);
    const { location: back } = await this.decide(location!, wallet);
    return back!.searchParams.get('code')!;
  }

  exchange(code: string, changes: Record<string, string> = {}): Promise<Reply> {
    return this.#post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: this.verifier,
      resource: `${this.#url}/mcp`,
      ...changes,
    });
  }

  refresh(refreshToken: string, changes: Record<string, string> = {}): Promise<Reply> {
    return this.#post('/oauth/token', { grant_type: 'refresh_token', refresh_token: refreshToken, ...changes });
  }

  revoke(token: string): Promise<Reply> {
    return this.#post('/oauth/revoke', { token });
  }

  #post(path: string, form: Record<string, string>): Promise<Reply> {
    return this.send('POST', path, { form: { client_id: this.clientId, ...form } });
  }

  async send(method: string, path: string, { json, form, token, headers = {} }: SendOptions = {}): Promise<Reply> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        Cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...this.headers,
        ...headers,
      },
      body: json === undefined ? form && new URLSearchParams(form) : JSON.stringify(json),
    });
    for (const cookie of response.headers.getSetCookie()) this.#keepCookie(cookie);
    const text = await response.text();
    const location = response.headers.get('location');
    return {
      status: response.status,
      location: location === null ? null : new URL(location, this.#url),
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  }

  #keepCookie(cookie: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === '') this.#cookies.delete(name!);
    else this.#cookies.set(name!, value!);
  }
}

interface SendOptions {
  json?: unknown;
  form?: Record<string, string>;
  token?: string | undefined;
  headers?: Record<string, string>;
}

/** A call over MCP with a token; returns status and challenge. */
export async function callMcp(url: string, token?: string, method = 'tools/list', params: object = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: response.status, challenge: response.headers.get('www-authenticate'), text: await response.text() };
}
