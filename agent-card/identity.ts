export const IDENTITY = {
  name: 'Bitcoin Signal Oracle',
  /** For identifiers without spaces. */
  slug: 'bitcoin-signal-oracle',
  description:
    'A daily forecast of BTC/USD, committed on chain before its outcome window opens, wagered, resolved and scored in public. The direction shows no skill that can be distinguished from luck, and the record says so.',
  /** At most 100 characters, the limit of the MCP registry. */
  tagline: 'Daily BTC/USD forecasts, committed on chain before their outcome and scored in public.',
  /** Topics under which directories list what is sold; at most five. */
  topics: ['bitcoin', 'forecast', 'probability', 'on-chain commitment', 'trading signal'],
  capabilities: ['btc-usd-forecast', 'on-chain-commitment', 'public-scorecard', 'attestation-verification', 'a2a', 'mcp'],
} as const;

/** Names under which releases are published. Another publisher has other ones, and runs `npm run docs:tables` after a change. */
export const PUBLICATION = {
  /** On npm. `npx` starts the program that is named like the part after the slash. */
  npmName: '@bitcoin-signal-oracle/svc',
  /** In the MCP registry, where a login at GitHub proves the part before the slash. */
  mcpName: 'io.github.bitcoin-signal-oracle/bitcoin-signal-oracle',
  /** Accounts at GitHub that may claim the entry at Glama. */
  maintainers: ['bitcoin-signal-oracle'],
} as const;
