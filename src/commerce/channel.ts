/** Ways to pay: a transfer whose hash is shown, a job of the agent commerce protocol, or a payment with the request itself. */
export const CHANNELS = ['purchase', 'agent-commerce', 'x402'] as const;

export type Channel = (typeof CHANNELS)[number];

/** Why a channel takes no money; one that is not listed is open. */
export type ClosedChannels = Partial<Record<Channel, string>>;

const SEND_NOTHING = 'Send no money: it would not be noticed.';

/** What is priced but cannot be paid for, because the part of the service that takes the money is missing. */
export const CLOSED_CHANNELS: ClosedChannels = {
  purchase: `Purchases are not open yet: this service does not check transfers yet. ${SEND_NOTHING}`,
  'agent-commerce': `Agent commerce is not open yet: this service does not take jobs yet. ${SEND_NOTHING}`,
  x402: `Payment with the request is not open yet: this service does not settle x402 payments yet. ${SEND_NOTHING}`,
};
