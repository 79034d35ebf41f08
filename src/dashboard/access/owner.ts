import { ApiProblem, fetchFromService, requestApi, toApiProblem } from '../state/api.ts';
import type { LoginSession } from '../state/session.ts';
import type { Provider } from '../unlock/wallets.ts';

interface OwnerRequest {
  method?: string;
  body?: unknown;
}

/** A wallet that manages its access: by a session, or by a signature for each request. */
export interface AccessOwner {
  wallet: string;
  /** False for a wallet without gate tokens, which can list and end access alone. */
  mayMakeKeys: boolean;
  /** @throws {ApiProblem} @throws errors of the wallet's provider */
  request<Answer>(path: string, request?: OwnerRequest): Promise<Answer>;
}

export function createSessionOwner({ wallet, token }: LoginSession): AccessOwner {
  return { wallet, mayMakeKeys: true, request: (path, request) => requestApi(path, { ...request, token }) };
}

/** For a wallet whose balance opens no session. */
export function createSigningOwner(provider: Provider, wallet: string): AccessOwner {
  return {
    wallet,
    mayMakeKeys: false,
    async request(path, { method = 'GET' } = {}) {
      const headers = { accept: 'application/json', 'SIGN-IN-WITH-X': await signRequest(provider, wallet) };
      const response = await fetchFromService(path, { method, headers });
      const answer = await response.json().catch(() => null);
      if (response.ok && answer !== null) return answer;
      throw toApiProblem(response, answer);
    },
  };
}

interface LoginTerms {
  nonce: string;
  domain: string;
  uri: string;
  chainId: number;
}

const STATEMENT = 'Show or end the access that this wallet has granted.';

/** The header for one request: an EIP-4361 message and its signature. */
async function signRequest(provider: Provider, wallet: string): Promise<string> {
  const { nonce, domain, uri, chainId } = await requestApi<LoginTerms>('api/svc/oracle/nonce');
  const issuedAt = new Date().toISOString();
  const message = `${domain} wants you to sign in with your Ethereum account:\n${wallet}\n\n${STATEMENT}\n\nURI: ${uri}\nVersion: 1\nChain ID: ${chainId}\nNonce: ${nonce}\nIssued At: ${issuedAt}`;
  const signature = await provider.request({ method: 'personal_sign', params: [toHex(message), wallet] });
  const fields = { domain, address: wallet, statement: STATEMENT, uri, version: '1', chainId: `eip155:${chainId}`, type: 'eip191', nonce };
  return btoa(JSON.stringify({ ...fields, issuedAt, signature }));
}

function toHex(text: string): string {
  return `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** What to show for an error of an owner's request. */
export function formatAccessProblem(error: unknown): string {
  if (error instanceof ApiProblem) return `${error.message}. ${error.suggestedAction ?? ''}`.trim();
  return (error as { code?: number }).code === 4001
    ? 'You declined in the wallet. Nothing was changed.'
    : 'The wallet did not sign. Nothing was changed.';
}
