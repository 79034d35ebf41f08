import { ApiProblem, requestApi } from '../state/api.ts';
import type { AccessReply, ApiKeyReply } from '../state/responses.ts';
import type { LoginSession } from '../state/session.ts';
import { LoginError } from '../unlock/login.ts';
import type { Signer } from '../unlock/signers.ts';

const PATHS = { access: 'api/svc/oracle/access', keys: 'api/svc/oracle/keys' } as const;

export interface WantedKey {
  label: string;
  tier: string;
  expiresInDays?: number;
}

/** A wallet that manages its access. @throws {ApiProblem} @throws {LoginError} @throws errors of the wallet's provider */
export interface AccessOwner {
  wallet: string;
  /** Absent for a wallet without gate tokens, which can list and end access alone. */
  makeKey?(key: WantedKey): Promise<ApiKeyReply>;
  list(): Promise<AccessReply>;
  revoke(id: string): Promise<unknown>;
}

/** A session lists and ends access; a key needs a signature for it alone. @param findSigner of the wallet of the session */
export function createSessionOwner({ wallet, token }: LoginSession, findSigner: () => Promise<Signer>): AccessOwner {
  return {
    wallet,
    makeKey: async (key) => signAct(await findSigner(), wallet, PATHS.keys, { ...key }),
    list: () => requestApi(PATHS.access, { token }),
    revoke: (id) => requestApi(`${PATHS.access}/${encodeURIComponent(id)}`, { method: 'DELETE', token }),
  };
}

/** For a wallet whose balance opens no session: each request is signed. */
export function createSigningOwner(signer: Signer, wallet: string): AccessOwner {
  return {
    wallet,
    list: () => signAct(signer, wallet, PATHS.access, {}),
    revoke: (id) => signAct(signer, wallet, PATHS.access, { revoke: id }),
  };
}

/** The service composes the text of an act, and performs it when the text comes back signed. */
async function signAct<Answer>(signer: Signer, wallet: string, path: string, act: object): Promise<Answer> {
  const { message } = await requestApi<{ message: string }>(`${path}/message`, { method: 'POST', body: { wallet, ...act } });
  return requestApi<Answer>(path, { method: 'POST', body: { message, signature: await signer.sign(message) } });
}

/** What to show for an error of an owner's request. */
export function formatAccessProblem(error: unknown): string {
  if (error instanceof LoginError) return error.message;
  if (error instanceof ApiProblem) return `${error.message}. ${error.suggestedAction ?? ''}`.trim();
  return (error as { code?: number }).code === 4001
    ? 'You declined in the wallet. Nothing was changed.'
    : 'The wallet did not sign. Nothing was changed.';
}
