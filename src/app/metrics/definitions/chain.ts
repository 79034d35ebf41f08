import { flag, known, one, type Sample, type StateMetric, secondsSince } from '../metric-definition.ts';
import type { WalletState } from '../wallet-figures.ts';

const WEI_PER_GWEI = 1e9;
const WEI_PER_ETHER = 1e18;

function perWallet(name: StateMetric['name'], help: string, read: (wallet: WalletState) => number | null): StateMetric {
  return {
    name,
    help,
    labels: ['role'],
    read: ({ wallets }) =>
      known(wallets, ({ roles }) =>
        roles.flatMap((wallet) => known(read(wallet), (value): Sample[] => [{ labels: { role: wallet.role }, value }])),
      ),
  };
}

export const CHAIN_METRICS: readonly StateMetric[] = [
  { name: 'oracle_chain_up', help: '1 when the chain answers.', read: ({ status }) => one(flag(status.chain.error === null)) },
  {
    name: 'oracle_chain_block_number',
    help: 'Number of the newest block.',
    read: ({ status }) => known(status.chain.blockNumber, one),
  },
  {
    name: 'oracle_chain_block_age_seconds',
    help: 'Seconds since the newest block.',
    read: ({ status, nowMs }) => known(status.chain.blockTime, (time) => one(secondsSince(time, nowMs))),
  },
  {
    name: 'oracle_gas_price_gwei',
    help: 'Price of gas as the node suggests it, gwei; at most a minute old.',
    read: ({ wallets }) => known(wallets, ({ gasPriceWei }) => one(Number(gasPriceWei) / WEI_PER_GWEI)),
  },
  perWallet('oracle_wallet_balance_ether', 'Gas balance of the wallet, ether.', ({ balanceWei }) => Number(balanceWei) / WEI_PER_ETHER),
  perWallet(
    'oracle_wallet_days_left',
    'Whole days that the balance lasts at the mean cost of the last seven days.',
    ({ daysLeft }) => daysLeft,
  ),
  perWallet('oracle_wallet_nonce_mined', 'Nonce of the next transaction by the newest block.', ({ minedNonce }) => minedNonce),
  perWallet(
    'oracle_wallet_nonce_signed',
    'Nonce after the newest transaction that the service has signed; below that of the newest block another program has the key.',
    ({ signedNonce }) => signedNonce,
  ),
  {
    name: 'oracle_transactions_open',
    help: 'Transactions that are signed and not final.',
    labels: ['role'],
    read: ({ work }) => work.transactions.map(({ role, count }) => ({ labels: { role }, value: count })),
  },
  {
    name: 'oracle_transaction_oldest_open_seconds',
    help: 'Seconds since the oldest transaction that is not final was signed.',
    labels: ['role'],
    read: ({ work, nowMs }) => work.transactions.map(({ role, since }) => ({ labels: { role }, value: (nowMs - since.getTime()) / 1_000 })),
  },
];
