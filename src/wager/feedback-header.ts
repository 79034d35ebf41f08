/** Required members of an off-chain feedback file (ERC-8004). */
export interface FeedbackHeader {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  agentId: number;
  /** Author of the feedback, CAIP-10. */
  clientAddress: string;
  /** ISO 8601. */
  createdAt: string;
  /** In units of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
}
