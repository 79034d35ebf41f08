/** Payment channels: a claimed transfer, an ERC-8183 job, or an x402 payment within the request. */
export const CHANNELS = ['purchase', 'agent-commerce', 'x402'] as const;

export type Channel = (typeof CHANNELS)[number];

/** Reasons of closed channels; an unlisted channel is open. */
export type ClosedChannels = Partial<Record<Channel, string>>;
