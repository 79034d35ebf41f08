/** How the service introduces itself, the same on every card and file. */
export const IDENTITY = {
  name: 'Bitcoin Signal Oracle',
  description:
    'A daily forecast of BTC/USD, committed on chain before its outcome window opens, wagered, resolved and scored in public. The direction has little skill, and the record says so.',
  capabilities: ['btc-usd-forecast', 'on-chain-commitment', 'public-scorecard', 'attestation-verification'],
} as const;
