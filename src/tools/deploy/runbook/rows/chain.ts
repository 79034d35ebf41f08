import { alertOnMessage } from '../message-alert.ts';
import { REFUSED_START, type RunbookRow } from '../runbook-row.ts';

export const CHAIN_ROWS: readonly RunbookRow[] = [
  {
    seen: '`the chain did not answer within`, `CHAIN_UNREACHABLE`',
    means: 'the endpoint is down, slow, or refuses for its rate',
    action:
      'Ask it yourself; set another `CHAIN_RPC_URL` and restart. Tokens are refused after 5 minutes without it; the rest is served from the database',
    alerts: [
      {
        id: 'OracleChainDown',
        expr: 'max(oracle_chain_up) == 0',
        for: '5m',
        severity: 'page',
        summary: 'The chain has not answered for 5 minutes',
        panel: 'chain',
        fires: { at: '6m', series: { 'oracle_chain_up{instance="a"}': '0x10', 'oracle_chain_up{instance="b"}': '0x10' } },
        silent: { at: '6m', series: { 'oracle_chain_up{instance="a"}': '0x10', 'oracle_chain_up{instance="b"}': '1x10' } },
      },
    ],
  },
  {
    seen: '`The signer of the`, `SIGNER_UNAVAILABLE`',
    means: 'a signer does not answer, or answers with an error or a signature that is not of the wallet; `cause` in the log says which',
    action: 'Repair it: what waits for it goes on by itself. For `attest` there is time until 00:00',
    alerts: [
      {
        id: 'OracleSignerDown',
        expr: 'min by (check) (oracle_check_ok{check="signers"}) == 0',
        for: '5m',
        severity: 'page',
        summary: 'A signer has not answered for 5 minutes',
        panel: 'readiness',
        fires: { at: '6m', series: { 'oracle_check_ok{check="signers",instance="a"}': '0x10' }, labels: { check: 'signers' } },
        silent: {
          at: '6m',
          series: { 'oracle_check_ok{check="signers",instance="a"}': '1x10', 'oracle_check_ok{check="price",instance="a"}': '0x10' },
        },
      },
    ],
  },
  {
    seen: '`cannot sign for the`, `has the wallet of the`',
    means: 'the start: a signer refuses, is of another chain, or is in two roles',
    action: 'See [above](#keys-that-never-enter-the-process)',
    ...REFUSED_START,
  },
  {
    seen: '`Broadcasting from … failed`, the node saying `insufficient funds`',
    means: 'the wallet of that address has no ether for gas',
    action: 'Send some; the step goes on within 5 minutes. For `attest` there is time until 00:00',
    alerts: [
      {
        id: 'OracleWalletLow',
        expr: 'min by (role) (oracle_wallet_days_left) < 30',
        for: '1h',
        severity: 'ticket',
        summary: 'The {{ $labels.role }} has gas for less than 30 days',
        panel: 'balances',
        fires: { at: '61m', series: { 'oracle_wallet_days_left{role="attester",instance="a"}': '29x70' }, labels: { role: 'attester' } },
        silent: { at: '61m', series: { 'oracle_wallet_days_left{role="attester",instance="a"}': '30x70' } },
      },
      {
        id: 'OracleWalletEmpty',
        expr: 'min by (role) (oracle_wallet_balance_ether{role=~"attester|facilitator"}) < 0.0003',
        for: '5m',
        severity: 'page',
        summary: 'The {{ $labels.role }} has less than 0.0003 ether, ten days of an attester at 0.01 gwei',
        panel: 'balances',
        fires: {
          at: '6m',
          series: { 'oracle_wallet_balance_ether{role="attester",instance="a"}': '0.0002x10' },
          labels: { role: 'attester' },
        },
        silent: {
          at: '6m',
          series: {
            'oracle_wallet_balance_ether{role="attester",instance="a"}': '0.0003x10',
            'oracle_wallet_balance_ether{role="provider",instance="a"}': '0x10',
          },
        },
      },
    ],
  },
  {
    seen: '`a payment could not be checked or sent`',
    means:
      'no answer of the endpoint or of a remote facilitator, an API key that it refuses, or too little ether with the facilitator; `reason` says which',
    action: 'Send ether to the facilitator, replace `CDP_API_KEY_SECRET`, or see `CHAIN_UNREACHABLE`',
    alerts: [
      alertOnMessage({
        id: 'OraclePaymentsUnchecked',
        message: 'a payment could not be checked or sent',
        above: 3,
        severity: 'ticket',
        summary: 'Payments cannot be checked or sent',
        panel: 'payments',
      }),
    ],
  },
  {
    seen: '`Gas is currently too expensive to settle payments`',
    means: 'a settlement would cost more than `X402_MAX_GAS_CENTS` at `CHAIN_CURRENCY_USD`',
    action: 'Set `CHAIN_CURRENCY_USD` to the price of ether; raise the budget if the answers are worth it to you',
    alerts: [
      {
        id: 'OraclePaymentsWaiting',
        expr: 'sum(increase(oracle_payments_total{outcome="waiting"}[15m])) > 3',
        for: '0m',
        severity: 'ticket',
        summary: 'Paid calls wait: gas is too expensive to settle them, or an answer is not there yet',
        panel: 'payments',
        fires: { at: '30m', series: { 'oracle_payments_total{outcome="waiting",instance="a"}': '0x10 5+1x25' } },
        silent: { at: '30m', series: { 'oracle_payments_total{outcome="waiting",instance="a"}': '0x10 3x25' } },
      },
    ],
  },
  {
    seen: '`is not confirmed after … the node says`',
    means: 'a transaction hangs: base fee risen, or an endpoint that does not pass it on',
    action:
      'Mostly nothing: after 30 s it is sent again with an eighth more, up to 100 gwei; a lost nonce is filled. If it lasts, another endpoint',
    alerts: [
      {
        id: 'OracleTransactionStuck',
        expr: 'max by (role) (oracle_transaction_oldest_open_seconds) > 600',
        for: '5m',
        severity: 'page',
        summary: 'A transaction of the {{ $labels.role }} is not final after 10 minutes',
        panel: 'transactions',
        fires: {
          at: '6m',
          series: { 'oracle_transaction_oldest_open_seconds{role="attester",instance="a"}': '601+60x10' },
          labels: { role: 'attester' },
        },
        silent: { at: '6m', series: { 'oracle_transaction_oldest_open_seconds{role="attester",instance="a"}': '0+60x10' } },
      },
    ],
  },
  {
    seen: '`reverted on chain`, `CHAIN_REVERTED`',
    means: 'a contract refused, and would again. `Self-feedback not allowed`: the reporter owns or runs the agent',
    action: 'Read the reason in the log; correct the setting; run the step',
    alerts: [],
    see: ['OracleStepFailed'],
  },
  {
    seen: '`ATTESTATION_MISMATCH`',
    means: 'the chain differs from the record',
    action:
      "Stop the workers. Another party has the attester's key, or the database was changed or is older than the chain: see [Restore](#backup-and-restore)",
    alerts: [
      {
        id: 'OracleForeignTransaction',
        expr: 'max by (role) (oracle_wallet_nonce_mined) > max by (role) (oracle_wallet_nonce_signed)',
        for: '5m',
        severity: 'page',
        summary: 'The wallet of the {{ $labels.role }} has sent a transaction that this database does not know',
        panel: 'nonces',
        fires: {
          at: '6m',
          series: {
            'oracle_wallet_nonce_mined{role="attester",instance="a"}': '8x10',
            'oracle_wallet_nonce_signed{role="attester",instance="a"}': '7x10',
          },
          labels: { role: 'attester' },
        },
        silent: {
          at: '6m',
          series: {
            'oracle_wallet_nonce_mined{role="attester",instance="a"}': '7x10',
            'oracle_wallet_nonce_signed{role="attester",instance="a"}': '8x10',
          },
        },
      },
    ],
    see: ['OracleStepFailed'],
  },
  {
    seen: 'a block that is gone (a reorganisation)',
    means: 'nothing counted before `CONFIRMATIONS` blocks stood on it',
    action: 'Nothing. After a deep one set `CONFIRMATIONS` higher',
    alerts: [],
    unmeasured: 'nothing has to be done',
  },
  {
    seen: '`minutes old: the RPC endpoint is stalled`',
    means: '`/ready`: the newest block of the endpoint is older than 5 minutes, by the clock of this machine',
    action: 'Compare `blockTime` in `/api/status` with the time. Set another endpoint, or repair NTP; restart',
    alerts: [
      {
        id: 'OracleChainStalled',
        expr: 'min(oracle_check_ok{check="chain"}) == 0',
        for: '10m',
        severity: 'page',
        summary: 'The newest block is older than 5 minutes, or the chain does not answer',
        panel: 'readiness',
        fires: { at: '11m', series: { 'oracle_check_ok{check="chain",instance="a"}': '0x20' } },
        silent: { at: '11m', series: { 'oracle_check_ok{check="chain",instance="a"}': '0x8 1x10' } },
      },
    ],
  },
];
