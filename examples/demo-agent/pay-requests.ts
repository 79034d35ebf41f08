import { wrapFetchWithPayment } from '@x402/fetch';
import type { Hash, Hex } from 'viem';
import type { Agent } from './agent.ts';
import { answerOf, patientFetch } from './ask.ts';
import { beginStep, check, narrate } from './narrate.ts';
import type { Terms } from './read-price.ts';
import { checkReceipt, type Receipt } from './receipt.ts';

/** A forecast that was paid for, with what opens its commitment. */
export interface SoldForecast {
  charged: true;
  signal: 'BUY' | 'SELL' | 'HOLD';
  direction: 'UP' | 'DOWN';
  horizon: string;
  date: string;
  /** Null for some minutes after it was made. */
  attestationUid: Hash | null;
  opening: { salt: Hex; signal: number; direction: number; confidenceBps: number; pUpBps: number; btcPriceCents: number };
  payment: { txHash: Hash };
  receipt: Receipt;
}

/** An abstention, which is free. */
interface FreeHold extends Pick<SoldForecast, 'signal' | 'horizon' | 'date'> {
  charged: false;
  note: string;
}

/** Pays with the request itself (x402): a signature goes along, and the service settles it. Returns the premium answer. */
export async function payRequests(agent: Agent, terms: Terms): Promise<SoldForecast> {
  beginStep('Pay with the request: x402');
  const paidFetch = wrapFetchWithPayment(patientFetch, agent.payer);
  const buy = async (path: string): Promise<SoldForecast | FreeHold> => {
    const answer = await answerOf<SoldForecast | FreeHold>(path, await paidFetch(`${agent.service}${path}`));
    narrate(`GET ${path}: ${answer.signal} for ${answer.horizon} from ${answer.date}`);
    if (answer.charged) await checkSold(agent, answer, terms);
    else narrate(answer.note);
    return answer;
  };
  const signal = await buy('/oracle?horizon=7d');
  check(signal.charged || signal.signal === 'HOLD', signal.charged ? 'a call was charged' : 'an abstention costs nothing');
  const premium = await buy('/oracle/premium?horizon=7d');
  check(premium.charged, 'what lies behind it was charged');
  return premium;
}

async function checkSold(agent: Agent, { payment, receipt, ...answer }: SoldForecast, { seller }: Terms): Promise<void> {
  check(payment.txHash === receipt.message.txHash, 'payment and receipt name the same transaction');
  await checkReceipt(agent, receipt, { answer, seller });
}
