import { LOGIN_WINDOW_MS } from '../../access/login-message.ts';
import { WINDOW_SECONDS } from '../../access/rate-limits.ts';
import { TIER_REQUIREMENTS } from '../../access/tiers.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../access/token-keys.ts';
import { CONFIDENCE_RANGE } from '../../forecast/signal.ts';
import { WEBSOCKET } from '../../push/channels.ts';
import { WEBHOOKS_PER_WALLET } from '../../push/webhooks/store.ts';
import { PAGES } from '../parameters.ts';
import type { Info } from '../schemas/info.ts';
import { BODY_LIMIT_BYTES } from '../security/body.ts';
import { MAX_URL_CHARS } from '../security/url-length.ts';

/** Requests a window, as the settings have them. */
export interface RateSettings {
  public: number;
  wallet: number;
  rpc: number;
}

/** Every limit that callers meet (interface, section 8), each from the constant or setting that enforces it. */
export function limitsOf(rates: RateSettings): Info['limits'] {
  return {
    gateBalance: { basic: String(TIER_REQUIREMENTS.basic), premium: String(TIER_REQUIREMENTS.premium) },
    sessionTokenSeconds: TOKEN_LIFETIME_SECONDS,
    signatureWindowSeconds: LOGIN_WINDOW_MS / 1_000,
    attestationHistory: { least: 1, ...PAGES.attestations },
    copyTradeHistory: { least: 1, ...PAGES.copyTrade },
    wagerHistory: { least: 1, ...PAGES.wagers },
    confidence: CONFIDENCE_RANGE,
    requests: { windowSeconds: WINDOW_SECONDS, publicPerAddress: rates.public, perWallet: rates.wallet, chainCallsPerAddress: rates.rpc },
    bodyBytes: BODY_LIMIT_BYTES,
    urlCharacters: MAX_URL_CHARS,
    webhooksPerWallet: WEBHOOKS_PER_WALLET,
    webSocket: {
      connectionsPerWallet: WEBSOCKET.connectionsPerWallet,
      pingSeconds: WEBSOCKET.pingSeconds,
      reconnectSeconds: WEBSOCKET.reconnectSeconds,
    },
  };
}
