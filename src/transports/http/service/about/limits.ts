import { LOGIN_WINDOW_MS } from '../../../../auth/login/login-message.ts';
import { WINDOW_SECONDS } from '../../../../auth/rate-limit/rate-limits.ts';
import { TIER_REQUIREMENTS } from '../../../../auth/tiers/tiers.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../../../auth/tokens/token-key-store.ts';
import { WEBSOCKET } from '../../../../events/channels.ts';
import { MAX_WEBHOOKS_PER_WALLET } from '../../../../events/webhooks/registry/webhook-store.ts';
import { CONFIDENCE_RANGE } from '../../../../forecast/signal.ts';
import { MAX_URL_CHARS } from '../../server/parsing/limit-url-length.ts';
import { PAGE_LIMITS } from '../../server/parsing/parameters.ts';
import { BODY_LIMIT_BYTES } from '../../server/parsing/read-body.ts';
import type { Info } from './info-schemas.ts';

export interface RateSettings {
  public: number;
  wallet: number;
  rpc: number;
}

/** Limits of the interface (section 8), from the constants and settings that enforce them. */
export function buildLimits(rates: RateSettings): Info['limits'] {
  return {
    gateBalance: { basic: String(TIER_REQUIREMENTS.basic), premium: String(TIER_REQUIREMENTS.premium) },
    sessionTokenSeconds: TOKEN_LIFETIME_SECONDS,
    signatureWindowSeconds: LOGIN_WINDOW_MS / 1_000,
    attestationHistory: { least: 1, ...PAGE_LIMITS.attestations },
    copyTradeHistory: { least: 1, ...PAGE_LIMITS.copyTrade },
    wagerHistory: { least: 1, ...PAGE_LIMITS.wagers },
    confidence: CONFIDENCE_RANGE,
    requests: { windowSeconds: WINDOW_SECONDS, publicPerAddress: rates.public, perWallet: rates.wallet, chainCallsPerAddress: rates.rpc },
    bodyBytes: BODY_LIMIT_BYTES,
    urlCharacters: MAX_URL_CHARS,
    webhooksPerWallet: MAX_WEBHOOKS_PER_WALLET,
    webSocket: {
      connectionsPerWallet: WEBSOCKET.connectionsPerWallet,
      pingSeconds: WEBSOCKET.pingSeconds,
      reconnectSeconds: WEBSOCKET.reconnectSeconds,
    },
  };
}
