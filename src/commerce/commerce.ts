import type { Address } from 'viem';
import { CHANNELS, type Channel, type ClosedChannels } from './channel.ts';
import type { Ledger } from './ledger.ts';

/** What is sold, to whom it is paid, and what has been earned. */
export interface Commerce {
  ledger: Ledger;
  closed: ClosedChannels;
  /** Wallet that payments go to; null where none is set. */
  payee: Address | null;
  /** The stablecoin that prices are paid in, a dollar each. */
  asset: Address;
  chainId: number;
  /** False on a local chain, whose stablecoin anybody can make. */
  realMoney: boolean;
}

/** Whether a channel takes money, and if not why. */
export interface ChannelState {
  channel: Channel;
  open: boolean;
  /** Null when open. */
  reason: string | null;
}

/** All channels; one without a wallet to pay to is closed too. */
export function channelStates({ closed, payee }: Pick<Commerce, 'closed' | 'payee'>): ChannelState[] {
  return CHANNELS.map((channel) => {
    const reason = closed[channel] ?? (payee === null ? 'No wallet to pay to is set here. Send no money.' : null);
    return { channel, open: reason === null, reason };
  });
}
