/** Explorers of EAS, by chain id. */
const EAS_EXPLORER_URLS: Readonly<Record<number, string>> = {
  8453: 'https://base.easscan.org',
  84532: 'https://base-sepolia.easscan.org',
};

/** Where people look at the attestations of a chain, without a slash at its end; null where no explorer is known. */
export function getEasExplorerUrl(chainId: number): string | null {
  return EAS_EXPLORER_URLS[chainId] ?? null;
}
