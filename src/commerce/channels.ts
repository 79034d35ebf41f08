/** Ways to pay: a transfer whose hash is shown, a job of the agent commerce protocol, or a payment with the request itself. */
export const CHANNELS = ['purchase', 'agent-commerce', 'x402'] as const;

export type Channel = (typeof CHANNELS)[number];

/** Why a channel takes no money here; one that is not listed is open. */
export type ClosedChannels = Partial<Record<Channel, string>>;
