import { getAddress } from 'viem';
import { AuthService } from '../../auth/auth-service.ts';
import type { ApplicationTokens } from '../../auth/oauth/application-tokens.ts';
import { createRateLimits } from '../../auth/rate-limit/rate-limits.ts';
import { createRequestCountStore } from '../../auth/rate-limit/request-count-store.ts';
import { watchQueueingDelay } from '../../platform/concurrency/queueing-delay.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { Log } from '../../platform/log.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { Shutdown } from '../../platform/shutdown.ts';
import type { AppOptions } from '../../transports/http/server/app-options.ts';
import { createChainWork, createLoadShedder } from '../../transports/http/server/security/admission.ts';
import type { ServiceCore } from '../core.ts';

/** @throws OracleError CONFIG_INVALID if the stored signing keys are encrypted under another secret */
export async function composeAuth(
  deps: Pick<ServiceCore, 'db' | 'chain' | 'encryptionSecret' | 'agentId' | 'publicUrl' | 'now'>,
  applications?: ApplicationTokens,
): Promise<AuthService> {
  const { db, chain, encryptionSecret, agentId, publicUrl, now } = deps;
  const { host, origin } = new URL(publicUrl);
  const access = new AuthService({
    db,
    chain,
    secretBox: createSecretBox(encryptionSecret),
    issuer: `eip155:${chain.chainId}:${getAddress(chain.addresses.identityRegistry)}:${agentId}`,
    siwe: { domain: host, origin, chainId: chain.chainId },
    ...(applications === undefined ? {} : { applications }),
    now,
  });
  await access.keys.getSigningKey();
  return access;
}

interface ComposeAppOptionsDeps extends Pick<ServiceCore, 'db' | 'now'>, Pick<AppOptions, 'identify' | 'admin' | 'adminPage'> {
  config: Pick<Config, 'TRUST_PROXY' | 'RATE_LIMIT_PUBLIC' | 'RATE_LIMIT_WALLET' | 'RATE_LIMIT_RPC' | 'RATE_LIMIT_TASKS'>;
  log: Log;
  shutdown: Pick<Shutdown, 'signal'>;
}

export function composeAppOptions({ config, db, log, shutdown, now, ...identification }: ComposeAppOptionsDeps) {
  const limits = createRateLimits({
    counts: createRequestCountStore(db, now),
    limits: {
      public: config.RATE_LIMIT_PUBLIC,
      wallet: config.RATE_LIMIT_WALLET,
      rpc: config.RATE_LIMIT_RPC,
      tasks: config.RATE_LIMIT_TASKS,
    },
    now,
    log,
  });
  const loadShedder = createLoadShedder();
  watchQueueingDelay({ ping: () => db.command({ ping: 1 }), observe: (delayMs) => loadShedder.observe(delayMs), signal: shutdown.signal });
  return {
    ...identification,
    log,
    limits,
    chainWork: createChainWork(),
    loadShedder,
    trustProxy: config.TRUST_PROXY,
    reusesAnswers: true,
    stopping: shutdown.signal,
  } satisfies AppOptions;
}

/** Concurrent callers share one computation: an unmetered path has at most one in flight. */
export function shareWhileInFlight<T>(compute: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<T> | undefined;
  return () => {
    inFlight ??= compute().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
}
