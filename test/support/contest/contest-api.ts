import type { Hex, LocalAccount } from 'viem';
import { expect } from 'vitest';
import type { z } from 'zod';
import { COMMITMENT_PRIMARY_TYPE, COMMITMENT_TYPES, type ContestDomain } from '../../../src/contest.ts';
import { CONTEST_LEADERBOARD_REPLY, CONTEST_MARKETS_REPLY, CONTEST_STATUS_REPLY } from '../../../src/http/routes/contest.ts';

export const STATUS = '/api/svc/clawstake/status';
export const MARKETS = '/api/svc/clawstake/markets';
export const LEADERBOARD = '/api/svc/prestake/leaderboard';

const REPLIES: Record<string, z.ZodType> = {
  [STATUS]: CONTEST_STATUS_REPLY,
  [MARKETS]: CONTEST_MARKETS_REPLY,
  [LEADERBOARD]: CONTEST_LEADERBOARD_REPLY,
};

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

/** Asks a served contest over its socket. */
export function contestDoor(url: () => string) {
  async function ask(path: string, init?: RequestInit): Promise<{ status: number; body: Body }> {
    const response = await fetch(`${url()}${path}`, init);
    return { status: response.status, body: await response.json() };
  }
  return {
    ask,
    /** An answer of success, exactly as it is described. */
    async get(path: string): Promise<Body> {
      const { status, body } = await ask(path);
      expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
      // A schema drops what it does not know.
      expect(REPLIES[path.split('?')[0]].parse(body)).toEqual(body);
      return body;
    },
    post: (body: object) =>
      ask('/api/svc/prestake/commit', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  };
}

export interface ContestReply {
  market: string;
  probabilityBps: number;
  issuedAtMs: number;
}

/** The body of a commitment, signed as the documents say. `wallet` is another one than the signer's where a contract stands for it. */
export async function signedCommitment(
  domain: ContestDomain,
  account: LocalAccount,
  published: ContestReply,
  wallet: Hex = account.address,
): Promise<ContestReply & { wallet: Hex; signature: Hex }> {
  const message = { ...published, wallet, issuedAtMs: BigInt(published.issuedAtMs) };
  const signature = await account.signTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
  return { ...published, wallet, signature };
}
