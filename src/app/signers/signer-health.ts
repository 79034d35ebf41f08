import type { RoleSigner } from '../../chain/signers/role-signer.ts';
import { createCache } from '../../platform/cache.ts';
import { withTimeout } from '../../platform/concurrency/with-timeout.ts';
import { OracleError } from '../../platform/errors.ts';
import type { RoleSigners } from './open-signers.ts';

type Health = { detail: string } | { error: unknown };

/** `/ready` is public: its callers cause one request a signer in this time. */
const MAX_AGE_MS = 30_000;
/** Shorter than the time that a signature may take: health probes need a prompt answer. */
const HEALTH_TIMEOUT_MS = 3_000;

/** Whether the signers outside this process answer; null without any. @throws OracleError SIGNER_UNAVAILABLE naming a role */
export function composeSignerHealth(signers: RoleSigners, now: () => Date): (() => Promise<string>) | null {
  const remote = Object.values(signers).filter((signer): signer is RoleSigner => signer !== null && signer.ping !== null);
  if (remote.length === 0) return null;
  const cache = createCache<Health>('signers', 1);
  return async () => {
    const health = await cache.get(Math.floor(now().getTime() / MAX_AGE_MS), () => readHealth(remote));
    if ('error' in health) throw health.error;
    return health.detail;
  };
}

async function readHealth(remote: readonly RoleSigner[]): Promise<Health> {
  try {
    await Promise.all(remote.map(({ role, ping }) => withTimeout(HEALTH_TIMEOUT_MS, ping!(), () => timeoutError(role))));
    return { detail: `answer: ${remote.map(({ role }) => role).join(', ')}` };
  } catch (error) {
    return { error };
  }
}

function timeoutError(role: string): OracleError {
  return new OracleError('SIGNER_UNAVAILABLE', `The signer of the ${role} does not answer within ${HEALTH_TIMEOUT_MS} ms`);
}
