/** What ERC-8004 asks of the off-chain file of a feedback. */
export interface FeedbackHeader {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  agentId: number;
  /** Who gives the feedback, CAIP-10. */
  clientAddress: string;
  /** ISO 8601. */
  createdAt: string;
  /** In units of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
}
