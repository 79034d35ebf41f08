import { alertOnMessage } from '../message-alert.ts';
import type { RunbookRow } from '../runbook-row.ts';

export const COMMERCE_ROWS: readonly RunbookRow[] = [
  {
    seen: '`what became of a payment is not known yet`',
    means: 'sent, and the chain has not said whether it arrived',
    action: 'Nothing: it is looked at each minute, and never sent blindly again. The payer gets his answer when he asks again',
    alerts: [
      {
        id: 'OraclePaymentUnsettled',
        expr: 'max(oracle_payment_unsettled_seconds) > 900',
        for: '5m',
        severity: 'ticket',
        summary: 'A payment is neither settled nor released after 15 minutes',
        panel: 'payments-open',
        fires: { at: '6m', series: { 'oracle_payment_unsettled_seconds{instance="a"}': '901+60x10' } },
        silent: { at: '6m', series: { 'oracle_payment_unsettled_seconds{instance="a"}': '0+60x10' } },
      },
    ],
  },
  {
    seen: '`reconcile` ends with 1',
    means: 'the ledger and the chain differ, each payment by name',
    action:
      'Never edit the ledger. Booked and not on chain: was the endpoint on a fork? On chain and not booked: the buyer can still claim it; after that report it as a fault',
    alerts: [],
    unmeasured: 'a command of the operator: run it each day, and alarm on its exit code',
  },
  {
    seen: '`a purchase cannot be delivered yet`, `a job of the agent commerce contract cannot go on`',
    means: 'what was bought waits for a price, a step or the chain',
    action: 'See the reason; it goes on by itself. Jobs end at their expiry: the client gets his money back',
    alerts: [
      {
        id: 'OracleSaleWaiting',
        expr: 'sum by (message) (increase(oracle_log_messages_total{message=~"a purchase cannot be delivered yet|a job of the agent commerce contract cannot go on.*"}[30m])) > 0',
        for: '1h',
        severity: 'ticket',
        summary: 'For an hour: {{ $labels.message }}',
        panel: 'log',
        fires: {
          at: '100m',
          series: { 'oracle_log_messages_total{message="a purchase cannot be delivered yet",instance="a"}': '0+1x120' },
          labels: { message: 'a purchase cannot be delivered yet' },
        },
        silent: {
          at: '100m',
          series: { 'oracle_log_messages_total{message="a purchase cannot be delivered yet",instance="a"}': '0x10 5x120' },
        },
      },
    ],
  },
  {
    seen: '`the agent commerce contract has not paid a job without an evaluator; no further one is accepted`',
    means: 'the contract at AGENT_COMMERCE_ADDRESS does not do what its code was listed for',
    action: 'Read the code again, and take its hash out of AGENT_COMMERCE_CODE_HASHES',
    alerts: [
      alertOnMessage({
        id: 'OracleJobUnpaid',
        message: 'the agent commerce contract has not paid a job without an evaluator; no further one is accepted',
        severity: 'ticket',
        summary: 'A job without an evaluator was delivered and not paid',
      }),
    ],
  },
  {
    seen: '`the marketplace does not take a delivery`',
    means: 'jobs are delivered and paid on chain; buyers who read the marketplace wait',
    action: 'See the reason. It is tried for seven days; the deliverable can be fetched here meanwhile',
    alerts: [
      alertOnMessage({
        id: 'OracleMarketplaceRejects',
        message: 'the marketplace does not take a delivery; it is tried again',
        above: 5,
        severity: 'ticket',
        summary: 'The marketplace takes no deliveries',
      }),
    ],
  },
];
