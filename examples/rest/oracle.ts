// Logs a wallet in by a signature and asks for what is gated: npx node examples/rest/oracle.ts [2d|3d|7d]
// As PRIVATE_KEY, or as the demonstration wallet "premium".

import { bearer, logIn } from '../common/login.ts';
import { ask } from '../common/service.ts';
import { walletOf } from '../common/wallet.ts';

interface Oracle {
  signal: 'BUY' | 'SELL' | 'HOLD';
  direction: 'UP' | 'DOWN';
  confidence: number;
  attestationUid: string | null;
  skill: { verdict: string };
}

/** Null when the signal is HOLD. */
type Intent = {
  side: 'BUY' | 'SELL';
  market: { question: string } | null;
  sizing: { fraction: number; note: string | null } | null;
} | null;

const horizon = process.argv[2] ?? '7d';
const account = walletOf('premium');
const session = await logIn(account);
const headers = bearer(session);
console.log(`Logged in as ${account.address}: ${session.tier} until ${session.expiresAt}`);

const { signal, direction, confidence, attestationUid, skill } = await ask<Oracle>(`/api/svc/oracle?horizon=${horizon}`, { headers });
console.log(`${signal} for ${horizon}: ${direction} with probability ${confidence}`);
console.log(`Verdict on the record: ${skill.verdict}`);
console.log(attestationUid === null ? 'On chain within minutes' : `Committed on chain as ${attestationUid}`);

if (session.tier === 'premium') {
  const intent = await ask<Intent>(`/api/svc/copy-trade/next?horizon=${horizon}`, { headers });
  if (intent === null) console.log('No trade: HOLD');
  else
    console.log(
      `Trade intent: ${[intent.side, intent.market?.question ?? 'no market is open', intent.sizing?.note].filter(Boolean).join('; ')}`,
    );
}

// Ends the session before its time: the token is of no use any more.
await ask('/api/svc/oracle/session', { method: 'DELETE', headers });
console.log('Logged out');
