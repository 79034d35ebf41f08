import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { McpClient } from './mcp.ts';

// biome-ignore lint/suspicious/noExplicitAny: the two libraries differ in the types of what they store
type Stored = any;

/** What the host of an assistant keeps, and the browser that it opens. */
export class AssistantStore {
  client: Stored;
  tokens: Stored;
  verifier = '';
  discovery: Stored;
  /** Pages that the user was sent to, in order. */
  readonly opened: URL[] = [];
  readonly #callback: string;

  /** @param callback where the assistant listens on this machine */
  constructor(callback: string) {
    this.#callback = callback;
  }

  /** @param documentUrl of a client metadata document; absent: the client registers */
  toProvider(documentUrl?: string): OAuthClientProvider {
    return {
      redirectUrl: this.#callback,
      ...(documentUrl === undefined ? {} : { clientMetadataUrl: documentUrl }),
      clientMetadata: { client_name: 'Test assistant', redirect_uris: [this.#callback] },
      state: () => 'state-of-the-test',
      clientInformation: () => this.client,
      saveClientInformation: (client) => {
        this.client = client;
      },
      tokens: () => this.tokens,
      saveTokens: (tokens) => {
        this.tokens = tokens;
      },
      redirectToAuthorization: (url) => void this.opened.push(url),
      saveCodeVerifier: (verifier) => {
        this.verifier = verifier;
      },
      codeVerifier: () => this.verifier,
      saveDiscoveryState: (state) => {
        this.discovery = state;
      },
      discoveryState: () => this.discovery,
      invalidateCredentials: (kind) => {
        if (kind === 'tokens' || kind === 'all') this.tokens = undefined;
      },
    };
  }
}

interface AuthorizingClient {
  /** Rejects after `redirectToAuthorization` where the user has to decide. */
  connect(url: string, provider: OAuthClientProvider): Promise<McpClient>;
  /** Redeems the code of the URL that the browser came back to. */
  finish(url: string, provider: OAuthClientProvider, back: URL): Promise<void>;
}

/** The official client libraries, as an assistant uses them. */
export const AUTHORIZING_CLIENTS: Record<'client 2' | 'SDK 1', AuthorizingClient> = {
  'client 2': {
    async connect(url, provider) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
      return client as unknown as McpClient;
    },
    async finish(url, provider, back) {
      await new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }).finishAuth(back.searchParams);
    },
  },
  'SDK 1': {
    async connect(url, provider) {
      const client = new OlderClient({ name: 'test', version: '1.0.0' });
      const transport = new OlderTransport(new URL(url), { authProvider: provider as never });
      await client.connect(transport as Parameters<OlderClient['connect']>[0]);
      return client as unknown as McpClient;
    },
    async finish(url, provider, back) {
      await new OlderTransport(new URL(url), { authProvider: provider as never }).finishAuth(back.searchParams.get('code')!);
    },
  },
};
