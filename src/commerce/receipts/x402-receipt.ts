import type { Log } from '../../platform/log.ts';
import type { X402Receipt } from './offer-receipt.ts';
import type { SignX402Receipt, X402ReceiptData } from './offer-receipt-signer.ts';

export interface X402ReceiptDeps {
  signX402Receipt: SignX402Receipt;
  log: Pick<Log, 'warn'>;
}

/** Null when it cannot be signed now: the extension is optional, and a paid answer does not wait for it. A later delivery adds it. */
export async function trySignX402Receipt({ signX402Receipt, log }: X402ReceiptDeps, sale: X402ReceiptData): Promise<X402Receipt | null> {
  try {
    return await signX402Receipt(sale);
  } catch (error) {
    log.warn({ err: error, txHash: sale.txHash }, 'the x402 receipt of a sale could not be signed: its answer goes out without it');
    return null;
  }
}
